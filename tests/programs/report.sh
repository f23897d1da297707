#!/bin/sh
# report.sh: trisolve-report on results that are made up, as a machine with a GPU could give them: its numbers are those
# that were computed by hand.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
if ! command -v python3 >/dev/null; then echo '1..0 # SKIP no python3'; exit 0; fi
report() { python3 "${TRISOLVE_REPORT:-$source/bin/report/report.py}" "$@"; }
# cell MATRIX LEVELS SOLVER NEEDS PLACE FULL CHOSEN(0, host or device) OUTCOME SECONDS [ANALYSIS]
columns=file,matrix,kind,triangle,type,op,nrhs,n,nnz,levels,widest,longest,solver,needs,place,full,auto_host,auto_device
columns=$columns,outcome,solve,analysis,setup,update,accuracy,omega,normwise,message,cpu,gpu,threads,date,version
cell() {
    host=0 device=0
    case $7 in host) host=1 ;; device) device=1 ;; esac
    echo "$1,$1,,lower,f64,N,1,9,20,$2,4,3,$3,$4,$5,$6,$host,$device,$8,$9,${10-0},0,0,substitution,1e-16,1e-17,,a CPU,a GPU,2,,"
}

# ---- three solvers of the CPU, which is where B and X are -----------------------------------------------------
# times      ratios
# 8 1 4      8 1 4      the third is chosen
# 2 . 1      2 . 1      cpu-level is wrong here, and so is not the fastest; cpu-serial is chosen
# 3 3 6      1 1 2      cpu-serial is chosen
{
    echo "$columns"
    cell one 17 cpu-serial cpu host 0 0 good 8e-6;    cell one 17 cpu-level cpu host 0 0 good 1e-6
    cell one 17 cpu-other cpu host 0 host good 4e-6;  cell two 400 cpu-serial cpu host 0 host good 2e-6
    cell two 400 cpu-level cpu host 0 0 inaccurate 5e-7; cell two 400 cpu-other cpu host 0 0 good 1e-6
    cell 'th&ree' 9 cpu-serial cpu host 0 host good 3e-6;   cell 'th&ree' 9 cpu-level cpu host 0 0 good 3e-6
    cell 'th&ree' 9 cpu-other cpu host 0 0 good 6e-6
} >three.csv
expect 0 'a page and its figures' report three.csv -o page.html --plot figures
says page.html '<b>3</b> matrices'; says page.html '<b>3</b> solved'; says page.html '<b>1</b> <a href="#failed">solves too inaccurate'
says page.html '<b>33 %</b> of the choices are the fastest'; says page.html '<b>33 %</b> are within 1.1'
says page.html '<b>2.000</b> geometric mean of choice'; says page.html '<b>4</b> at worst' # cbrt (4 2 1)
row() { says page.html "<tr><td>$(echo "$*" | sed 's,  *,</td><td>,g')</td></tr>"; }
#   solver     solved inaccurate refused chosen fastest /fastest /cpu-serial
row cpu-serial 3 0 0 2 1 2.52 1 #       cbrt (8 2 1)
row cpu-level 2 1 0 0 1 1 0.3536 #      sqrt (1/8 3/3)
row cpu-other 3 0 0 1 1 2 0.7937 #      cbrt (4 1 2), cbrt (4/8 1/2 6/3)
says page.html '<td>17</td><td class="word">cpu-other</td><td>0.004</td><td class="word">cpu-level</td><td>0.001</td><td>4</td>'
says page.html 'On 2 triangles it takes more than 1.3 times'; says page.html 'cpu-level: backward error 1.0e-16'
says page.html '<h3>th&amp;ree</h3>'
expect 1 'no column of the GPU' grep -q '/cusparse</th>' page.html
says figures/profile.svg '<title>cpu-serial: fastest on 33.3%, solves 100.0%</title>'
says figures/profile.svg '<title>cpu-level: fastest on 66.7%, solves 66.7%</title>'
says figures/profile.svg '<title>automatic choice: fastest on 33.3%, solves 100.0%</title>'
says figures/solve.svg '<title>one, cpu-level: 0.125</title>'; says figures/solve.svg '<title>two, cpu-other: 0.5</title>'
says figures/solve.svg '<title>th&amp;ree, cpu-other: 2</title>'; says figures/levels.svg 'Solve time over that of cpu-serial, by levels'
# rho of cpu-serial is 1/3 from 1 on, 2/3 from 2 on, 1 from 8 on; the axis ends at 8.4; x = 70 + 326 log r / log 8.4
d=$(awk 'BEGIN { printf "H70(.0)?V[0-9.]*H%.1fV[0-9.]*H%.1fV[0-9.]*H396", 70 + 326 * log(2) / log(8.4), 70 + 326 * log(8) / log(8.4) }')
says figures/profile.svg "$d\"><title>cpu-serial"
expect 0 'from standard input' sh -c "python3 '${TRISOLVE_REPORT:-$source/bin/report/report.py}' - -o - <three.csv"
mv out again.html
expect 0 'it is the same page' cmp again.html page.html

