#!/bin/sh
# json.sh: what the programs write with --json follows doc/trisolve-1.schema.json, also when they fail, and its status is
# the exit status.
. "${TRS_SRCDIR:-.}/tests/common/tap.sh"
m=$source/matrices
solve=$bin/trisolve-sparse info=$bin/trisolve-info
schema=$source/doc/trisolve-1.schema.json
bench() { "$bin/trisolve-bench" -q --cpu --cell-seconds=0.01 "$@"; }
if "$info" --json "$m/seed5.mtx" 2>&1 | grep -q 'without jansson'; then echo '1..0 # SKIP built without jansson'; exit 0; fi

# document STATUS NAME COMMAND...: it ends so, and its JSON says so; the JSON is kept for the validator
documents=
document() {
    status=$1 title=$2
    expect "$@"
    cp out "document-$count"
    documents="$documents document-$count"
    if [ "$(sed -n 's/^  "status": \([0-9]*\),$/\1/p' out)" = "$status" ]; then ok "$title: its status"; else not_ok "$title: its status"; fi
    if [ "$status" = 0 ]; then says out '^  "message": null'; else says out '^  "message": "[^"]'; fi
}
head='%%MatrixMarket matrix coordinate real general'
printf "$head\n3 3 3\n1 1 1\n2 2 0\n3 3 1\n" >zero.mtx
printf "$head\n3 2 2\n1 1 1\n3 2 1\n" >wide.mtx
printf "$head\n3 3 3\n1 1 1\n2 9 1\n3 3 1\n" >damaged.mtx
printf "$head\n1 1 1\n1 1 1e-300\n" >tiny.mtx; printf '%%%%MatrixMarket matrix array real general\n1 1\n1e300\n' >huge.mtx
printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n2\n0\n4\n' >full.mtx
printf "$head\n0 0 0\n" >empty.mtx
printf "$head\n4 4 7\n1 1 1\n1 3 2\n2 2 4\n2 4 6\n3 1 7\n4 2 8\n4 3 9\n" >permuted.mtx

document 0 'a triangle' "$solve" --json "$m/seed5.mtx"; says out '^    "widest": 3,'
for options in '--cond --det --trans' '--repeat=3 --unit --lower' '--precision=single --refine=3'; do
    document 0 "with $options" "$solve" --json $options "$m/seed5.mtx"
done
document 0 'a full matrix' "$solve" --json full.mtx
document 0 'an empty one' "$solve" --json empty.mtx
document 0 'a permuted one' "$solve" --json permuted.mtx
document 0 'skipped pivots' "$solve" --json --pivot=skip zero.mtx; says out '"bad_pivots": 1'
document 0 'a time loop' "$solve" --json --krylov=cg --steps=2 "$m/1138_bus.mtx"; says out '"update_seconds"'
document 0 'sweeps' "$solve" --json --krylov=cg --sweeps=5 "$m/1138_bus.mtx"; says out '"sweep_error": 0\.'
document 3 'no convergence' "$solve" --json --krylov=cg --maxit=3 "$m/1138_bus.mtx"; says out '"converged": false'
document 3 'divergence' "$solve" --json --factor=ilu0 --refine=200 "$m/rdb3200l.mtx"; says out '"refinement_stopped": "diverged"'
document 3 'overflow' "$solve" --json tiny.mtx huge.mtx; says out '"backward_error": null'
document 2 'a pivot' "$solve" --json zero.mtx; says out '"rows": 3,'; says out '"message": "zero.mtx: row 2: '; says out '"nrhs": 1'
document 1 'not square' "$solve" --json wide.mtx; says out '"cols": 2,'
document 1 'no such file' "$solve" --json missing.mtx; says out '"message": "missing.mtx: No such file'
document 1 'a damaged file' "$solve" --json damaged.mtx; says out '"message": "damaged.mtx:4: '; says out '"rows": 3,'
document 1 'wrong use' "$solve" --json --no-such-option; document 1 'a wrong word' "$solve" --json --krylov=gc x.mtx
document 4 'memory' "$solve" --json --memory=1e-9 "$m/bfwa62.mtx"
if "$solve" --json "$m/bfwa62.mtx" 2>&1 | grep -q 'no SuiteSparse'; then skip 'factors' 'no SuiteSparse'; else
    document 0 'factors' "$solve" --json --det --cond "$m/bfwa62.mtx"; says out '"U": '
fi
"$solve" --json "$m/seed5.mtx" -o - >x.mtx 2>err && says x.mtx '^%%MatrixMarket' && says err '^  "status": 0,$'

document 0 'facts' "$info" --json "$m/rdb3200l.mtx"
document 0 'of a full matrix' "$info" --json full.mtx; document 0 'of an empty one' "$info" --json empty.mtx
document 0 'of a permuted one' "$info" --json permuted.mtx; document 0 'not square' "$info" --json wide.mtx
document 1 'no such file' "$info" --json missing.mtx
document 1 'a damaged file' "$info" --json damaged.mtx; says out '"message": "damaged.mtx:4: '; says out '"rows": 3,'
document 1 'wrong use' "$info" --json
expect 1 'several' "$info" --json damaged.mtx wide.mtx "$(printf 'caf\351.mtx')"; cp out several; documents="$documents several"
says out '"message": "caf\?.mtx: '

document 0 'cells' bench --json=- "$m/seed5.mtx"; says out '"longest_row": 3,'
document 1 'cells of a run with a bad file' bench --json=- "$m/seed5.mtx" missing.mtx; says out '"outcome": "good"'
document 1 'nothing measured' bench --json=- missing.mtx; says out '"message": "no triangle to solve"'
document 1 'wrong use' bench --json=- --no-such-option
document 0 'full matrices' bench --json=- --dense 5; document 0 'files' bench --json=- --io "$m/seed5.mtx"
echo old >failed.json
expect 1 'a file of a run that fails' bench --json=failed.json missing.mtx; says failed.json '^  "status": 1,'

if ! python3 -c 'from jsonschema import Draft202012Validator' 2>err; then skip 'the schema' 'no jsonschema of Python'; finish; exit 0; fi
validate() { python3 "$source/tests/programs/schema.py" "$schema" "$@"; }
expect 0 'every document follows the schema' validate $documents
# and these do not
sed 's/"widest"/"widest_level"/' document-1 >wrong-name; sed 's/"nrhs": 1/"nrhs": "1"/' document-1 >wrong-type
sed '/"status"/d' document-1 >wrong-head; sed 's/trisolve-sparse 1/trisolve-sparse 2/' document-1 >wrong-version
for wrong in wrong-name wrong-type wrong-head wrong-version; do
    expect 1 "$wrong" validate $wrong; says err "^$wrong: "
done
finish
