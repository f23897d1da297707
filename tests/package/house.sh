#!/bin/sh
# house.sh: the sources keep the order of the rooms, and the sizes that keep a room readable.
#
#   includes      a room includes rooms of the lines above its own in `rooms`, and no other: so there is no cycle
#   core          lib/core and lib/select name no algorithm
#   folders       at most 20 files in one
#   headers       at most 25 prototypes in one that is not installed
#   conditionals  no ?: within another
#   solvers       each is in the table of doc/design.md, and its costs are in a group that the calibration fits
#   folds         tests take the largest error by larger (), which keeps a NaN
#   complexity    no function has a cyclomatic complexity above 15
#   width         no line of a public header is longer than 100 characters
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
if [ ! -d "$source/lib/base" ]; then
    echo '1..0 # SKIP the sources are not here'
    exit 0
fi
source=$(cd "$source" && pwd)
: "${AWK:=awk}"

# The order of the rooms.  Those of one line do not include one another.  A room that is not named stands where the *
# of its parent folder does: a new solver needs no line.
cat >rooms <<'END'
lib
lib/base
lib/io lib/matrix
lib/analysis lib/vectors
lib/solvers
lib/* lib/select
cuda/runtime
cuda/blocks cuda/matrix
cuda/dataflow cuda/elimination
cuda/*
lib/core
lib/batch lib/factor
lib/accuracy lib/lu_batch
lib/product
lib/krylov
cuda/accuracy cuda/batch cuda/krylov cuda/lu_batch
bin/common
bin/costs bin/report
bin/*
END

# Code without comments and without the text of strings; its own functions begin with code_.
cat >code.awk <<'END'
FNR == 1 { in_comment = 0 }
{ code = code_of($0) }
function code_of(line,    out, at, end) {
    out = ""
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            if (!end) return out
            line = substr(line, end + 2)
            in_comment = 0
        }
        at = match(line, /\/\*|\/\/|"|'/)
        if (!at) return out line
        out = out substr(line, 1, at - 1)
        line = substr(line, at)
        if (substr(line, 1, 2) == "//") return out
        if (substr(line, 1, 2) == "/*") { line = substr(line, 3); in_comment = 1; out = out " " }
        else if (substr(line, 1, 1) == "'" && out ~ /[0-9]$/) line = substr(line, 2) # 1'000
        else if (match(line, /^"([^"\\]|\\.)*"|^'([^'\\]|\\.)*'/)) { line = substr(line, RLENGTH + 1); out = out "0" }
        else line = substr(line, 2)
    }
    return out
}
END

# room -> room file file
cat >includes.awk <<'END'
BEGIN { for (i = 1; i < ARGC; i++) exists[ARGV[i]] = 1 }
function room(file,    part) { return split(file, part, "/") < 3 ? part[1] : part[1] "/" part[2] }
/^[ \t]*#[ \t]*include[ \t]*"/ {
    name = $0
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    to = (folder name) in exists ? folder name : ("lib/" name) in exists ? "lib/" name : name
    if (to in exists) { if (room(to) != room(FILENAME)) print room(FILENAME), room(to), FILENAME, to }
    else if (name !~ /^(config.h|solvers.inc|costs.inc|powers.inc|build.inc)$/) print room(FILENAME), "?", FILENAME, name
}
END

# What breaks the order.  Programs include the public headers, lib/base, and what is exported for them alone.
cat >order.awk <<'END'
BEGIN { for_programs["lib/select/predict.h"]; for_programs["lib/io/output.h"] }
FNR == NR { for (i = 1; i <= NF; i++) line[$i] = NR; next }
function place(room,    parent) {
    if (room in line) return line[room]
    parent = room
    sub(/\/.*/, "/*", parent)
    return parent in line ? line[parent] : 0
}
$2 == "?" { print $3 " includes " $4 ", which is not there"; next }
place($2) >= place($1) || ($1 ~ /^lib/ && $2 !~ /^lib/) || ($1 ~ /^bin/ && $2 !~ /^(lib|lib\/base|bin\/common|bin\/costs|bin\/report)$/ && !($4 in for_programs)) {
    print $3 " includes " $4
}
END

