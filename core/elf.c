/* SPDX-License-Identifier: MIT */
/* elf.c - executables and shared libraries; the only file that names libelf */
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#include "core/base.h"
#include "core/elf.h"
#include "core/elf_dynamic.h"
#include "core/elf_machine.h"
#include "core/vec.h"

enum { WINDOW = 4096 }; /* of code kept from the last read */

struct section {
	uint64_t address, size, offset;
	uint32_t type, link;
	bool allocated, executable;
	bool made; /* in a file without section headers: a segment, or a table of `dynamic` */
	Elf_Scn *scn;
};

/* Of a slot; `index` is its place in the table that is the section of this number. */
struct relocation {
	uint64_t slot;
	uint32_t table, index;
};

struct elf_file {
	Elf *elf;
	int fd;
	struct elf_traits traits;
	VEC(struct section) sections; /* by index; the first one is empty */
	struct elf_dynamic dynamic;   /* of a file without section headers */
	bool sections_made;
	bool relocations_read;
	VEC(struct relocation) relocations; /* by slot; once they were needed */
	uint64_t window_at;
	size_t window_len;
	unsigned char window[WINDOW];
};

/* ---- Tables, of a section or made ---- */

static bool get_symbol(struct elf_file *f, const struct section *table, uint64_t index, GElf_Sym *sym)
{
	Elf_Data *data;

	if (table->made) {
		if (index < f->dynamic.symbols.len)
			*sym = f->dynamic.symbols.items[index];
		return index < f->dynamic.symbols.len;
	}
	data = table->scn ? elf_getdata(table->scn, NULL) : NULL;
	return data && data->d_buf && index < INT32_MAX && gelf_getsym(data, (int)index, sym);
}

static const char *get_name(struct elf_file *f, const struct section *table, uint32_t at)
{
	if (!table->made)
		return elf_strptr(f->elf, table->link, at);
	return at < f->dynamic.strings.len ? f->dynamic.strings.data + at : NULL;
}

static bool get_relocation(struct elf_file *f, const struct section *table, uint64_t index,
			   GElf_Rela *rela)
{
	Elf_Data *data;

	if (table->made) {
		if (index < f->dynamic.relocations.len)
			*rela = f->dynamic.relocations.items[index];
		return index < f->dynamic.relocations.len;
	}
	data = elf_getdata(table->scn, NULL);
	return data && data->d_buf && index < INT32_MAX && gelf_getrela(data, (int)index, rela);
}

static const struct section *section_at(const struct elf_file *f, uint64_t address)
{
	for (size_t i = 1; i < f->sections.len; i++) {
		const struct section *s = &f->sections.items[i];

		if (s->allocated && s->type != SHT_NOBITS && address >= s->address &&
		    address - s->address < s->size)
			return s;
	}
	return NULL;
}

/* ---- Symbols ---- */

