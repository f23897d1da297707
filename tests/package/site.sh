#!/bin/sh
# site.sh: the pages of the site have every function and every Python name, their code blocks are whole and compile, and Sphinx finds
# no broken link; it does find one that is broken.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
top=${bin%/bin}
for tool in python3 mandoc; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done
if "$bin/trisolve-info" --json "$source/matrices/seed5.mtx" 2>&1 | grep -q 'without jansson'; then echo '1..0 # SKIP built without jansson'; exit 0; fi
[ -e "$top/doc/trisolve-plans.3" ] || { echo '1..0 # SKIP no manual pages in this build'; exit 0; }
expect 0 'the pages' python3 "$source/doc/site/pages.py" "$source" "$top" pages
cd pages || exit 99

: >err
sed -n 's/^TRS_API[^(]*[ *]\(trs_[a-z_0-9]*\)(.*/\1/p' "$source"/lib/trisolve-*.h | sort -u >functions
for function in $(cat functions); do
    grep -qxF "($function)=" reference/functions/*.md || echo "$function has no target" >>err
    grep -A1 -xF "{ref}\`$function <$function>\`" reference/functions.md | grep -q "^: [A-Za-z]" || echo "$function has no sentence in the list" >>err
done
if [ -s functions ] && [ ! -s err ]; then ok "all of $(wc -l <functions) functions"; else not_ok 'all functions'; fi
for name in $(sed -n '/^__all__/,/^]/p' "$source/python/trisolve/__init__.py" | grep -o '"[a-z_]*"' | tr -d '"'); do
    case $name in version | solvers) continue ;; esac
    grep -qx "## $name" reference/python.md || echo "$name"
done >err
if [ ! -s err ]; then ok 'all functions of Python'; else not_ok 'all functions of Python'; fi
for page in reference/*.md reference/functions/*.md; do # a fence that is not closed swallows the rest
    [ $(($(grep -c '^ *```' "$page") % 2)) = 0 ] || echo "$page"
done >err
if [ ! -s err ]; then ok 'closed code blocks'; else not_ok 'closed code blocks'; fi
for picture in rdb3200l-spy 1138_bus-levels residuals times twelve-problems; do says doc/pictures/$picture.svg '^<svg'; done
says reference/functions/trs_plan_create.md '^- \[examples/01_solve_once.c'; says reference/functions/trs_plan_create.md '^## Return values'
says reference/json.md '^`matrix.entries` \(integer\)$'; says reference/cite.md '^  version = {[0-9.]*},$'

# Statements in C, each of them in a function; guide.sh runs whole programs.
cat >blocks.c <<'END'
#include <trisolve-suitesparse.h>
#include <stdio.h>
void must(int rc);
extern trs_mat A, L, K, K0;
extern trs_plan *plan;
extern trs_lu *lu;
extern int n, count;
extern int64_t nnz, *ptr, positive, negative;
extern int32_t *idx;
extern double *val, *values, *b, *x;
END
awk 'FNR == 1 { wanted = FILENAME !~ /^reference/ }
    /^## / && FILENAME ~ /^reference/ { wanted = $2 == "Synopsis" }
    /^```c$/ && wanted { on = 1; block = ""; next }
    /^```/ && on { on = 0; if (block !~ /main\(/) print "void block" ++blocks "(void);\nvoid block" blocks "(void)\n{\n" block "}" }
    on { block = block "#line " FNR " \"" FILENAME "\"\n" $0 "\n" }' README.md doc/guide.md reference/*.md >>blocks.c
expect 0 'statements in C' "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -Wno-unused-but-set-variable -Wno-unused-variable \
    -fsyntax-only -I"$source/lib" blocks.c
expect 0 'eight of them' test "$(grep -c '^void block.*)$' blocks.c)" = 8
cd .. || exit 99

lacks=$(sed -n 's/^SITE_LACKS = *//p' "$top/Makefile")
sphinx=$(sed -n 's/^SPHINXBUILD = *//p' "$top/Makefile")
if [ -n "$lacks" ] || [ -z "$sphinx" ]; then skip 'the site' "no ${lacks:-sphinx-build}"; finish; exit 0; fi
expect 0 'the site' "$sphinx" -q -n -W --keep-going pages site; silent err
says site/reference/functions/trs_solve.html 'id="trs-solve"'; says site/searchindex.js trs_solve
echo '[nowhere](nowhere.md)' >>pages/doc/levels.md
expect 1 'a broken link' "$sphinx" -q -n -W --keep-going pages site; says err 'levels.md.*nowhere'
finish
