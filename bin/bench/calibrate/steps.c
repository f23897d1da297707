/* steps.c: what single steps cost on the CPU of this machine (bin/costs/cpu_steps.c). */
#include "config.h"

#include "steps.h"

#include "bin/costs/cpu_steps.h"

static const double SOLVES = 5; /* s */

static void show(void *user, const char *solver)
{
    progress(user, "calibrate", solver);
}

void steps_cpu(const settings *s, int threads, trs_machine *c)
{
    cpu_steps(threads, SOLVES, c, show, (void *)s);
    progress(s, NULL, NULL);
}
