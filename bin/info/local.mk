# bin/info: trisolve-info
bin_PROGRAMS += bin/trisolve-info
dist_man_MANS += doc/trisolve-info.1
bin_trisolve_info_SOURCES = bin/info/info.c bin/info/info.h bin/info/facts.c bin/info/report.c \
	bin/info/plot.c bin/info/spy.c $(FILES) $(BINARY) $(OPTIONS) $(OUTPUT) $(DOCUMENT) $(SCRIPT)
bin_trisolve_info_LDFLAGS = $(RPATH_BIN)
bin_trisolve_info_LDADD = $(FACTOR_LIBS) $(TRISOLVE) $(JANSSON_LIBS)
