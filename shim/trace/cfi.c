/* SPDX-License-Identifier: MIT */
/*
 * cfi.c - reads .eh_frame for one address.
 *
 * Only what capture needs: the CFA, the frame pointer and the return address.
 * DWARF expressions are evaluated symbolically, for the address at hand: what
 * comes out as `register + constant`, or as a word loaded from there, becomes
 * a rule (PLT stubs, realigned stacks, signal frames); everything else is
 * RULE_OTHER and goes to libunwind.
 *
 * Sources: DWARF 5, 6.4 and 2.5; LSB Core 5.0, "Exception Frames"; the psABIs
 * for register numbers; ELF for the Arm 64-bit Architecture, DWARF, 4.1.
 *
 * Every read is checked against the object's range, so a damaged section gives
 * RULE_NONE or RULE_OTHER, never a fault. Locks: none.
 */
#include "cfi.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
	#define REG_FP 6
	#define REG_SP 7
	#define REG_RA 16
#elif defined(__aarch64__)
	#define REG_FP 29
	#define REG_SP 31
	#define REG_RA 30
#endif

/* A bounded cursor; reading past the end sets `bad` and yields 0. */
struct cursor {
	uint64_t at;
	uint64_t end;
	bool bad;
};

static uint64_t get(struct cursor *c, unsigned bytes)
{
	uint64_t v = 0;

	if (c->at > c->end || c->end - c->at < bytes) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&v, (const void *)(uintptr_t)c->at, bytes);
	c->at += bytes;
	return v;
}

static int64_t get_signed(struct cursor *c, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	return (int64_t)(get(c, bytes) << shift) >> shift;
}

static uint64_t get_uleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)get(c, 1);
		if (shift < 64) {
			v |= (uint64_t)(byte & 0x7f) << shift;
		}
		shift += 7;
	} while ((byte & 0x80) && !c->bad);
	return v;
}

static int64_t get_sleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)get(c, 1);
		if (shift < 64) {
			v |= (uint64_t)(byte & 0x7f) << shift;
		}
		shift += 7;
	} while ((byte & 0x80) && !c->bad);
	if (shift < 64 && (byte & 0x40)) {
		v |= ~(uint64_t)0 << shift;
	}
	return (int64_t)v;
}

enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_OMIT = 0xff
};

/* A pointer in one of the encodings of the LSB. data: base of PE_DATAREL. */
static uint64_t get_encoded(struct cursor *c, unsigned encoding, uint64_t data)
{
	uint64_t base = 0;
	uint64_t v;

	switch (encoding & 0x70) {
	case 0:
		break;
	case PE_PCREL:
		base = c->at;
		break;
	case PE_DATAREL:
		base = data;
		break;
	default:
		c->bad = true;
		return 0;
	}
	switch (encoding & 0x0f) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		v = get(c, 8);
		break;
	case PE_ULEB128:
		v = get_uleb(c);
		break;
	case PE_SLEB128:
		v = (uint64_t)get_sleb(c);
		break;
	case PE_UDATA2:
		v = get(c, 2);
		break;
	case PE_SDATA2:
		v = (uint64_t)get_signed(c, 2);
		break;
	case PE_UDATA4:
		v = get(c, 4);
		break;
	case PE_SDATA4:
		v = (uint64_t)get_signed(c, 4);
		break;
	default:
		c->bad = true;
		return 0;
	}
	return base + v;
}

/* ---- the search table ---- */

/*
 * The FDE that may cover pc, or 0. The table is sorted by start address, in
 * pairs of 4-byte offsets from the header; linkers write no other form.
 */
static uint64_t find_fde(uint64_t pc, uint64_t header, uint64_t end)
{
	struct cursor c = {header, end, false};
	unsigned version = (unsigned)get(&c, 1);
	unsigned frame_encoding = (unsigned)get(&c, 1);
	unsigned count_encoding = (unsigned)get(&c, 1);
	unsigned table_encoding = (unsigned)get(&c, 1);
	uint64_t count;
	uint64_t low = 0;
	int32_t entry[2];

	if (version != 1 || count_encoding == PE_OMIT ||
		table_encoding != (PE_DATAREL | PE_SDATA4)) {
		return 0;
	}
	get_encoded(&c, frame_encoding, header);
	count = get_encoded(&c, count_encoding, header);
	if (c.bad || count == 0 || count > (end - c.at) / sizeof(entry)) {
		return 0;
	}

	uint64_t high = count;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		memcpy(entry, (void *)(uintptr_t)(c.at + middle * 8), 8);
		if (header + (uint64_t)(int64_t)entry[0] <= pc) {
			low = middle;
		} else {
			high = middle;
		}
	}
	memcpy(entry, (void *)(uintptr_t)(c.at + low * 8), 8);
	return header + (uint64_t)(int64_t)entry[1];
}

