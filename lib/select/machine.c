/* machine.c: what single steps cost here, for the cost model: built-in values, or those of a file that
 * `trisolve-bench --calibrate` has measured and the environment variable TRISOLVE_MACHINE names, or that is in the
 * user's cache, where programs put what they measured themselves in their first run (user_costs.c).
 *
 *     # trisolve-sparse machine 2
 *     gpu_launch 2.7e-6    # s: a kernel follows another one in a stream
 *     dataflow_many_level 0.885 # latencies: a level of one row
 *
 * A line a cost; # begins a comment; what is not named keeps its built-in value.  A file that TRISOLVE_MACHINE names and
 * that cannot be used is an error, since whoever names one does not want other costs.
 *
 * The built-in table is made of the files `costs` of the rooms, in the same format.  A comment there begins with the
 * unit: seconds, or multiples of another cost (latencies: of gpu_latency, launches: of gpu_launch, copies: of the time
 * in which so many bytes are copied, by gpu_byte), or a ratio.  So the costs of a module follow the machine's where they are
 * not measured themselves. */
#include "config.h"

#include "base/parallel.h"
#include "io/decimal/read.h"
#include "select.h"
#include "user_costs.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- built in ------------------------------------------------------------------------------- */

static const trs_machine table = {
    .cpu_threads = 1,
#define TRS_COST(name, value, unit) .name = value,
#include "costs.inc"
#undef TRS_COST
};

static const struct {
    const char *name, *unit;
    size_t place;
} costs[] = {
#define TRS_COST(name, value, unit) {#name, unit, offsetof(trs_machine, name)},
#include "costs.inc"
#undef TRS_COST
};

enum { COSTS = sizeof costs / sizeof costs[0], LINE = 200 };

static double *cost_of(trs_machine *m, int k)
{
    return (double *)((char *)m + costs[k].place);
}

static double costs_built_in(int k)
{
    return *(const double *)((const char *)&table + costs[k].place);
}

const trs_machine *trs_machine_table(void)
{
    return &table;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 0.03 * b; /* drivers round clock rates */
}

bool trs_machine_fits(const trs_machine *m, const trs_chip *chip)
{
    return chip->major == (int)m->chip_major && chip->minor == (int)m->chip_minor &&
           chip->sms == (int)m->gpu_sms && is_near(chip->bandwidth, m->gpu_bandwidth) &&
           is_near(chip->clock, m->gpu_clock);
}

static bool is_known(const trs_chip *chip)
{
    return chip->sms > 0 && chip->bandwidth > 0 && chip->clock > 0;
}

/* From the GPU of the table to another one.  A byte is scaled by the memory's bandwidth, and a random read by the SMs,
 * since each has so many reads in flight.  The time of work that an SM does alone is scaled by its clock.  Launches and
 * latencies are not scaled: they are those of the driver and of the way to the L2 cache, which no fact tells.  Nor are
 * copies, since a GPU is not asked for the generation of its PCIe bus. */
static void scale(trs_machine *m, const trs_chip *chip)
{
    for (int k = 0; k < COSTS; k++)
        if (!strcmp(costs[k].unit, "SM s")) *cost_of(m, k) *= m->gpu_clock / chip->clock;
    m->gpu_byte *= m->gpu_bandwidth / chip->bandwidth;
    m->gpu_gather *= m->gpu_sms / chip->sms;
    m->chip_major = chip->major;
    m->chip_minor = chip->minor;
    m->gpu_sms = chip->sms;
    m->gpu_bandwidth = chip->bandwidth;
    m->gpu_clock = chip->clock;
}

void trs_machine_built_in(trs_context *ctx, const trs_chip *chip)
{
    const char *words = "built in, the host of an H200, measured";
    ctx->machine = table;
    if (chip && trs_machine_fits(&table, chip)) words = "built in, H200, measured";
    else if (chip && is_known(chip)) {
        scale(&ctx->machine, chip);
        words =
            "built in for an H200, scaled to this GPU by bandwidth, SMs and clock: not measured";
    } else if (chip) words = "built in for an H200, used for a GPU that is not known: not measured";
    snprintf(ctx->costs, sizeof ctx->costs, "%s", words);
}

/* ---- from a file ------------------------------------------------------------------------------ */

static const char head[] = "# trisolve-sparse machine 2",
                  head_before[] = "# trisolve-sparse machine 1";

static bool is_end(char c)
{
    return c == '\0' || c == '\n' || c == '\r' || c == '#';
}

/* NULL, or why it cannot be the value of that cost. */
static const char *check_value(int k, double value)
{
    const bool fact = !strcmp(costs[k].unit, "fact"), seconds = strchr("sS", costs[k].unit[0]);
    if (seconds && !(value > 0 && value <= 1)) return "not between 0 and 1 second";
    const bool in_range = fact ? value >= 0 : value > 0;
    return isfinite(value) && in_range ? NULL : "not a positive number";
}

/* "name value" into m, or what is wrong with it. */
static const char *take_line(const char *line, trs_machine *m, bool seen[COSTS])
{
    const char *p = trs_skip_blanks(line);
    const size_t length = strcspn(p, " \t\r\n#");
    double value;
    int k = 0;
    if (is_end(*p)) return NULL;
    while (k < COSTS && (strlen(costs[k].name) != length || memcmp(p, costs[k].name, length))) k++;
    if (k == COSTS) return "no such cost";
    if (seen[k]) return "the second value for this cost";
    seen[k] = true;
    p = trs_read_real(trs_skip_blanks(p + length), &value);
    if (!p || !is_end(*trs_skip_blanks(p))) return "not a number";
    *cost_of(m, k) = value;
    return check_value(k, value);
}