/* The section that holds the symbol's bytes, NULL when there are none. */
static const struct section *place_of(const struct elf_file *f, const GElf_Sym *sym)
{
	const struct section *s;

	/* Special indices (absolute, common, extended) are above all real ones. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE || !sym->st_value)
		return NULL;
	if (f->sections_made)
		return section_at(f, sym->st_value);
	if (sym->st_shndx >= f->sections.len)
		return NULL;
	s = &f->sections.items[sym->st_shndx];
	if (s->type == SHT_NOBITS || !s->allocated)
		return NULL;
	return sym->st_value >= s->address && sym->st_value - s->address < s->size ? s : NULL;
}

/*
 * .symtab has the version in the name (cfree@GLIBC_2.2.5). Names are cut into `room`; longer ones
 * are of nobody's interest here.
 */
static const char *plain_name(const char *name, char *room, size_t size)
{
	const char *at = strchr(name, '@');

	if (!at || at == name || (size_t)(at - name) >= size)
		return name;
	memcpy(room, name, (size_t)(at - name));
	room[at - name] = '\0';
	return room;
}

static void visit_table(struct elf_file *f, const struct section *table,
			void (*visit)(void *ctx, const struct elf_symbol *s), void *ctx)
{
	char room[256];
	GElf_Sym sym;

	for (uint64_t i = 0; get_symbol(f, table, i, &sym); i++) {
		const struct section *s = place_of(f, &sym);
		unsigned type = GELF_ST_TYPE(sym.st_info);
		const char *name = s ? get_name(f, table, sym.st_name) : NULL;

		if (!name || !*name || type == STT_SECTION || type == STT_FILE || type == STT_TLS)
			continue;
		visit(ctx, &(struct elf_symbol){
			.name = plain_name(name, room, sizeof(room)),
			.address = sym.st_value,
			.size = sym.st_size,
			.offset = sym.st_value - s->address + s->offset,
			.section = (unsigned)(s - f->sections.items),
			.code = s->executable && type != STT_GNU_IFUNC && type != STT_OBJECT,
			.local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
			.dynamic = table->type == SHT_DYNSYM,
		});
	}
}

static void visit_tables(struct elf_file *f, uint32_t type,
			 void (*visit)(void *ctx, const struct elf_symbol *s), void *ctx)
{
	for (size_t i = 1; i < f->sections.len; i++)
		if (f->sections.items[i].type == type)
			visit_table(f, &f->sections.items[i], visit, ctx);
}

static bool table_imports(struct elf_file *f, const struct section *table, const char *wanted)
{
	GElf_Sym sym;

	for (uint64_t i = 0; get_symbol(f, table, i, &sym); i++) {
		const char *name = sym.st_shndx == SHN_UNDEF ? get_name(f, table, sym.st_name) : NULL;

		if (name && str_eq(name, wanted))
			return true;
	}
	return false;
}

bool elf_file_imports(struct elf_file *f, const char *name)
{
	for (size_t i = 1; i < f->sections.len; i++)
		if (f->sections.items[i].type == SHT_DYNSYM &&
		    table_imports(f, &f->sections.items[i], name))
			return true;
	return false;
}

void elf_file_symbols(struct elf_file *f, void (*visit)(void *ctx, const struct elf_symbol *s),
		      void *ctx)
{
	visit_tables(f, SHT_DYNSYM, visit, ctx);
	visit_tables(f, SHT_SYMTAB, visit, ctx);
}

/* ---- Opening ---- */

static int refuse(const char *name, const char *why)
{
	return fail(-ENOEXEC, "%s is %s", name, why);
}

static int check_header(const struct elf_file *f, const char *name)
{
	GElf_Ehdr header;

	if (elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &header))
		return refuse(name, "no ELF file");
	if (gelf_getclass(f->elf) != ELFCLASS64 || header.e_machine != ELF_MACHINE ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return refuse(name, "not for " ELF_MACHINE_NAME);
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return refuse(name, "no executable and no shared library");
	return 0;
}

static void read_segments(struct elf_file *f)
{
	GElf_Ehdr header;
	size_t count = 0;

	f->traits.shared_library_or_pie = gelf_getehdr(f->elf, &header) && header.e_type == ET_DYN;
	if (elf_getphdrnum(f->elf, &count))
		return;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(f->elf, (int)i, &segment))
			return;
		f->traits.interpreter |= segment.p_type == PT_INTERP;
		f->traits.dynamic |= segment.p_type == PT_DYNAMIC;
		if (segment.p_type == PT_DYNAMIC)
			f->dynamic.segment = segment;
		else if (segment.p_type == PT_LOAD)
			vec_push(&f->dynamic.loads, segment);
	}
}

/* Also of a stripped program. */
static bool is_of_go(const char *section)
{
	return section && (str_eq(section, ".note.go.buildid") || str_eq(section, ".go.buildinfo"));
}

static void read_sections(struct elf_file *f)
{
	Elf_Scn *scn = NULL;
	size_t names = 0;

	elf_getshdrstrndx(f->elf, &names);
	vec_push(&f->sections, (struct section){0});
	while ((scn = elf_nextscn(f->elf, scn))) {
		struct section s = {.scn = scn};
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header)) {
			s.address = header.sh_addr;
			s.size = header.sh_size;
			s.offset = header.sh_offset;
			s.type = header.sh_type;
			s.link = header.sh_link;
			s.allocated = header.sh_flags & SHF_ALLOC;
			s.executable = header.sh_flags & SHF_EXECINSTR;
			f->traits.go |= is_of_go(elf_strptr(f->elf, names, header.sh_name));
		}
		f->traits.symbol_table |= s.type == SHT_SYMTAB;
		vec_push(&f->sections, s);
	}
}

