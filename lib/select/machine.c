/* machine.c: what single steps cost here, for the cost model: built-in values, or those of a file that
 * `trisolve-bench --calibrate` has measured and the environment variable TRISOLVE_MACHINE names, or that is in the
 * user's cache (user_costs.c).
 *
 *     # trisolve-sparse machine 1
 *     cpu_byte 6.7e-11
 *     gpu_launch 2.7e-6
 *
 * A line a cost, in seconds; # begins a comment; what is not named keeps its built-in value.  A file that
 * is asked for and cannot be used is an error: who measured his machine wants to know. */
#include "config.h"

#include "base/device.h"
#include "select.h"
#include "io/decimal/read.h"
#include "base/parallel.h"
#include "user_costs.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- built in ------------------------------------------------------------------------------- */

/* Measured on an NVIDIA H200 and its host; see doc/performance.md. */
static const trs_machine h200 = {
    .cpu_threads = 1,
    .cpu_byte = 1 / 15e9,
    .cpu_cached = 1 / 40e9,
    .cpu_entry = 0.2e-9,
    .cpu_full = 0.45e-9,
    .cpu_row = 0.5e-9,
    .cpu_hop = 5.5e-9,
    .cpu_scatter = 4e-9,
    .cpu_barrier = 4e-6,
    .gpu_byte = 1 / 4.5e12,
    .gpu_gather = 1 / 118e9,
    .gpu_launch = 2.7e-6,
    .gpu_hop = 0.55e-6,
    .link_byte = 1 / 25e9,
    .link_start = 10e-6,
};

/* How a GPU is known, and what it has of what the H200 has: published memory bandwidth over 4.8 TB/s,
 * SMs over 132, and the generation of the bus to the host.  Random reads go with the SMs; what a launch
 * and a hop take is latency, and is not scaled. */
typedef struct chip {
    const char *costs;
    int major, minor, bus_bits;
    double bandwidth, sms, link;
} chip;

#define SCALED "scaled from an H200 by bandwidth and SMs: not measured"

static const chip chips[] = {
    {"H200, measured", 9, 0, 6016, 1, 1, 1},
    {"H100, " SCALED, 9, 0, 5120, 3.35 / 4.8, 1, 1},
    {"A100, " SCALED, 8, 0, 5120, 2.04 / 4.8, 108. / 132, 0.5},
};

enum { CHIPS = sizeof chips / sizeof chips[0] };

static const chip *find_chip(int major, int minor, int bus_bits)
{
    for (const chip *c = chips; c < chips + CHIPS; c++)
        if (c->major == major && c->minor == minor && c->bus_bits == bus_bits) return c;
    return NULL;
}

void trs_machine_built_in(trs_context *ctx, int major, int minor, int bus_bits)
{
    const chip *c = find_chip(major, minor, bus_bits);
    trs_machine *m = &ctx->machine;
    const char *costs = major ? "an H200, for a GPU that is not known: not measured"
                              : "the host of an H200, measured";
    *m = h200;
    if (c) {
        m->gpu_byte /= c->bandwidth;
        m->gpu_gather /= c->sms;
        m->link_byte /= c->link;
        costs = c->costs;
    }
    snprintf(ctx->costs, sizeof ctx->costs, "built in, %s", costs);
}

