# TRS_LIBARCHIVE
# --------------
# --with-libarchive[=link|yes|no|auto].  Opened at run time by the soname of the library that is found here, or
# linked: for bundles, and where there is no shared one.  Sets what TRS_OPTIONAL does, ARCHIVE_LINKED (what the
# library links), AC_DEFINE LIBARCHIVE_SONAME (not when linked).
AC_DEFUN([TRS_LIBARCHIVE],[
TRS_OPTIONAL([LIBARCHIVE],[libarchive],[packed files (.gz .xz .zst .tar.gz); =link links it])
ARCHIVE_LINKED=
archive_soname=
AS_IF([test $have_libarchive = yes],[
  AS_IF([test "x$with_libarchive" != xlink],[
    AC_MSG_CHECKING([for the soname of libarchive])
    trs_save_LIBS=$LIBS trs_save_CPPFLAGS=$CPPFLAGS
    LIBS="$LIBARCHIVE_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $LIBARCHIVE_CFLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <archive.h>]],[[return !archive_read_new();]])],
      [archive_soname=`$OBJDUMP -p conftest$EXEEXT | $AWK '$[]1 == "NEEDED" && $[]2 ~ /^libarchive/ {print $[]2}'`])
    LIBS=$trs_save_LIBS CPPFLAGS=$trs_save_CPPFLAGS
    AC_MSG_RESULT([${archive_soname:-none, linked instead}])])
  AS_IF([test -n "$archive_soname"],
    [AC_DEFINE_UNQUOTED([LIBARCHIVE_SONAME],["$archive_soname"],[File opened at run time for libarchive.])],
    [ARCHIVE_LINKED=$LIBARCHIVE_LIBS])])
AC_SUBST([ARCHIVE_LINKED])
])
