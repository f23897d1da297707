# tap.sh: sourced by the shell tests.  Programs are taken from $TRS_BINDIR.
bin=${TRS_BINDIR:-./bin}
source=${TRS_SRCDIR:-.}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' 0
cd "$folder" || exit 99
count=0

ok() { count=$((count + 1)); echo "ok $count - $*"; }
not_ok() { count=$((count + 1)); echo "not ok $count - $*"; sed 's/^/# /' out err 2>/dev/null; }
skip() { count=$((count + 1)); echo "ok $count - $1 # SKIP $2"; }

# expect STATUS NAME COMMAND...: run it; stdout in out, stderr in err; its exit status must be STATUS.
expect() {
    want=$1 name=$2
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got = "$want" ]; then ok "$name"; else not_ok "$name: exit $got, not $want: $*"; fi
}

# says FILE PATTERN: the last command said it.
says() { if grep -qE -- "$2" "$1"; then ok "says $2"; else not_ok "does not say $2"; fi; }

# silent FILE: nothing was written there.
silent() { if [ ! -s "$1" ]; then ok "nothing in $1"; else not_ok "something in $1"; fi; }

absent() { if [ ! -e "$1" ] && [ -z "$(ls | grep -F "$1")" ]; then ok "no $1 left"; else not_ok "$1 is left"; fi; }

finish() { echo "1..$count"; }
