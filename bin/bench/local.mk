# bin/bench: trisolve-bench
bin_PROGRAMS += bin/trisolve-bench
dist_man_MANS += doc/trisolve-bench.1
bin_trisolve_bench_SOURCES = bin/bench/args.c bin/bench/bench.c bin/bench/bench.h \
	bin/bench/calibrate.c bin/bench/factor.c bin/bench/filter.c bin/bench/input.c bin/bench/io.c \
	bin/bench/list.c bin/bench/made.c bin/bench/measure/cell.c bin/bench/measure/child.c \
	bin/bench/measure/dense.c bin/bench/measure/resume.c bin/bench/measure/run.c \
	bin/bench/measure/wire.c bin/bench/report/choice.c bin/bench/report/columns.c \
	bin/bench/report/csv.c bin/bench/report/dense_table.c bin/bench/report/html.c \
	bin/bench/report/html.h bin/bench/report/html_summary.c bin/bench/report/html_table.c \
	bin/bench/report/json.c bin/bench/report/summary.c bin/bench/report/summary.h \
	bin/bench/report/table.c bin/bench/figures/bars.c bin/bench/figures/comparison.c \
	bin/bench/figures/dense_figures.c bin/bench/figures/figures.c bin/bench/figures/figures.h \
	bin/bench/figures/plot.c bin/bench/figures/profile.c bin/bench/figures/ratios.c $(FILES) \
	$(PROBLEMS)
bin_trisolve_bench_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
bin_trisolve_bench_LDADD = $(FACTOR_LIBS) libtrisolve-sparse.la $(JANSSON_LIBS)

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/programs/t_figures
tests_programs_t_figures_SOURCES = tests/programs/t_figures.c bin/bench/bench.h \
	bin/bench/figures/figures.c bin/bench/figures/figures.h bin/bench/figures/comparison.c \
	bin/bench/figures/profile.c bin/bench/figures/ratios.c bin/bench/figures/bars.c \
	bin/bench/report/summary.c bin/bench/report/summary.h bin/bench/figures/dense_figures.c \
	bin/bench/measure/dense.c bin/bench/measure/run.c bin/bench/measure/cell.c
tests_programs_t_figures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_programs_t_figures_LDADD = libtrisolve-sparse.la $(CMOCKA_LIBS)
endif
