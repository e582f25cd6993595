/* SPDX-License-Identifier: MIT */
/* elf_dynamic.c - an ELF file as its loader sees it */
#include <unistd.h>

#include "core/base.h"
#include "core/elf_dynamic.h"

enum {
	TABLE_MOST = 256 * 1024 * 1024, /* bytes of a table; a damaged file may claim any number */
	GNU_HASH_HEAD = 4,              /* words before the filter */
	WORD = 4,
	CHUNK = 64 * 1024,
};

/* What the entries of the dynamic segment say; addresses, 0 for none. */
struct places {
	uint64_t symbols, strings, strings_size, hash, gnu_hash;
	uint64_t relocations, relocations_size, plt, plt_size;
};

/* A claim is not believed: memory follows what there is. */
static void read_at(int fd, uint64_t offset, uint64_t len, struct buf *to)
{
	uint64_t left = len < TABLE_MOST ? len : TABLE_MOST;

	while (left) {
		size_t most = left < CHUNK ? (size_t)left : CHUNK;
		ssize_t n = pread(fd, buf_reserve(to, most), most, (off_t)(offset + to->len));

		if (n <= 0)
			return;
		to->len += (size_t)n;
		left -= (uint64_t)n;
	}
}

/* The bytes from an address to the end of what the file has for its segment, at most `len`. */
static void read_bytes(const struct elf_dynamic *d, int fd, uint64_t address, uint64_t len,
		       struct buf *to)
{
	buf_clear(to);
	for (size_t i = 0; address && i < d->loads.len; i++) {
		const Elf64_Phdr *load = &d->loads.items[i];
		uint64_t skip = address - load->p_vaddr, most;

		if (address < load->p_vaddr || skip >= load->p_filesz ||
		    skip > INT64_MAX / 2 || load->p_offset > INT64_MAX / 2 - TABLE_MOST)
			continue;
		most = load->p_filesz - skip;
		read_at(fd, load->p_offset + skip, most < len ? most : len, to);
		return;
	}
}

static void take_entry(struct places *p, const Elf64_Dyn *entry)
{
	uint64_t value = entry->d_un.d_val;

	switch (entry->d_tag) {
	case DT_SYMTAB: p->symbols = value; break;
	case DT_STRTAB: p->strings = value; break;
	case DT_STRSZ: p->strings_size = value; break;
	case DT_HASH: p->hash = value; break;
	case DT_GNU_HASH: p->gnu_hash = value; break;
	case DT_RELA: p->relocations = value; break;
	case DT_RELASZ: p->relocations_size = value; break;
	case DT_JMPREL: p->plt = value; break;
	case DT_PLTRELSZ: p->plt_size = value; break;
	}
}

static struct places find_places(const struct elf_dynamic *d, int fd)
{
	struct places p = {0};
	struct buf bytes = BUF_INIT;
	Elf64_Dyn entry;

	read_bytes(d, fd, d->segment.p_vaddr, d->segment.p_filesz, &bytes);
	for (size_t at = 0; at + sizeof(entry) <= bytes.len; at += sizeof(entry)) {
		memcpy(&entry, bytes.data + at, sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		take_entry(&p, &entry);
	}
	buf_release(&bytes);
	return p;
}

/* 0 past the end. */
static uint32_t word(const struct buf *bytes, uint64_t index)
{
	uint32_t value = 0;

	if (index < bytes->len / WORD)
		memcpy(&value, bytes->data + index * WORD, WORD);
	return value;
}

/*
 * Only the hash tables tell how many symbols there are. In a GNU one the last symbol is at the end
 * of the chain that begins last; those before its first are not in it.
 */
static uint64_t count_symbols(const struct elf_dynamic *d, int fd, const struct places *p)
{
	struct buf bytes = BUF_INIT;
	uint64_t count = 0, buckets, first, filter, chains;

	read_bytes(d, fd, p->gnu_hash, UINT64_MAX, &bytes);
	if (bytes.len) {
		buckets = word(&bytes, 0);
		first = word(&bytes, 1);
		filter = word(&bytes, 2) * (sizeof(uint64_t) / WORD);
		chains = GNU_HASH_HEAD + filter + buckets;
		for (uint64_t i = 0; i < buckets && i < bytes.len / WORD; i++)
			if (word(&bytes, GNU_HASH_HEAD + filter + i) > count)
				count = word(&bytes, GNU_HASH_HEAD + filter + i);
		while (count >= first && chains + count - first < bytes.len / WORD &&
		       !(word(&bytes, chains + count - first) & 1))
			count++;
		count = count >= first ? count + 1 : first;
	} else {
		read_bytes(d, fd, p->hash, 2 * WORD, &bytes);
		count = word(&bytes, 1); /* of chains */
	}
	buf_release(&bytes);
	return count;
}

static void read_relocations(struct elf_dynamic *d, int fd, uint64_t address, uint64_t len)
{
	struct buf bytes = BUF_INIT;
	Elf64_Rela relocation;

	read_bytes(d, fd, address, len, &bytes);
	for (size_t at = 0; at + sizeof(relocation) <= bytes.len; at += sizeof(relocation)) {
		memcpy(&relocation, bytes.data + at, sizeof(relocation));
		vec_push(&d->relocations, relocation);
	}
	buf_release(&bytes);
}

void elf_dynamic_read(struct elf_dynamic *d, int fd)
{
	struct places p = find_places(d, fd);
	struct buf bytes = BUF_INIT;
	Elf64_Sym symbol;

	read_bytes(d, fd, p.symbols, count_symbols(d, fd, &p) * sizeof(symbol), &bytes);
	for (size_t at = 0; at + sizeof(symbol) <= bytes.len; at += sizeof(symbol)) {
		memcpy(&symbol, bytes.data + at, sizeof(symbol));
		vec_push(&d->symbols, symbol);
	}
	buf_release(&bytes);
	read_bytes(d, fd, p.strings, p.strings_size, &d->strings);
	buf_addch(&d->strings, '\0');
	read_relocations(d, fd, p.relocations, p.relocations_size);
	read_relocations(d, fd, p.plt, p.plt_size);
}

void elf_dynamic_release(struct elf_dynamic *d)
{
	vec_release(&d->loads);
	vec_release(&d->symbols);
	vec_release(&d->relocations);
	buf_release(&d->strings);
}
