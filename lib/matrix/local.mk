# lib/matrix
libcore_la_SOURCES += lib/matrix/ascending.c lib/matrix/bsr.c lib/matrix/canonical.c lib/matrix/canonical.h \
	lib/matrix/check.c lib/matrix/cycle.c lib/matrix/import.c lib/matrix/matrix.h lib/matrix/on_device.h lib/matrix/operator.c lib/matrix/operator.h \
	lib/matrix/pattern_hash.c lib/matrix/pattern_hash.h \
	lib/matrix/permuted.c lib/matrix/permuted.h lib/matrix/submatrix.c lib/matrix/submatrix.h \
	lib/matrix/whole.c lib/matrix/whole.h
DEVICE_H += lib/matrix/on_device.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/matrix/t_check tests/matrix/t_import tests/matrix/t_canonical tests/matrix/t_operator tests/matrix/t_permuted \
	tests/matrix/t_residence
tests_matrix_t_residence_LDADD = $(STATIC_LDADD)
tests_matrix_t_residence_LDFLAGS = $(BEFORE_ALL) \
	$(shell sed -n 's/.*__wrap_\([a-z_]*\).*/-Wl,--wrap=\1/p' $(srcdir)/tests/matrix/t_residence.c)
if HAVE_CUDA
check_PROGRAMS += tests/matrix/t_device_resident tests/matrix/t_device_import
endif
endif
