# lib/assembly: a matrix of terms that are summed
libcore_la_SOURCES += lib/assembly/assembly.c

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/assembly/t_assembly
tests_assembly_t_assembly_SOURCES = tests/assembly/t_assembly.c $(COUNTER) $(FULL)
tests_assembly_t_assembly_CFLAGS = $(TEST_FLAGS)
tests_assembly_t_assembly_LDADD = $(TEST_LIBS)
endif