/* ---- from a file ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t place;
} costs[] = {
    {"cpu_byte", offsetof(trs_machine, cpu_byte)},
    {"cpu_cached", offsetof(trs_machine, cpu_cached)},
    {"cpu_entry", offsetof(trs_machine, cpu_entry)},
    {"cpu_full", offsetof(trs_machine, cpu_full)},
    {"cpu_row", offsetof(trs_machine, cpu_row)},
    {"cpu_hop", offsetof(trs_machine, cpu_hop)},
    {"cpu_scatter", offsetof(trs_machine, cpu_scatter)},
    {"cpu_barrier", offsetof(trs_machine, cpu_barrier)},
    {"gpu_byte", offsetof(trs_machine, gpu_byte)},
    {"gpu_gather", offsetof(trs_machine, gpu_gather)},
    {"gpu_launch", offsetof(trs_machine, gpu_launch)},
    {"gpu_hop", offsetof(trs_machine, gpu_hop)},
    {"link_byte", offsetof(trs_machine, link_byte)},
    {"link_start", offsetof(trs_machine, link_start)},
};

enum { COSTS = sizeof costs / sizeof costs[0], LINE = 200 };

static const char head[] = "# trisolve-sparse machine 1";

static bool is_end(char c)
{
    return c == '\0' || c == '\n' || c == '\r' || c == '#';
}

/* "name value" into m, or what is wrong with it. */
static const char *take_line(const char *line, trs_machine *m, unsigned *seen)
{
    const char *p = trs_skip_blanks(line);
    const size_t length = strcspn(p, " \t\r\n#");
    double value;
    if (is_end(*p)) return NULL;
    for (int k = 0; k < COSTS; k++) {
        if (strlen(costs[k].name) != length || memcmp(p, costs[k].name, length)) continue;
        if (*seen & 1u << k) return "the second value for this cost";
        *seen |= 1u << k;
        p = trs_read_real(trs_skip_blanks(p + length), &value);
        if (!p || !is_end(*trs_skip_blanks(p))) return "not a number";
        if (!(value > 0) || value > 1) return "not between 0 and 1 second";
        memcpy((char *)m + costs[k].place, &value, sizeof value);
        return NULL;
    }
    return "no such cost";
}

static int read_lines(trs_context *ctx, FILE *f, const char *file)
{
    char line[LINE + TRS_TEXT_PAD];
    const char *wrong = NULL;
    unsigned seen = 0;
    int number = 0;
    for (memset(line, 0, sizeof line); !wrong && fgets(line, LINE, f); memset(line, 0, LINE)) {
        const size_t length = strlen(line);
        number++;
        if (length && line[length - 1] != '\n' && !feof(f)) wrong = "the line is too long";
        else if (number == 1 && strncmp(line, head, sizeof head - 1))
            wrong = "not a machine file: it does not begin with \"# trisolve-sparse machine 1\"";
        else wrong = take_line(line, &ctx->machine, &seen);
    }
    if (ferror(f)) return trs_fail(TRS_EFILE, "%.100s: %s", file, strerror(errno));
    if (!number) number = 1, wrong = "an empty file";
    return wrong ? trs_fail(TRS_EFORMAT, "%.100s:%d: %s", file, number, wrong) : TRS_OK;
}

int trs_machine_read(trs_context *ctx, const char *file)
{
    FILE *f = fopen(file, "r");
    if (!f) return trs_fail(TRS_EFILE, "TRISOLVE_MACHINE: %.100s: %s", file, strerror(errno));
    int rc = read_lines(ctx, f, file);
    fclose(f);
    return rc;
}

static int from_file(trs_context *ctx, const char *file)
{
    const int rc = trs_machine_read(ctx, file);
    snprintf(ctx->costs, sizeof ctx->costs, "%s", file);
    return rc;
}

enum { MOST_USEFUL = 8 }; /* threads: with more of them memory is the limit */

int trs_machine_find(trs_context *ctx, bool gpu)
{
    const char *file = getenv("TRISOLVE_MACHINE");
    int major = 0, minor = 0, bus_bits = 0;
    if (gpu && trs_gpu_chip(ctx->device, &major, &minor, &bus_bits)) major = 1; /* some GPU */
    trs_machine_built_in(ctx, major, minor, bus_bits);
    ctx->machine.cpu_threads =
        trs_threads_given(ctx->threads < MOST_USEFUL ? ctx->threads : MOST_USEFUL);
    if (file && *file) return from_file(ctx, file);
    if (!file) trs_machine_from_cache(ctx, gpu);
    return TRS_OK;
}
