/* SPDX-License-Identifier: MIT */
/* walltime_options.c - the options that exec and exec-harness share */
#include "core/base.h"
#include "core/units.h"
#include "core/walltime_options.h"

static int check_duration(const struct opt *row UNUSED, const char *text, void *member UNUSED)
{
	uint64_t ns;

	return parse_duration(text, &ns);
}

#define DURATION(name_, member_, help_)                                                 \
	OPT_STRING(0, name_, struct walltime_options, member_, .meta = "DURATION",      \
		   .flags = OPT_HIDDEN, .parse = check_duration, .help = (help_))

/* Not in the help while walltime mode is refused. */
const struct opt walltime_option_rows[] = {
	DURATION("warmup-time", warmup_time, "run unmeasured rounds for this long (0: none)"),
	DURATION("max-time", max_time, "stop measuring at the first round that ends past this"),
	DURATION("min-time", min_time, "measure at least this long"),
	OPT_UINT(0, "max-rounds", struct walltime_options, max_rounds, .meta = "COUNT",
		 .flags = OPT_HIDDEN,
		 .help = "at most this many rounds"),
	OPT_UINT(0, "min-rounds", struct walltime_options, min_rounds, .meta = "COUNT",
		 .flags = OPT_HIDDEN,
		 .help = "at least this many rounds"),
	OPT_END
};