# ---- one kind at three sizes ----------------------------------------------------------------------------------
# us: the choice takes 2, 4, 8; cpu-serial 4, 12, 32; memory 1, 1, 4 and levels .5, 2, 1 at least
size() { # SIZE ENTRIES CHOICE SERIAL MEMORY LEVELS RATE
    cell "grid9:$1" 5 cpu-level cpu host 0 host good "$3" | sed "s/,9,20,/,9,$2,/; s/\$/,$5,$6,$7/"
    cell "grid9:$1" 5 cpu-serial cpu host 0 0 good "$4" | sed "s/,9,20,/,9,$2,/; s/\$/,$5,$6,$7/"
}
{
    echo "$columns,floor_memory,floor_levels,rate"
    size 3 1000 8e-6 32e-6 4e-6 1e-6 4e9
    size 1 10 2e-6 4e-6 1e-6 5e-7 1e9
    size 2 100 4e-6 12e-6 1e-6 2e-6 2e9
} >sizes.csv
expect 0 'figures of growth' report sizes.csv --plot sizes
says sizes/growth-grid9.svg '<title>automatic choice: 10 0.002, 100 0.004, 1000 0.008</title>'
says sizes/growth-grid9.svg '<title>floor: 10 0.001, 100 0.002, 1000 0.004</title>'
says sizes/growth-grid9.svg '<title>cpu-serial: 10 0.004, 100 0.012, 1000 0.032</title>'
says sizes/growth-ratio.svg '<title>grid9: 10 2, 100 3, 1000 4</title>'
says sizes/growth-floor.svg '<title>grid9: 10 2, 100 2, 1000 2</title>'
says sizes/growth-rate.svg '<title>grid9: 10 1, 100 2, 1000 4</title>'

