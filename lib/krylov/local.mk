# lib/krylov: CG, MINRES, BiCGSTAB and GMRES
libcore_la_SOURCES += lib/krylov/bicgstab.c lib/krylov/cg.c lib/krylov/column.c lib/krylov/gmres.c \
	lib/krylov/krylov.c lib/krylov/minres.c lib/krylov/on_device.h lib/krylov/operators.c \
	lib/krylov/pass.c lib/krylov/pass.h lib/krylov/iteration.h lib/krylov/scalars.h
DEVICE_H += lib/krylov/on_device.h
EXTRA_DIST += lib/krylov/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/krylov/t_groups tests/krylov/t_krylov tests/krylov/t_krylov_device \
	tests/krylov/t_pass_device
tests_krylov_t_pass_device_LDADD = $(STATIC_LDADD)
tests_krylov_t_groups_LDADD = $(STATIC_LDADD)
tests_krylov_t_groups_LDFLAGS = $(BEFORE_ALL) \
	$(shell sed -n 's/.*__wrap_\([a-z_]*\).*/-Wl,--wrap=\1/p' $(srcdir)/tests/krylov/t_groups.c)
tests_krylov_t_krylov_LDADD = $(STATIC_LDADD)
tests_krylov_t_krylov_LDFLAGS = $(BEFORE_ALL) -Wl,--wrap=malloc,--wrap=calloc
endif
