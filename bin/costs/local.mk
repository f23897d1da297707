# bin/costs: what steps cost on this CPU, for the programs that choose a solver
COSTS_OF_CPU = bin/costs/costs.c bin/costs/costs.h bin/costs/cpu_solvers.c \
	bin/costs/cpu_solvers.h bin/costs/cpu_steps.c bin/costs/cpu_steps.h \
	bin/costs/first_use.c bin/costs/first_use.h bin/costs/made.c bin/costs/made.h
