/* SPDX-License-Identifier: MIT */
/* units.c - durations, counts and sizes as text, both ways */
#include <stdio.h>

#include "core/base.h"
#include "core/units.h"

static const uint64_t second = 1000000000;

struct unit {
	uint64_t ns;
	const char *words[5];
};

static const struct unit units[] = {
	{1, {"ns", "nsec", "nanos"}},
	{1000, {"us", "usec", "\u00b5s", "\u03bcs"}}, /* micro sign, Greek mu */
	{1000000, {"ms", "msec", "millis"}},
	{second, {"s", "sec", "secs", "second", "seconds"}},
	{60 * second, {"m", "min", "mins", "minute", "minutes"}},
	{3600 * second, {"h", "hr", "hrs", "hour", "hours"}},
	{86400 * second, {"d", "day", "days"}},
	{604800 * second, {"w", "wk", "wks", "week", "weeks"}},
	{2630016 * second, {"M", "month", "months"}},
	{31557600 * second, {"y", "yr", "yrs", "year", "years"}},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A byte of a unit word; past ASCII for the micro signs. */
static bool is_unit_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static const char *skip_digits(const char *s)
{
	while (is_digit(*s))
		s++;
	return s;
}

static const char *skip_space(const char *s)
{
	while (is_space(*s))
		s++;
	return s;
}

/* Append a digit; false past 64 bits. */
static bool push_digit(uint64_t *value, unsigned digit)
{
	return !__builtin_mul_overflow(*value, 10, value) &&
	       !__builtin_add_overflow(*value, digit, value);
}

static bool read_digits(const char *from, const char *to, uint64_t *value)
{
	for (*value = 0; from < to; from++)
		if (!push_digit(value, (unsigned)(*from - '0')))
			return false;
	return true;
}

int parse_uint64(const char *text, uint64_t *value)
{
	const char *from = text + (*text == '+');
	const char *to = skip_digits(from);
	uint64_t parsed;

	if (from == to || *to)
		return fail(-EINVAL, "expected a whole number");
	if (!read_digits(from, to, &parsed))
		return fail(-ERANGE, "expected a number of at most 64 bits");
	*value = parsed;
	return 0;
}

/* The decimal exponent at `s`, if one is there; clamped far beyond anything that matters. */
static const char *read_exponent(const char *s, long *exponent)
{
	const char *digits = s + 1, *end;
	bool negative;

	*exponent = 0;
	if (*s != 'e' && *s != 'E')
		return s;
	negative = *digits == '-';
	digits += *digits == '-' || *digits == '+';
	end = skip_digits(digits);
	if (digits == end)
		return s;
	for (; digits < end; digits++)
		if (*exponent < 1000000000)
			*exponent = *exponent * 10 + (*digits - '0');
	if (negative)
		*exponent = -*exponent;
	return end;
}

/*
 * The first `wanted` digits of `from`..`to` (which may hold a point, and goes on with zeros) as a
 * number: this moves the point without floating point. Too large is UINT64_MAX.
 */
static uint64_t leading_digits(const char *from, const char *to, long wanted)
{
	uint64_t value = 0;

	while (wanted-- > 0) {
		if (from < to && *from == '.')
			from++;
		if (from >= to && !value)
			break; /* zero, with any exponent */
		if (!push_digit(&value, from < to ? (unsigned)(*from++ - '0') : 0))
			return UINT64_MAX;
	}
	return value;
}

/* `text`..`end` as a plain number of seconds, truncated to nanoseconds. */
static bool parse_seconds(const char *text, const char *end, uint64_t *ns)
{
	const char *from = text + (*text == '+');
	const char *point = skip_digits(from);
	const char *to = *point == '.' ? skip_digits(point + 1) : point;
	long exponent;

	if (!is_digit(*from) && !(*from == '.' && to > point + 1))
		return false;
	if (read_exponent(to, &exponent) != end)
		return false;
	*ns = leading_digits(from, to, point - from + exponent + 9);
	return true;
}

static const struct unit *find_unit(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		for (size_t j = 0; j < ARRAY_SIZE(units[i].words) && units[i].words[j]; j++)
			if (strlen(units[i].words[j]) == len &&
			    strncmp(units[i].words[j], word, len) == 0)
				return &units[i];
	return NULL;
}

/* The fraction digits `from`..`to` of a unit, if that is a whole number of nanoseconds. */
static bool fraction_of(const char *from, const char *to, uint64_t unit_ns, uint64_t *ns)
{
	unsigned __int128 product;
	uint64_t digits, scale = 1;

	while (to > from && to[-1] == '0')
		to--;
	if (to - from > 18) /* no unit has so many factors of 2 or 5 */
		return false;
	read_digits(from, to, &digits);
	for (; from < to; from++)
		scale *= 10;
	product = (unsigned __int128)digits * unit_ns;
	*ns = (uint64_t)(product / scale);
	return product % scale == 0;
}

static void add_saturated(uint64_t *sum, uint64_t count, uint64_t unit_ns)
{
	uint64_t ns;

	if (__builtin_mul_overflow(count, unit_ns, &ns) || __builtin_add_overflow(*sum, ns, sum))
		*sum = UINT64_MAX;
}

static int not_a_duration(void)
{
	return fail(-EINVAL, "expected seconds, or a duration such as 500ms, 1.5s or 1h 30m");
}

/* NUMBER UNIT at *text: adds it and moves *text behind it. */
static int parse_span(const char **text, uint64_t *ns)
{
	const char *number = *text, *point = skip_digits(number), *end = point, *word;
	const struct unit *unit;
	uint64_t whole, part = 0;

	if (*point == '.')
		end = skip_digits(point + 1);
	if (point == number || (*point == '.' && end == point + 1))
		return not_a_duration();
	word = skip_space(end);
	for (*text = word; is_unit_byte(**text);)
		++*text;
	if (*text == word)
		return not_a_duration();
	unit = find_unit(word, (size_t)(*text - word));
	if (!unit)
		return fail(-EINVAL, "no such unit: %.*s (there are ns us ms s m h d w M y)",
			    (int)(*text - word), word);
	if (!read_digits(number, point, &whole))
		return fail(-EINVAL, "a number does not fit 64 bits");
	if (end > point && !fraction_of(point + 1, end, unit->ns, &part))
		return fail(-EINVAL, "expected a whole number of nanoseconds");
	add_saturated(ns, whole, unit->ns);
	add_saturated(ns, part, 1);
	return 0;
}

int parse_duration(const char *text, uint64_t *ns)
{
	const char *from = skip_space(text), *end = from + strlen(from);
	uint64_t sum = 0;
	int rc;

	while (end > from && is_space(end[-1]))
		end--;
	if (from == end)
		return not_a_duration();
	if (*from == '-' && (is_digit(from[1]) || from[1] == '.'))
		return fail(-EINVAL, "a duration cannot be negative");
	if (parse_seconds(from, end, ns))
		return 0;
	while (from < end) {
		rc = parse_span(&from, &sum);
		if (rc)
			return rc;
		from = skip_space(from);
	}
	*ns = sum;
	return 0;
}

static uint64_t divide_rounded(uint64_t n, uint64_t by)
{
	return n / by + (n % by >= by - by / 2);
}

/* Two parts of a long duration: "2m 05s". */
static const char *format_pair(char *out, uint64_t n, unsigned per, const char *big,
			       const char *small)
{
	snprintf(out, UNIT_TEXT, "%llu%s %02llu%s", (unsigned long long)(n / per), big,
		 (unsigned long long)(n % per), small);
	return out;
}

static const char *format_long(char *out, uint64_t ns)
{
	uint64_t seconds = divide_rounded(ns, second);
	uint64_t minutes = divide_rounded(ns, 60 * second);

	if (seconds < 3600)
		return format_pair(out, seconds, 60, "m", "s");
	if (minutes < 24 * 60)
		return format_pair(out, minutes, 60, "h", "m");
	return format_pair(out, divide_rounded(ns, 3600 * second), 24, "d", "h");
}

/* Rounding may reach the next unit ("1000us"), so each unit is tried on the rounded figure. */
const char *format_duration(char *out, uint64_t ns)
{
	static const unsigned limits[] = {1000, 1000, 1000, 60};

	if (!ns) {
		snprintf(out, UNIT_TEXT, "0s");
		return out;
	}
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		uint64_t unit = units[i].ns, whole = divide_rounded(ns, unit);
		unsigned tenths = ns / unit < 10 ? (unsigned)divide_rounded(ns * 10, unit) : 100;

		if (whole >= limits[i])
			continue;
		if (tenths < 100 && tenths % 10)
			snprintf(out, UNIT_TEXT, "%u.%u%s", tenths / 10, tenths % 10,
				 units[i].words[0]);
		else
			snprintf(out, UNIT_TEXT, "%u%s", (unsigned)whole, units[i].words[0]);
		return out;
	}
	return format_long(out, ns);
}