static const char *check_head(const char *line)
{
    if (!strncmp(line, head, sizeof head - 1)) return NULL;
    if (!strncmp(line, head_before, sizeof head_before - 1))
        return "its costs are those of an earlier version: calibrate again";
    return "not a machine file: it does not begin with \"# trisolve-sparse machine 2\"";
}

static int read_lines(FILE *f, const char *file, trs_machine *m, bool seen[COSTS])
{
    char line[LINE + TRS_TEXT_PAD];
    const char *wrong = NULL;
    int number = 0;
    for (memset(line, 0, sizeof line); !wrong && fgets(line, LINE, f); memset(line, 0, LINE)) {
        const size_t length = strlen(line);
        number++;
        if (length && line[length - 1] != '\n' && !feof(f)) wrong = "the line is too long";
        else if (number == 1) wrong = check_head(line);
        else wrong = take_line(line, m, seen);
    }
    if (ferror(f)) return trs_fail(TRS_EFILE, "%.100s: %s", file, strerror(errno));
    if (!number) number = 1, wrong = "an empty file";
    return wrong ? trs_fail(TRS_EFORMAT, "%.100s:%d: %s", file, number, wrong) : TRS_OK;
}

enum { SETTLED = 1 }; /* seconds: a change of an older file changes its time */

/* Every plan asks, so the last file is kept for as long as it does not change. */
static struct {
    pthread_mutex_t lock;
    struct stat of;
    trs_machine costs;
    bool has[COSTS];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_kept(const struct stat *s)
{
    const struct stat *k = &kept.of;
    return s->st_ino == k->st_ino && s->st_dev == k->st_dev && s->st_size == k->st_size &&
           s->st_mtim.tv_sec == k->st_mtim.tv_sec && s->st_mtim.tv_nsec == k->st_mtim.tv_nsec;
}

static void take_kept(trs_machine *m)
{
    for (int k = 0; k < COSTS; k++)
        if (kept.has[k]) *cost_of(m, k) = *cost_of(&kept.costs, k);
}

static void keep(const struct stat *s, const trs_machine *m, const bool has[COSTS])
{
    kept.of = *s;
    kept.costs = *m;
    memcpy(kept.has, has, sizeof kept.has);
}

static int read_file(trs_machine *m, const char *file)
{
    struct stat s;
    bool has[COSTS] = {false};
    if (!stat(file, &s) && is_kept(&s)) {
        take_kept(m);
        return TRS_OK;
    }
    FILE *f = fopen(file, "r");
    if (!f) return trs_fail(TRS_EFILE, "%.100s: %s", file, strerror(errno));
    const int rc = read_lines(f, file, m, has);
    const bool known = !rc && !fstat(fileno(f), &s);
    if (known && s.st_mtim.tv_sec + SETTLED < time(NULL)) keep(&s, m, has);
    fclose(f);
    return rc;
}

int trs_machine_read(trs_machine *m, const char *file)
{
    pthread_mutex_lock(&kept.lock);
    const int rc = read_file(m, file);
    pthread_mutex_unlock(&kept.lock);
    return rc;
}

static int from_file(trs_context *ctx, const char *file)
{
    const int rc = trs_machine_read(&ctx->machine, file);
    snprintf(ctx->costs, sizeof ctx->costs, "%s", file);
    return rc;
}

void trs_machine_doubt(trs_machine *m)
{
    enum {
        MOST = 8
    }; /* times the built-in cost: those of one CPU were 0.02 to 3 times, and up to 130 times when it was busy */
    for (int k = 0; k < COSTS; k++) {
        const double built_in = costs_built_in(k);
        if (strcmp(costs[k].unit, "fact") && *cost_of(m, k) > MOST * built_in)
            *cost_of(m, k) = built_in;
    }
}

/* ---- here ------------------------------------------------------------------------------------- */

/* Bytes of a cache that the first core can use: index 2 is the L2 cache, which it has for itself, index 3 the last one;
 * 0: the system does not say.  sysconf would say the bytes of all such caches, of which a processor may have a dozen that
 * its cores do not share. */
static double cache_size(int index)
{
    char file[80];
    snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *f = fopen(file, "r");
    double kibibytes = 0;
    if (f && fscanf(f, "%lfK", &kibibytes) != 1) kibibytes = 0;
    if (f) fclose(f);
    return kibibytes * 1024;
}

enum { MOST_USEFUL = 8 }; /* threads: with more of them memory is the limit */

static double own, last; /* as cache_size says */

static void look_at_caches(void)
{
    own = cache_size(2);
    last = cache_size(3);
}

int trs_machine_find(trs_context *ctx, bool gpu)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *file = getenv("TRISOLVE_MACHINE");
    pthread_once(&once, look_at_caches);
    trs_chip chip = {0};
    if (gpu) (void)trs_gpu_chip(ctx->device, &chip); /* some GPU, if it does not say */
    trs_machine_built_in(ctx, gpu ? &chip : NULL);
    if (own > 0) ctx->machine.cpu_own_cache = own;
    if (last > 0) ctx->machine.cpu_cache = last;
    ctx->machine.cpu_threads =
        trs_threads_given(ctx->threads < MOST_USEFUL ? ctx->threads : MOST_USEFUL);
    if (file && *file) return from_file(ctx, file);
    if (!file) (void)trs_machine_from_cache(ctx, gpu ? &chip : NULL);
    return TRS_OK;
}
