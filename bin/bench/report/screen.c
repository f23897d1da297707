/* screen.c: what the reports on the screen have in common. */
#include "config.h"

#include "screen.h"

#include "base/noun.h"

#include <stdio.h>

void print_host(const host *h)
{
    printf("trisolve-bench %s, %s\n", trs_version(), h->date);
    printf("GPU  %s\nCPU  %s, %d %s\n\n", h->gpu, h->cpu, h->threads,
           trs_noun(h->threads, "thread", "threads"));
}
