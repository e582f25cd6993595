/* SPDX-License-Identifier: MIT */
/* fuzz_memtrack_supplement.c - any bytes as a supplement: read or refused with a reason */
#include "core/base.h"
#include "core/memtrack_supplement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char ending[] = "\nend\n";
	struct supplement s = SUPPLEMENT_INIT;
	int rc = supplement_decode(&s, "input", (const char *)data, size);

	if (!rc == (*error_text() != '\0'))
		BUG("refused without a reason, or read with one");
	if (!rc && !memmem(data, size, ending, strlen(ending)))
		BUG("a file without an end was taken for whole");
	if (s.lives.len > size / strlen("exit 0 0\n"))
		BUG("more ends than lines");
	error_clear();
	supplement_release(&s);
	return 0;
}
