# TRS_OPTIONAL(NAME, MODULE, WHAT-FOR)
# ------------------------------------
# --with-MODULE: auto, no, anything else (it must be there).  Sets have_MODULE, NAME_CFLAGS, NAME_LIBS,
# AC_DEFINE HAVE_NAME, AM_CONDITIONAL HAVE_NAME.
AC_DEFUN([TRS_OPTIONAL],[
AC_ARG_WITH([$2],
  [AS_HELP_STRING([--with-$2],[use $2 for $3 @<:@auto@:>@])],
  [],[with_$2=auto])
have_$2=no
AS_IF([test "x$with_$2" != xno],[
  PKG_CHECK_MODULES([$1],[$2],[have_$2=yes],[
    AS_IF([test "x$with_$2" != xauto],[AC_MSG_ERROR([--with-$2 was given, but pkg-config does not find it])])])])
AS_IF([test $have_$2 = yes],
  [AC_DEFINE([HAVE_$1],[1],[Define to 1 if $2 is used, for $3.])])
AM_CONDITIONAL([HAVE_$1],[test $have_$2 = yes])
])