# ---- preparation and k solves -------------------------------------------------------------------------------
# ms: a plan is prepared in 4 and solves in 1, takes 20 to grow in solve 11, and then solves in 0.25:
# 4 + k for k < 11, and 31.5 + k / 4 from there on; the choice at once: 17 + k / 4
# cpu-serial 2 k       4 + k <= 2 k from 4 on, but 34.25 > 22 at k = 11; 31.5 <= 1.75 k from 18 on
# cusparse 40 + k      always
# lapack-x 1 + .5 k    31.5 - 1 <= k / 4 from 122 on; its setup counts
# lapack-y 1.2 k       31.5 <= .95 k from 33.2 on
# cublas-x .2 k        never
total=plan_prepare,plan_grows_at,plan_first,plan_growth,plan_grown,create,solve_first,steady,passes
grown() { cell "$@" | sed 's/$/,4e-3,11,1e-3,20e-3,2.5e-4,10e-3,,1,2/'; }
{
    echo "$columns,$total"
    grown a 9 cpu-serial cpu host 0 0 good 2e-3 9;  grown a 9 cusparse cpu host 0 0 good 1e-3 40e-3
    grown a 9 lapack-x cpu host 0 0 good 5e-4 1e-3; grown a 9 cublas-x cpu host 0 0 good 2e-4
    grown a 9 lapack-y cpu host 0 0 good 12e-4
    grown a 9 cpu-b cpu host 0 host good 2.5e-4 7e-3
} >total.csv
expect 0 'one triangle' report total.csv -o page.html --plot one
says one/total.svg '<title>a plan that grows: 1 5, 2 6, 5 9, 10 14, 11 34.25, 20 36.5, 50 44, 100 56.5, 200 81.5, 500 156.5, 1000 281.5,'
says one/total.svg '<title>cpu-b, the choice: 1 17.25, 2 17.5,'; says one/total.svg '<title>cpu-serial: 1 2, 2 4, .*, 10000 20000<'
says one/total.svg '<title>cusparse: 1 41,'; says one/total.svg '<title>lapack-x: 1 1.5,'
says page.html 'cpu-serial: from 18 solves on, cusparse: from 1 solves on, lapack-x: from 122 solves on, cublas-x: never, lapack-y: from 34 '
says page.html '<td>cusparse .*<td>1</td><td>1.0e-16</td>'; says page.html '<td>lapack-x .*<td>122</td><td>1.0e-16</td>'
# on b the plan does not grow: 1 + k; cpu-serial 4 k; both together: sqrt (2 / 5 4 / 2), sqrt (2000 / 281.5 4000 / 1001)
{
    cat total.csv
    cell b 9 cpu-serial cpu host 0 host good 4e-3 | sed 's/$/,1e-3,0,1e-3,,1e-3,0,,0,2/'
} >totals.csv
expect 0 'two triangles' report totals.csv -o page.html --plot two
says two/total.svg '<title>cpu-serial: 1 0.894427191, .* 1000 5.328'
says two/total.svg '<title>cublas-x: 1 0.04, .*, 10000 0.79004'
expect 0 'a figure for both and for each' test "$(grep -c 'svg xmlns' page.html)" = 5 # profile, solve, total; a, b
says page.html '<td>cpu-serial <small>choice for the host</small> <small>unsteady</small></td>'; says page.html '<td>cusparse <small>measured again</small></td>'
says page.html '<b>1</b> solves on a busy machine'
# it grows in solve 2: 5, then 4.85 + k / 4; cpu-serial 4 k
{ echo "$columns,$total"; cell d 9 cpu-serial cpu host 0 host good 4e-3 | sed 's/$/,4e-3,2,1e-3,1e-4,2.5e-4,0,,1,1/'; } >soon.csv
expect 0 'a plan that grows soon' report soon.csv -o page.html; says page.html 'cpu-serial: from 2 solves on'
says page.html 'a plan that grows: 1 5, 2 5.35, 5 6.1,'
# the fastest is judged by other solves than those that are shown
{
    echo "$columns,$total"
    cell a 9 cpu-a cpu host 0 host good 2e-3 | sed 's/$/,,,,,,,3e-3,1,1/'; cell a 9 cpu-b cpu host 0 0 good 4e-3 | sed 's/$/,,,,,,,1e-3,1,1/'
} >judged.csv
expect 0 'judged' report judged.csv -o page.html
says page.html 'cpu-b</td><td>4</td><td class="word">cpu-a</td><td>0.5</td>'
expect 1 'no total times of older files' grep -q figure-total page.html

# ---- a GPU: B and X are on it, and solvers of the CPU do not compete ------------------------------------------
{
    echo '# what: a comment'
    echo "$columns"
    cell one 9 cpu-serial cpu host 0 host good 1e-6; cell one 9 cuda-dataflow cuda device 0 device good 1e-6
    cell one 9 dense-serial cpu host 1 0 good 12e-3; cell one 9 cusparse cuda device 0 0 good 4e-6
    cell two 9 cpu-serial cpu host 0 host good 2e-6; cell two 9 cuda-dataflow cuda device 0 device refused ''
    cell two 9 dense-serial cpu host 1 0 good 1e-6;  cell two 9 cusparse cuda device 0 0 good 1e-3
    echo 'bad,bad,,lower,f64,N,1,,,,,,,,,,,,refused,,,,,,,,row 3: diagonal is missing,a CPU,a GPU,2,,'
} >gpu.csv
expect 0 'results of a GPU' report gpu.csv -o page.html --plot figures
says page.html 'GPU solvers find B and X in device memory'; says page.html 'Solvers on the CPU take no part'
row cpu-serial 2 0 0 0 - - 0.02236 1 # sqrt (1/4 2/1000)
says page.html '<b>100 %</b> of the choices are the fastest'; says page.html '<a href="#failed">refused'
says page.html '<tr id="m3"><td>bad</td><td class="why">row 3: diagonal is missing'
says figures/solve.svg 'over that of cusparse'; expect 1 'one is cut off, a full one left out' grep -q dense-serial figures/solve.svg
says page.html 'Not drawn: dense-serial, which stores'

