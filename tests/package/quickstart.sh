#!/bin/sh
# quickstart.sh: ./quickstart on machines of several kinds, which stubs on the PATH play: packages that are
# missing, no network, no root, a home or a checkout that cannot be written, two runs at once.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
unset NO_INSTALL CONFIGURE_FLAGS

# ---- a machine ------------------------------------------------------------------------------------
# tools/ has what any system has, stubs/ what packages bring.  state/ tells the stubs what to play:
# installed (a package a line), offline, no-update, no-right, uid, slow, nvcc; and keeps what was called.
mkdir tools stubs state
for tool in sh cat grep sed find tr head tail sort dirname flock env mkdir rmdir rm sleep chmod; do
    ln -s "$(command -v $tool)" tools/$tool
done
stub() { { echo '#!/bin/sh'; echo "state='$folder/state'"; cat; } >"stubs/$1"; chmod +x "stubs/$1"; }

stub id <<'END'
cat "$state/uid"
END
stub dpkg-query <<'END'
for package in "$@"; do :; done
grep -qx "$package" "$state/installed" && echo 'install ok installed'
END
stub apt-get <<'END'
echo "apt-get $*" >>"$state/calls"
case " $* " in
    *' update '*) [ ! -e "$state/no-update" ] && [ ! -e "$state/offline" ]; exit ;;
esac
if [ -e "$state/offline" ]; then
    echo 'W: some hosts cannot be reached' >&2
    echo 'E: Unable to fetch some archives' >&2
    exit 100
fi
for package in "$@"; do echo "$package"; done | grep -v '^-' >>"$state/installed"
END
stub sudo <<'END'
echo "sudo $*" >>"$state/calls"
[ ! -e "$state/no-right" ] || { echo 'sudo: a password is required' >&2; exit 1; }
exec "$@"
END
stub nproc <<'END'
echo 2
END
stub autoreconf <<'END'
cat >configure <<CONFIGURE
#!/bin/sh
: >config.status
: >config.h
echo '  trisolve-sparse 1'
[ ! -e "$state/nvcc" ] || echo '#define HAVE_CUDA 1' >config.h
[ ! -e "$state/nvcc" ] || echo '    CUDA archs ......... compute_80, delays no'
CONFIGURE
chmod +x configure
END
# a compiler that is ccache in disguise; two builds at once in a folder fail
stub make <<'END'
[ -w "$HOME" ] || [ -n "$CCACHE_DISABLE" ] || { echo 'ccache: error: no home' >&2; exit 2; }
mkdir busy || { echo 'two builds at once' >&2; exit 2; }
[ ! -e "$state/slow" ] || sleep 2
mkdir -p bin
{ echo '#!/bin/sh'; echo 'echo solved'; } >bin/trisolve-sparse
chmod +x bin/trisolve-sparse
rmdir busy
END
for tool in gcc automake libtoolize pkg-config; do stub $tool </dev/null; done

# machine UID: everything installed, on-line; a fresh checkout
needed='gcc g++ make autoconf automake libtool pkg-config'
wanted='libsuitesparse-dev libopenblas-dev liblapacke-dev libcmocka-dev libarchive-dev libjansson-dev libxxhash-dev python3 python3-jsonschema
        libeigen3-dev gfortran xz-utils mandoc bash-completion'
machine() {
    rm -rf tree state home
    mkdir -p tree/m4 state home
    cp "$source/quickstart" tree/quickstart
    : >tree/configure.ac
    : >tree/Makefile.am
    echo "$1" >state/uid
    printf '%s\n' $needed $wanted >state/installed
    : >state/calls
}
# without PACKAGE...
without() { for package in "$@"; do sed "/^$package\$/d" state/installed >left; mv left state/installed; done; }
quickstart() { env PATH="$folder/stubs:$folder/tools" HOME="$folder/home" CC= CONFIGURE_FLAGS= sh tree/quickstart "$@"; }
# calls LINES: of apt-get and sudo, these and no others
calls() {
    printf '%s' "${1:+$1
}" | cmp -s - state/calls && ok "the calls it should make" && return
    cp state/calls err
    not_ok "other calls"
}
one_line() { if [ "$(wc -l <"$1")" -eq 1 ]; then ok "one sentence in $1"; else not_ok "not one sentence in $1"; fi; }

