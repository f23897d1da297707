# bin/report: the script that draws for the programs, and how they run it
SCRIPT = bin/report/script.c bin/report/script.h
SCRIPT_CPPFLAGS = -DTRS_REPORT='"$(pkgdatadir)/trisolve-report"'
dist_pkgdata_SCRIPTS = bin/report/trisolve-report

# tests
TESTS += tests/programs/report.sh
EXTRA_DIST += tests/programs/report.sh
