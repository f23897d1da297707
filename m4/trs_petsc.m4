# TRS_PETSC
# ---------
# --with-petsc: build the solver type of PETSc, with the PETSc that pkg-config finds.  Not by default, since it takes
# MPI's headers too.  Sets have_petsc, PETSC_CPPFLAGS, PETSC_LIBS, AM_CONDITIONAL HAVE_PETSC.
AC_DEFUN([TRS_PETSC],[
AC_ARG_WITH([petsc],
  [AS_HELP_STRING([--with-petsc],[build libtrisolve-petsc, the solver type of PETSc @<:@no@:>@])],
  [],[with_petsc=no])
have_petsc=no
AS_IF([test "x$with_petsc" != xno],[
  PKG_CHECK_MODULES([PETSC],[PETSc >= 3.18],[],
    [AC_MSG_ERROR([--with-petsc was given, but pkg-config does not find PETSc 3.18 or newer])])
  dnl PETSc may be without MPI
  PKG_CHECK_MODULES([MPI],[mpi-c],[],[PKG_CHECK_MODULES([MPI],[ompi-c],[],[PKG_CHECK_MODULES([MPI],[mpich],[],[:])])])
  dnl warnings in their headers are not ours
  PETSC_CPPFLAGS=`AS_ECHO(["$PETSC_CFLAGS $MPI_CFLAGS"]) | sed 's/-D_FORTIFY_SOURCE=@<:@^ @:>@*//g;s/-I/-isystem /g'`
  PETSC_LIBS="$PETSC_LIBS $MPI_LIBS"
  trs_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $PETSC_CPPFLAGS"
  AC_CHECK_HEADER([petsc/private/matimpl.h],[have_petsc=`$PKG_CONFIG --modversion PETSc`],
    [AC_MSG_ERROR([--with-petsc was given, but petsc/private/matimpl.h cannot be compiled])])
  CPPFLAGS=$trs_save_CPPFLAGS])
AC_SUBST([PETSC_CPPFLAGS])
AC_SUBST([PETSC_LIBS])
AM_CONDITIONAL([HAVE_PETSC],[test $have_petsc != no])
])
