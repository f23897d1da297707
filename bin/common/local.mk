# bin/common: what the programs share
BINARY = bin/common/sentence.c bin/common/sentence.h bin/common/binary.c bin/common/problems.h
PROBLEMS = bin/common/problems.c bin/common/problems_lu.c $(BINARY)
FILES = bin/common/files.c bin/common/files.h
