# bin/gen: trisolve-gen
bin_PROGRAMS += bin/trisolve-gen
dist_man_MANS += doc/trisolve-gen.1
bin_trisolve_gen_SOURCES = bin/gen/gen.c $(OPTIONS) $(PROBLEMS)
bin_trisolve_gen_LDFLAGS = $(RPATH_BIN)
bin_trisolve_gen_LDADD = $(FACTOR_LIBS) $(TRISOLVE)