/*
 * Four digits, for figures that are compared; past a thousand seconds as many as there are.
 * Rounding may reach the next unit, so each is tried on the rounded figure.
 */
const char *format_time(char *out, uint64_t ns)
{
	static const struct {
		uint64_t unit;
		const char *word;
	} scales[] = {{1, "ns"}, {1000, "us"}, {1000000, "ms"}, {1000000000, "s"}};

	for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
		uint64_t step = scales[i].unit, scaled;
		int decimals = 0;

		/* as many decimals as leave four digits, none of a nanosecond */
		while (decimals < 3 && step > 1 && ns / step < 1000) {
			step /= 10;
			decimals++;
		}
		scaled = divide_rounded(ns, step);
		if (decimals && scaled >= 10000) {
			scaled = divide_rounded(ns, step *= 10);
			decimals--;
		}
		if (scaled >= 1000 * (scales[i].unit / step) && i + 1 < ARRAY_SIZE(scales))
			continue;
		if (decimals)
			snprintf(out, UNIT_TEXT, "%llu.%0*llu%s",
				 (unsigned long long)(scaled / (scales[i].unit / step)), decimals,
				 (unsigned long long)(scaled % (scales[i].unit / step)),
				 scales[i].word);
		else
			snprintf(out, UNIT_TEXT, "%llu%s", (unsigned long long)scaled,
				 scales[i].word);
		break;
	}
	return out;
}

const char *format_count(char *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *to = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

const char *format_bytes(char *out, uint64_t bytes)
{
	static const char *const names[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	unsigned __int128 hundredths;
	size_t i = 0;
	int len;

	/* Choose by the rounded figure, so that 1048575 is 1 MB, not 1024 KB. */
	for (;; i++) {
		hundredths = (unsigned __int128)bytes * 100;
		if (i)
			hundredths = (hundredths + (1ull << (10 * i - 1))) >> (10 * i);
		if (hundredths < 102400 || i + 1 == ARRAY_SIZE(names))
			break;
	}
	len = snprintf(out, UNIT_TEXT, "%llu.%02u", (unsigned long long)hundredths / 100,
		       (unsigned)((uint64_t)hundredths % 100));
	while (out[len - 1] == '0')
		len--;
	if (out[len - 1] == '.')
		len--;
	snprintf(out + len, (size_t)(UNIT_TEXT - len), " %s", names[i]);
	return out;
}
