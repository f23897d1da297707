# bin/report: the script that draws for the programs, and how they run it
SCRIPT = bin/report/script.c bin/report/script.h
bin/report/script.$(OBJEXT): AM_CPPFLAGS += -DTRS_REPORT='"$(pkgdatadir)/trisolve-report"'
pkgdata_SCRIPTS = bin/report/trisolve-report
EXTRA_DIST += bin/report/report.py
CLEANFILES += bin/report/trisolve-report
bin/report/trisolve-report: bin/report/report.py
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)cp -f $(srcdir)/bin/report/report.py $@ && chmod +x $@

# tests
TESTS += tests/programs/report.sh
EXTRA_DIST += tests/programs/report.sh
