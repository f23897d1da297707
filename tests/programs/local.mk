# tests/programs: the programs, run by shell scripts
TESTS += tests/programs/krylov.sh tests/programs/sparse.sh tests/programs/info.sh tests/programs/gen.sh tests/programs/bench.sh \
	tests/programs/collection.sh tests/programs/man.sh tests/programs/completion.sh tests/programs/first_use.sh tests/programs/files.sh \
	tests/programs/interrupt.sh tests/programs/json.sh
EXTRA_DIST += tests/programs/krylov.sh tests/programs/sparse.sh tests/programs/info.sh tests/programs/gen.sh \
	tests/programs/bench.sh tests/programs/collection.sh tests/programs/man.sh tests/programs/completion.sh tests/programs/first_use.sh tests/programs/files.sh \
	tests/programs/interrupt.sh tests/programs/json.sh tests/programs/schema.py
