# bin/bench/costs: what steps cost on this CPU, for the programs that choose a solver
COSTS_OF_CPU = bin/bench/costs/costs.c bin/bench/costs/costs.h bin/bench/costs/cpu_steps.c bin/bench/costs/cpu_steps.h \
	bin/bench/costs/first_use.c bin/bench/costs/first_use.h bin/bench/costs/made.c bin/bench/costs/made.h
