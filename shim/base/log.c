/* SPDX-License-Identifier: MIT */
/*
 * log.c - a line on stderr without stdio, and the failure of AMUX_CHECK.
 */
#include "log.h"

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "os.h"

/* Where formatted characters go; what does not fit is dropped. */
struct out {
	char *buf;
	size_t size;
	size_t len;
};

static void put_char(struct out *out, char c)
{
	if (out->len + 1 < out->size) {
		out->buf[out->len++] = c;
	}
}

static void put_string(struct out *out, const char *s)
{
	for (s = s ? s : "(null)"; *s; s++) {
		put_char(out, *s);
	}
}

static void put_number(struct out *out, uint64_t n, unsigned base)
{
	char digits[24];
	int count = 0;

	do {
		digits[count++] = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	while (count) {
		put_char(out, digits[--count]);
	}
}

size_t log_vformat(char *buf, size_t size, const char *format, va_list args)
{
	struct out out = {.buf = buf, .size = size};

	for (const char *f = format; *f; f++) {
		bool wide = false;

		if (*f != '%') {
			put_char(&out, *f);
			continue;
		}
		for (f++; *f == 'l' || *f == 'z'; f++) {
			wide = true;
		}
		switch (*f) {
		case 's':
			put_string(&out, va_arg(args, const char *));
			break;
		case 'c':
			put_char(&out, (char)va_arg(args, int));
			break;
		case 'd': {
			int64_t n =
				wide ? va_arg(args, long) : va_arg(args, int);

			if (n < 0) {
				put_char(&out, '-');
			}
			put_number(&out, n < 0 ? 0 - (uint64_t)n : (uint64_t)n,
				10);
			break;
		}
		case 'u':
		case 'x':
			put_number(&out,
				wide ? va_arg(args, unsigned long)
				     : va_arg(args, unsigned),
				*f == 'x' ? 16 : 10);
			break;
		case 'p':
			put_string(&out, "0x");
			put_number(&out, (uintptr_t)va_arg(args, void *), 16);
			break;
		case '\0':
			f--; /* a lone '%' at the end */
			break;
		default:
			put_char(&out, *f);
		}
	}
	if (size) {
		buf[out.len] = '\0';
	}
	return out.len;
}

size_t log_format(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	size_t len;

	va_start(args, format);
	len = log_vformat(buf, size, format, args);
	va_end(args);
	return len;
}

void log_line(const char *format, ...)
{
	static const char prefix[] = "allocmux: ";
	enum { PREFIX = sizeof(prefix) - 1 };
	char line[1024];
	size_t len;
	va_list args;

	__builtin_memcpy(line, prefix, PREFIX);
	va_start(args, format);
	/* One byte is kept for the newline, which replaces the terminator. */
	len = PREFIX +
	      log_vformat(line + PREFIX, sizeof(line) - PREFIX, format, args);
	va_end(args);
	line[len++] = '\n';
	os_write_all(2, line, len);
}

void check_failed(const char *file, int line, const char *expression)
{
	log_line("%s:%d: check failed: %s", file, line, expression);
	os_abort();
}
