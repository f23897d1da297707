# bin/sparse: trisolve-sparse
bin_PROGRAMS += bin/trisolve-sparse
dist_man_MANS += doc/trisolve-sparse.1
bin_trisolve_sparse_SOURCES = bin/sparse/args.c bin/sparse/args.h bin/sparse/exits.c \
	bin/sparse/exits.h bin/sparse/factored.c bin/sparse/steps/iterate.c bin/sparse/steps/iterate.h \
	bin/sparse/steps/place_device.c bin/sparse/steps/place.h bin/sparse/steps/report.c \
	bin/sparse/steps/steps.c bin/sparse/failure.c bin/sparse/json.c \
	bin/sparse/left_out.c bin/sparse/list.c bin/sparse/problem.c bin/sparse/problem.h \
	bin/sparse/report.c bin/sparse/report.h bin/sparse/rhs.c bin/sparse/solve.c \
	bin/sparse/solve.h bin/sparse/sparse.c $(DOCUMENT) $(FILES) $(NUMBERS) $(OPTIONS) $(BINARY) $(COSTS_OF_CPU)
bin_trisolve_sparse_LDFLAGS = $(RPATH_BIN)
bin_trisolve_sparse_LDADD = $(FACTOR_LIBS) $(TRISOLVE) $(JANSSON_LIBS)

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/programs/t_exits
tests_programs_t_exits_SOURCES = tests/programs/t_exits.c bin/sparse/exits.c bin/sparse/exits.h
tests_programs_t_exits_LDADD = $(TRISOLVE) $(WATCHED)
check_PROGRAMS += tests/programs/t_problems
tests_programs_t_problems_SOURCES = tests/programs/t_problems.c $(PROBLEMS)
tests_programs_t_problems_LDADD = $(FACTOR_LIBS) $(TRISOLVE) $(WATCHED)
endif
