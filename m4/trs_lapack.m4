# TRS_LAPACK
# ----------
# --without-lapack: leaves out the solver that calls LAPACK, which is opened at run time and not needed here, and
# what the tests compare with LAPACKE, which they do where it is found.
AC_DEFUN([TRS_LAPACK],[
AC_ARG_WITH([lapack],
  [AS_HELP_STRING([--without-lapack],[no LAPACK for general dense matrices])],
  [],[with_lapack=yes])
AS_IF([test "x$with_lapack" != xno],
  [AC_DEFINE([HAVE_LAPACK],[1],[Define to 1 if LAPACK is opened at run time.])])
have_lapacke=no
AS_IF([test "x$with_lapack" != xno],
  [PKG_CHECK_MODULES([LAPACKE],[lapacke],[have_lapacke=yes],[have_lapacke=no])])
AS_IF([test $have_lapacke = yes],
  [AC_DEFINE([HAVE_LAPACKE],[1],[Define to 1 if the tests may call LAPACKE.])])
AC_SUBST([LAPACKE_CFLAGS])
AC_SUBST([LAPACKE_LIBS])
])
