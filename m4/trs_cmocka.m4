# TRS_CMOCKA, TRS_LAPACKE
# -----------------------
# Libraries that only the tests need: without cmocka `make check` runs the
# shell tests alone; without LAPACKE a few comparisons are skipped.
AC_DEFUN([TRS_CMOCKA],[
PKG_CHECK_MODULES([CMOCKA],[cmocka >= 1.1.5],[have_cmocka=yes],[have_cmocka=no])
AM_CONDITIONAL([HAVE_CMOCKA],[test $have_cmocka = yes])
])

AC_DEFUN([TRS_LAPACKE],[
have_lapacke=no
PKG_CHECK_MODULES([LAPACKE],[lapacke],[have_lapacke=yes],[have_lapacke=no])
AS_IF([test $have_lapacke = yes],
  [AC_DEFINE([HAVE_LAPACKE],[1],[Define to 1 if the tests may call LAPACKE.])])
AC_SUBST([LAPACKE_CFLAGS])
AC_SUBST([LAPACKE_LIBS])
])
