/* SPDX-License-Identifier: MIT */
/* text.c - bytes of any kind as valid UTF-8 */
#include "core/base.h"
#include "core/text.h"

/* What may follow which first byte: RFC 3629, section 4, without overlong forms and surrogates. */
static const struct sequence {
	unsigned char first, last;   /* of the first byte */
	unsigned char low, high;     /* of the second */
	unsigned char len;
} sequences[] = {
	{0xc2, 0xdf, 0x80, 0xbf, 2},
	{0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3},
	{0xed, 0xed, 0x80, 0x9f, 3},
	{0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4},
	{0xf1, 0xf3, 0x80, 0xbf, 4},
	{0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Unsafe on a terminal though valid: they move the cursor, break or reorder the line. */
static const struct range {
	uint32_t first, last;
} unprintable[] = {
	{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},
	{0x2028, 0x202e}, {0x2066, 0x2069},
};

static const struct sequence *sequence_of(unsigned char first)
{
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++)
		if (first >= sequences[i].first && first <= sequences[i].last)
			return &sequences[i];
	return NULL;
}

size_t text_sequence(const char *s, size_t len)
{
	const unsigned char *byte = (const unsigned char *)s;
	const struct sequence *sequence;

	if (len && byte[0] < 0x80) /* nearly all text there is */
		return 1;
	sequence = len ? sequence_of(byte[0]) : NULL;
	if (!sequence || sequence->len > len)
		return 0;
	if (byte[1] < sequence->low || byte[1] > sequence->high)
		return 0;
	for (size_t i = 2; i < sequence->len; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
	return sequence->len;
}

bool text_is_utf8(const char *s, size_t len)
{
	for (size_t at = 0, step; at < len; at += step) {
		step = text_sequence(s + at, len - at);
		if (!step)
			return false;
	}
	return true;
}

/* The code point of a valid sequence. */
static uint32_t code_point(const char *s, size_t len)
{
	static const unsigned char payload[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)s[0] & payload[len];

	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)s[i] & 0x3f);
	return code;
}

static bool is_printable(const char *s, size_t len)
{
	uint32_t code = code_point(s, len);

	for (size_t i = 0; i < ARRAY_SIZE(unprintable); i++)
		if (code >= unprintable[i].first && code <= unprintable[i].last)
			return false;
	return true;
}

static void add_hex(struct buf *to, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_printf(to, "\\x%02x", (unsigned char)bytes[i]);
}

void text_escape(const char *bytes, size_t len, struct buf *to)
{
	buf_addstr(to, "");
	for (size_t at = 0, step; at < len; at += step) {
		step = text_sequence(bytes + at, len - at);
		if (!step)
			add_hex(to, bytes + at, step = 1);
		else if (bytes[at] == '\\')
			buf_addstr(to, "\\\\");
		else
			buf_add(to, bytes + at, step);
	}
}

void text_printable(const char *bytes, size_t len, struct buf *to)
{
	buf_addstr(to, "");
	for (size_t at = 0, step; at < len; at += step) {
		step = text_sequence(bytes + at, len - at);
		if (!step)
			add_hex(to, bytes + at, step = 1);
		else if (!is_printable(bytes + at, step))
			add_hex(to, bytes + at, step);
		else
			buf_add(to, bytes + at, step);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that "\xHH" at `s` stands for, -1 if it is no such thing. ASCII is never written so. */
static int escaped_byte(const char *s, size_t len)
{
	int high, low;

	if (len < 4 || s[0] != '\\' || s[1] != 'x')
		return -1;
	high = hex_digit(s[2]);
	low = hex_digit(s[3]);
	return high < 8 || low < 0 ? -1 : high << 4 | low;
}

char *text_escape_dup(const char *bytes)
{
	struct buf text = BUF_INIT;

	text_escape(bytes, strlen(bytes), &text);
	return buf_detach(&text);
}

void text_unescape(const char *text, size_t len, struct buf *to)
{
	buf_addstr(to, "");
	for (size_t at = 0; at < len; at++) {
		int byte = escaped_byte(text + at, len - at);

		if (byte >= 0) {
			buf_addch(to, (char)byte);
			at += 3;
			continue;
		}
		buf_addch(to, text[at]);
		if (text[at] == '\\' && at + 1 < len && text[at + 1] == '\\')
			at++;
	}
}

/* Steps over a byte that belongs to no sequence as well. */
static size_t character(const char *s, size_t len)
{
	size_t step = text_sequence(s, len);

	return step ? step : 1;
}

size_t text_cut(const char *s, size_t len, size_t max)
{
	size_t at = 0;

	while (at < len) {
		size_t step = character(s + at, len - at);

		if (step > max - at)
			break;
		at += step;
	}
	return at;
}

size_t text_width(const char *s, size_t len)
{
	size_t width = 0;

	for (size_t at = 0; at < len; at += character(s + at, len - at))
		width++;
	return width;
}

size_t text_fit(const char *s, size_t len, size_t columns)
{
	size_t at = 0;

	while (at < len && columns--)
		at += character(s + at, len - at);
	return at;
}
