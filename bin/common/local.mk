# bin/common: what the programs share
MESSAGE = bin/common/message.c bin/common/message.h bin/common/exits.h
OPTIONS = bin/common/options.c bin/common/options.h $(MESSAGE)
DOCUMENT = bin/common/output/document.c bin/common/output/document.h
OUTPUT = bin/common/output/output.c bin/common/output/output.h
TIMING = bin/common/timing.c bin/common/timing.h
NUMBERS = bin/common/numbers.c bin/common/numbers.h
BINARY = bin/common/sentence.c bin/common/sentence.h bin/common/binary.c bin/common/binary.h
PROBLEMS = bin/common/problems/problems.c bin/common/problems/problems.h bin/common/problems/factors.c \
           bin/common/problems/mesh.c bin/common/problems/mesh.h $(BINARY)
PROGRESS = bin/common/output/progress.c bin/common/output/progress.h
FILES = bin/common/files.c bin/common/files.h $(PROGRESS) $(TIMING)

# ---- bash completion: a file under the name of each program, where bash looks for it
COMPLETIONS = $(bin_PROGRAMS:bin/%=bin/completions/%)
completions_DATA = $(COMPLETIONS)
CLEANFILES += $(COMPLETIONS)
EXTRA_DIST += bin/common/completion.bash
$(COMPLETIONS): bin/common/completion.bash
	@$(MKDIR_P) bin/completions
	$(AM_V_GEN)cp -f $(srcdir)/bin/common/completion.bash $@
