# TRS_CMOCKA
# ----------
# Only the tests need it: without cmocka `make check` runs the shell tests alone.
AC_DEFUN([TRS_CMOCKA],[
PKG_CHECK_MODULES([CMOCKA],[cmocka >= 1.1.5],[have_cmocka=yes],[have_cmocka=no])
AM_CONDITIONAL([HAVE_CMOCKA],[test $have_cmocka = yes])
])
