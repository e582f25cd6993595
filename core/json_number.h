/* SPDX-License-Identifier: MIT */
/* json_number.h - a floating point number as JSON text, the way Rust's serde writes it */
#ifndef CORE_JSON_NUMBER_H
#define CORE_JSON_NUMBER_H

enum { JSON_NUMBER_TEXT = 40 };

/*
 * The shortest decimal digits that read back to the same double, into `out` of JSON_NUMBER_TEXT
 * bytes, which is returned. Layout by where the point stands: "42.0" up to 16 digits in front of
 * it, "0.00001" with up to four zeros behind it, else "1.5e-7". The value must be finite.
 */
const char *json_number(char *out, double value);

#endif
