# TRS_BASH_COMPLETION
# -------------------
# --with-bash-completion-dir=DIR|no.  Sets completionsdir, which is below the prefix unless it is asked for elsewhere;
# bash-completion looks there when the prefix is /usr or /usr/local, or its datadir is in XDG_DATA_DIRS.
AC_DEFUN([TRS_BASH_COMPLETION],[
AC_ARG_WITH([bash-completion-dir],
  [AS_HELP_STRING([--with-bash-completion-dir=DIR],
    [install bash completions in DIR @<:@DATADIR/bash-completion/completions@:>@])],
  [],[with_bash_completion_dir=yes])
AS_CASE([$with_bash_completion_dir],
  [yes],[completionsdir='${datadir}/bash-completion/completions'],
  [no],[completionsdir=],
  [completionsdir=$with_bash_completion_dir])
AC_SUBST([completionsdir])
])
