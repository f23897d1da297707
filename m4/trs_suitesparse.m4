# TRS_SUITESPARSE
# ---------------
# --with-suitesparse[=DIR|yes|no|auto].  Sets SUITESPARSE_CPPFLAGS, SUITESPARSE_LIBS,
# have_umfpack, have_cholmod, have_klu, have_rbio, AC_DEFINE HAVE_UMFPACK, HAVE_CHOLMOD, HAVE_KLU, HAVE_RBIO,
# AM_CONDITIONAL HAVE_CHOLMOD, HAVE_SUITESPARSE (either of the first two; KLU and RBio come with them or not at all).  Debian bookworm's SuiteSparse 5.12 has no .pc files and its
# headers in /usr/include/suitesparse, so headers and libraries are probed directly.
AC_DEFUN([TRS_SUITESPARSE],[
AC_ARG_WITH([suitesparse],
  [AS_HELP_STRING([--with-suitesparse@<:@=DIR@:>@],[UMFPACK, CHOLMOD and KLU in DIR, to factor general matrices @<:@auto@:>@])],
  [],[with_suitesparse=auto])
SUITESPARSE_CPPFLAGS= SUITESPARSE_LIBS=
have_umfpack=no have_cholmod=no have_klu=no have_rbio=no
AS_IF([test "x$with_suitesparse" != xno],[
  trs_save_CPPFLAGS=$CPPFLAGS trs_save_LIBS=$LIBS trs_save_LDFLAGS=$LDFLAGS
  AS_CASE([$with_suitesparse],
    [yes|auto],[trs_dirs="/usr/include/suitesparse /usr/local/include/suitesparse"],
    [trs_dirs="$with_suitesparse/include/suitesparse $with_suitesparse/include"
     LDFLAGS="$LDFLAGS -L$with_suitesparse/lib"
     SUITESPARSE_LIBS="-L$with_suitesparse/lib "])
  for trs_d in $trs_dirs; do
    AS_IF([test -z "$SUITESPARSE_CPPFLAGS" && test -f "$trs_d/cholmod.h"],[SUITESPARSE_CPPFLAGS="-isystem $trs_d"])
  done
  CPPFLAGS="$CPPFLAGS $SUITESPARSE_CPPFLAGS"
  AC_CHECK_HEADER([umfpack.h],[AC_CHECK_LIB([umfpack],[umfpack_dl_symbolic],[have_umfpack=yes],[],[$LIBS])])
  AC_CHECK_HEADER([cholmod.h],[AC_CHECK_LIB([cholmod],[cholmod_l_start],[have_cholmod=yes],[],[$LIBS])])
  AC_CHECK_HEADER([klu.h],[AC_CHECK_LIB([klu],[klu_l_analyze_given],[have_klu=yes],[],[-lbtf -lcolamd -lamd -lsuitesparseconfig $LIBS])])
  AC_CHECK_HEADER([RBio.h],[AC_CHECK_LIB([rbio],[RBread],[have_rbio=yes],[],[-lsuitesparseconfig $LIBS])])
  CPPFLAGS=$trs_save_CPPFLAGS LIBS=$trs_save_LIBS LDFLAGS=$trs_save_LDFLAGS
])
AS_IF([test $have_umfpack = yes],
  [AS_VAR_APPEND([SUITESPARSE_LIBS],["-lumfpack "])
   AC_DEFINE([HAVE_UMFPACK],[1],[Define to 1 if UMFPACK is used.])])
AS_IF([test $have_cholmod = yes],
  [AS_VAR_APPEND([SUITESPARSE_LIBS],["-lcholmod "])
   AC_DEFINE([HAVE_CHOLMOD],[1],[Define to 1 if CHOLMOD is used.])])
AS_IF([test $have_umfpack$have_cholmod = nono],[have_klu=no have_rbio=no])
AS_IF([test $have_klu = yes],
  [AS_VAR_APPEND([SUITESPARSE_LIBS],["-lklu -lbtf "])
   AC_DEFINE([HAVE_KLU],[1],[Define to 1 if KLU is used.])])
AS_IF([test $have_rbio = yes],
  [AS_VAR_APPEND([SUITESPARSE_LIBS],["-lrbio "])
   AC_DEFINE([HAVE_RBIO],[1],[Define to 1 if RBio is used.])])
AS_IF([test $have_umfpack$have_cholmod != nono],
  [AS_VAR_APPEND([SUITESPARSE_LIBS],["-lamd -lcolamd -lsuitesparseconfig"])
   AC_DEFINE([HAVE_SUITESPARSE],[1],[Define to 1 if general matrices can be factored.])],
  [SUITESPARSE_LIBS=])
AS_CASE([$with_suitesparse],[auto|no],[],
  [AS_IF([test $have_umfpack$have_cholmod != yesyes],
    [AC_MSG_ERROR([--with-suitesparse was given, but UMFPACK=$have_umfpack CHOLMOD=$have_cholmod])])])
AC_SUBST([SUITESPARSE_CPPFLAGS])
AC_SUBST([SUITESPARSE_LIBS])
AM_CONDITIONAL([HAVE_SUITESPARSE],[test $have_umfpack$have_cholmod != nono])
AM_CONDITIONAL([HAVE_CHOLMOD],[test $have_cholmod = yes])
])