/* What the loader sees, as sections. */
static void make_sections(struct elf_file *f)
{
	elf_dynamic_read(&f->dynamic, f->fd);
	for (size_t i = 0; i < f->dynamic.loads.len; i++) {
		const Elf64_Phdr *load = &f->dynamic.loads.items[i];

		vec_push(&f->sections, (struct section){
			.address = load->p_vaddr,
			.size = load->p_filesz,
			.offset = load->p_offset,
			.type = SHT_PROGBITS,
			.allocated = true,
			.executable = load->p_flags & PF_X,
			.made = true,
		});
	}
	vec_push(&f->sections, (struct section){.type = SHT_DYNSYM, .made = true});
	vec_push(&f->sections, (struct section){.type = SHT_RELA, .allocated = true, .made = true,
						.link = (uint32_t)f->sections.len - 1});
	f->sections_made = true;
}

static void note_dynamic(void *ctx, const struct elf_symbol *s UNUSED)
{
	struct elf_traits *traits = ctx;

	traits->dynamic_symbols = true;
}

int elf_file_open(struct elf_file **to, int fd, const char *name)
{
	struct elf_file *f;
	int rc;

	if (elf_version(EV_CURRENT) == EV_NONE)
		BUG("libelf of another version");
	f = xcalloc(1, sizeof(*f));
	f->fd = fd;
	/* Read, not mapped: a file that shrinks meanwhile must not be our end. */
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = f->elf ? check_header(f, name) : refuse(name, "no file that can be read as ELF");
	if (rc) {
		elf_file_close(f);
		return rc;
	}
	read_segments(f);
	read_sections(f);
	if (f->sections.len == 1 && f->dynamic.segment.p_filesz)
		make_sections(f);
	visit_tables(f, SHT_DYNSYM, note_dynamic, &f->traits);
	*to = f;
	return 0;
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	vec_release(&f->sections);
	vec_release(&f->relocations);
	elf_dynamic_release(&f->dynamic);
	free(f);
}

struct elf_traits elf_file_traits(const struct elf_file *f)
{
	return f->traits;
}

/* ---- Build id ---- */

static bool find_build_id(Elf_Data *notes, struct buf *to)
{
	size_t at = 0, name, desc, next;
	GElf_Nhdr note;

	while ((next = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
		const char *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(bytes + name, "GNU", sizeof("GNU")) && note.n_descsz) {
			buf_add(to, bytes + desc, note.n_descsz);
			return true;
		}
		at = next;
	}
	return false;
}

bool elf_file_build_id(struct elf_file *f, struct buf *to)
{
	for (size_t i = 1; i < f->sections.len; i++) {
		struct section *s = &f->sections.items[i];
		Elf_Data *notes = s->type == SHT_NOTE ? elf_getdata(s->scn, NULL) : NULL;

		if (notes && notes->d_buf && find_build_id(notes, to))
			return true;
	}
	return false;
}

bool elf_file_has_build_id(struct elf_file *f, const char *id)
{
	struct buf bytes = BUF_INIT, text = BUF_INIT;
	bool has = elf_file_build_id(f, &bytes);

	for (size_t i = 0; i < bytes.len; i++)
		buf_printf(&text, "%02x", (unsigned char)bytes.data[i]);
	has = has && str_eq(text.data, id);
	buf_release(&text);
	buf_release(&bytes);
	return has;
}

/* ---- Code ---- */

bool elf_file_code_offset(const struct elf_file *f, uint64_t address, uint64_t *offset)
{
	const struct section *s = section_at(f, address);

	if (!s || !s->executable)
		return false;
	*offset = address - s->address + s->offset;
	return true;
}

