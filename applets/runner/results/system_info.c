/* SPDX-License-Identifier: MIT */
/* system_info.c - what the machine is, without starting a process */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "applets/runner/results/system_info.h"
#include "core/base.h"
#include "core/io.h"

/*
 * The first processor's part of /proc/cpuinfo. Not the whole file: the kernel takes its time for
 * each of hundreds of processors.
 */
static void read_first_cpu(struct buf *to)
{
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return;
	do {
		n = read(fd, buf_reserve(to, 4096), 4096);
		if (n > 0)
			to->len += (size_t)n;
		to->data[to->len] = '\0';
	} while (n > 0 && !strstr(to->data, "\n\n"));
	close(fd);
}

static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? end + 1 : NULL;
}

/* The value in the first line "KEY SEPARATOR VALUE" of `text`, a copy without quotes; or NULL. */
static char *value_dup(const char *text, const char *key, char separator)
{
	size_t key_len = strlen(key), len;

	for (; text; text = next_line(text)) {
		const char *value = text + key_len;

		if (!str_starts(text, key))
			continue;
		value += strspn(value, " \t");
		if (*value++ != separator)
			continue;
		value += strspn(value, " \t\"'");
		len = strcspn(value, "\n");
		while (len && strchr(" \t\"'", value[len - 1]))
			len--;
		return len ? xstrndup(value, len) : NULL;
	}
	return NULL;
}

static char *or_unknown(char *value)
{
	return value ? value : xstrdup("unknown");
}

static char *os_dup(void)
{
	struct buf release = BUF_INIT;
	char *id, *version, *os;

	if (read_file("/etc/os-release", &release))
		read_file("/usr/lib/os-release", &release);
	error_clear(); /* a system may have neither */
	id = value_dup(release.data, "ID", '=');
	version = value_dup(release.data, "VERSION_ID", '='); /* rolling ones have none */
	os = xasprintf("%s%s%s", id ? id : "linux", version ? " " : "", version ? version : "");
	free(id);
	free(version);
	buf_release(&release);
	return os;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void split_flags(char *flags, struct strvec *to)
{
	char *rest = flags, *flag;

	while ((flag = strsep(&rest, " ")))
		if (*flag)
			strvec_push(to, flag);
	if (to->len)
		qsort(to->items, to->len, sizeof(*to->items), compare_texts);
}

static void collect_cpu(struct result_system *system)
{
	struct buf cpu = BUF_INIT;
	char *flags;

	buf_addstr(&cpu, "");
	read_first_cpu(&cpu);
	system->cpu_model = or_unknown(value_dup(cpu.data, "model name", ':'));
	flags = value_dup(cpu.data, "flags", ':');
	if (!flags)
		flags = value_dup(cpu.data, "Features", ':'); /* Arm */
	if (flags)
		split_flags(flags, &system->cpu_flags);
	free(flags);
	buf_release(&cpu);
}

/* Of the first processor; virtual machines rarely have one. */
static char *governor_dup(void)
{
	struct buf text = BUF_INIT;
	char *governor = NULL;

	if (read_plain_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", &text))
		error_clear();
	else if (text.len && !str_is_blank(text.data))
		governor = xstrndup(text.data, strcspn(text.data, "\n"));
	buf_release(&text);
	return governor;
}

static struct measure count_cores(void)
{
	cpu_set_t allowed;
	long online;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		return MEASURE((uint64_t)CPU_COUNT(&allowed));
	online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t holds */
	return online > 0 ? MEASURE((uint64_t)online) : MEASURE_NULL;
}

static struct measure count_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? MEASURE_NULL : MEASURE((uint64_t)info.totalram * info.mem_unit);
}

/* "2.36" out of the banner "GNU C Library (...) stable release version 2.36." */
static char *version_in_banner(const char *library, size_t len)
{
	static const char mark[] = "stable release version ";
	const char *at = memmem(library, len, mark, strlen(mark));
	size_t digits = 0, left;

	if (!at)
		return NULL;
	at += strlen(mark);
	left = (size_t)(library + len - at);
	while (digits < left && ((at[digits] >= '0' && at[digits] <= '9') || at[digits] == '.'))
		digits++;
	while (digits && at[digits - 1] == '.')
		digits--;
	return digits ? xstrndup(at, digits) : NULL;
}

/* Mapped rather than read: the banner is a page of two megabytes. */
static char *glibc_version_dup(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *version = NULL;
	struct stat st;
	void *library;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		library = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (library != MAP_FAILED) {
			version = version_in_banner(library, (size_t)st.st_size);
			munmap(library, (size_t)st.st_size);
		}
	}
	close(fd);
	return version;
}

static char *find_glibc(const char *arch)
{
	static const char *const places[] = {
		"/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/lib/libc.so.6", "/usr/lib/libc.so.6",
	};
	char *multiarch = xasprintf("/lib/%s-linux-gnu/libc.so.6", arch);
	char *version = glibc_version_dup(multiarch);

	for (size_t i = 0; !version && i < ARRAY_SIZE(places); i++)
		version = glibc_version_dup(places[i]);
	free(multiarch);
	return version;
}

static char *libc_dup(const char *arch)
{
	char *musl = xasprintf("/lib/ld-musl-%s.so.1", arch);
	char *version = find_glibc(arch), *libc = NULL;

	if (version)
		libc = xasprintf("glibc %s", version);
	else if (!access(musl, F_OK))
		libc = xstrdup("musl");
	free(version);
	free(musl);
	return libc;
}

void system_info_collect(struct result_system *system, const char *valgrind)
{
	struct utsname name;
	bool known = !uname(&name);

	system->os = os_dup();
	system->arch = xstrdup(known ? name.machine : "unknown");
	system->kernel = xstrdup(known ? name.release : "unknown");
	collect_cpu(system);
	system->governor = governor_dup();
	system->cores = count_cores();
	system->memory_bytes = count_memory();
	system->libc = libc_dup(system->arch);
	system->valgrind = valgrind ? xstrdup(valgrind) : NULL;
}

char *system_info_host_dup(void)
{
	struct utsname name;

	return xstrdup(!uname(&name) && *name.nodename ? name.nodename : "unknown");
}
