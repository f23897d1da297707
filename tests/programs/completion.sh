#!/bin/sh
# completion.sh: bash completes options, solvers, kinds and files of the four programs as --help and --list-solvers
# name them.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
functions=/usr/share/bash-completion/bash_completion
if ! command -v bash >/dev/null || [ ! -r $functions ]; then echo '1..0 # SKIP no bash-completion'; exit 0; fi

# complete LINE: what bash offers behind it, a word a line.  The words are cut as readline does, at = as well.
cat >complete.bash <<'END'
. "$1"; . "$2"
COMP_LINE=$3 COMP_POINT=${#3} COMP_WORDS=()
[[ $3 != *[\ =] ]] || last=
for word in ${3//=/ = }; do COMP_WORDS+=("$word"); done
[[ ! -v last ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p "${COMP_WORDS[0]##*/}" | sed 's/.*-F \([^ ]*\).*/\1/') \
    "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
END
complete() {
    bash complete.bash $functions "$source/bin/common/completion.bash" "$1" 2>err | sort >out
    silent err
}
# offers LINE WORD...: these and no others
offers() {
    line=$1
    shift
    complete "$line"
    printf '%s\n' "$@" | sort >want
    if cmp -s want out; then ok "'$line'"; else not_ok "'$line': not $*"; fi
}

# ---- options: those of the man pages and no others, with = where they need an argument
for program in sparse info bench gen; do
    sed -n 's/ *Ns = Ns /= /g; /Fl /s/Fl /\n&/gp' "$source/doc/trisolve-$program.1" |
        sed -n 's/^Fl \(-*[A-Za-z][a-z-]*=\{0,1\}\).*/-\1/p' |
        awk '{ seen[$0] } END { for (o in seen) if (!((o "=") in seen)) print o }' | sort >known
    complete "$bin/trisolve-$program -"
    if [ -s known ] && diff known out >err; then ok "$(wc -l <known) options of trisolve-$program"
    else not_ok "options of trisolve-$program: < in its man page, > offered"; fi
done
sparse=$bin/trisolve-sparse
offers "$sparse --low" --low-memory --lower
offers "$sparse --fac" --factor
offers "$sparse --toler" --tolerance=

# ---- solvers: those that can run here, wherever the command is
"$sparse" --list-solvers | awk '/^  cpu-l/ { print $1 }' >solvers
offers "$sparse --solver=cpu-l" $(cat solvers)
offers "$bin/trisolve-bench --solvers=cpu-serial,cpu-l" $(sed 's/^/cpu-serial,/' solvers)
cat >trisolve-sparse <<'END'
#!/bin/sh
echo '  name                 needs bits rows graph error        about'
echo 'Triangles: any'
echo '  cpu-first            cpu   yes  yes  -     substitution by rows'
echo '  cuda-second          cuda  yes  yes  yes   substitution by columns'
echo '                       not available: no GPU'
echo '  cpu-third            cpu   yes  yes  -     inverting    by levels'
echo 'bits: the same bits every time'
END
chmod +x trisolve-sparse
offers "$folder/trisolve-bench --solvers=" cpu-first cpu-third
rm trisolve-sparse

# ---- files
mkdir matrices
touch a.mtx a.mtx.gz a.txt a.rb a.tar.gz a.trs a.rra.xz
offers "$sparse a" a.mtx a.mtx.gz a.rb a.rra.xz a.tar.gz a.trs
offers "$sparse m" matrices
offers "$sparse --output=a.t" a.tar.gz a.trs a.txt
offers "$sparse -o a.tx" a.txt
offers "$bin/trisolve-bench --plot=m" matrices
offers "$sparse --repeat=a" ''
offers "$bin/trisolve-gen grid" grid27 grid5 grid7
finish
