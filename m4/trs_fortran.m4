# TRS_FORTRAN
# -----------
# --with-fortran: auto, no, anything else (it must be there).  Whether FC compiles Fortran 2008, for bindings/fortran.
# Sets have_fortran, FC_FLAGS, FC_MODINC, FC_MODOUT, AM_CONDITIONAL HAVE_FORTRAN.
AC_DEFUN([TRS_FORTRAN],[
AC_ARG_WITH([fortran],
  [AS_HELP_STRING([--with-fortran],[the modules of Fortran 2008 @<:@auto@:>@])],
  [],[with_fortran=auto])
have_fortran=no FC_FLAGS=
AS_IF([test -n "$FC" && test "x$with_fortran" != xno],[
  AC_LANG_PUSH([Fortran])
  AC_MSG_CHECKING([whether $FC compiles Fortran 2008])
  AC_COMPILE_IFELSE([[
      program conftest
        use, intrinsic :: iso_c_binding
        real(c_double), target :: x(2)
        call show(x)
      contains
        subroutine show(a)
          real(c_double), pointer, contiguous, intent(in) :: a(:)
          print *, c_associated(c_loc(a))
        end subroutine
      end program]],[have_fortran=yes])
  AC_MSG_RESULT([$have_fortran])
  AS_IF([test $have_fortran = yes],
    [AC_FC_MODULE_FLAG([],[have_fortran=no])
     AC_FC_MODULE_OUTPUT_FLAG([],[have_fortran=no])])
  AS_IF([test "$ac_cv_fc_compiler_gnu" = yes],[
    FC_FLAGS='-std=f2008 -Wall -Wextra -Wno-compare-reals -Wno-function-elimination'
    AS_IF([test "x$enable_werror" = xyes],[AS_VAR_APPEND([FC_FLAGS],[" -Werror"])])])
  AC_LANG_POP([Fortran])
])
AS_CASE([$with_fortran:$have_fortran],[auto:*|no:*|*:yes],[],
  [AC_MSG_ERROR([--with-fortran was given, but there is no compiler of Fortran 2008])])
AC_SUBST([FC_FLAGS])
AM_CONDITIONAL([HAVE_FORTRAN],[test $have_fortran = yes])
])
