#!/bin/sh
# guide.sh: every command of doc/guide.md, doc/start.md and doc/levels.md runs, and prints what these say, but for numbers.
# The commands of README.md that run programs of the build succeed.
#
# A block ```console has commands behind "$ " and what they print; a line "..." stands for any number of lines.  A block
# behind <!-- file: NAME --> is that file.  What is not in this build, and a block behind <!-- needs: WHAT --> where WHAT
# is not here, is skipped.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
top=${bin%/bin}
ln -sf "$top" build
for folder in matrices examples python; do ln -sf "$source/$folder" .; done

# the libraries as if they were installed
for name in sparse suitesparse; do
    cat >trisolve-$name.pc <<EOF
Name: trisolve-$name
Description: this build
Version: 0
Cflags: -I$source/lib
Libs: -L$top/.libs -Wl,-rpath,$top/.libs -ltrisolve-$name -ltrisolve-sparse
EOF
done
PKG_CONFIG_PATH=$PWD; export PKG_CONFIG_PATH
PYTHONPATH=${TRS_PYTHONPATH-}; export PYTHONPATH

# blocks: files of their own; block-K has the commands and output of the K-th, need-K what it needs
awk '
    /^<!-- file: / { file = $3; next }
    /^<!-- needs: / { need = $3; next }
    /^```console/ { count++; out = "block-" count; print need >("need-" count); need = ""; next }
    /^```/ && out == "" { if (file != "") out = file; file = ""; next }
    /^```/ { close(out); out = ""; next }
    out != "" { print >out }
    END { print count >"blocks" }' "$source/doc/guide.md" "$source/doc/start.md" "$source/doc/levels.md"

# What block needs, in words, unless it is here.
lacking() {
    case $1 in
        python) python3 -c 'import scipy, trisolve' 2>/dev/null || echo "the Python package" ;;
        gpu) python3 -c 'import cupy, trisolve; cupy.cuda.Device()' 2>/dev/null || echo "a GPU and CuPy" ;;
    esac
}

# A command whose program, or library, is not in this build.
not_built() {
    case $1 in
        *pkg-config*) ! grep -q sanitize "$top/config.status" || { echo "a library without sanitizers"; return; } ;;
    esac
    case $1 in
        build/*) [ -x "${1%% *}" ] || echo "${1%% *}" ;;
        *trisolve-suitesparse*) [ -e "$top/.libs/libtrisolve-suitesparse.so" ] || echo "libtrisolve-suitesparse" ;;
        *pkg-config*) command -v pkg-config >/dev/null || echo "pkg-config" ;;
    esac
}

mask() { sed -E 's/-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?( (ns|us|ms|s)\b)?/#/g; s/  +/ /g' "$1"; }

# Does the output (second file) match what is expected (first file)?
matches() {
    mask "$1" >expected.masked
    mask "$2" >actual.masked
    awk '
        file == 1 { want[++wants] = $0 }
        file == 2 { got[++gots] = $0 }
        END {
            g = 1
            for (w = 1; w <= wants; w++) {
                if (want[w] == "...") { skips = 1; continue }
                while (skips && g <= gots && got[g] != want[w]) g++
                if (g > gots || got[g] != want[w]) { print "expected: " want[w]; print "printed:  " got[g]; exit 1 }
                g++
                skips = 0
            }
            if (!skips && g <= gots) { print "printed besides: " got[g]; exit 1 }
        }' file=1 expected.masked file=2 actual.masked
}

# Run one command, and compare.
try() {
    gone=$(not_built "$1")
    if [ -n "$gone" ]; then ok "$1 # SKIP $gone is not in this build"; return; fi
    sh -c "$1" >out 2>&1 </dev/null
    if matches expected out >err; then ok "$1"; else cat out >>err; not_ok "$1"; fi
}

for k in $(seq "$(cat blocks)"); do
    without=$(lacking "$(cat need-$k)")
    if [ -n "$without" ]; then ok "block $k # SKIP without $without"; continue; fi
    command=
    while IFS= read -r line; do
        case $line in
            '$ '*) [ -z "$command" ] || try "$command"; command=${line#??}; : >expected ;;
            *) printf '%s\n' "$line" >>expected ;;
        esac
    done <"block-$k"
    try "$command"
done

sed -n 's|^    \(build/bin/[^#]*[^# ]\) *\(#.*\)*$|\1|p' "$source/README.md" >commands
while IFS= read -r command; do
    case $command in build/bin/trisolve-bench*) command="$command --cell-seconds=0.001" ;; esac
    gone=$(not_built "$command")
    if [ -n "$gone" ]; then skip "$command" "$gone is not in this build"; else expect 0 "$command" sh -c "$command"; fi
done <commands
if [ "$(wc -l <commands)" -ge 7 ]; then ok 'commands of README.md'; else not_ok 'fewer commands than README.md has'; fi
finish
