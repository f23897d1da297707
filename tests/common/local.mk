# tests/common: what the tests share.  Each test is a program of one file unless it names more; all link libchecks, which has
# every function of the libraries, also those that they hide, and the files of this folder.
check_LTLIBRARIES += tests/common/libcommon.la libchecks.la
tests_common_libcommon_la_SOURCES = \
	tests/common/case.c \
	tests/common/counter.c tests/common/counter.h \
	tests/common/dags.c tests/common/dags.h \
	tests/common/device.h \
	tests/common/full.c tests/common/full.h \
	tests/common/report.h \
	tests/common/methods.h \
	tests/common/model.c tests/common/model.h \
	tests/common/place.h \
	tests/common/reference.c tests/common/reference.h \
	tests/common/stream.h
if HAVE_CUDA
tests_common_libcommon_la_SOURCES += tests/common/busy.cu tests/common/busy.h
endif
EXTRA_DIST += tests/common/tap.sh
libchecks_la_SOURCES =
libchecks_la_LIBADD = tests/common/libcommon.la $(CORES) $(CMOCKA_LIBS) $(LAPACKE_LIBS)
libchecks_la_LDFLAGS = -rpath /nowhere
LDADD = $(CHECKS) $(CMOCKA_LIBS) $(LAPACKE_LIBS) $(SUITESPARSE_LIBS) $(CUDA_LIBS) -lpthread
# for tests that replace functions which the library calls (-Wl,--wrap)
STATIC_LDADD = tests/common/libcommon.la $(CORES) $(CMOCKA_LIBS) $(LAPACKE_LIBS) $(CUDA_LIBS) -lpthread
# and their linker flags, for case.c, which no test names
BEFORE_ALL = -Wl,-u,before_all_tests
# for tests that link no libchecks: an end if they hang, and TRS_CASE
if HAVE_CMOCKA
WATCHED = tests/common/case.lo $(CMOCKA_LIBS)
endif
