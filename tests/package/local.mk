# tests/package: the package as its users meet it: installed, linked, set up from nothing
# a stranger, who has the installed header only; installed.sh compiles it again, in C and in C++
check_PROGRAMS += tests/package/client
tests_package_client_LDADD = $(TRISOLVE)
TESTS += tests/package/quickstart.sh tests/package/examples.sh tests/package/exports.sh \
	tests/package/installed.sh tests/package/guide.sh tests/package/house.sh tests/package/release.sh
EXTRA_DIST += tests/package/quickstart.sh tests/package/examples.sh tests/package/exports.sh \
	tests/package/installed.sh tests/package/guide.sh tests/package/house.sh tests/package/release.sh
