/* host.c: where and when it was measured. */
#include "config.h"

#include "host.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static void name_cpu(char name[128])
{
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(name, 128, "unknown");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "model name : %127[^\n]", name) < 1)
        continue;
    if (f) fclose(f);
}

/* The version of NVIDIA's kernel driver is the first number with a point in its sentence. */
static void name_driver(char *name, size_t size)
{
    char line[512];
    FILE *f = fopen("/proc/driver/nvidia/version", "r");
    name[0] = '\0';
    if (f && fgets(line, sizeof line, f))
        for (char *save, *t = strtok_r(line, " \t\n", &save); t; t = strtok_r(NULL, " \t\n", &save))
            if (strspn(t, "0123456789") && strchr(t, '.')) {
                snprintf(name, size, "%s", t);
                break;
            }
    if (f) fclose(f);
}

void find_host(const settings *s, host *h)
{
    time_t t = time(NULL);
    struct tm tm;
    if (!localtime_r(&t, &tm) || !strftime(h->date, sizeof h->date, "%Y-%m-%d %H:%M", &tm))
        h->date[0] = '\0';
    name_cpu(h->cpu);
    name_driver(h->driver, sizeof h->driver);
    h->threads = s->threads ? s->threads : 1;
#ifdef _OPENMP
    if (!s->threads) h->threads = omp_get_max_threads();
#endif
    if (s->device == TRS_HOST) snprintf(h->gpu, sizeof h->gpu, "%s", s->no_gpu);
    else if (trs_device_name(s->device, h->gpu, sizeof h->gpu)) h->gpu[0] = '\0';
}
