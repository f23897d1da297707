/* reference.c: solves by the schedule of cuda-strips (strips.h), one tile after the other.
 *
 * The consumers of a tile take turns, one step each, on the slots of one block of threads; before each turn all halo
 * entries are fetched that can be.  One of the consumers is slow and goes on only when no other can; which one
 * changes at random.  So tasks overtake one another as far as (1) allows.  An empty slot is NaN.  A slot must be
 * empty when it is written, and there must always be a consumer that can go on: otherwise the GPU hangs. */
#include "reference.h"

#include <math.h>

enum { WARP = TRS_STRIP_WARP, CONSUMERS = TRS_STRIP_CONSUMERS, RING = TRS_STRIP_HALO };

typedef struct consumer {
    enum { BEGIN, EARLY, LATE, STEPS } step;
    int32_t task, packet; /* its task, of the tile; the packet of it, or one before */
    double sum[WARP];
    uint16_t last[TRS_STRIP_EARLY * WARP]; /* codes that its task before was the last to read */
    int lasts;
} consumer;

typedef struct block {
    const trs_strips *s;
    const trs_row_tile *tile;
    const char *packed;
    const int16_t *power;
    const double *b;
    double *x, *y; /* y [32 tasks] by position, of all tiles */
    double slot[TRS_STRIP_SLOTS];
    int64_t halo;       /* entries of the tile before it are fetched, from halo + RING on none is */
    bool fetched[RING]; /* of these, entry k at k mod RING */
    consumer consumer[CONSUMERS];
} block;

typedef struct task { /* as the GPU gets it */
    int early, late;
    const double *val, *inverse;
    const uint16_t *code;
    const int32_t *row;
} task;

static int32_t tasks_done(const block *m)
{
    int32_t least = m->consumer[0].task;
    for (int k = 1; k < CONSUMERS; k++)
        if (m->consumer[k].task < least) least = m->consumer[k].task;
    return least;
}

static void fetch(block *m)
{
    const trs_halo_entry *entry = m->s->halo + m->tile->halo;
    const int64_t count = m->tile[1].halo - m->tile->halo, done = tasks_done(m);
    for (int64_t k = m->halo; k < count && k < m->halo + RING; k++) {
        double *slot = &m->slot[TRS_STRIP_LOCAL + k % RING], x = m->y[entry[k].from];
        if (m->fetched[k % RING] || entry[k].free_at > done || isnan(x)) continue;
        assert_true(isnan(*slot));
        *slot = x;
        m->fetched[k % RING] = true;
    }
    for (; m->fetched[m->halo % RING]; m->halo++) m->fetched[m->halo % RING] = false;
}

static task find_task(const block *m, consumer *c)
{
    const int32_t number = m->tile->task + c->task;
    while (m->s->packet[c->packet].task + m->s->packet[c->packet].tasks <= number) c->packet++;
    const trs_packet *p = &m->s->packet[c->packet];
    const int i = (number - p->task) * WARP, e = p->start[number - p->task] * WARP;
    const char *at = m->packed + 32 * (c->packet + p->ell * (8 + 2) + (int64_t)p->task * (8 + 4));
    const double *val = (const double *)(at + 32), *inverse = val + p->ells * WARP;
    const int32_t *row = (const int32_t *)(inverse + p->tasks * WARP);
    const uint16_t *code = (const uint16_t *)(row + p->tasks * WARP);
    return (task){p->early[i / WARP], p->late[i / WARP], val + e, inverse + i, code + e, row + i};
}

static void begin_task(block *m, consumer *c)
{
    const int32_t past = c->task - CONSUMERS - TRS_STRIP_WINDOW;
    for (int i = 0; past >= 0 && i < WARP; i++) m->slot[past * WARP % TRS_STRIP_LOCAL + i] = NAN;
    while (c->lasts > 0) m->slot[c->last[--c->lasts] & ~TRS_STRIP_LAST] = NAN;
    memset(c->sum, 0, sizeof c->sum);
}

/* The sums of ELL columns from .. to - 1; false: some x is not there yet. */
static bool add(block *m, const task *k, int from, int to, double *sum)
{
    double more[WARP] = {0};
    for (int p = from * WARP; p < to * WARP; p++) {
        const double x = m->slot[k->code[p] & ~TRS_STRIP_LAST];
        if (isnan(x)) return false;
        more[p % WARP] += k->val[p] * x;
    }
    for (int i = 0; i < WARP; i++) sum[i] += more[i];
    return true;
}

static void end_task(block *m, consumer *c, const task *k)
{
    for (int i = 0; i < WARP; i++) {
        const int32_t row = k->row[i], position = (m->tile->task + c->task) * WARP + i;
        const double b = row < 0 ? 0 : ldexp(m->b[row], m->power[position]);
        const double x = (b - c->sum[i]) * k->inverse[i];
        double *slot = &m->slot[(c->task * WARP + i) % TRS_STRIP_LOCAL];
        assert_true(isnan(*slot) && (row < 0 || isnan(m->x[row])));
        *slot = x;
        if (row >= 0) m->x[row] = m->y[position] = x;
    }
    for (int p = 0; p < k->early * WARP; p++)
        if (k->code[p] & TRS_STRIP_LAST) c->last[c->lasts++] = k->code[p];
    c->task += CONSUMERS;
}

static bool step(block *m, consumer *c)
{
    if (m->tile->task + c->task >= m->tile[1].task) return false;
    const task k = find_task(m, c);
    if (c->step == BEGIN && tasks_done(m) < c->task - CONSUMERS + 1) return false;
    if (c->step == EARLY && !add(m, &k, 0, k.early, c->sum)) return false;
    if (c->step == LATE && !add(m, &k, k.early, k.early + k.late, c->sum)) return false;
    if (c->step == BEGIN) begin_task(m, c);
    if (c->step == LATE) end_task(m, c, &k);
    c->step = (c->step + 1) % STEPS;
    return true;
}

static void solve_tile(block *m, random_t *r)
{
    for (int k = 0; k < TRS_STRIP_ZERO; k++) m->slot[k] = NAN;
    for (int k = 0; k < CONSUMERS; k++)
        m->consumer[k] = (consumer){.task = k, .packet = m->tile->packet};
    m->halo = 0;
    for (int slow = 0; m->tile->task + tasks_done(m) < m->tile[1].task;) {
        bool moved = false;
        if (random_below(r, 50) == 0) slow = random_below(r, CONSUMERS);
        fetch(m);
        for (int k = 1; k < CONSUMERS; k++)
            moved = step(m, &m->consumer[(slow + k) % CONSUMERS]) || moved;
        assert_true(moved || step(m, &m->consumer[slow]));
    }
}

void reference_solve(const trs_strips *s, const char *packed, const int16_t *power, const double *b,
                     double *x, random_t *r)
{
    const size_t size = (size_t)s->tasks * WARP * sizeof(double);
    block m = {.s = s, .packed = packed, .power = power, .b = b, .x = x, .y = malloc(size + 1)};
    assert_non_null(m.y);
    memset(m.y, 0xff, size); /* NaN */
    for (m.tile = s->tile; m.tile < s->tile + s->tiles; m.tile++) solve_tile(&m, r);
    free(m.y);
}