/* ---- entries ---- */

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	unsigned encoding; /* of addresses in the FDE */
	bool has_data;     /* augmentation 'z' */
	bool signal;       /* augmentation 'S' */
	struct cursor program;
};

/* Length-prefixed entry at `at`; the cursor covers what follows the length. */
static bool open_entry(uint64_t at, uint64_t end, struct cursor *c)
{
	uint64_t length;

	*c = (struct cursor){at, end, false};
	length = get(c, 4);
	if (length == 0xffffffff) {
		length = get(c, 8);
	}
	if (c->bad || length == 0 || length > end - c->at) {
		return false;
	}
	c->end = c->at + length;
	return true;
}

static bool read_cie(uint64_t at, uint64_t start, uint64_t end, struct cie *cie)
{
	struct cursor c;
	uint64_t augmentation;
	unsigned version;

	*cie = (struct cie){.encoding = PE_ABSPTR};
	if (at < start || at >= end || !open_entry(at, end, &c) ||
		get(&c, 4) != 0) {
		return false;
	}
	version = (unsigned)get(&c, 1);
	if (version != 1 && version != 3 && version != 4) {
		return false;
	}
	augmentation = c.at;
	while (get(&c, 1) != 0) {
	}
	if (version == 4) {
		get(&c, 2); /* address and segment size */
	}
	cie->code_align = get_uleb(&c);
	cie->data_align = get_sleb(&c);
	cie->return_column = version == 1 ? get(&c, 1) : get_uleb(&c);
	if (c.bad) {
		return false;
	}

	struct cursor text = {augmentation, c.end, false};
	unsigned letter = (unsigned)get(&text, 1);

	if (letter == 'z') {
		uint64_t length = get_uleb(&c);
		struct cursor data = c;

		if (length > c.end - c.at) {
			return false;
		}
		c.at += length;
		cie->has_data = true;
		while ((letter = (unsigned)get(&text, 1)) != 0) {
			if (letter == 'R') {
				cie->encoding = (unsigned)get(&data, 1);
			} else if (letter == 'P') {
				unsigned encoding = (unsigned)get(&data, 1);

				get_encoded(&data, encoding & 0x7f, 0);
			} else if (letter == 'L') {
				get(&data, 1);
			} else if (letter == 'S') {
				cie->signal = true;
			} else if (letter != 'B' && letter != 'G') {
				return false;
			}
		}
	} else if (letter != 0) {
		return false;
	}
	cie->program = c;
	return !c.bad;
}

/* ---- expressions ---- */

/* A value known up to the registers: reg + offset, or a word loaded there. */
struct symbolic {
	enum { SYM_CONST, SYM_SP, SYM_FP, SYM_OTHER } base;
	bool loaded; /* the word at base + offset, offset counted before it */
	int64_t offset;
};

static struct symbolic constant(int64_t v)
{
	return (struct symbolic){SYM_CONST, false, v};
}

static struct symbolic reg_plus(uint64_t reg, int64_t offset, uint64_t pc)
{
	struct symbolic s = {SYM_OTHER, false, offset};

	if (reg == REG_SP) {
		s.base = SYM_SP;
	} else if (reg == REG_FP) {
		s.base = SYM_FP;
	} else if (reg == REG_RA && REG_RA == 16) {
		/* In a PLT's rule the return address column is the pc. */
		s.base = SYM_CONST;
		s.offset += (int64_t)pc;
	}
	return s;
}

static struct symbolic binary(unsigned op, struct symbolic a, struct symbolic b)
{
	uint64_t x = (uint64_t)a.offset;
	uint64_t y = (uint64_t)b.offset;

