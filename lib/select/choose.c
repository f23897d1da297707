/* choose.c: predicted seconds of a solve, solver by solver, and the choice of the cheapest.
 *
 * A prediction has four terms: bytes moved, launches and barriers, steps that wait for one another, and copies of B and
 * X when these live on the host and the solver runs on the GPU, or the other way round.  Each solver computes its own
 * from the shape of the triangle, from the analyses that it asks for, and from the costs of single steps
 * (machine.c).  A fifth one is what an update of the values takes: where the caller says how many solves follow one,
 * each has its share of it. */
#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "base/noun.h"
#include "select.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an update takes of every solver: new values are gathered into the operator, beginning on the host where B and X
 * live there. */
static double gathering(const trs_shape *s, const trs_machine *m, bool on_gpu, bool on_device)
{
    const double entries = (double)s->nnz, each = 2 * s->elem + 8;
    if (!on_gpu) return entries * each * m->cpu_byte;
    const double link = on_device ? 0 : m->link_start + entries * s->elem * m->link_byte;
    return m->gpu_launch + entries * each * m->gpu_byte + link;
}

double trs_predict(const trs_prospect *p, const trs_machine *m, const trs_solver *s,
                   const trs_instance *built, bool on_device, trs_cost *c, const char **why)
{
    memset(c, 0, sizeof *c);
    *why = s->estimate(p, built, m, c);
    if (*why) return NAN;
    if (s->place == TRS_ON_CUDA && !on_device)
        c->copies = 2 * m->link_start +
                    2 * (double)p->shape.n * p->shape.elem * p->shape.nrhs * m->link_byte;
    c->update += gathering(&p->shape, m, s->place == TRS_ON_CUDA, on_device);
    return trs_seconds(c);
}

/* What snprintf wrote of what it wanted to write. */
static size_t written(int wanted, size_t size)
{
    if (wanted < 0 || size == 0) return 0;
    return (size_t)wanted < size ? (size_t)wanted : size - 1;
}

size_t trs_describe_shape(char *text, size_t size, const trs_shape *s)
{
    return written(snprintf(text, size, "%" PRId64 " %s, widest %" PRId64 ", longest row %" PRId64,
                            s->levels, trs_noun(s->levels, "level", "levels"), s->widest,
                            s->longest),
                   size);
}

/* "; next cpu-level 1.4 ms (bytes 1.1, sync 0.2, latency 0.1, copies 0)", or in the end "copies 0), update 0.3" */
static size_t describe(char *text, size_t size, const char *before, const trs_candidate *c,
                       bool updates)
{
    const trs_cost *t = &c->cost;
    size_t used = written(
        snprintf(text, size, "%s%s %.3g ms (bytes %.2g, sync %.2g, latency %.2g, copies %.2g)",
                 before, c->solver->name, 1e3 * trs_seconds(t), 1e3 * t->bytes, 1e3 * t->sync,
                 1e3 * t->latency, 1e3 * t->copies),
        size);
    if (updates)
        used += written(snprintf(text + used, size - used, ", update %.2g", 1e3 * t->update),
                        size - used);
    return used;
}

/* Does TRISOLVE_WITHOUT name it?  The choice leaves out such solvers, so that the others can be compared without them
 * (trisolve-bench --without). */
static bool is_left_out(const trs_solver *s)
{
    const size_t length = strlen(s->name);
    for (const char *p = getenv("TRISOLVE_WITHOUT"); p && *p; p += strspn(p, ",")) {
        const size_t named = strcspn(p, ",");
        if (named == length && !strncmp(p, s->name, length)) return true;
        p += named;
    }
    return false;
}

/* Does the solver promise what the options of the plan require? */
static bool meets_options(const trs_solver *s, const trs_context *ctx)
{
    unsigned required = 0;
    if (ctx->layout == TRS_ROW_MAJOR && ctx->nrhs > 1) required |= TRS_CAP_ROW_MAJOR;
    if (ctx->bitwise) required |= TRS_CAP_BITWISE;
    if (ctx->refreshes) required |= TRS_CAP_CAPTURE;
    return !(required & ~s->caps) && (s->refreshes || !ctx->refreshes);
}

/* May the solver be considered?  The first call that needs a GPU looks for one: *gpu is -1 before. */
static bool eligible(const trs_prospect *p, const trs_solver *s, bool on_device, int *gpu)
{
    const trs_context *ctx = p->op->ctx;
    char why[200];
    if (s->family != TRS_TRIANGLE || !trs_fits(s, p) || is_left_out(s) || !meets_options(s, ctx))
        return false;
    if (s->full && trs_inverts_blindly(s)) return false;
    if (s->place == TRS_ON_CPU) return !on_device;
    if (*gpu < 0) *gpu = !trs_gpu_probe(ctx->device, why, sizeof why);
    return *gpu && trs_solver_available(s, ctx->device, why, sizeof why);
}

/* ---- the cheapest, and the simplest ----------------------------------------------------------- */

