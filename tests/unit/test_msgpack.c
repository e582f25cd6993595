/* SPDX-License-Identifier: MIT */
/* test_msgpack.c - every form read, the smallest written; cut, damaged and deep input */
#include "core/msgpack.h"
#include "tests/unit/vectors.h"

static struct msgpack_reader over(const struct buf *b)
{
	const uint8_t *from = (const uint8_t *)(b->data ? b->data : "");

	return (struct msgpack_reader){from, from + b->len};
}

static void expect_uint(uint64_t value, const char *hex)
{
	struct buf got = BUF_INIT, expected = BUF_INIT;
	struct msgpack_reader r;
	uint64_t back;

	parse_hex(hex, &expected);
	msgpack_add_uint(&got, value);
	expect_bytes(&got, expected.data, expected.len);
	r = over(&got);
	assert_int_equal(msgpack_read_u64(&r, &back), 0);
	assert_true(back == value && r.at == r.end);
	buf_release(&got);
	buf_release(&expected);
}

static void expect_int(int64_t value, const char *hex)
{
	struct buf got = BUF_INIT, expected = BUF_INIT;
	struct msgpack_reader r;
	int64_t back;

	parse_hex(hex, &expected);
	msgpack_add_int(&got, value);
	expect_bytes(&got, expected.data, expected.len);
	r = over(&got);
	assert_int_equal(msgpack_read_i64(&r, &back), 0);
	assert_true(back == value && r.at == r.end);
	buf_release(&got);
	buf_release(&expected);
}

static void integers_take_the_smallest_form(void **state UNUSED)
{
	expect_uint(0, "00");
	expect_uint(127, "7f");
	expect_uint(128, "cc 80");
	expect_uint(255, "cc ff");
	expect_uint(256, "cd 01 00");
	expect_uint(65535, "cd ff ff");
	expect_uint(65536, "ce 00 01 00 00");
	expect_uint(UINT32_MAX, "ce ff ff ff ff");
	expect_uint(1ull << 32, "cf 00 00 00 01 00 00 00 00");
	expect_uint(UINT64_MAX, "cf ff ff ff ff ff ff ff ff");
	expect_int(127, "7f");
	expect_int(200, "cc c8");
	expect_int(INT64_MAX, "cf 7f ff ff ff ff ff ff ff");
	expect_int(-1, "ff");
	expect_int(-32, "e0");
	expect_int(-33, "d0 df");
	expect_int(-128, "d0 80");
	expect_int(-129, "d1 ff 7f");
	expect_int(-32768, "d1 80 00");
	expect_int(-32769, "d2 ff ff 7f ff");
	expect_int(INT32_MIN, "d2 80 00 00 00");
	expect_int((int64_t)INT32_MIN - 1, "d3 ff ff ff ff 7f ff ff ff");
	expect_int(INT64_MIN, "d3 80 00 00 00 00 00 00 00");
}

static void expect_head(uint8_t *(*write)(uint8_t *, uint32_t), uint32_t n, const char *hex)
{
	uint8_t room[MSGPACK_HEAD_MAX];
	struct buf got = BUF_INIT, expected = BUF_INIT;

	parse_hex(hex, &expected);
	buf_add(&got, room, (size_t)(write(room, n) - room));
	expect_bytes(&got, expected.data, expected.len);
	buf_release(&got);
	buf_release(&expected);
}

