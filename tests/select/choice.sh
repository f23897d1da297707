#!/bin/sh
# choice.sh: is the automatic choice on a CPU as fast as the best of the CPU solvers, and never slower than cpu-serial?
#
#     make && ../tests/select/choice.sh [DIRECTORY]        in the build directory; at most six minutes on a machine
#                                                   of this day; no part of make check
#
# Problems of every kind, and the lower triangles of the Matrix Market files of DIRECTORY, with 1, 2 and all threads.
# Each is solved by every solver in some processes of its own; the time of a solver is the median of theirs, and the
# choice is held against it as each of the processes made it.  Says "worst" for each number of threads:
#
#     best    the choice over the fastest solver: at most 1.1, where a solve takes less than 20 us 1.15
#     serial  the choice over cpu-serial: at most 1.05, there 1.15
#
# Run it on a machine that does nothing else.  A GPU is not used.
set -u
bench=${BENCH:-./bin/trisolve-bench}
processes=${PROCESSES:-5}
budget=${BUDGET:-110} # seconds for a number of threads, when three processes have run
CUDA_VISIBLE_DEVICES=
export CUDA_VISIBLE_DEVICES

large='grid5:400 grid5:1500 grid7:40 grid7:80 grid7:120 grid27:30 grid27:70 fem:25 ilu:60 chain:200000 bidiag:100000
    rand:100000 rand:1000000 rmat:17 rmat:20 circuit:1000000 lu2d:200 lu2d:400 lu3d:20 lu3d:32'
small='grid5:20 grid5:60 grid7:10 grid7:20 grid27:10 grid27:20 fem:6 chain:3000 bidiag:1000 rand:3000 rmat:11 circuit:5000
    lu2d:40 lu3d:10 full:50 full:300 full:2000'

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# Those of which there is a triangle to solve; a matrix that has none is left out of all that follows.
files=
[ $# -gt 0 ] && files=$(find "$1" -type f \( -name '*.mtx' -o -name '*.mtx.*z*' \) ! -name '*_b.mtx*' ! -name '*_rhs*' |
    sort)

run() { # FILE OPTION... NAME...
    csv=$1
    shift
    "$bench" --quiet --cpu --csv="$csv" "$@" >/dev/null 2>"$dir/errors"
    [ -s "$csv" ] || { cat "$dir/errors" >&2; exit 1; }
}

all=$(getconf _NPROCESSORS_ONLN)
counts=$(printf '%s\n' 1 2 "$all" | sort -nu)
status=0
grep -m 1 'model name' /proc/cpuinfo
echo "$all processors, load $(cut -d ' ' -f 1-3 /proc/loadavg), $(date -u '+%Y-%m-%d %H:%M')"
for threads in $counts; do
    k=0
    begun=$(date +%s)
    while [ "$k" -lt "$processes" ] &&
        { [ "$k" -lt 3 ] || [ $((($(date +%s) - begun) * (k + 1) / k)) -le "$budget" ]; }; do
        k=$((k + 1))
        # shellcheck disable=SC2086
        run "$dir/large$k" --threads="$threads" --cell-seconds=0.15 --solvers=cpu-serial,cpu-level $large
        # shellcheck disable=SC2086
        run "$dir/small$k" --threads="$threads" --cell-seconds=0.02 $small
        # shellcheck disable=SC2086
        [ -z "$files" ] || run "$dir/files$k" --lower --threads="$threads" --cell-seconds=0.02 \
            --solvers=cpu-serial,cpu-level $files
    done
    echo
    echo "$threads thread(s): medians of $k processes, us; ratios: median, largest"
    awk -F, '
        function median(list, n, i, j, t) { # of the numbers in list
            n = split(list, v, " ")
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            return n % 2 ? v[(n + 1) / 2] : 0.5 * (v[n / 2] + v[n / 2 + 1])
        }
        { sub(/\r$/, "") }
        FNR == 1 { delete c; for (k = 1; k <= NF; k++) c[$k] = k; next }
        $c["solve"] != "" {
            m = $c["matrix"]; one = $c["solver"]
            if (!(m in seen)) { seen[m] = 1; name[++problems] = m }
            if (!((m, one) in all)) of[m] = of[m] " " one
            all[m, one] = all[m, one] " " 1e6 * $c["solve"]
            if ($c["auto_host"]) taken[m] = taken[m] " " one
            made[m] = FILENAME !~ /files/
        }
        END {
            printf "%-28s %-11s %10s %-11s %10s %15s %15s\n", "", "choice", "cpu-serial", "best", "", "choice / best", "choice / serial"
            for (p = 1; p <= problems; p++) {
                m = name[p]; best = ""; bests = serials = ""
                n = split(of[m], s, " ")
                for (k = 1; k <= n; k++) {
                    time[s[k]] = median(all[m, s[k]])
                    if (best == "" || time[s[k]] < time[best]) best = s[k]
                }
                n = split(taken[m], s, " ")
                for (k = 1; k <= n; k++) {
                    bests = bests " " time[s[k]] / time[best]
                    serials = serials " " time[s[k]] / time["cpu-serial"]
                }
                b = median(bests); B = v[n]; r = median(serials); R = v[n]
                few = time["cpu-serial"] < 20
                bad = b > (few ? 1.15 : 1.1) || r > (few ? 1.15 : 1.05)
                if (b > worst[few]) { worst[few] = b; at[few] = m }
                if (r > slowest[few]) { slowest[few] = r; where[few] = m }
                if (bad) failed++
                log_sum += log(r)
                if (!made[m] && !bad && B <= 1.1) continue
                printf "%-28.28s %-11s %10.2f %-11s %10.2f %7.3f %7.3f %7.3f %7.3f%s\n", m, s[int((n + 1) / 2)], time["cpu-serial"],
                    best, time[best], b, B, r, R, bad ? "  <-- too slow" : ""
            }
            for (few = 0; few < 2; few++)
                printf "%s: worst / best %.3f (%s), worst / cpu-serial %.3f (%s)\n", few ? "below 20 us" : "20 us and more",
                    worst[few], at[few], slowest[few], where[few]
            printf "%d problems (of the files only those that stand out are shown), geometric mean / cpu-serial %.3f, too slow: %d\n",
                problems, exp(log_sum / problems), failed
            exit failed > 0
        }' "$dir"/[lsf]*[0-9] || status=1
    date -u '+%H:%M:%S'
    rm -f "$dir"/[lsf]*[0-9]
done
echo
[ $status = 0 ] && echo "The choice holds." || echo "The choice is too slow somewhere."
exit $status
