# bin/bench: trisolve-bench; README.md says what is in which folder
bin_PROGRAMS += bin/trisolve-bench
dist_man_MANS += doc/trisolve-bench.1
EXTRA_DIST += bin/bench/README.md
BENCH_MEASURE = bin/bench/measure/bed.c bin/bench/measure/bed.h bin/bench/measure/cell.c \
	bin/bench/measure/cell.h bin/bench/measure/dense.c bin/bench/measure/dense.h bin/bench/measure/growing.c \
	bin/bench/measure/host.c bin/bench/measure/host.h bin/bench/measure/io.c \
	bin/bench/measure/io.h bin/bench/measure/result.c bin/bench/measure/result.h \
	bin/bench/measure/settings.h bin/bench/measure/solvers.c bin/bench/measure/solvers.h \
	bin/bench/measure/summary.c bin/bench/measure/summary.h bin/bench/measure/triangle.c \
	bin/bench/measure/triangle.h
BENCH_CALIBRATE = bin/bench/calibrate/calibrate.c bin/bench/calibrate/calibrate.h \
	bin/bench/calibrate/fit.c bin/bench/calibrate/fit.h bin/bench/calibrate/groups.c \
	bin/bench/calibrate/groups.h bin/bench/calibrate/problems.c bin/bench/calibrate/problems.h \
	bin/bench/calibrate/steps.c bin/bench/calibrate/steps.h bin/bench/calibrate/steps_device.c
BENCH_INPUT = bin/bench/input/factor.c bin/bench/input/input.c bin/bench/input/input.h
BENCH_COLLECTION = bin/bench/collection/child.c \
	bin/bench/collection/filter.c bin/bench/collection/filter.h bin/bench/collection/journal.c \
	bin/bench/collection/journal.h bin/bench/collection/list.c bin/bench/collection/list.h \
	bin/bench/collection/wire.c bin/bench/collection/wire.h
BENCH_REPORT = bin/bench/report/choice.c bin/bench/report/columns.c bin/bench/report/columns.h \
	bin/bench/report/csv.c bin/bench/report/dense_table.c bin/bench/report/figures.c \
	bin/bench/report/io_table.c bin/bench/report/json.c bin/bench/report/report.c bin/bench/report/report.h \
	bin/bench/report/screen.c bin/bench/report/screen.h bin/bench/report/table.c \
	bin/bench/report/text.c bin/bench/report/text.h
bin_trisolve_bench_SOURCES = bin/bench/args.c bin/bench/args.h bin/bench/bench.c \
	$(BENCH_CALIBRATE) bin/bench/run.c \
	$(BENCH_MEASURE) $(BENCH_INPUT) $(BENCH_COLLECTION) $(BENCH_REPORT) \
	$(COSTS_OF_CPU) $(FILES) $(NUMBERS) $(OPTIONS) $(OUTPUT) $(DOCUMENT) $(PROBLEMS) $(SCRIPT)
bin_trisolve_bench_LDFLAGS = $(RPATH_BIN)
bin_trisolve_bench_LDADD = $(FACTOR_LIBS) $(TRISOLVE) $(JANSSON_LIBS)

# The commit and the flags that this was built with.  Warnings make no difference, and paths of a build machine are not for
# users.  Without git the commit is that of the tarball.
CLEANFILES += build.inc
NO_FLAGS = -W% -ffile-prefix-map=% -fdebug-prefix-map=% -fmacro-prefix-map=%
COMPILER = $(notdir $(CC)) $(filter-out $(NO_FLAGS),$(TRS_CFLAGS) $(OPENMP_CFLAGS) $(CPPFLAGS) $(CFLAGS))
CUDA_COMPILER = $(if $(NVCC),; nvcc $(NVCC_GENCODE) $(NVCCFLAGS) ($(lastword $(shell $(NVCC) --version | grep release))))
build.inc: FORCE
	@{ commit=`if test -e $(srcdir)/.git; then \
	  GIT_OPTIONAL_LOCKS=0 git -C $(srcdir) describe --always --dirty --abbrev=40 --exclude='*'; \
	  else cat $(srcdir)/COMMIT; fi 2>/dev/null`; echo "#define TRS_COMMIT \"$$commit\""; \
	  echo '#define TRS_COMPILER "$(subst ',,$(subst ",,$(COMPILER)))"'; \
	  echo '#define TRS_CUDA_COMPILER "$(subst ',,$(subst ",,$(CUDA_COMPILER)))"'; } >$@.new && $(IF_CHANGED)
bin/bench/measure/host.$(OBJEXT): build.inc
dist-hook: build.inc
	sed -n 's/.*TRS_COMMIT "\(.*\)"/\1/p' build.inc >$(distdir)/COMMIT

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/programs/t_fit
tests_programs_t_fit_SOURCES = tests/programs/t_fit.c bin/bench/calibrate/fit.c \
	bin/bench/calibrate/fit.h $(TIMING)
tests_programs_t_fit_LDADD = $(WATCHED)
check_PROGRAMS += tests/calibrate/t_calibrate
tests_calibrate_t_calibrate_SOURCES = tests/calibrate/t_calibrate.c bin/bench/calibrate/fit.c \
	bin/bench/calibrate/fit.h bin/bench/calibrate/groups.c bin/bench/calibrate/groups.h \
	bin/bench/calibrate/problems.c bin/bench/calibrate/problems.h $(BENCH_MEASURE) $(COSTS_OF_CPU) $(NUMBERS) \
	$(FILES) $(OPTIONS) $(OUTPUT) $(PROBLEMS)
tests_calibrate_t_calibrate_LDADD = $(FACTOR_LIBS) $(TRISOLVE) $(WATCHED)
check_PROGRAMS += tests/programs/t_timing
tests_programs_t_timing_SOURCES = tests/programs/t_timing.c $(TIMING)
tests_programs_t_timing_LDADD = $(WATCHED)
check_PROGRAMS += tests/programs/t_choice
tests_programs_t_choice_SOURCES = tests/programs/t_choice.c bin/bench/measure/result.c bin/bench/measure/result.h \
	bin/bench/measure/summary.c bin/bench/measure/summary.h $(MESSAGE) $(NUMBERS) $(TIMING)
tests_programs_t_choice_LDADD = $(TRISOLVE) $(WATCHED)
endif