/* Insert c in the sorted list if it is among the cheapest; the list drops what exceeds its length.  Returns the count. */
static int insert(trs_candidate *list, int count, const trs_candidate *c)
{
    int k = count < TRS_CANDIDATES ? count++ : TRS_CANDIDATES;
    TRS_ASSERT(count <= TRS_CANDIDATES);
    for (; k > 0 && c->seconds < list[k - 1].seconds; k--)
        if (k < TRS_CANDIDATES) list[k] = list[k - 1];
    if (k < TRS_CANDIDATES) list[k] = *c;
    return count;
}

/* The place of cpu-serial in the list; count: it is not there. */
static int place_of_serial(const trs_candidate *list, int count)
{
    int k = 0;
    while (k < count && list[k].solver != &trs_solver_cpu_serial) k++;
    return k;
}

/* Without a trial, a solver replaces cpu-serial only if it is predicted to be this many times as fast. */
static const double CLEARLY = 1.25;
/* A candidate is tried if it is predicted to take at most CLOSE times as long as the cheapest, and FASTER times as long as
 * cpu-serial, whose rows it sums up in the same order. */
static const double CLOSE = 2, FASTER = 0.97;

/* May a trial against cpu-serial decide about the solver?  Measured times must not decide about bits: every run of a program
 * gives the same. */
static bool may_be_tried(const trs_solver *s)
{
    return s->serial_bits && s->order != TRS_ORDER_LEVEL;
}

/* Mark the candidates that are to be tried against cpu-serial, which is list [0].  Returns how many. */
static int mark_to_try(const trs_prospect *p, trs_candidate *list, int count, double cheapest)
{
    int tried = 0;
    if (p->shape.nnz < TRS_TINY) return 0;
    for (int k = 1; k < count && tried < TRS_TRIED; k++) {
        const trs_solver *s = list[k].solver;
        const double most = FASTER * list[0].seconds;
        list[k].to_try =
            may_be_tried(s) && list[k].seconds <= most && list[k].seconds <= CLOSE * cheapest;
        tried += list[k].to_try;
    }
    return tried;
}

/* cpu-serial comes first, unless the cheapest cannot be tried and is predicted to be clearly better. */
static void prefer_simple(const trs_prospect *p, trs_candidate *list, int count, char *reason,
                          size_t size)
{
    const int place = place_of_serial(list, count);
    if (place == count) return;
    const trs_candidate serial = list[place], first = list[0];
    const bool untried = !may_be_tried(first.solver);
    if (untried && serial.seconds > CLEARLY * first.seconds) return;
    for (int k = place; k > 0; k--) list[k] = list[k - 1];
    list[0] = serial;
    if (mark_to_try(p, list, count, first.seconds) || place == 0) return;
    if (untried)
        snprintf(reason, size, "; cpu-serial is kept: not predicted to take %g times as long",
                 CLEARLY);
    else if (p->shape.nnz < TRS_TINY)
        snprintf(reason, size, "; cpu-serial is kept: too small to try %s", first.solver->name);
}

/* c: the solver, what it is predicted to take, and false if it cannot be chosen; *gpu as in eligible. */
static bool consider(const trs_prospect *p, const trs_solver *s, bool on_device, int *gpu,
                     trs_candidate *c)
{
    const char *why;
    *c = (trs_candidate){.solver = s};
    if (!eligible(p, s, on_device, gpu)) return false;
    const double solve = trs_predict(p, &p->op->ctx->machine, s, NULL, on_device, &c->cost, &why);
    c->seconds = trs_seconds_each(&c->cost, p->op->ctx->solves_per_update);
    return !isnan(solve);
}

bool trs_may_choose(const trs_prospect *p, const trs_solver *s, bool on_device)
{
    int gpu = -1;
    return eligible(p, s, on_device, &gpu);
}

bool trs_candidate_of(const trs_prospect *p, const trs_solver *s, bool on_device, trs_candidate *c)
{
    int gpu = -1;
    return consider(p, s, on_device, &gpu, c);
}

int trs_choose(const trs_prospect *p, bool on_device, trs_candidate list[TRS_CANDIDATES],
               char *reason, size_t size)
{
    trs_candidate c, serial = {0};
    int gpu = -1, count = 0;
    for (int k = 0; trs_solver_at(k); k++) {
        if (!consider(p, trs_solver_at(k), on_device, &gpu, &c)) continue;
        if (c.solver == &trs_solver_cpu_serial) serial = c;
        count = insert(list, count, &c);
    }
    if (!count) return 0;
    if (serial.solver && place_of_serial(list, count) == count) list[count - 1] = serial;
    size_t used = trs_describe_shape(reason, size, &p->shape);
    for (int k = 0; k < count && k < 2; k++)
        used += describe(reason + used, size - used, k ? "; next " : ": predicted ", &list[k],
                         p->op->ctx->solves_per_update > 0);
    prefer_simple(p, list, count, reason + used, size - used);
    return count;
}
