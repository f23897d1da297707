# TRS_RELOCATABLE
# ---------------
# What is installed names its own parts from where it lies, so that a whole prefix can be moved or installed
# elsewhere.  Sets PC_PREFIX, the prefix in the .pc files, and RPATH_LIB, RPATH_BIN, by which the second library
# and the programs find the libraries; below /usr the loader finds them.
AC_DEFUN([TRS_RELOCATABLE],[
AS_CASE([$prefix],[NONE],[trs_prefix=$ac_default_prefix],[trs_prefix=$prefix])
# VALUE with the variables of configure in it put in
trs_expand () {
  (prefix=$trs_prefix
   AS_CASE([$exec_prefix],[NONE],[exec_prefix=$prefix])
   eval trs_path=$[1]
   eval echo $trs_path)
}
# "/../lib": from the folder /usr/local/bin to /usr/local/lib
trs_relative () {
  trs_from=$[1] trs_up=
  until case $[2]/ in "$trs_from"/*) : ;; *) false ;; esac; do
    trs_from=${trs_from%/*} trs_up=$trs_up/..
  done
  echo "$trs_up${2@%:@"$trs_from"}"
}
trs_libdir=`trs_expand "$libdir"`
trs_bindir=`trs_expand "$bindir"`
trs_pcdir=`trs_expand "$pkgconfigdir"`
PC_PREFIX=$trs_prefix
AS_CASE([$trs_pcdir],["$trs_prefix"/*],
  [PC_PREFIX='${pcfiledir}'`trs_relative "$trs_pcdir" "$trs_prefix"`])
RPATH_LIB= RPATH_BIN=
AS_IF([test "x$trs_prefix" != x/usr],
  [RPATH_LIB="-Wl,-rpath,'\$\$ORIGIN'"
   RPATH_BIN="-Wl,-rpath,'\$\$ORIGIN`trs_relative "$trs_bindir" "$trs_libdir"`'"])
AC_SUBST([PC_PREFIX])
AC_SUBST([RPATH_LIB])
AC_SUBST([RPATH_BIN])
])