	if (op == 0x22 && !a.loaded && !b.loaded) { /* plus */
		if (b.base == SYM_CONST) {
			a.offset += b.offset;
			return a;
		}
		if (a.base == SYM_CONST) {
			b.offset += a.offset;
			return b;
		}
	}
	if (op == 0x1c && !a.loaded && b.base == SYM_CONST) { /* minus */
		a.offset -= b.offset;
		return a;
	}
	if (a.base != SYM_CONST || b.base != SYM_CONST) {
		return (struct symbolic){SYM_OTHER, false, 0};
	}
	switch (op) {
	case 0x1a:
		return constant((int64_t)(x & y));
	case 0x21:
		return constant((int64_t)(x | y));
	case 0x24:
		return constant(y < 64 ? (int64_t)(x << y) : 0);
	case 0x25:
		return constant(y < 64 ? (int64_t)(x >> y) : 0);
	case 0x2a:
		return constant(a.offset >= b.offset);
	case 0x2b:
		return constant(a.offset > b.offset);
	case 0x2c:
		return constant(a.offset <= b.offset);
	case 0x2d:
		return constant(a.offset < b.offset);
	default:
		return (struct symbolic){SYM_OTHER, false, 0};
	}
}

#define EXPRESSION_DEPTH 8

static struct symbolic evaluate(struct cursor c, uint64_t pc)
{
	const struct symbolic other = {SYM_OTHER, false, 0};
	struct symbolic stack[EXPRESSION_DEPTH];
	unsigned depth = 0;

	while (c.at < c.end) {
		unsigned op = (unsigned)get(&c, 1);
		struct symbolic value;

		if (op >= 0x30 && op <= 0x4f) { /* lit0 to lit31 */
			value = constant(op - 0x30);
		} else if (op >= 0x70 && op <= 0x8f) { /* breg0 to breg31 */
			value = reg_plus(op - 0x70, get_sleb(&c), pc);
		} else if (op == 0x08 || op == 0x0a || op == 0x0c) {
			value = constant((int64_t)get(&c, 1u << (op - 8) / 2));
		} else if (op == 0x09 || op == 0x0b || op == 0x0d) {
			value = constant(get_signed(&c, 1u << (op - 9) / 2));
		} else if (op == 0x0e || op == 0x0f) { /* const8u, const8s */
			value = constant((int64_t)get(&c, 8));
		} else if (op == 0x10) {
			value = constant((int64_t)get_uleb(&c));
		} else if (op == 0x11) {
			value = constant(get_sleb(&c));
		} else if (op == 0x92) { /* bregx */
			uint64_t reg = get_uleb(&c);

			value = reg_plus(reg, get_sleb(&c), pc);
		} else if (op == 0x06 && depth >= 1) { /* deref */
			value = stack[--depth];
			if (value.loaded || value.base == SYM_CONST) {
				return other;
			}
			value.loaded = true;
		} else if (op == 0x23 && depth >= 1) { /* plus_uconst */
			struct symbolic add = constant((int64_t)get_uleb(&c));

			value = binary(0x22, stack[--depth], add);
		} else if (op >= 0x1a && op <= 0x2d && depth >= 2) {
			depth -= 2;
			value = binary(op, stack[depth], stack[depth + 1]);
		} else {
			return other;
		}
		if (c.bad || depth == EXPRESSION_DEPTH) {
			return other;
		}
		stack[depth++] = value;
	}
	return depth == 1 && !c.bad ? stack[0] : other;
}

/* ---- the program ---- */

enum where {
	AT_UNCHANGED = 0, /* the register keeps its value */
	AT_CFA,           /* saved at CFA + offset */
	AT_SYMBOLIC,      /* saved at the symbolic address */
	AT_UNDEFINED,
	AT_OTHER
};

struct location {
	enum where where;
	int64_t offset;
	struct symbolic address;
};

struct row {
	struct symbolic cfa;
	struct location fp;
	struct location ra;
};

#define REMEMBER_DEPTH 6

struct machine {
	const struct cie *cie;
	struct row row;
	struct row initial;
	struct row remembered[REMEMBER_DEPTH];
	unsigned depth;
	uint64_t location;
};

static void set_register(
	struct machine *m, uint64_t reg, struct location location)
{
	if (reg == REG_FP) {
		m->row.fp = location;
	} else if (reg == m->cie->return_column) {
		m->row.ra = location;
	}
}

