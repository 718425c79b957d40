// SPDX-License-Identifier: MIT
//
// page.js - draws the report from the JSON in #data. No network, no storage.
"use strict";
(function () {
	const data = JSON.parse(document.getElementById("data").textContent);
	const metrics = [
		["bytes", "Bytes allocated", true],
		["calls", "Calls", false],
		["peak", "Live at the peak", true],
		["leaked", "Not freed", true],
		["temporary", "Temporary", false],
	];
	const $ = (id) => document.getElementById(id);
	const places = data.places;
	let metric = 0;
	let current = null;

	function bytes(n) {
		const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
		let i = 0;
		while (n >= 1023.95 && i < 5) {
			n /= 1024;
			i++;
		}
		return (i ? n.toFixed(1) : Math.round(n)) + " " + units[i];
	}
	const count = (n) => n.toLocaleString("en-US");
	const show = (n, m) => (metrics[m][2] ? bytes(n) : count(n));
	const seconds = (ns) =>
		ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : (ns / 1e6).toFixed(1) + " ms";
	const percent = (part, all) =>
		(all > 0 ? (100 * part) / all : 0).toFixed(1) + " %";
	function element(name, text, attributes) {
		const e = document.createElement(name);
		if (text !== undefined && text !== null) {
			e.textContent = text;
		}
		for (const key in attributes || {}) {
			e.setAttribute(key, attributes[key]);
		}
		return e;
	}
	const source = (p) =>
		p[1] ? p[1].replace(/.*\//, "") + (p[2] ? ":" + p[2] : "") : p[3].replace(/.*\//, "");

	// ---- head
	const s = data.summary;
	$("title").textContent = (s.program || "heap").replace(/.*\//, "");
	document.title = $("title").textContent + " - allocmux";
	$("subtitle").textContent =
		(s.command || "") + "  (pid " + s.pid + ", " + s.mode +
		(s.allocator ? ", allocator " + s.allocator : "") + ")" +
		(s.damage ? " - damaged: " + s.damage : "");
	[
		[bytes(s.bytes), "allocated"],
		[count(s.calls), "calls"],
		[bytes(s.peak_bytes), "peak" + (s.peak_ns ? " at " + seconds(s.peak_ns) : "")],
		[bytes(s.leaked_bytes), "not freed, " + count(s.leaked_blocks) + " blocks"],
		[percent(s.temporary, s.calls), "temporary"],
		s.usable_bytes ? [percent(s.usable_bytes - s.bytes, s.bytes), "usable beyond requested"] : null,
	].forEach((e) => {
		if (e) {
			const box = $("summary").appendChild(element("div"));
			box.appendChild(element("b", e[0]));
			box.appendChild(element("span", e[1]));
		}
	});

	// ---- metric
	metrics.forEach((m, i) => {
		const b = element("button", m[1], {type: "button", role: "radio", title: String(i + 1), id: "metric-" + m[0]});
		b.addEventListener("click", () => metricSet(i));
		$("metrics").appendChild(b);
	});

	// ---- flame graph: data.tree has parents before children
	const tree = data.tree;
	function treeDown(m) {
		const nodes = tree.place.map((p, i) => ({place: p, value: tree.cost[m][i], children: []}));
		for (let i = 1; i < nodes.length; i++) {
			if (nodes[i].value > 0) {
				nodes[tree.parent[i]].children.push(nodes[i]);
			}
		}
		return nodes[0];
	}
	// Each node's own cost goes along its path to the root.
	function treeUp(m) {
		const own = tree.cost[m].slice();
		const root = {place: -1, value: tree.cost[m][0], children: [], map: new Map()};
		for (let i = 1; i < own.length; i++) {
			own[tree.parent[i]] -= tree.cost[m][i];
		}
		for (let i = 1; i < own.length; i++) {
			let at = root;
			if (own[i] <= 0) {
				continue;
			}
			for (let j = i; j > 0; j = tree.parent[j]) {
				let next = at.map.get(tree.place[j]);
				if (!next) {
					next = {place: tree.place[j], value: 0, children: [], map: new Map()};
					at.map.set(tree.place[j], next);
					at.children.push(next);
				}
				next.value += own[i];
				at = next;
			}
		}
		return root;
	}
	function flameData() {
		const root = $("callers").checked ? treeUp(metric) : treeDown(metric);
		const stack = [root];
		while (stack.length) {
			const n = stack.pop();
			n.name = n.place < 0 ? "all" : places[n.place][0];
			n.map = null;
			n.children.forEach((c) => stack.push(c));
		}
		return root;
	}
	function describe(d) {
		const p = d.data.place < 0 ? null : places[d.data.place];
		return d.data.name + (p ? "  " + source(p) + "  [" + p[3].replace(/.*\//, "") + "]" : "") +
			"  " + show(d.data.value, metric) + "  " +
			percent(d.data.value, tree.cost[metric][0]);
	}
	// Warm colours by module, so that libraries tell apart.
	function colour(d) {
		let h = 0;
		const text = d.data.place < 0 ? "" : places[d.data.place][3];
		if (d.highlight) {
			return "#e600e6";
		}
		for (let i = 0; i < text.length; i++) {
			h = (h * 31 + text.charCodeAt(i)) >>> 0;
		}
		let g = 0;
		for (let i = 0; i < d.data.name.length; i++) {
			g = (g * 31 + d.data.name.charCodeAt(i)) >>> 0;
		}
		return d.data.place < 0 ? "#b8b8b8" : "hsl(" + [28, 48, 14, 160, 200, 90, 265][h % 7] + "," + (55 + (g % 25)) + "%," + (58 + ((g >> 5) % 14)) + "%)";
	}
	let chart = null;
	function flameDraw() {
		$("flame").textContent = "";
		current = null;
		if (!(tree.cost[metric][0] > 0)) {
			$("flame").appendChild(element("p", "Nothing of this kind."));
			return;
		}
		chart = flamegraph.default()
			.width($("flame").clientWidth - 2)
			.cellHeight(18)
			.transitionDuration(0)
			.minFrameSize(1)
			.inverted($("invert").checked)
			.selfValue(false)
			.sort(true)
			.setColorMapper(colour)
			.setLabelHandler(describe)
			.setDetailsHandler((d) => {
				if (d) {
					$("details").textContent = typeof d === "string" ? d : describe(d);
				}
			})
			.setSearchHandler((results, sum, total) => {
				$("matched").textContent = "matched " + percent(sum, total);
			})
			.setSearchMatch((d, term) => {
				if (!term) {
					return false;
				}
				try {
					return new RegExp(term).test(d.data.name);
				} catch (e) {
					return d.data.name.includes(term);
				}
			})
			.onClick((d) => currentSet(d));
		d3.select("#flame").datum(flameData()).call(chart);
		if ($("search").value) {
			chart.search($("search").value);
		}
	}
	function frames() {
		return d3.select("#flame").selectAll("g.frame");
	}
	function currentSet(d) {
		current = d;
		frames().classed("current", (e) => e === d);
		$("details").textContent = describe(d);
	}
	$("flame").addEventListener("keydown", (e) => {
		const all = frames().data();
		if (!all.length) {
			return;
		}
		let d = current || all.reduce((a, b) => (a.depth <= b.depth ? a : b));
		const down = e.key === "ArrowDown" ? -1 : e.key === "ArrowUp" ? 1 : 0;
		const toChild = $("invert").checked ? down < 0 : down > 0;
		if (e.key === "Enter") {
			chart.zoomTo(d);
		} else if (down && toChild) {
			d = (d.children || []).reduce((a, b) => (a && a.data.value >= b.data.value ? a : b), null) || d;
		} else if (down) {
			d = d.parent || d;
		} else if ((e.key === "ArrowLeft" || e.key === "ArrowRight") && d.parent) {
			const row = d.parent.children.slice().sort((a, b) => a.x0 - b.x0);
			d = row[row.indexOf(d) + (e.key === "ArrowLeft" ? -1 : 1)] || d;
		} else {
			return;
		}
		e.preventDefault();
		currentSet(d);
	});
	$("search").addEventListener("input", () => {
		if (!chart) {
			return;
		}
		if ($("search").value) {
			chart.search($("search").value);
		} else {
			chart.clear();
			$("matched").textContent = "";
		}
	});
	$("reset").addEventListener("click", () => chart && chart.resetZoom());
	$("callers").addEventListener("change", flameDraw);
	$("invert").addEventListener("change", flameDraw);

	// ---- time line
	const time = data.timeline;
	const palette = d3.schemeTableau10.concat(d3.schemeSet3);
	let cutLine = null;
	let x = null;
	function timelineDraw() {
		const width = $("timeline").clientWidth;
		const height = 220;
		const left = 70;
		const steps = time.peak.length;
		const rows = d3.range(steps).map((i) => {
			const row = {};
			time.lines.forEach((l, k) => (row[k] = l.values[i]));
			row.others = time.others[i];
			return row;
		});
		const keys = d3.range(time.lines.length).concat(["others"]);
		rows.push(rows[steps - 1]);
		const stacked = d3.stack().keys(keys)(rows);
		$("timeline").textContent = "";
		x = d3.scaleLinear([0, steps], [left, width - 10]);
		const y = d3.scaleLinear([0, d3.max(time.peak) || 1], [height - 24, 8]);
		const svg = d3.select("#timeline").append("svg").attr("width", width).attr("height", height)
			.attr("role", "img").attr("aria-label", "Live bytes over time by call site");
		// A value holds for its whole step.
		const area = d3.area().x((d, i) => x(i)).y0((d) => y(d[0])).y1((d) => y(d[1])).curve(d3.curveStepAfter);
		svg.selectAll("path").data(stacked).join("path").attr("d", area)
			.attr("fill", (d, i) => (d.key === "others" ? "#999" : palette[i % palette.length]))
			.append("title").text((d) => (d.key === "others" ? "all others" : places[time.lines[d.key].place][0]));
		svg.append("path").attr("class", "total")
			.attr("d", d3.line((d, i) => x(i), (d) => y(d)).curve(d3.curveStepAfter)(time.peak.concat(time.peak.slice(-1))));
		svg.append("g").attr("transform", "translate(" + left + ",0)").call(d3.axisLeft(y).ticks(5).tickFormat(bytes));
		svg.append("g").attr("transform", "translate(0," + (height - 24) + ")")
			.call(d3.axisBottom(x).ticks(8).tickFormat((i) => seconds(i * time.step_ns)));
		cutLine = svg.append("line").attr("class", "cut").attr("y1", 4).attr("y2", height - 24);
		function move(event) {
			const i = Math.floor(x.invert(d3.pointer(event, svg.node())[0]));
			$("cut").value = Math.max(0, Math.min(steps - 1, i));
			cutDraw();
		}
		svg.call(d3.drag().on("start drag", move));
		cutDraw();
	}
	function cutDraw() {
		const i = Number($("cut").value);
		const body = d3.select("#cuttable tbody");
		const rows = time.lines.map((l, k) => [places[l.place], l.values[i], palette[k % palette.length]]);
		rows.push([["all others", "", 0, ""], time.others[i], "#999"]);
		cutLine.attr("x1", x(i + 0.5)).attr("x2", x(i + 0.5));
		$("cuttime").textContent = seconds(i * time.step_ns) + " to " + seconds((i + 1) * time.step_ns) +
			": " + bytes(time.live[i]) + " live at its end, at most " + bytes(time.peak[i]);
		body.selectAll("tr").remove();
		rows.filter((r) => r[1] > 0).sort((a, b) => b[1] - a[1]).slice(0, 12).forEach((r) => {
			const tr = body.append("tr");
			const td = tr.append("td");
			td.append("span").attr("class", "swatch").style("background", r[2]);
			td.append("span").text(r[0][0]);
			tr.append("td").text(source(r[0]));
			tr.append("td").attr("class", "n").text(bytes(r[1]));
			tr.append("td").attr("class", "n").text(percent(r[1], time.live[i]));
		});
	}
	function peakStep() {
		let best = 0;
		time.peak.forEach((v, i) => {
			if (v > time.peak[best]) {
				best = i;
			}
		});
		return best;
	}
	function cutToPeak() {
		$("cut").value = peakStep();
		cutDraw();
	}
	if (time) {
		$("cut").max = time.peak.length - 1;
		$("cut").value = peakStep();
		$("cut").addEventListener("input", cutDraw);
		$("topeak").addEventListener("click", cutToPeak);
	} else {
		$("time").remove();
	}

	// ---- histograms
	function bars(id, entries) {
		const most = d3.max(entries, (e) => e.calls) || 1;
		entries.forEach((e) => {
			const tr = $(id).appendChild(element("tr"));
			tr.appendChild(element("td", e.label));
			tr.appendChild(element("td", count(e.calls), {class: "n"}));
			if (e.bytes !== undefined) {
				tr.appendChild(element("td", bytes(e.bytes), {class: "n"}));
			}
			const td = tr.appendChild(element("td"));
			if (e.calls > 0) {
				td.appendChild(element("i", null, {style: "width:" + (100 * e.calls) / most + "%"}));
			}
		});
	}
	if (data.histograms.sizes.length) {
		bars("sizes", data.histograms.sizes);
	} else {
		$("sizes").parentNode.remove();
	}
	bars("lifetimes", data.histograms.lifetimes);

	// ---- call sites
	const columns = metrics.map((m, i) => [m[1], i, "n"]).concat([["Function", "f", ""], ["Source", "s", "s"], ["Module", "m", "s"]]);
	let sorted = 0;
	let falling = true;
	let limit = 200;
	const key = {f: (r) => places[r[0]][0], s: (r) => source(places[r[0]]), m: (r) => places[r[0]][3]};
	columns.forEach((c) => {
		const th = element("th", null, {class: c[2], scope: "col"});
		const b = element("button", c[0], {type: "button"});
		b.addEventListener("click", () => {
			falling = sorted === c[1] ? !falling : typeof c[1] === "number";
			sorted = c[1];
			tableDraw();
		});
		th.appendChild(b);
		document.querySelector("#sites thead tr").appendChild(th);
	});
	function tableDraw() {
		const term = $("filter").value.toLowerCase();
		const value = typeof sorted === "number" ? (r) => r[1 + sorted] : key[sorted];
		const rows = data.sites.filter((r) => !term || (places[r[0]][0] + " " + source(places[r[0]]) + " " + places[r[0]][3]).toLowerCase().includes(term));
		const body = document.querySelector("#sites tbody");
		rows.sort((a, b) => (falling ? d3.descending : d3.ascending)(value(a), value(b)));
		body.textContent = "";
		rows.slice(0, limit).forEach((r) => {
			const tr = body.appendChild(element("tr", null, {tabindex: "0", title: "Enter: find it in the flame graph"}));
			metrics.forEach((m, i) => tr.appendChild(element("td", show(r[1 + i], i), {class: "n"})));
			tr.appendChild(element("td", places[r[0]][0]));
			tr.appendChild(element("td", source(places[r[0]]), {title: places[r[0]][1] || ""}));
			tr.appendChild(element("td", places[r[0]][3].replace(/.*\//, ""), {title: places[r[0]][3]}));
			const find = () => {
				$("search").value = places[r[0]][0].replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
				$("search").dispatchEvent(new Event("input"));
				$("flame").scrollIntoView({block: "center"});
			};
			tr.addEventListener("click", find);
			tr.addEventListener("keydown", (e) => e.key === "Enter" && find());
		});
		$("shown").textContent = Math.min(limit, rows.length) + " of " + rows.length;
		$("more").hidden = rows.length <= limit;
		document.querySelectorAll("#sites th").forEach((th, i) =>
			th.setAttribute("aria-sort", columns[i][1] === sorted ? (falling ? "descending" : "ascending") : "none"));
	}
	$("filter").addEventListener("input", tableDraw);
	$("more").addEventListener("click", () => {
		limit = Infinity;
		tableDraw();
	});

	function metricSet(i) {
		metric = i;
		sorted = i;
		falling = true;
		document.querySelectorAll("#metrics button").forEach((b, k) => {
			b.setAttribute("aria-checked", String(k === i));
			b.tabIndex = k === i ? 0 : -1;
		});
		flameDraw();
		tableDraw();
	}

	// ---- light and dark, keys
	function themeSet(name) {
		document.documentElement.dataset.theme = name;
	}
	const dark = window.matchMedia("(prefers-color-scheme: dark)");
	themeSet(dark.matches || location.hash === "#dark" ? "dark" : "light");
	const themeSwitch = () => themeSet(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
	$("theme").addEventListener("click", themeSwitch);
	document.addEventListener("keydown", (e) => {
		const typing = e.target.tagName === "INPUT" && e.target.type === "search";
		if (e.ctrlKey || e.metaKey || e.altKey) {
			return;
		}
		if (e.key === "Escape") {
			$("search").value = "";
			$("search").dispatchEvent(new Event("input"));
			if (chart) {
				chart.resetZoom();
			}
			e.target.blur();
		} else if (typing) {
			return;
		} else if (e.key >= "1" && e.key <= "5") {
			metricSet(Number(e.key) - 1);
		} else if (e.key === "/") {
			e.preventDefault();
			$("search").focus();
		} else if (e.key === "c" || e.key === "i") {
			const box = $(e.key === "c" ? "callers" : "invert");
			box.checked = !box.checked;
			flameDraw();
		} else if (e.key === "p" && time) {
			cutToPeak();
		} else if (e.key === "d") {
			themeSwitch();
		}
	});
	let resizing = 0;
	window.addEventListener("resize", () => {
		clearTimeout(resizing);
		resizing = setTimeout(() => {
			flameDraw();
			if (time) {
				timelineDraw();
			}
		}, 150);
	});
	if (time) {
		timelineDraw();
	}
	metricSet(0);
	document.documentElement.dataset.ready = "yes";
})();