static size_t read_at(struct elf_file *f, uint64_t offset, void *to, size_t len)
{
	ssize_t n = offset > INT64_MAX ? 0 : pread(f->fd, to, len, (off_t)offset);

	return n > 0 ? (size_t)n : 0;
}

/* Code is read a few bytes at a time, hence the window. */
size_t elf_file_code(struct elf_file *f, uint64_t address, void *to, size_t len)
{
	const struct section *s = section_at(f, address);
	size_t skip;

	if (!s || !s->executable)
		return 0;
	if (len > s->size - (address - s->address))
		len = (size_t)(s->size - (address - s->address));
	if (len > WINDOW)
		len = WINDOW;
	if (address < f->window_at || address - f->window_at > f->window_len ||
	    f->window_len - (address - f->window_at) < len) {
		f->window_at = address;
		f->window_len = read_at(f, address - s->address + s->offset, f->window, WINDOW);
	}
	skip = (size_t)(address - f->window_at);
	if (len > f->window_len - skip)
		len = f->window_len - skip;
	memcpy(to, f->window + skip, len);
	return len;
}

/* ---- Slots ---- */

static bool slot_of_symbol(struct elf_file *f, const struct section *table, uint64_t index,
			   struct elf_slot *to)
{
	const struct section *symbols;
	GElf_Sym sym;

	if (table->link >= f->sections.len)
		return false;
	symbols = &f->sections.items[table->link];
	if (!get_symbol(f, symbols, index, &sym))
		return false;
	to->name = get_name(f, symbols, sym.st_name);
	to->address = place_of(f, &sym) ? sym.st_value : 0;
	return to->name != NULL;
}

/* By slot; what comes first in the file is first. */
static int by_slot(const void *a, const void *b)
{
	const struct relocation *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* There may be a million, and as many questions. */
static void read_relocations(struct elf_file *f)
{
	GElf_Rela rela;

	f->relocations_read = true;
	for (uint32_t t = 1; t < f->sections.len; t++) {
		const struct section *table = &f->sections.items[t];

		if (table->type != SHT_RELA || !table->allocated)
			continue;
		for (uint32_t i = 0; get_relocation(f, table, i, &rela); i++)
			vec_push(&f->relocations, (struct relocation){rela.r_offset, t, i});
	}
	if (f->relocations.len)
		qsort(f->relocations.items, f->relocations.len, sizeof(struct relocation), by_slot);
}

/* The first relocation of the slot, or where it would stand. */
static size_t find_relocation(struct elf_file *f, uint64_t slot)
{
	size_t low = 0, high;

	if (!f->relocations_read)
		read_relocations(f);
	high = f->relocations.len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->relocations.items[middle].slot < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool slot_by(struct elf_file *f, const struct relocation *r, struct elf_slot *to)
{
	const struct section *table = &f->sections.items[r->table];
	GElf_Rela rela;
	uint64_t type;

	if (!get_relocation(f, table, r->index, &rela))
		return false;
	type = GELF_R_TYPE(rela.r_info);
	if (type == ELF_JUMP_SLOT || type == ELF_GLOB_DAT)
		return slot_of_symbol(f, table, GELF_R_SYM(rela.r_info), to);
	to->address = (uint64_t)rela.r_addend;
	return type == ELF_RELATIVE;
}

bool elf_file_slot(struct elf_file *f, uint64_t slot, struct elf_slot *to)
{
	const struct section *s = section_at(f, slot);
	uint64_t bytes, offset;

	*to = (struct elf_slot){0};
	for (size_t i = find_relocation(f, slot);
	     i < f->relocations.len && f->relocations.items[i].slot == slot; i++)
		if (slot_by(f, &f->relocations.items[i], to))
			return true;
	/* Static programs and packed relocations: the address stands in the slot itself. */
	if (!s || s->executable || s->size - (slot - s->address) < sizeof(bytes))
		return false;
	if (read_at(f, slot - s->address + s->offset, &bytes, sizeof(bytes)) != sizeof(bytes))
		return false;
	to->address = bytes;
	return elf_file_code_offset(f, bytes, &offset);
}
