/* SPDX-License-Identifier: MIT */
/* test_token.c - what a mount of bpffs delegates, and what it does not */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* error.h has one, too */

#include "core/base.h"

#include "applets/memtrack/token.h"

static void check(const char *options, const char *expected)
{
	struct buf text = BUF_INIT;

	buf_addstr(&text, "");
	token_missing(options, &text);
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

#define CMDS "delegate_cmds=map_create:prog_load:btf_load"
#define MAPS "delegate_maps=hash:array:ringbuf:task_storage"
#define PROGS "delegate_progs=socket_filter:kprobe:raw_tracepoint:tracing"
#define ATTACHS "delegate_attachs=cgroup_inet_ingress:trace_raw_tp:trace_uprobe_multi"

static void test_whole(void **state UNUSED)
{
	check("rw,uid=64321," CMDS "," MAPS "," PROGS "," ATTACHS, "");
	check("rw,delegate_cmds=any,delegate_maps=any,delegate_progs=any,delegate_attachs=any\n", "");
	check("rw,delegate_cmds=0x40021,delegate_maps=0x28000006," PROGS "," ATTACHS, "");
	check("rw,delegate_cmds=0xffffffffffffffff,delegate_maps=hash:0x28000000:array," PROGS "," ATTACHS, "");
}

static void test_partial(void **state UNUSED)
{
	check("rw," MAPS "," PROGS "," ATTACHS, "delegate_cmds=map_create:prog_load:btf_load");
	check("rw," CMDS ",delegate_maps=hash:ringbuf," PROGS "," ATTACHS,
	      "delegate_maps=array:task_storage");
	check("rw,delegate_cmds=any,delegate_maps=any",
	      "delegate_progs=socket_filter:kprobe:tracing "
	      "delegate_attachs=cgroup_inet_ingress:trace_raw_tp:trace_uprobe_multi");
	check("", "delegate_cmds=map_create:prog_load:btf_load "
		  "delegate_maps=hash:array:ringbuf:task_storage "
		  "delegate_progs=socket_filter:kprobe:tracing "
		  "delegate_attachs=cgroup_inet_ingress:trace_raw_tp:trace_uprobe_multi");
}

/* Names that only begin like one, and other options that end like one. */
static void test_near(void **state UNUSED)
{
	check("delegate_cmds=map_create_x:prog_load:btf_load," MAPS "," PROGS "," ATTACHS,
	      "delegate_cmds=map_create");
	check("xdelegate_cmds=any," MAPS "," PROGS "," ATTACHS,
	      "delegate_cmds=map_create:prog_load:btf_load");
	check("delegate_cmds=," MAPS "," PROGS "," ATTACHS,
	      "delegate_cmds=map_create:prog_load:btf_load");
	check("delegate_cmds=:any:," MAPS "," PROGS "," ATTACHS, "");
	check("delegate_cmds", "delegate_cmds=map_create:prog_load:btf_load "
			       "delegate_maps=hash:array:ringbuf:task_storage "
			       "delegate_progs=socket_filter:kprobe:tracing "
			       "delegate_attachs=cgroup_inet_ingress:trace_raw_tp:trace_uprobe_multi");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
