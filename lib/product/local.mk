# lib/product
libcore_la_SOURCES += lib/product/lines.c lib/product/product.c lib/product/product.h \
	lib/product/product_device.c lib/product/solve_once.c
EXTRA_DIST += lib/product/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/product/t_product tests/product/t_solve_once
tests_product_t_product_LDADD = $(STATIC_LDADD)
tests_product_t_product_LDFLAGS = $(BEFORE_ALL) -Wl,--wrap=malloc,--wrap=aligned_alloc
endif