static void restore_register(struct machine *m, uint64_t reg)
{
	if (reg == REG_FP) {
		m->row.fp = m->initial.fp;
	} else if (reg == m->cie->return_column) {
		m->row.ra = m->initial.ra;
	}
}

static struct cursor sub_block(struct cursor *c)
{
	uint64_t length = get_uleb(c);
	struct cursor block = *c;

	if (length > c->end - c->at) {
		c->bad = true;
		length = 0;
	}
	block.end = block.at + length;
	c->at = block.end;
	return block;
}

static struct location at_cfa(int64_t offset)
{
	return (struct location){.where = AT_CFA, .offset = offset};
}

static struct location at_where(enum where where)
{
	return (struct location){.where = where};
}

static struct location at_expression(struct cursor block, uint64_t pc)
{
	struct location location = {.where = AT_SYMBOLIC};

	location.address = evaluate(block, pc);
	if (location.address.loaded || location.address.base == SYM_CONST ||
		location.address.base == SYM_OTHER) {
		location.where = AT_OTHER;
	}
	return location;
}

/*
 * One instruction that is not an advance. False: unknown, or a register whose
 * change would go unnoticed.
 */
static bool step(struct machine *m, unsigned op, struct cursor *c, uint64_t pc)
{
	int64_t align = m->cie->data_align;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x05: /* offset_extended */
		reg = get_uleb(c);
		set_register(m, reg, at_cfa((int64_t)get_uleb(c) * align));
		return true;
	case 0x11: /* offset_extended_sf */
		reg = get_uleb(c);
		set_register(m, reg, at_cfa(get_sleb(c) * align));
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = get_uleb(c);
		set_register(m, reg, at_cfa(-(int64_t)get_uleb(c) * align));
		return true;
	case 0x06: /* restore_extended */
		restore_register(m, get_uleb(c));
		return true;
	case 0x07: /* undefined */
		set_register(m, get_uleb(c), at_where(AT_UNDEFINED));
		return true;
	case 0x08: /* same_value */
		set_register(m, get_uleb(c), at_where(AT_UNCHANGED));
		return true;
	case 0x09: /* register */
		set_register(m, get_uleb(c), at_where(AT_OTHER));
		get_uleb(c);
		return true;
	case 0x0a: /* remember_state */
		if (m->depth == REMEMBER_DEPTH) {
			return false;
		}
		m->remembered[m->depth++] = m->row;
		return true;
	case 0x0b: /* restore_state */
		if (m->depth == 0) {
			return false;
		}
		m->row = m->remembered[--m->depth];
		return true;
	case 0x0c: /* def_cfa */
		reg = get_uleb(c);
		m->row.cfa = reg_plus(reg, (int64_t)get_uleb(c), pc);
		return true;
	case 0x12: /* def_cfa_sf */
		reg = get_uleb(c);
		m->row.cfa = reg_plus(reg, get_sleb(c) * align, pc);
		return true;
	case 0x0d: /* def_cfa_register */
		reg = get_uleb(c);
		m->row.cfa = reg_plus(reg, m->row.cfa.offset, pc);
		return true;
	case 0x0e: /* def_cfa_offset */
		m->row.cfa.offset = (int64_t)get_uleb(c);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		m->row.cfa.offset = get_sleb(c) * align;
		return true;
	case 0x0f: /* def_cfa_expression */
		m->row.cfa = evaluate(sub_block(c), pc);
		return true;
	case 0x10: /* expression */
		reg = get_uleb(c);
		set_register(m, reg, at_expression(sub_block(c), pc));
		return true;
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf: both are two LEB128 */
		set_register(m, get_uleb(c), at_where(AT_OTHER));
		get_uleb(c);
		return true;
	case 0x16: /* val_expression */
		set_register(m, get_uleb(c), at_where(AT_OTHER));
		sub_block(c);
		return true;
	case 0x2d: /* AARCH64_negate_ra_state: the walker strips signatures */
		return true;
	case 0x2e: /* GNU_args_size */
		get_uleb(c);
		return true;
	default:
		return false;
	}
}

