/* SPDX-License-Identifier: MIT */
/* json_number.c - a floating point number as JSON text */
#include <math.h>
#include <stdio.h>

#include "core/base.h"
#include "core/json_number.h"

enum {
	DIGITS_MAX = 17, /* tell any two doubles apart */
	POINT_MAX = 16,  /* the point at most so far right, or left, of the first digit */
	POINT_MIN = -5,
};

/* Digits without point or trailing zero, and the point's place: value = 0.DIGITS * 10^point. */
struct decimal {
	char digits[DIGITS_MAX + 1];
	int len, point;
};

/* The first precision whose text reads back the same. Written in the locale "C", as this program is. */
static void find_shortest(struct decimal *d, double value)
{
	char text[JSON_NUMBER_TEXT];
	int precision = 0;

	do
		snprintf(text, sizeof(text), "%.*e", precision, value);
	while (strtod(text, NULL) != value && ++precision < DIGITS_MAX);
	d->digits[0] = text[0];
	memcpy(d->digits + 1, text + 2, (size_t)precision);
	d->len = precision + 1;
	d->point = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
	while (d->len > 1 && d->digits[d->len - 1] == '0')
		d->len--;
	d->digits[d->len] = '\0';
}

static void lay_out(char *out, size_t size, const struct decimal *d)
{
	int before = d->point > 0 ? d->point : 0;

	if (d->point > POINT_MAX || d->point <= POINT_MIN)
		snprintf(out, size, "%.1s%s%se%d", d->digits, d->len > 1 ? "." : "", d->digits + 1,
			 d->point - 1);
	else if (before >= d->len)
		snprintf(out, size, "%s%.*s.0", d->digits, before - d->len, "0000000000000000");
	else if (before)
		snprintf(out, size, "%.*s.%s", before, d->digits, d->digits + before);
	else
		snprintf(out, size, "0.%.*s%s", -d->point, "00000", d->digits);
}

const char *json_number(char *out, double value)
{
	char *to = out;
	struct decimal d;

	if (!isfinite(value))
		BUG("a number that JSON does not have");
	if (signbit(value))
		*to++ = '-';
	find_shortest(&d, fabs(value));
	if (value == 0)
		d.point = 1;
	lay_out(to, (size_t)(out + JSON_NUMBER_TEXT - to), &d);
	return out;
}