# ---- the roof: memory takes 2 us, levels 1 us and then 8; solves of 4 and 16 us have 1/2 and 1/8 of the bandwidth ---
{
    echo "$columns,floor_memory,floor_levels"
    cell wide 2 cpu-serial cpu host 0 host good 4e-6 | sed 's/$/,2e-6,1e-6/'; cell deep 8 cpu-serial cpu host 0 host good 16e-6 | sed 's/$/,2e-6,8e-6/'
} >roof.csv
expect 0 'a roof' report roof.csv --plot roof; says roof/roofline.svg '<title>fastest solver</title>'
# x from 1/4.8 to 2.4, y from 1/9.6 to 2: the roof is 1 from x = 1 on; the points are below it
x() { awk "BEGIN { printf \"%.1f\", 70 + 326 * log($1 * 4.8) / log(2.4 * 4.8) }"; }
says roof/roofline.svg "L$(x 1) [0-9.]*L396[0-9.]* [0-9.]*\"><title>roof"
says roof/roofline.svg "d=\"M$(x 2) [0-9.]*m0-4.*M$(x 1/4) [0-9.]*m0-4[^M]*\"><title>fastest solver"

# ---- documents of trisolve-sparse: a residual is halved in each of 4 iterations; 1 + 2 + 3 + 4 ms --------------------
document() {
    echo "{\"matrix\": {\"file\": \"m/$1.mtx\"}, \"krylov\": {\"method\": \"cg\", \"rtol\": 0.1, \"history\": [1, 0.5, 0.25, 0.125, 0.0625]},"
    echo "\"seconds\": {\"read\": 1e-3, \"factor\": 2e-3, \"analysis\": 3e-3, \"solve\": {\"median\": 4e-3}}}"
}
document one >one.json; document two >two.json; echo '{"matrix": {"file": "x"}}' >failed.json
expect 0 'documents' report one.json two.json failed.json --plot solved
says solved/residuals.svg '<title>one.mtx, cg</title>'; says solved/residuals.svg '<title>two.mtx, cg</title>'
says solved/times.svg 'read 1 ms, factor 2 ms, analysis 3 ms, solve 4 ms'; says solved/times.svg 'one.mtx, cg: 10 ms'
# 380 pixels are 100 %
for width in 38.0 76.0 114.0 152.0; do says solved/times.svg "width=\"$width\""; done
d=$(awk 'BEGIN { for (k = 0; k < 5; k++) printf "%s%.1f [0-9.]*", k ? "L" : "M", 70 + 326 * k / 4 }')
says solved/residuals.svg "d=\"$d\"><title>one.mtx"

# ---- full matrices: solver k of the table takes (k + 1) n ns --------------------------------------------------
{
    echo matrix,file,triangle,n,nrhs,type,op,levels,widest,longest,nnz,kind,solver,block,alloc,copy,outcome,solve,factor,message
    for n in 256 512; do
        k=0
        for s in lu-serial lu-simple lu-fullgrid lu-submatrix gauss-vec4; do
            k=$((k + 1)) factor=$((k * n))e-9
            case $s$n in lu-simple512) echo "general,,general,$n,1,f64,N,1,1,1,9,,$s,0,,,refused,,,skipped"; continue ;; gauss*) factor= ;; esac
            echo "general,,general,$n,1,f64,N,1,1,1,9,,$s,0,1e-3,${n}e-6,good,5e-9,$factor,"
        done
        for b in 16 512; do echo "general,,general,$n,1,f64,N,1,1,1,9,,lu-column-shared,$b,,,good,5e-9,$((b * n))e-9,"; done
        echo "triangle,,lower,$n,1,f64,N,1,1,1,9,,dense-serial,0,1e-3,${n}e-6,good,${n}e-9,,"
    done
} >dense.csv
expect 0 'full matrices' report dense.csv -o page.html --plot dense
expect 0 'these figures' test "$(ls dense | tr '\n' ' ')" = \
    'all-general.svg all-triangles.svg dense-copies.svg dense-kernels.svg lu-figure11.svg lu-figure7.svg lu-submatrix.svg '