# Declarations of functions at the level of the file, or within extern "C": a header each line, and how many.
cat >prototypes.awk <<'END'
function done() { if (name != "" && count > 25) print name ": " count " prototypes"; count = depth = 0; text = "" }
FNR == 1 { done(); name = FILENAME }
code ~ /^[ \t]*#/ || continued { continued = code ~ /\\$/; next }
{
    for (k = 1; k <= length(code); k++) {
        c = substr(code, k, 1)
        if (c == "{" && text ~ /extern 0[ \t]*$/) text = ""
        else if (c == "{") depth++
        else if (c == "}" && depth) { if (!--depth && text ~ /\)[ \t]*$/) text = "" }
        else if (c == ";" && !depth) {
            if (text ~ /\([^*].*\)[ \t]*$/ && text !~ /typedef|=/) count++
            text = ""
        } else if (!depth) text = text c
    }
    text = text " "
}
END { done() }
END

# A conditional expression within another.  An expression ends at , ; { } = return and at the bracket around it; a
# level is a bracket that is open.  marks [level]: ? in the expression there; within [level]: ? in brackets of this
# expression; any [level]: ? since the bracket was opened.
cat >conditionals.awk <<'END'
function begin() { marks[level] = within[level] = 0 }
function close_bracket(c) {
    if (!level) return
    level--
    if (any[level + 1] && c != "}") within[level] = any[level] = 1
    if (c == "}") begin()
}
function question(    k) {
    if (marks[level] || within[level]) return 1
    for (k = 0; k < level; k++) if (marks[k]) return 1
    marks[level] = any[level] = 1
    return 0
}
function is_assignment(rest, before) { return substr(rest, 2, 1) != "=" && before !~ /[=!<>]/ }
FNR == 1 { level = 0; any[0] = 0; begin() }
code ~ /^[ \t]*#/ { if (code !~ /define/) next }
{
    rest = code
    before = ""
    while (match(rest, /[][(){}?,;=]|return/)) {
        c = substr(rest, RSTART, RLENGTH)
        if (RSTART > 1) before = substr(rest, RSTART - 1, 1)
        rest = substr(rest, RSTART)
        if (c ~ /[({[]/) { level++; any[level] = 0; begin() }
        else if (c ~ /[])}]/) close_bracket(c)
        else if (c == "?") { if (question()) print FILENAME ":" FNR ": " $0 }
        else if (c != "=" || is_assignment(rest, before)) begin()
        rest = substr(rest, length(c) + 1)
        before = c
    }
}
END

# The cyclomatic complexity of functions: 1, and 1 for each if, for, while, case, && and || and ?.  The body of a
# function is between lines that have only its brackets, with the same indentation; the name is behind the last line
# before it that ended with ; or }.  count is 0 outside of functions.
cat >complexity.awk <<'END'
function begin(    text) {
    text = head
    sub(/\(.*/, "", text)
    name = text
    sub(/^.*[ *&]/, "", name)
    count = 1
    indentation = length(code) - length(bare)
    first = FNR
}
FNR == 1 { count = 0; head = "" }
code ~ /^[ \t]*#/ || continued { continued = code ~ /\\$/; next }
{
    bare = code
    sub(/^[ \t]+/, "", bare)
    sub(/[ \t]+$/, "", bare)
}
!count && bare == "{" { begin(); next }
!count { head = bare ~ /[;}]$/ ? "" : head " " bare; next }
bare ~ /^}/ && length(code) - length(bare) == indentation {
    if (count > 15) print FILENAME ":" first ": " name " has a complexity of " count
    count = 0
    head = ""
    next
}
{
    count += gsub(/&&|\|\||[?]/, " ", bare)
    count += gsub(/(^|[^a-zA-Z0-9_])(if|for|while|case)[^a-zA-Z0-9_]/, " ", bare)
}
END