static void so_do_lengths_and_counts(void **state UNUSED)
{
	expect_head(msgpack_str_head, 0, "a0");
	expect_head(msgpack_str_head, 31, "bf");
	expect_head(msgpack_str_head, 32, "d9 20");
	expect_head(msgpack_str_head, 255, "d9 ff");
	expect_head(msgpack_str_head, 256, "da 01 00");
	expect_head(msgpack_str_head, 65535, "da ff ff");
	expect_head(msgpack_str_head, 65536, "db 00 01 00 00");
	expect_head(msgpack_array_head, 0, "90");
	expect_head(msgpack_array_head, 15, "9f");
	expect_head(msgpack_array_head, 16, "dc 00 10");
	expect_head(msgpack_array_head, 65535, "dc ff ff");
	expect_head(msgpack_array_head, 65536, "dd 00 01 00 00");
	expect_head(msgpack_map_head, 15, "8f");
	expect_head(msgpack_map_head, 16, "de 00 10");
	expect_head(msgpack_map_head, UINT32_MAX, "df ff ff ff ff");
}

/* One value from these bytes; all of them belong to it. */
static struct msgpack_value read_hex(const char *hex, struct buf *bytes)
{
	struct msgpack_value v;
	struct msgpack_reader r;

	buf_clear(bytes);
	parse_hex(hex, bytes);
	r = over(bytes);
	assert_int_equal(msgpack_read(&r, &v), 0);
	assert_true(r.at == r.end);
	return v;
}

static void expect_content(const char *hex, enum msgpack_type type, const char *content, int kind)
{
	struct buf bytes = BUF_INIT;
	struct msgpack_value v = read_hex(hex, &bytes);

	assert_int_equal(v.type, type);
	assert_int_equal(v.bytes.len, strlen(content));
	assert_memory_equal(v.bytes.data, content, v.bytes.len);
	if (type == MSGPACK_EXT)
		assert_int_equal(v.bytes.kind, kind);
	buf_release(&bytes);
}

static void every_form_is_read(void **state UNUSED)
{
	struct buf b = BUF_INIT;

	assert_int_equal(read_hex("c0", &b).type, MSGPACK_NIL);
	assert_int_equal(read_hex("c2", &b).type, MSGPACK_BOOL);
	assert_false(read_hex("c2", &b).truth);
	assert_true(read_hex("c3", &b).truth);
	assert_true(read_hex("ca 3f c0 00 00", &b).f == 1.5);
	assert_true(read_hex("cb c0 04 00 00 00 00 00 00", &b).f == -2.5);
	assert_int_equal(read_hex("dc 00 02", &b).count, 2);
	assert_int_equal(read_hex("dd 00 00 00 03", &b).type, MSGPACK_ARRAY);
	assert_int_equal(read_hex("de 00 04", &b).type, MSGPACK_MAP);
	assert_int_equal(read_hex("df 00 00 00 05", &b).count, 5);
	expect_content("a2 61 62", MSGPACK_STR, "ab", 0);
	expect_content("d9 02 61 62", MSGPACK_STR, "ab", 0);
	expect_content("da 00 02 61 62", MSGPACK_STR, "ab", 0);
	expect_content("db 00 00 00 02 61 62", MSGPACK_STR, "ab", 0);
	expect_content("c4 01 61", MSGPACK_BIN, "a", 0);
	expect_content("c5 00 01 61", MSGPACK_BIN, "a", 0);
	expect_content("c6 00 00 00 01 61", MSGPACK_BIN, "a", 0);
	expect_content("c7 03 05 61 62 63", MSGPACK_EXT, "abc", 5);
	expect_content("c8 00 01 ff 61", MSGPACK_EXT, "a", -1);
	expect_content("c9 00 00 00 01 07 61", MSGPACK_EXT, "a", 7);
	expect_content("d4 01 61", MSGPACK_EXT, "a", 1);
	expect_content("d5 01 61 62", MSGPACK_EXT, "ab", 1);
	expect_content("d6 01 61 62 63 64", MSGPACK_EXT, "abcd", 1);
	expect_content("d7 80 61 62 63 64 65 66 67 68", MSGPACK_EXT, "abcdefgh", -128);
	expect_content("d8 01 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61", MSGPACK_EXT,
		       "aaaaaaaaaaaaaaaa", 1);
	buf_release(&b);
}

