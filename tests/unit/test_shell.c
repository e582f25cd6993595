/* SPDX-License-Identifier: MIT */
/* test_shell.c - words that people copy into a shell */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#undef fail /* error.h has one, too */

#include "core/base.h"
#include "core/shell.h"

static void test_quote(void **state UNUSED)
{
	static const char *const rows[][2] = {
		{"/usr/bin/codspeed-1.0_x", "/usr/bin/codspeed-1.0_x"},
		{"", "''"},
		{"two words", "'two words'"},
		{"$(id)", "'$(id)'"},
		{"it's", "'it'\\''s'"},
		{"'", "''\\'''"},
		{"a\nb", "'a\nb'"},
		{"\xff", "'\xff'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf text = BUF_INIT;

		shell_quote(rows[i][0], &text);
		assert_string_equal(text.data, rows[i][1]);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
