# lib/assembly: a matrix of terms that are summed
libcore_la_SOURCES += lib/assembly/assembly.c

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/assembly/t_assembly
endif
