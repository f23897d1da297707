# lib/io
libcore_la_SOURCES += lib/io/boeing.h lib/io/input.c lib/io/input.h lib/io/mm.h \
	lib/io/mm_build.c lib/io/mm_digits.h lib/io/mm_header.c lib/io/mm_number.c lib/io/mm_number.h \
	lib/io/mm_parse.c lib/io/mm_powers.c lib/io/mm_print.c lib/io/mm_read.c lib/io/mm_store.c \
	lib/io/mm_write.c lib/io/mmio.c lib/io/output.c lib/io/output.h lib/io/unpack.c

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/io/t_mm
tests_io_t_mm_SOURCES = tests/io/t_mm.c
tests_io_t_mm_CFLAGS = $(TEST_FLAGS) $(LIBARCHIVE_CFLAGS)
tests_io_t_mm_LDADD = $(TEST_LIBS) $(LIBARCHIVE_LIBS)
tests_io_t_mm_LDFLAGS = -Wl,--wrap=malloc
check_PROGRAMS += tests/io/t_mm_conformance
tests_io_t_mm_conformance_SOURCES = tests/io/t_mm_conformance.c
tests_io_t_mm_conformance_CFLAGS = $(TEST_FLAGS)
tests_io_t_mm_conformance_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/io/t_mmio
tests_io_t_mmio_SOURCES = tests/io/t_mmio.c
tests_io_t_mmio_CFLAGS = $(TEST_FLAGS)
tests_io_t_mmio_LDADD = $(TEST_LIBS)
endif

# built by .ci/run with clang -fsanitize=fuzzer: see its head
EXTRA_DIST += tests/io/fuzz_mm.c
