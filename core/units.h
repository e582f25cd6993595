/* SPDX-License-Identifier: MIT */
/* units.h - durations, counts and sizes as text, both ways; whole numbers throughout */
#ifndef CORE_UNITS_H
#define CORE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * A duration in nanoseconds: a plain number is seconds ("1.5", "1e-3"), else spans that are added
 * ("1h30m", "1.5 s", "20 min 17 nsec"; units from ns to y, a fraction must be whole nanoseconds).
 * A sum past 64 bits is UINT64_MAX; negative, nan and inf are refused. 0 or -EINVAL with a frame
 * that says what was expected, not what was given.
 */
int parse_duration(const char *text, uint64_t *ns);

/* Decimal digits, "+" allowed in front. 0, -EINVAL, or -ERANGE past 64 bits, with a frame. */
int parse_uint64(const char *text, uint64_t *value);

/*
 * Text for people. Each writes into `out`, at least UNIT_TEXT bytes, and returns it:
 *
 *	printf("%s\n", format_duration((char[UNIT_TEXT]){0}, ns));
 */
enum { UNIT_TEXT = 32 };

const char *format_duration(char *out, uint64_t ns);  /* 12ms, 3.4s, 2m 05s, 1h 02m, 3d 04h */
const char *format_time(char *out, uint64_t ns);      /* 512ns, 494.3us, 1.234ms, 12.05s: 4 digits */
const char *format_count(char *out, uint64_t n);      /* 1,234,567 */
const char *format_bytes(char *out, uint64_t bytes);  /* 512 B, 1.5 KB, 1.23 MB; 1 KB = 1024 B */

#endif