sources() { (cd "$source" && find "$@" \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) | sort); }
# none WHAT: nothing was written to err
none() { if [ ! -s err ]; then ok "$*"; else not_ok "$*"; fi; }
: >out
at=$PWD
all=$(sources lib cuda bin)
cd "$source" || exit 99

$AWK -f "$at/includes.awk" $all >"$at/includes"
$AWK -f "$at/order.awk" "$at/rooms" "$at/includes" >"$at/err"
(cd "$at" && sort -u -k1,2 includes | $AWK '{ to[$1] = to[$1] " " $2 } END { for (r in to) print "# " r " includes" to[r] }' | sort)
[ -s "$at/includes" ] || echo 'no includes were found' >"$at/err"
cd "$at" || exit 99
none "the modules include one another in their order ($(wc -l <includes) includes)"

algorithm='(cuda-)?(supernod[a-z]*|stretch[a-z]*|merged|dataflow)'
(cd "$source" && grep -rnwiE --include='*.[ch]' "$algorithm" lib/core lib/select) >err
none 'lib/core and lib/select name no algorithm'

# those that editors and compilers leave there do not count
(cd "$source" && find lib cuda bin tests -type f | grep -E '\.(c|h|cu|cuh|mk|md|sh|py|svg)$') |
    sed 's,/[^/]*$,,' | sort | uniq -c | $AWK '$1 > 20 { print $2 ": " $1 " files" }' >err
none 'no folder has more than 20 files'

headers=$(echo "$all" | grep 'h$' | grep -v '^lib/trisolve-')
(cd "$source" && $AWK -f "$at/code.awk" -f "$at/prototypes.awk" $headers) >err
none 'no header of the library has more than 25 prototypes'

(cd "$source" && $AWK -f "$at/code.awk" -f "$at/conditionals.awk" $all $(sources tests examples)) >err
none 'no conditional expression is within another'

(cd "$source" && $AWK -f "$at/code.awk" -f "$at/complexity.awk" $all) >err
none 'no function has a cyclomatic complexity above 15'

(cd "$source" && $AWK 'length > 100 { print FILENAME ":" FNR }' lib/trisolve-*.h) >err
none 'no line of a public header is longer than 100 characters'

# ---- what a new solver needs besides its module
# in the table: `cpu-ell`, or -simple behind `dense-serial`, or `lu-*`
: >err
for file in $all; do
    case $file in lib/example/*) continue ;; esac
    for name in $(sed -n 's/^.*const trs_solver trs_solver_\([a-z0-9_]*\) =.*/\1/p' "$source/$file" | tr _ -); do
        grep -qF -e "\`$name\`" -e "\`cuda-$name\`" -e "\`-${name#*-}\`" -e "\`${name%%-*}-*\`" "$source/doc/design.md" ||
            echo "$file: $name is not in the table of solvers of doc/design.md" >>err
        echo "$name" >>names
    done
done
[ -s names ] || echo 'no solvers were found' >>err
none 'doc/design.md has every solver'
(cd "$source" && cat $(find lib cuda -name costs ! -path lib/example/costs ! -path lib/select/costs)) |
    sed -n 's/^\([a-z]*_\).*/\1/p' | sort -u | while read -r prefix; do
    case $prefix in gpu_ | link_ | chip_) continue ;; esac # measured one by one
    grep -q "\"$prefix\"" "$source/bin/bench/calibrate/groups.c" ||
        echo "no group of bin/bench/calibrate/groups.c fits the costs $prefix..."
done >err
none 'every cost of a solver is in a group of the calibration'

# a = fmax (a, b) forgets a NaN, and so does if (b > worst) worst = b
(cd "$source" && grep -rnE '([A-Za-z_>.]+) = fmax\(\1,|if \(!?\(?([a-z]+) (>|<=) (worst|most|apart|error)\)\)? \4 = \2;' tests --include='*.c') >err
none 'tests fold errors by larger ()'
finish
