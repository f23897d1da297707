/* host.c: the facts of a run. */
#include "config.h"

#include "host.h"

#include "build.inc"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

const char built_commit[] = TRS_COMMIT;
const char built_by[] = TRS_COMPILER " (" __VERSION__ ")" TRS_CUDA_COMPILER;

/* Copies what follows the key in the first line that begins with it, without quotation marks; "unknown": no line does. */
static void find_line(const char *file, const char *key, char *to, size_t size)
{
    char line[512];
    FILE *f = fopen(file, "r");
    snprintf(to, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key))) continue;
        const char *value = line + strlen(key) + strspn(line + strlen(key), "\t :\"");
        snprintf(to, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        break;
    }
    if (f) fclose(f);
}

static void name_os(char *name, size_t size)
{
    char of[100];
    struct utsname u = {.sysname = ""};
    uname(&u);
    find_line("/etc/os-release", "PRETTY_NAME=", of, sizeof of);
    snprintf(name, size, "%s, %.30s %.30s %.30s", of, u.sysname, u.release, u.machine);
}

static void find_clock(char *text, size_t size)
{
    char mhz[32], governor[32];
    find_line("/proc/cpuinfo", "cpu MHz", mhz, sizeof mhz);
    find_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "", governor,
              sizeof governor);
    snprintf(text, size, "%s MHz, governor %s", mhz, governor);
}

/* The library opens LAPACK for full matrices alone; SuiteSparse brings its own BLAS. */
static void name_blas(bool dense, char *name, size_t size)
{
    Dl_info found = {.dli_fname = NULL};
    void *lapack = dlopen("liblapack.so.3", dense ? RTLD_LAZY : RTLD_LAZY | RTLD_NOLOAD);
    void *dgemm = dlsym(lapack ? lapack : RTLD_DEFAULT, "dgemm_");
    char *path = dgemm && dladdr(dgemm, &found) ? realpath(found.dli_fname, NULL) : NULL;
    snprintf(name, size, "%s", path ? strrchr(path, '/') + 1 : "");
    free(path);
}

/* What does not fit is left out, which dots show. */
static void join_words(char *const *argv, char *to, size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (; *argv && used < size; argv++) {
        const char *quote = (*argv)[strcspn(*argv, " *?$&;<>()\\\"|#")] ? "'" : "";
        used += (size_t)snprintf(to + used, size - used, "%s%s%s%s", used ? " " : "", quote, *argv,
                                 quote);
    }
    if (used >= size) memcpy(to + size - 4, "...", 4);
}

double load_average(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : (double)NAN;
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

void find_host(const settings *s, char *const *argv, host *h)
{
    time_t t = time(NULL);
    struct tm tm;
    if (!localtime_r(&t, &tm) || !strftime(h->date, sizeof h->date, "%Y-%m-%d %H:%M", &tm))
        h->date[0] = '\0';
    join_words(argv, h->command, sizeof h->command);
    find_line("/proc/cpuinfo", "model name", h->cpu, sizeof h->cpu);
    find_clock(h->clock, sizeof h->clock);
    name_os(h->os, sizeof h->os);
    name_blas(s->dense, h->blas, sizeof h->blas);
    name_driver(h->driver, sizeof h->driver);
    h->threads = s->threads ? s->threads : 1;
#ifdef _OPENMP
    if (!s->threads) h->threads = omp_get_max_threads();
#endif
    if (s->device == TRS_HOST) snprintf(h->gpu, sizeof h->gpu, "%s", s->no_gpu);
    else if (trs_device_name(s->device, h->gpu, sizeof h->gpu)) h->gpu[0] = '\0';
}
