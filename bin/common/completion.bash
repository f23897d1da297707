# bash completion for trisolve-sparse, trisolve-info, trisolve-bench and trisolve-gen          -*- shell-script -*-
#
# Options, and the kinds of trisolve-gen, are those that --help of the program names; solvers are those that
# trisolve-sparse --list-solvers says can run here.

# What the matrix of an option's argument is called in --help: FILE, DIR, LIST, N, ...
_trisolve_argument()
{
    "$1" --help 2>/dev/null | command sed -n "s/.*$2\[\{0,1\}=\([A-Z][A-Z]*\).*/\1/p" | command head -n 1
}

# "--solver=" where it always has an argument, "--factor" where it may have one
_trisolve_options()
{
    "$1" --help 2>/dev/null | command grep -oE -- '(^|[ ,])-(-[a-z][a-z-]*=?|[a-zA-Z],)' | command awk '
        { gsub(/[ ,]/, ""); seen[$0] }
        END { for (option in seen) if (!((option "=") in seen)) print option }'
}

# The kinds of problems of trisolve-gen
_trisolve_kinds()
{
    "$1" --help 2>/dev/null | command sed -n '/^Kinds:/,/^$/s/^  \([a-z0-9][a-z0-9]*\)  *[A-Z] .*/\1/p'
}

# The solvers that can run here; $1 may be any of the four programs
_trisolve_solvers()
{
    local folder=
    [[ $1 != */* ]] || folder=${1%/*}/
    "${folder}trisolve-sparse" --list-solvers 2>/dev/null | command awk '
        / not available: / { name = ""; next }
        name != "" { print name; name = "" }
        /^  [a-z]/ && $1 != "name" { name = $1 }
        END { if (name != "") print name }'
}

_trisolve()
{
    local cur prev words cword split
    _init_completion -s || return

    case $prev in
        --solver)
            COMPREPLY=($(compgen -W '$(_trisolve_solvers "$1")' -- "$cur"))
            return
            ;;
        --solvers) # names between commas
            local before=
            [[ $cur != *,* ]] || before=${cur%,*},
            COMPREPLY=($(compgen -P "$before" -W '$(_trisolve_solvers "$1")' -- "${cur##*,}"))
            return
            ;;
        -o) _filedir; return ;;
    esac
    if [[ $prev == --* ]]; then
        case $(_trisolve_argument "$1" "$prev") in
            FILE) _filedir; return ;;
            DIR) _filedir -d; return ;;
        esac
    fi
    $split && return

    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W '$(_trisolve_options "$1")' -- "$cur"))
        [[ ${COMPREPLY-} != *= ]] || compopt -o nospace 2>/dev/null
    elif [[ $1 == *trisolve-gen ]]; then
        COMPREPLY=($(compgen -W '$(_trisolve_kinds "$1")' -- "$cur"))
    else
        _filedir '@(mtx|rb|[rcp][suhzr]a|trs)?(.gz|.xz|.zst|.bz2)|tar.gz'
    fi
} &&
    complete -F _trisolve trisolve-sparse trisolve-info trisolve-bench trisolve-gen
