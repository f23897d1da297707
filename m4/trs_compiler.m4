# TRS_WARNINGS
# ------------
# --enable-werror: the project's list of warnings, each an error, for gcc or
# clang and for nvcc.  Sets TRS_CFLAGS, TRS_NVCCFLAGS.
AC_DEFUN([TRS_WARNINGS],[
AC_ARG_ENABLE([werror],
  [AS_HELP_STRING([--enable-werror],[warnings are errors, for developers @<:@no@:>@])],
  [],[enable_werror=no])
TRS_CFLAGS="-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes"
TRS_NVCCFLAGS="-Wall -Wextra -Wno-missing-field-initializers"
AS_IF([test "x$enable_werror" = xyes],[
  AS_VAR_APPEND([TRS_CFLAGS],[" -Werror"])
  AS_VAR_APPEND([TRS_NVCCFLAGS],[" --Werror=all-warnings"])])
AC_SUBST([TRS_CFLAGS])
AC_SUBST([TRS_NVCCFLAGS])
])

# TRS_CFLAG(VARIABLE, FLAG)
# -------------------------
# Append FLAG to VARIABLE when the C compiler takes it.
AC_DEFUN([TRS_CFLAG],[
trs_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $2"
AC_MSG_CHECKING([whether $CC accepts $2])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],[AC_MSG_RESULT([yes]); AS_VAR_APPEND([$1],[" $2"])],[AC_MSG_RESULT([no])])
CFLAGS=$trs_save_CFLAGS
])

# TRS_SANITIZERS
# --------------
# Sets SANITIZERS: where CFLAGS ask for a sanitizer that has to be in the whole program, programs in other languages that
# link our libraries are built with it too.
AC_DEFUN([TRS_SANITIZERS],[
AS_CASE([$CFLAGS],
  [*-fsanitize=*address*],[SANITIZERS=-fsanitize=address],
  [*-fsanitize=*thread*],[SANITIZERS=-fsanitize=thread],
  [SANITIZERS=])
AC_SUBST([SANITIZERS])
])

# TRS_TARGET_CLONES
# -----------------
# Loops of the CPU solvers are compiled for newer processors, too, and the dynamic linker takes the best (base/clones.h).
# Without that, or with --disable-clones, they are compiled for the processors that CFLAGS say.
AC_DEFUN([TRS_TARGET_CLONES],[
AC_ARG_ENABLE([clones],
  [AS_HELP_STRING([--disable-clones],[compile no loops for AVX2 and AVX-512 besides])],
  [],[enable_clones=auto])
AS_IF([test "$enable_clones" != no],[
  AC_MSG_CHECKING([whether $CC compiles functions for several instruction sets])
  AC_LINK_IFELSE([AC_LANG_PROGRAM(
    [[__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
      int twice(int a) { return 2 * a; }]],[[return twice(0);]])],
    [have_clones=yes],[have_clones=no])
  AC_MSG_RESULT([$have_clones])
  AS_IF([test $have_clones = yes],
    [AC_DEFINE([HAVE_TARGET_CLONES],[1],[Define if functions can be compiled for several instruction sets.])],
    [test "$enable_clones" = yes],[AC_MSG_ERROR([--enable-clones: $CC cannot])])],
  [have_clones=no])
TRS_CFLAG([TRS_CFLAGS],[-Wno-psabi])
# gcc 13 and later leave out some fused multiply-adds of a sum, depending on the shape of the loop.  Functions that promise the
# same bits are compiled in several shapes (base/number/clones.h): all of them fuse.
TRS_CFLAG([TRS_CFLAGS],[--param=avoid-fma-max-bits=0])
# Without it, the speed of a loop over rows depends by up to a quarter on the place that it happens to have.
TRS_CFLAG([TRS_CFLAGS],[-falign-loops=32])
# The places of variables in optimised code would take a seventh of the time to compile these loops.
TRS_CFLAG([TRS_CFLAGS],[-fno-var-tracking])
])
