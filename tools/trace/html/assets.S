/* SPDX-License-Identifier: MIT */
/*
 * assets.S - the parts of the HTML report, as bytes in the program. The build
 * gives the directories to look in.
 */
	.section .rodata

	.macro asset name, file
	.globl \name
	.globl \name\()_end
	.hidden \name
	.hidden \name\()_end
\name:
	.incbin "\file"
\name\()_end:
	.endm

	asset html_page, "page.html"
	asset html_style, "page.css"
	asset html_script, "page.js"
	asset html_d3, "d3.min.js"
	asset html_d3_licence, "d3.LICENSE"
	asset html_flame, "d3-flamegraph.umd.min.js"
	asset html_flame_licence, "d3-flamegraph.LICENSE"

	.section .note.GNU-stack, "", %progbits
