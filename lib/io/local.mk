# lib/io
libcore_la_SOURCES += lib/io/archive.c lib/io/archive.h lib/io/boeing.h lib/io/input.c lib/io/input.h \
	lib/io/mmio.c lib/io/output.c lib/io/output.h lib/io/unpack.c
# decimal: numbers as text
libcore_la_SOURCES += lib/io/decimal/digits.h lib/io/decimal/powers.c lib/io/decimal/powers.h \
	lib/io/decimal/print.c lib/io/decimal/print.h lib/io/decimal/read.c lib/io/decimal/read.h
EXTRA_DIST += lib/io/decimal/powers.awk
BUILT_SOURCES += powers.inc
CLEANFILES += powers.inc
powers.inc: lib/io/decimal/powers.awk
	$(AM_V_GEN)$(AWK) -f $(srcdir)/lib/io/decimal/powers.awk >$@.new && mv $@.new $@
# mm: Matrix Market files
libcore_la_SOURCES += lib/io/mm/build.c lib/io/mm/build.h lib/io/mm/chunk.c lib/io/mm/dense.c \
	lib/io/mm/duplicates.c lib/io/mm/explain.c lib/io/mm/header.c lib/io/mm/lines.c lib/io/mm/mm.h \
	lib/io/mm/parse.c lib/io/mm/parse.h lib/io/mm/read.c lib/io/mm/sort.c lib/io/mm/store.c \
	lib/io/mm/store.h lib/io/mm/write.c
EXTRA_DIST += lib/io/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/io/t_mm tests/io/t_mm_conformance tests/io/t_mmio
tests_io_t_mm_LDADD = $(STATIC_LDADD) $(LIBARCHIVE_LIBS)
tests_io_t_mm_LDFLAGS = $(BEFORE_ALL) -Wl,--wrap=malloc
endif

# built by .ci/run with clang -fsanitize=fuzzer: see its head
EXTRA_DIST += tests/io/fuzz_mm.c