/* Producers may use wider forms than they need. */
static void wide_integers_are_the_same_numbers(void **state UNUSED)
{
	static const char *const sevens[] = {"07", "cc 07", "cd 00 07", "ce 00 00 00 07",
		"cf 00 00 00 00 00 00 00 07", "d0 07", "d1 00 07", "d2 00 00 00 07",
		"d3 00 00 00 00 00 00 00 07"};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(sevens); i++) {
		struct msgpack_value v = read_hex(sevens[i], &b);

		assert_int_equal(v.type, MSGPACK_UINT);
		assert_int_equal(v.u, 7);
	}
	assert_int_equal(read_hex("d3 ff ff ff ff ff ff ff ff", &b).i, -1);
	assert_int_equal(read_hex("d2 80 00 00 00", &b).i, INT32_MIN);
	buf_release(&b);
}

static void another_type_moves_nothing(void **state UNUSED)
{
	static const uint8_t bytes[] = {0xff, 0xa1, 'x'};
	struct msgpack_reader r = {bytes, bytes + sizeof(bytes)};
	const char *text;
	uint32_t count;
	uint64_t u;
	int64_t i;
	size_t len;

	assert_int_equal(msgpack_read_u64(&r, &u), -EINVAL);
	assert_int_equal(msgpack_read_str(&r, &text, &len), -EINVAL);
	assert_int_equal(msgpack_read_array(&r, &count), -EINVAL);
	assert_int_equal(msgpack_read_map(&r, &count), -EINVAL);
	assert_true(r.at == bytes);
	assert_int_equal(msgpack_read_i64(&r, &i), 0);
	assert_int_equal(i, -1);
	assert_int_equal(msgpack_read_i64(&r, &i), -EINVAL);
	assert_int_equal(msgpack_read_str(&r, &text, &len), 0);
	assert_int_equal(len, 1);
	assert_int_equal(msgpack_read_str(&r, &text, &len), -EAGAIN);
}

static void too_large_for_a_signed_one(void **state UNUSED)
{
	struct buf b = BUF_INIT;
	struct msgpack_reader r;
	int64_t i;

	msgpack_add_uint(&b, 1ull << 63);
	r = over(&b);
	assert_int_equal(msgpack_read_i64(&r, &i), -EINVAL);
	buf_release(&b);
}

/* Read the values in `r` and write them again. -EAGAIN at the end, which is what a stream gives. */
static int copy_values(struct msgpack_reader *r, struct buf *to)
{
	struct msgpack_value v;
	int rc;

	while (!(rc = msgpack_read(r, &v))) {
		switch (v.type) {
		case MSGPACK_UINT:
			msgpack_add_uint(to, v.u);
			break;
		case MSGPACK_INT:
			msgpack_add_int(to, v.i);
			break;
		case MSGPACK_STR:
			msgpack_add_str(to, (const char *)v.bytes.data, v.bytes.len);
			break;
		case MSGPACK_ARRAY:
			msgpack_add_array(to, v.count);
			break;
		case MSGPACK_MAP:
			msgpack_add_map(to, v.count);
			break;
		default:
			assert_int_equal(v.type, MSGPACK_STR); /* none of the others is there */
		}
	}
	return rc;
}

static const char *const recorded[] = {"msgpack/memtrack_all_kinds.raw.msgpack",
				       "msgpack/memtrack_int_widths.raw.msgpack",
				       "execution_timestamps/ExecutionTimestamps.msgpack"};

static void recorded_bytes_come_back(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(recorded); i++) {
		struct buf bytes = BUF_INIT, again = BUF_INIT;
		struct msgpack_reader r;

		read_vector(recorded[i], &bytes);
		r = over(&bytes);
		assert_int_equal(copy_values(&r, &again), -EAGAIN);
		assert_true(r.at == r.end);
		expect_bytes(&again, bytes.data, bytes.len);
		buf_release(&bytes);
		buf_release(&again);
	}
}

