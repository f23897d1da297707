# TRS_CUDA
# --------
# --with-cuda[=DIR|yes|no|auto], --with-cuda-arch="80 90"|native|compute_80.
# Sets: have_cuda, AM_CONDITIONAL HAVE_CUDA, AC_DEFINE HAVE_CUDA,
#       NVCC NVCC_GENCODE NVCC_GENCODE_EACH NVCC_CODE CUDA_CPPFLAGS CUDA_LIBS CUDA_PC_LIBS
# Only cudart (static when there, else shared) is linked.  cuSPARSE, cuBLAS
# and cuSOLVER are needed as headers only; they are opened with dlopen at
# run time, by the soname found here.
AC_DEFUN([TRS_CUDA],[
AC_ARG_VAR([NVCC],[CUDA compiler])
AC_ARG_VAR([NVCCFLAGS],[flags for NVCC])
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],[build GPU code with the CUDA toolkit in DIR @<:@auto@:>@])],
  [],[with_cuda=auto])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST],
    [compute capabilities, oldest first; native: those of this machine; compute_80: PTX alone @<:@"80 90"@:>@])],
  [cuda_archs=$withval],[cuda_archs="80 90"])
AC_ARG_ENABLE([cudart-static],
  [AS_HELP_STRING([--disable-cudart-static],[link libcudart.so instead of libcudart_static.a])],
  [],[enable_cudart_static=yes])
AC_ARG_ENABLE([delays],
  [AS_HELP_STRING([--enable-delays],[hold GPU threads up at random, for tests @<:@no@:>@])],
  [],[enable_delays=no])
AS_IF([test "x$enable_delays" = xyes],
  [AC_DEFINE([TRS_DELAYS],[1],[Define to 1 to hold GPU threads up at random.])])
AC_ARG_ENABLE([lineinfo],
  [AS_HELP_STRING([--enable-lineinfo],[keep source lines in GPU code, for profilers; implied by --enable-debug @<:@no@:>@])],
  [],[enable_lineinfo=$enable_debug])
