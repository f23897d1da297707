# TRS_CXX
# -------
# A compiler of C++17 and Eigen, which only the tests and the example of bindings/cxx need; its headers are installed
# anyhow.  --without-cxx leaves the tests out.  Sets have_cxx, have_eigen3, CXX_FLAGS, EIGEN_CPPFLAGS,
# AM_CONDITIONAL HAVE_CXX, HAVE_EIGEN (which implies the first).
AC_DEFUN([TRS_CXX],[
AC_ARG_WITH([cxx],
  [AS_HELP_STRING([--without-cxx],[no tests and example of the headers for C++17 and Eigen])],
  [],[with_cxx=auto])
have_cxx=no have_eigen3=no
CXX_FLAGS='-std=c++17 -Wall -Wextra -Wconversion'
AS_IF([test "x$enable_werror" = xyes],[AS_VAR_APPEND([CXX_FLAGS],[" -Werror"])])
AS_IF([test "x$with_cxx" != xno],[
  AC_LANG_PUSH([C++])
  trs_save_CXXFLAGS=$CXXFLAGS
  CXXFLAGS="$CXXFLAGS $CXX_FLAGS"
  AC_MSG_CHECKING([whether $CXX compiles C++17])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <optional>]],[[if constexpr (true) return std::optional<int>(0).value();]])],
    [have_cxx=yes])
  AC_MSG_RESULT([$have_cxx])
  CXXFLAGS=$trs_save_CXXFLAGS
  AC_LANG_POP([C++])
  PKG_CHECK_MODULES([EIGEN],[eigen3 >= 3.3],[have_eigen3=$have_cxx],[:])
  # no warnings of headers that are not ours
  EIGEN_CPPFLAGS=`AS_ECHO(["$EIGEN_CFLAGS"]) | sed 's/-I */-isystem /g'`])
AC_SUBST([CXX_FLAGS])
AC_SUBST([EIGEN_CPPFLAGS])
AM_CONDITIONAL([HAVE_CXX],[test $have_cxx = yes])
AM_CONDITIONAL([HAVE_EIGEN],[test $have_eigen3 = yes])
])
