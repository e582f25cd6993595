/* SPDX-License-Identifier: MIT */
/* config.c - what concerns codspeed.yml itself */
//config:config CONFIG
//config:	bool "config (8 kb)"
//config:	default y
//config:	select LIB_YYJSON
//config:	select LIB_YAML
//config:	help
//config:	  `codspeed config schema` prints a JSON schema of codspeed.yml for
//config:	  editors.
//command:IF_CONFIG(COMMAND("config", NULL, config_main, PRIV_DROP, "print the JSON schema of codspeed.yml"))
//usage:schema
//example:codspeed config schema >codspeed.schema.json
#include "applet_prototypes.h"
#include "core/base.h"
#include "core/exit_code.h"
#include "core/io.h"
#include "core/opts.h"

#include "applets/runner/project/project.h"

static const struct opt rows[] = {
	OPT_END
};

int config_main(int argc, char **argv)
{
	struct buf schema = BUF_INIT;
	struct opts_args args;

	opts_parse(rows, NULL, argc, argv, OPTS_INTERLEAVED, &args);
	args_expect(&args, 1, 1);
	if (!str_eq(args.words[0], "schema"))
		die_usage("unknown word '%s'; there is 'codspeed config schema'", args.words[0]);
	project_schema(&schema);
	output_text(schema.data, schema.len);
	buf_release(&schema);
	args_release(&args);
	return EXIT_DONE;
}