have_cuda=no
AS_IF([test "x$with_cuda" != xno],[
  AS_CASE([$with_cuda],
    [yes|auto],[trs_cuda_hint="${CUDA_HOME:+$CUDA_HOME/bin:}${CUDA_PATH:+$CUDA_PATH/bin:}$PATH:/usr/local/cuda/bin"],
    [trs_cuda_hint="$with_cuda/bin"])
  AC_PATH_PROG([NVCC],[nvcc],[],[$trs_cuda_hint])
  trs_why=
  AS_IF([test -z "$NVCC"],[trs_why="nvcc not found"],[
    # nvcc prints its own idea of the root: '#$ TOP=...' (works for symlinks
    # and for Debian's nvidia-cuda-toolkit); fall back on dirname/..
    trs_cuda_root=`$NVCC --dryrun -c -x cu /dev/null -o /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' | sed 's/^"//;s/"$//'`
    AS_IF([test -d "$trs_cuda_root/include"],[],[trs_cuda_root=`AS_DIRNAME(["$NVCC"])`/..])
    trs_cuda_root=`cd "$trs_cuda_root" && pwd -P`
    trs_cuda_libdir=
    for trs_d in "$trs_cuda_root/lib64" "$trs_cuda_root/lib" "$trs_cuda_root/targets/x86_64-linux/lib" /usr/lib/x86_64-linux-gnu; do
      AS_IF([test -z "$trs_cuda_libdir" && (test -f "$trs_d/libcudart.so" || test -f "$trs_d/libcudart_static.a")],[trs_cuda_libdir=$trs_d])
    done
    CUDA_CPPFLAGS="-isystem $trs_cuda_root/include"
    # Code that no GPU of this machine can run would take a third of the time: where there is none, PTX does, of which
    # the driver of a newer GPU makes code when a program first needs it.
    AS_IF([test "x$cuda_archs" = xnative],[
      cuda_archs=`nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | grep -x '@<:@0-9@:>@*' | sort -nu | paste -sd ' '`
      AS_IF([test -z "$cuda_archs"],[cuda_archs=compute_80])])
    # PTX for the oldest architecture, and code for each made of it: it is compiled once.  NVCC_GENCODE_EACH is for files
    # that use instructions of newer ones.
    NVCC_GENCODE_EACH= trs_codes= trs_first=
    for trs_a in $cuda_archs; do
      trs_last=${trs_a#compute_}
      AS_IF([test -z "$trs_first"],[trs_first=$trs_last])
      AS_CASE([$trs_a],[compute_*],[],[
        AS_VAR_APPEND([trs_codes],["sm_$trs_a,"])
        AS_VAR_APPEND([NVCC_GENCODE_EACH],[" -gencode arch=compute_$trs_a,code=sm_$trs_a"])])
    done
    AS_VAR_APPEND([NVCC_GENCODE_EACH],[" -gencode arch=compute_$trs_last,code=compute_$trs_last"])
    NVCC_GENCODE=" -gencode arch=compute_$trs_first,code=@<:@${trs_codes}compute_$trs_first@:>@"
    AS_IF([test "x$enable_cudart_static" = xyes && test -f "$trs_cuda_libdir/libcudart_static.a"],
      [CUDA_LIBS="-L$trs_cuda_libdir -lcudart_static -ldl -lrt -lpthread"],
      [CUDA_LIBS="-L$trs_cuda_libdir -lcudart"])
    # 1. nvcc compiles for these archs with this host compiler
    AC_MSG_CHECKING([whether $NVCC compiles for$NVCC_GENCODE])
    cat >conftest.cu <<_ACEOF
#include <cuda_runtime.h>
#include <cusparse.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
__global__ void k(double *x) { x@<:@threadIdx.x@:>@ += 1.0; }
extern "C" int conftest_gpu(void) { k<<<1,32>>>(0); return (int)cudaGetLastError(); }
_ACEOF
    # compressed for size, GPU code is a tenth as large (CUDA 12.8 and newer)
    NVCC_CODE=-Xfatbin=-compress-mode=size
    trs_compile="$NVCC $NVCCFLAGS $NVCC_GENCODE -Xcompiler -fPIC -c conftest.cu -o conftest_gpu.$OBJEXT"
    AS_IF([$trs_compile $NVCC_CODE >&AS_MESSAGE_LOG_FD 2>&1],[AC_MSG_RESULT([yes, compressed for size])],
      [NVCC_CODE=
       AS_IF([$trs_compile >&AS_MESSAGE_LOG_FD 2>&1],
         [AC_MSG_RESULT([yes])],[AC_MSG_RESULT([no]); trs_why="nvcc cannot compile a test kernel (see config.log)"])])
    AS_IF([test "x$enable_lineinfo" != xno],[AS_VAR_APPEND([NVCC_CODE],[" -lineinfo"])])
  ])
  # 2. the C compiler links the object (a plain C link, no g++).
  AS_IF([test -z "$trs_why"],[
    trs_save_LIBS=$LIBS
    LIBS="conftest_gpu.$OBJEXT $CUDA_LIBS $LIBS"
    AC_MSG_CHECKING([whether $CC links CUDA objects with $CUDA_LIBS])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[int conftest_gpu(void);]],[[return conftest_gpu();]])],
      [AC_MSG_RESULT([yes])],
      [LIBS="conftest_gpu.$OBJEXT $CUDA_LIBS -lstdc++ $trs_save_LIBS"
       AC_LINK_IFELSE([AC_LANG_PROGRAM([[int conftest_gpu(void);]],[[return conftest_gpu();]])],
         [AC_MSG_RESULT([yes, with -lstdc++]); AS_VAR_APPEND([CUDA_LIBS],[" -lstdc++"])],
         [AC_MSG_RESULT([no]); trs_why="cannot link CUDA objects"])])
    LIBS=$trs_save_LIBS
  ])
  rm -f conftest.cu conftest_gpu.$OBJEXT
  # 3. sonames of the libraries that are opened at run time
  AS_IF([test -z "$trs_why"],[
    m4_foreach_w([trs_l],[cusparse cublas cusolver],[
      AC_MSG_CHECKING([for the soname of lib]trs_l)
      trs_so=`objdump -p "$trs_cuda_libdir/lib[]trs_l.so" 2>/dev/null | $AWK '$[]1=="SONAME"{print $[]2}'`
      AS_IF([test -n "$trs_so"],[],[trs_so=lib[]trs_l.so])
      AC_MSG_RESULT([$trs_so])
      AC_DEFINE_UNQUOTED(m4_toupper(trs_l)[_SONAME],["$trs_so"],[File opened at run time for ]trs_l[.])
    ])
    have_cuda=yes
    AC_DEFINE_UNQUOTED([CUDA_LIBDIR],["$trs_cuda_libdir"],[Where the CUDA libraries were at configure time (last resort for dlopen).])
    AC_DEFINE([HAVE_CUDA],[1],[Define to 1 if GPU code is built.])
  ],[
    AS_IF([test "x$with_cuda" = xauto],
      [AC_MSG_NOTICE([CUDA off: $trs_why])],
      [AC_MSG_ERROR([--with-cuda was given, but $trs_why])])
  ])
])
AS_IF([test $have_cuda = yes],[],[NVCC= NVCC_CODE= NVCC_GENCODE= NVCC_GENCODE_EACH= CUDA_CPPFLAGS= CUDA_LIBS= cuda_archs=])
AC_SUBST([NVCC_GENCODE])
AC_SUBST([NVCC_GENCODE_EACH])
AC_SUBST([NVCC_CODE])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDA_LIBS])
AM_CONDITIONAL([HAVE_CUDA],[test $have_cuda = yes])
])
