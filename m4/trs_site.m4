# TRS_SITE: what `make html` needs: Sphinx with MyST, and mandoc.  Nothing else depends on them.
AC_DEFUN([TRS_SITE],[
AC_ARG_VAR([SPHINXBUILD],[sphinx-build, for make html])
AC_PATH_PROG([SPHINXBUILD],[sphinx-build])
AC_PATH_PROG([MANDOC],[mandoc])
AC_CACHE_CHECK([what make html lacks],[trs_cv_site_lacks],
  [trs_cv_site_lacks=
  AS_IF([test -z "$MANDOC"],[trs_cv_site_lacks=mandoc])
  AS_IF([test -z "$SPHINXBUILD"],[trs_cv_site_lacks="$trs_cv_site_lacks sphinx-build"],
    [mkdir conftest.site
    echo "extensions = @<:@'myst_parser'@:>@" >conftest.site/conf.py
    echo '# x' >conftest.site/index.md
    "$SPHINXBUILD" -q -b dummy conftest.site conftest.site/out >&AS_MESSAGE_LOG_FD 2>&1 ||
      trs_cv_site_lacks="$trs_cv_site_lacks myst-parser"
    rm -rf conftest.site])])
AC_SUBST([SITE_LACKS],[$trs_cv_site_lacks])
AS_IF([test -n "$SITE_LACKS"],[have_site="no: needs $SITE_LACKS"],[have_site=yes])
])