apt='-qq -o DPkg::Lock::Timeout=600'

# ---- GPU code ----------------------------------------------------------------------------------------
machine 0
expect 0 "no nvcc" quickstart
says out 'CUDA not found: CPU only'
machine 0
: >state/nvcc
expect 0 "nvcc, but no GPU" quickstart
says out 'no GPU: GPU code is PTX'

# ---- packages ----------------------------------------------------------------------------------------
machine 0
expect 0 "everything is there" quickstart
says out '^solved$'
silent err
calls ""
expect 0 "again" quickstart
: >state/offline
expect 0 "and without a network" quickstart
calls ""

machine 0
without mandoc libtool
expect 0 "root, two packages missing" quickstart
says out '^quickstart: installing libtool mandoc'
calls "apt-get $apt update
apt-get $apt install -y --no-install-recommends libtool mandoc"

machine 0
without mandoc
: >state/no-update
expect 0 "the lists of packages cannot be renewed, the package can be had" quickstart
says out 'update failed, going on'
says out '^solved$'

machine 0
without mandoc
: >state/offline
expect 0 "no network, and a package missing that is not needed" quickstart
says out 'not installed: mandoc .E: Unable to fetch some archives.'
says out '^solved$'

machine 0
without libtool
: >state/offline
mv stubs/libtoolize away
expect 1 "no network, and one that is needed" quickstart
says err '^quickstart: cannot build without libtoolize: let root install .*libtool'
one_line err
mv away stubs/libtoolize

machine 0
without mandoc
NO_INSTALL=1 expect 0 "NO_INSTALL" quickstart
says out 'because of NO_INSTALL: mandoc'
calls ""

# ---- without being root --------------------------------------------------------------------------------
machine 1000
without mandoc
expect 0 "with sudo" quickstart
says state/calls '^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* install .* mandoc'
says state/installed '^mandoc$'

machine 1000
without mandoc
: >state/no-right
expect 0 "with sudo, but without the right" quickstart
says out 'not installed: mandoc .sudo: a password is required.'
says out '^solved$'

mv stubs/sudo sudo
machine 1000
without mandoc
expect 0 "without sudo, a package missing that is not needed" quickstart
says out 'only root can install, there is no sudo: mandoc'
says out '^solved$'
without automake
mv stubs/automake away
expect 1 "without sudo, one that is needed" quickstart
says err '^quickstart: cannot build without automake: let root install '
one_line err
mv away stubs/automake
mv sudo stubs/sudo

# ---- places ---------------------------------------------------------------------------------------------
machine 0
rmdir home
expect 0 "no home" quickstart
says out '^solved$'

# nobody ACTION...: as a user who is not root, so that permissions count
nobody() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi
}
chmod 755 .
if nobody test -x tools/sh 2>/dev/null; then
    as_nobody() { nobody env PATH="$folder/stubs:$folder/tools" HOME="$folder/home" CC= CONFIGURE_FLAGS= sh tree/quickstart; }
    machine 1000
    chmod -R a-w tree
    expect 1 "a checkout that cannot be written" as_nobody
    says err "^quickstart: no right to write to $folder/tree: "
    one_line err
    chmod -R a+rwX tree
    mkdir tree/build
    chmod a-w tree/build
    expect 1 "a build of somebody else" as_nobody
    says err '^quickstart: no right to write to build: '
    chmod a+w tree/build
    chmod a-w home
    chmod a+rw state/calls
    expect 0 "a home that cannot be written" as_nobody
    says out '^solved$'
    rm -rf tree
else
    ok "places that cannot be written # SKIP root, and no setpriv"
fi

# ---- twice at once ----------------------------------------------------------------------------------------
machine 0
: >state/slow
quickstart >first 2>&1 &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -d tree/build/busy ] && break
    sleep 0.2
done
expect 0 "a second run in the same checkout" quickstart
says out 'another quickstart is at work in this checkout: waiting'
says out '^solved$'
if wait $pid; then ok "the first ends well"; else not_ok "the first: $(cat first)"; fi
says first '^solved$'

expect 1 "wrong use" quickstart nonsense
says err "'nonsense' is not known"
finish