/* Run instructions for as long as they apply to pc. */
static bool run(struct machine *m, struct cursor c, uint64_t pc)
{
	while (c.at < c.end) {
		unsigned op = (unsigned)get(&c, 1);
		uint64_t delta = 0;

		if (op >= 0xc0) { /* restore */
			restore_register(m, op & 0x3f);
			continue;
		}
		if (op >= 0x80) { /* offset */
			set_register(m, op & 0x3f,
				at_cfa((int64_t)get_uleb(&c) *
					m->cie->data_align));
			continue;
		}
		if (op >= 0x40) { /* advance_loc */
			delta = op & 0x3f;
		} else if (op >= 0x02 && op <= 0x04) { /* advance_loc1,2,4 */
			delta = get(&c, 1u << (op - 2));
		} else if (op == 0x01) { /* set_loc */
			m->location = get_encoded(&c, m->cie->encoding, 0);
			if (m->location > pc) {
				return !c.bad;
			}
			continue;
		} else {
			if (!step(m, op, &c, pc) || c.bad) {
				return false;
			}
			continue;
		}
		m->location += delta * m->cie->code_align;
		if (m->location > pc) {
			return !c.bad;
		}
	}
	return !c.bad;
}

/* ---- the result ---- */

static const struct unwind_rule other = {.kind = RULE_OTHER};

static bool fits(int64_t offset, unsigned bits)
{
	return offset >= -((int64_t)1 << (bits - 1)) &&
	       offset < (int64_t)1 << (bits - 1);
}

/* Where a register was saved, as base and offset. False: not of that form. */
static bool convert(
	const struct location *l, unsigned bits, uint8_t *base, int64_t *offset)
{
	*offset = l->offset;
	switch (l->where) {
	case AT_UNCHANGED:
		*base = RULE_SAME;
		return true;
	case AT_CFA:
		*base = RULE_CFA;
		break;
	case AT_SYMBOLIC:
		*base = l->address.base == SYM_SP ? RULE_SP : RULE_FP;
		*offset = l->address.offset;
		break;
	default:
		return false;
	}
	return fits(*offset, bits);
}

static struct unwind_rule convert_row(const struct row *row, bool signal)
{
	struct unwind_rule rule = {.kind = RULE_FRAME};
	int64_t ra, fp;

	if (row->ra.where == AT_UNDEFINED) {
		rule.kind = RULE_END;
		return rule;
	}
	if (row->cfa.base != SYM_SP && row->cfa.base != SYM_FP) {
		return other;
	}
	if (!fits(row->cfa.offset, 32) ||
		!convert(&row->ra, 24, &rule.ra_base, &ra) ||
		!convert(&row->fp, 32, &rule.fp_base, &fp)) {
		return other;
	}
	rule.cfa_base = row->cfa.base == SYM_SP ? RULE_SP : RULE_FP;
	rule.cfa_offset = (int32_t)row->cfa.offset;
	rule.ra_offset = (int32_t)ra;
	rule.fp_offset = (int32_t)fp;
	rule.flags = (uint8_t)((row->cfa.loaded ? RULE_DEREF : 0) |
			       (signal ? RULE_SIGNAL : 0));
	return rule;
}

struct unwind_rule cfi_rule(
	uint64_t pc, const void *header, uint64_t start, uint64_t end)
{
	const struct unwind_rule none = {.kind = RULE_NONE};
	uint64_t at = find_fde(pc, (uint64_t)(uintptr_t)header, end);
	struct machine m = {0};
	struct cursor c;
	struct cie cie;
	uint64_t id_at;
	uint64_t id;

	if (at < start || at >= end || !open_entry(at, end, &c)) {
		return none;
	}
	id_at = c.at;
	id = get(&c, 4);
	if (id == 0 || !read_cie(id_at - id, start, end, &cie)) {
		return none;
	}

	uint64_t first = get_encoded(&c, cie.encoding, 0);
	uint64_t length = get_encoded(&c, cie.encoding & 0x0f, 0);

	if (c.bad || pc < first || pc - first >= length) {
		return none;
	}
	if (cie.has_data) {
		uint64_t skip = get_uleb(&c);

		if (skip > c.end - c.at) {
			return none;
		}
		c.at += skip;
	}
	m.cie = &cie;
	m.location = first;
	m.row.cfa.base = SYM_OTHER;
	if (!run(&m, cie.program, UINT64_MAX)) {
		return other;
	}
	m.initial = m.row;
	m.location = first;
	if (!run(&m, c, pc)) {
		return other;
	}
	return convert_row(&m.row, cie.signal);
}
