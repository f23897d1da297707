# lib/vectors
libcore_la_SOURCES += lib/vectors/gather.c lib/vectors/gather.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/vectors/t_gather
endif