says dense/lu-figure7.svg 'lu-serial: 256 0.000256, 512 0.000512<'; says dense/lu-figure7.svg 'lu-simple: 256 0.000512<'
says dense/lu-figure11.svg 'block 512: 256 0.131072, 512 0.262144<'; says dense/lu-submatrix.svg ': 256 0.75, 512 0.75<'
says dense/dense-copies.svg 'allocate and copy: 256 1.256, 512 1.512<'; says dense/dense-kernels.svg 'dense-serial: 256 0.000256,'
says dense/all-general.svg 'gauss-vec4: 256 5e-06, 512 5e-06<'; says dense/all-general.svg 'lu-serial: 256 0.000261,'

# ---- what each solver is worth: analysis and 300 solves ------------------------------------------------------
# ms         cpu-a  cpu-b  cpu-serial | cuda-a  cusparse  cuda-naive
# one        1+.3   0+.6   0+3        | 1+3     0+6       0+30
# two        0+.3   wrong  0+.9       | 0+3     -         0+1.5
# three      -      0+.6   -          | -       0+3       -
{
    echo "$columns"
    cell one 9 cpu-a cpu host 0 0 good 1e-6 1e-3; cell one 9 cpu-b cpu host 0 0 good 2e-6; cell one 9 cpu-serial cpu host 0 0 good 1e-5
    cell one 9 cuda-a cuda device 0 0 good 1e-5 1e-3; cell one 9 cusparse cuda device 0 0 good 2e-5
    cell one 9 cuda-naive cuda device 0 0 good 1e-4
    cell two 9 cpu-a cpu host 0 0 good 1e-6; cell two 9 cpu-b cpu host 0 0 inaccurate 1e-9; cell two 9 cpu-serial cpu host 0 0 good 3e-6
    cell two 9 cuda-a cuda device 0 0 good 1e-5; cell two 9 cuda-naive cuda device 0 0 good 5e-6
    cell three 9 cpu-b cpu host 0 0 good 2e-6; cell three 9 cusparse cuda device 0 0 good 1e-5
} >regret.csv
expect 0 'regrets' report --regret regret.csv
#    on   solver     triangles alone worst mean   worst on
says out '^cpu  cpu-a  *3  *0  *3.000  *1.4422  two$' #     1, 3, 1
says out '^cpu  cpu-b  *3  *1  *2.167  *1.4720  one$' #     1.3/.6, 1, -
says out '^cpu  cpu-serial  *3  *0  *1.000  *1.0000  '
says out '^cuda cuda-a  *3  *0  *1.500  *1.1447  one$' #    6/4, 1, 1
expect 0 'none of a document or a vendor' test "$(grep -c cu out)" = 1
expect 0 'few solves' report --regret --solves=1 regret.csv; says out '^cpu  cpu-a  *3  *0  *3.000 .* two$'

# ---- nothing, and wrong use -----------------------------------------------------------------------------------
echo "$columns" >nothing.csv
expect 0 'no results' report nothing.csv -o page.html --plot none; says err 'nothing to draw'; says page.html '</html>'
expect 1 'no such file' report absent.csv -o page.html; says err 'absent.csv'
echo wrong >wrong.csv; echo row >>wrong.csv
expect 1 'another file' report wrong.csv -o page.html; says err '^trisolve-report: '
expect 2 'nothing is asked for' report three.csv
expect 1 'a page nowhere' report three.csv -o no/folder/page.html; absent page.html.part
finish