/* A stream in pieces of any size: what is cut waits for more and is read from its start. */
static void a_stream_in_pieces(void **state UNUSED)
{
	struct buf bytes = BUF_INIT;
	size_t expected = 0;

	read_vector(recorded[0], &bytes);
	for (size_t piece = 1; piece < bytes.len + 1; piece++) {
		struct msgpack_reader r = over(&bytes);
		size_t values = 0, given = 0;

		while (given < bytes.len) {
			given = given + piece < bytes.len ? given + piece : bytes.len;
			r.end = (const uint8_t *)bytes.data + given;
			while (!msgpack_skip(&r))
				values++;
		}
		assert_true(r.at == r.end);
		if (!expected)
			expected = values;
		assert_int_equal(values, expected);
	}
	assert_int_equal(expected, 9);
	buf_release(&bytes);
}

static void expect_cut(const char *hex)
{
	struct buf bytes = BUF_INIT;

	parse_hex(hex, &bytes);
	for (size_t len = 0; len < bytes.len; len++) {
		uint8_t *copy = xmemdup(bytes.data, len);
		struct msgpack_reader r = {copy, copy + len};

		assert_int_equal(msgpack_skip(&r), -EAGAIN);
		assert_true(r.at == copy);
		free(copy);
	}
	buf_release(&bytes);
}

static void what_is_cut_waits_for_more(void **state UNUSED)
{
	expect_cut("cf 00 00 00 00 00 00 00 01");
	expect_cut("d3 ff ff ff ff ff ff ff ff");
	expect_cut("cb 00 00 00 00 00 00 00 00");
	expect_cut("d9 03 61 62 63");
	expect_cut("c9 00 00 00 01 07 61");
	expect_cut("d8 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
	expect_cut("82 a1 61 93 01 02 c0 a1 62 dc 00 01 81 01 02");
	expect_cut("df ff ff ff ff"); /* the head alone, and its contents are not there */
	expect_cut("dd ff ff ff ff 00 00");
	expect_cut("db ff ff ff ff 00 00");
}

static void what_is_not_msgpack(void **state UNUSED)
{
	static const uint8_t bytes[] = {0x92, 0x01, 0xc1};
	struct msgpack_reader r = {bytes, bytes + sizeof(bytes)};

	assert_int_equal(msgpack_skip(&r), -EBADMSG);
	assert_true(r.at == bytes);
}

static void nesting_has_a_limit(void **state UNUSED)
{
	struct buf b = BUF_INIT;
	struct msgpack_reader r;

	for (int i = 0; i < MSGPACK_DEPTH; i++)
		msgpack_add_array(&b, 1);
	msgpack_add_uint(&b, 1);
	r = over(&b);
	assert_int_equal(msgpack_skip(&r), 0);
	assert_true(r.at == r.end);
	buf_clear(&b);
	for (int i = 0; i < MSGPACK_DEPTH + 1; i++)
		msgpack_add_map(&b, 1);
	r = over(&b);
	/* The key of the first map is the second map, and so on. */
	assert_int_equal(msgpack_skip(&r), -ELOOP);
	buf_clear(&b);
	for (int i = 0; i < 1000000; i++)
		msgpack_add_array(&b, 15);
	r = over(&b);
	assert_int_equal(msgpack_skip(&r), -ELOOP);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_take_the_smallest_form),
		cmocka_unit_test(so_do_lengths_and_counts),
		cmocka_unit_test(every_form_is_read),
		cmocka_unit_test(wide_integers_are_the_same_numbers),
		cmocka_unit_test(another_type_moves_nothing),
		cmocka_unit_test(too_large_for_a_signed_one),
		cmocka_unit_test(recorded_bytes_come_back),
		cmocka_unit_test(a_stream_in_pieces),
		cmocka_unit_test(what_is_cut_waits_for_more),
		cmocka_unit_test(what_is_not_msgpack),
		cmocka_unit_test(nesting_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
