/* scale.c: simulates one solve with a lower triangle that lies on several GPUs; doc/scale.md explains the model.
 *
 *     make tests/analysis/scale
 *     tests/analysis/scale [-g GPUS,...] [-c CUT,...] [-l NS] [-r NS] [-f NS] [-n GPUS] [-b GB/S] [-p GB/S] KIND:SIZE or FILE.mtx ...
 *
 * A number of x is where it is needed -l later on the same GPU, -r on another one of the same host (-n GPUs are in a host), -f
 * on another host.  -b: the speed of a GPU's memory; -p: of what it sends.
 *
 * Cuts:
 *     rows     consecutive rows, the same number of bytes each
 *     levels   of every level the same number of bytes each, and rows near their operands
 *     boxes    of grid7 and grid27: as near to cubes as the number of GPUs allows
 *     jacobi   as rows, but entries between GPUs are left out (block Jacobi: another x, more iterations)
 * Of a FILE it takes the pattern of the lower triangle.  It prints lines of CSV. */
#include "config.h"

#include "bin/common/problems/problems.h"
#include "trisolve-sparse.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_GPUS = 4096, PACKET = 32 };

typedef struct machine {
    /* seconds until an operand is there: on the same GPU, on another one of the host, on another host */
    double local, in_host, between;
    double memory, link; /* bytes a second */
    int host;            /* GPUs of a host */
} machine;

typedef struct triangle {
    const char *name;
    int64_t n, levels;
    int64_t *ptr;     /* [n+1] the entries of each row, without the diagonal, in idx */
    int64_t *out_ptr; /* [n+1] the rows that need each row, in out */
    int64_t *lv_ptr;  /* [levels+1] the rows of each level, in topo */
    int32_t *idx, *out, *topo;
} triangle;

typedef struct cut {
    int gpus;
    bool alone;     /* entries between GPUs are left out */
    int32_t *owner; /* [n] */
} cut;

typedef struct outcome {
    double seconds, balance;  /* balance: the most bytes of a GPU over the mean */
    int64_t between, numbers; /* entries between GPUs; numbers of x sent */
} outcome;

static void *get(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    if (p) return p;
    fprintf(stderr, "scale: no memory for %lld numbers\n", (long long)count);
    exit(1);
}

/* Index and value of an entry, 12 bytes; pointer, b and x of a row. */
static double bytes_of(const triangle *t, int64_t i)
{
    return 12.0 * (double)(t->ptr[i + 1] - t->ptr[i] + 1) + 20.0;
}

/* ---- the triangle --------------------------------------------------------------------------------- */

static void take_pattern(triangle *t, const trs_mm *mm)
{
    t->n = mm->rows;
    t->ptr = get(t->n + 1, sizeof *t->ptr);
    t->idx = get(mm->nnz, sizeof *t->idx);
    int64_t count = 0;
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++)
            if (mm->idx[p] < i) t->idx[count++] = mm->idx[p];
        t->ptr[i + 1] = count;
    }
}

/* List k = 0 .. count - 1 by key[k] < keys: a counting sort. */
static void list_by_key(int64_t count, const int32_t *key, const int32_t *what, int64_t keys,
                        int64_t **ptr, int32_t **list)
{
    *ptr = get(keys + 2, sizeof **ptr);
    *list = get(count, sizeof **list);
    int64_t *next = *ptr + 1; /* becomes the ends */
    for (int64_t k = 0; k < count; k++) next[key[k] + 1]++;
    for (int64_t k = 0; k < keys; k++) next[k + 1] += next[k];
    for (int64_t k = 0; k < count; k++) (*list)[next[key[k]]++] = what[k];
}

static void find_dependents(triangle *t)
{
    int32_t *row = get(t->ptr[t->n], sizeof *row);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) row[p] = (int32_t)i;
    list_by_key(t->ptr[t->n], t->idx, row, t->n, &t->out_ptr, &t->out);
    free(row);
}

static void find_levels(triangle *t)
{
    int32_t *level = get(t->n, sizeof *level), *row = get(t->n, sizeof *row);
    t->levels = 0;
    for (int64_t i = 0; i < t->n; i++) {
        row[i] = (int32_t)i;
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
            if (level[t->idx[p]] >= level[i]) level[i] = level[t->idx[p]] + 1;
        if (level[i] >= t->levels) t->levels = level[i] + 1;
    }
    list_by_key(t->n, level, row, t->levels, &t->lv_ptr, &t->topo);
    free(level);
    free(row);
}

static void read_triangle(triangle *t, const char *name)
{
    trs_mm mm;
    const int rc = strchr(name, ':') ? problem_named(name, &mm) : trs_mm_read(name, NULL, &mm);
    if (rc) {
        fprintf(stderr, "scale: %s: %s\n", name, trs_message());
        exit(1);
    }
    *t = (triangle){.name = name};
    take_pattern(t, &mm);
    trs_mm_free(&mm);
    find_dependents(t);
    find_levels(t);
}

static void free_triangle(triangle *t)
{
    free(t->ptr);
    free(t->out_ptr);
    free(t->lv_ptr);
    free(t->idx);
    free(t->out);
    free(t->topo);
}

/* ---- cuts ----------------------------------------------------------------------------------------- */

static void cut_rows(const triangle *t, cut *c)
{
    double all = 0, before = 0;
    for (int64_t i = 0; i < t->n; i++) all += bytes_of(t, i);
    for (int64_t i = 0; i < t->n; i++) {
        c->owner[i] = (int32_t)(c->gpus * before / all);
        before += bytes_of(t, i);
    }
}

typedef struct placed {
    double place; /* of the operands, in (0, 1) */
    int32_t row;
} placed;

static int compare_places(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->place != q->place) return p->place < q->place ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

static double mean_place(const triangle *t, const double *place, int64_t i)
{
    double sum = 0;
    if (t->ptr[i] == t->ptr[i + 1]) return ((double)i + 0.5) / (double)t->n;
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) sum += place[t->idx[p]];
    return sum / (double)(t->ptr[i + 1] - t->ptr[i]);
}

/* The rows of a level in the order of the mean place of their operands; their places are then spread evenly over (0, 1), and
 * each GPU takes an interval.  Source of the means: Sugiyama, Tagawa, Toda (1981), who draw graphs in layers by them. */
static void cut_levels(const triangle *t, cut *c)
{
    double *place = get(t->n, sizeof *place);
    placed *level = get(t->n, sizeof *level);
    for (int64_t l = 0; l < t->levels; l++) {
        const int64_t begin = t->lv_ptr[l], count = t->lv_ptr[l + 1] - begin;
        double all = 0, before = 0;
        for (int64_t k = 0; k < count; k++) {
            const int32_t i = t->topo[begin + k];
            level[k] = (placed){mean_place(t, place, i), i};
            all += bytes_of(t, i);
        }
        qsort(level, (size_t)count, sizeof *level, compare_places);
        for (int64_t k = 0; k < count; k++) {
            const double bytes = bytes_of(t, level[k].row);
            place[level[k].row] = (before + bytes / 2) / all;
            c->owner[level[k].row] = (int32_t)(c->gpus * place[level[k].row]);
            before += bytes;
        }
    }
    free(place);
    free(level);
}

/* Factors of gpus for three sides, as equal as can be. */
static void near_cube(int gpus, int side[3])
{
    side[0] = (int)floor(cbrt(gpus) + 1e-9);
    while (gpus % side[0]) side[0]--;
    side[1] = (int)floor(sqrt(gpus / side[0]) + 1e-9);
    while (gpus / side[0] % side[1]) side[1]--;
    side[2] = gpus / side[0] / side[1];
}

static bool cut_boxes(const triangle *t, cut *c)
{
    const int64_t N = (int64_t)llround(cbrt((double)t->n));
    int side[3];
    if (strncmp(t->name, "grid7:", 6) && strncmp(t->name, "grid27:", 7)) return false;
    near_cube(c->gpus, side);
    for (int64_t i = 0; i < t->n; i++) {
        const int64_t x = i % N * side[0] / N, y = i / N % N * side[1] / N,
                      z = i / N / N * side[2] / N;
        c->owner[i] = (int32_t)((z * side[1] + y) * side[0] + x);
    }
    return true;
}

static bool make_cut(const triangle *t, const char *name, cut *c)
{
    c->alone = !strcmp(name, "jacobi");
    if (!strcmp(name, "boxes")) return cut_boxes(t, c);
    if (!strcmp(name, "levels")) cut_levels(t, c);
    else if (c->alone || !strcmp(name, "rows")) cut_rows(t, c);
    else return false;
    return true;
}

/* ---- the simulation ------------------------------------------------------------------------------- */

typedef struct event { /* all operands of a row are there */
    double time;
    int32_t row;
} event;

typedef struct simulation {
    const triangle *t;
    const cut *c;
    const machine *m;
    event *heap; /* [n] the earliest first */
    int64_t events;
    int32_t *missing; /* [n] operands */
    double *ready;    /* [n] when the last of them so far arrives */
    double busy[MOST_GPUS], sending[MOST_GPUS],
        bytes[MOST_GPUS];          /* until when; the bytes of its rows */
    double arrives[MOST_GPUS];     /* the x of the row at hand */
    int64_t arrives_of[MOST_GPUS]; /* 1 + that row */
} simulation;

static void push(simulation *s, event e)
{
    int64_t k = s->events++;
    for (; k && s->heap[(k - 1) / 2].time > e.time; k = (k - 1) / 2)
        s->heap[k] = s->heap[(k - 1) / 2];
    s->heap[k] = e;
}

static event pop(simulation *s)
{
    const event first = s->heap[0], last = s->heap[--s->events];
    int64_t k = 0;
    for (int64_t child; (child = 2 * k + 1) < s->events; k = child) {
        if (child + 1 < s->events && s->heap[child + 1].time < s->heap[child].time) child++;
        if (s->heap[child].time >= last.time) break;
        s->heap[k] = s->heap[child];
    }
    s->heap[k] = last;
    return first;
}

/* When x of row i, made at that time, is on a GPU. */
static double arrival(simulation *s, int32_t i, double made, int32_t gpu, outcome *o)
{
    const int32_t from = s->c->owner[i];
    if (from == gpu) return made + s->m->local;
    if (s->arrives_of[gpu] != i + 1) {
        s->arrives_of[gpu] = i + 1;
        s->sending[from] = fmax(s->sending[from], made) + PACKET / s->m->link;
        s->arrives[gpu] = s->sending[from] +
                          (from / s->m->host == gpu / s->m->host ? s->m->in_host : s->m->between);
        o->numbers++;
    }
    o->between++;
    return s->arrives[gpu];
}

static void solve_row(simulation *s, event e, outcome *o)
{
    const triangle *t = s->t;
    const int32_t gpu = s->c->owner[e.row];
    const double bytes = bytes_of(t, e.row),
                 done = fmax(e.time, s->busy[gpu]) + bytes / s->m->memory;
    s->busy[gpu] = done;
    s->bytes[gpu] += bytes;
    o->seconds = fmax(o->seconds, done + s->m->local);
    for (int64_t p = t->out_ptr[e.row]; p < t->out_ptr[e.row + 1]; p++) {
        const int32_t j = t->out[p], to = s->c->owner[j];
        if (!s->c->alone || to == gpu)
            s->ready[j] = fmax(s->ready[j], arrival(s, e.row, done, to, o));
        if (!--s->missing[j]) push(s, (event){s->ready[j], j});
    }
}

/* Entries of row i whose operand it waits for. */
static int32_t operands(const triangle *t, const cut *c, int64_t i)
{
    int32_t count = 0;
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
        count += !c->alone || c->owner[t->idx[p]] == c->owner[i];
    return count;
}

static outcome simulate(const triangle *t, const cut *c, const machine *m)
{
    outcome o = {0};
    simulation *s = get(1, sizeof *s);
    *s = (simulation){.t = t, .c = c, .m = m};
    s->heap = get(t->n, sizeof *s->heap);
    s->missing = get(t->n, sizeof *s->missing);
    s->ready = get(t->n, sizeof *s->ready);
    for (int64_t i = 0; i < t->n; i++) {
        s->missing[i] = operands(t, c, i);
        if (!s->missing[i]) push(s, (event){0, (int32_t)i});
    }
    while (s->events) solve_row(s, pop(s), &o);
    double most = 0, all = 0;
    for (int k = 0; k < c->gpus; k++) {
        if (s->bytes[k] > most) most = s->bytes[k];
        all += s->bytes[k];
    }
    o.balance = most * c->gpus / all;
    free(s->heap);
    free(s->missing);
    free(s->ready);
    free(s);
    return o;
}

/* ---- the command ---------------------------------------------------------------------------------- */

static double one_run(const triangle *t, const machine *m, const char *name, int gpus, double alone)
{
    cut c = {.gpus = gpus, .owner = get(t->n, sizeof *c.owner)};
    outcome o = {0};
    if (make_cut(t, name, &c)) {
        o = simulate(t, &c, m);
        printf("%s,%lld,%lld,%lld,%s,%d,%.4f,%.3f,%.3g,%.3g,%.3f\n", t->name, (long long)t->n,
               (long long)(t->ptr[t->n] + t->n), (long long)t->levels, name, gpus, 1e3 * o.seconds,
               (alone > 0 ? alone : o.seconds) / o.seconds,
               (double)o.between / (double)(t->ptr[t->n] + t->n), (double)o.numbers / (double)t->n,
               o.balance);
        fflush(stdout);
    }
    free(c.owner);
    return o.seconds;
}

static void one_triangle(const char *name, const machine *m, const char *gpus, const char *cuts)
{
    triangle t;
    read_triangle(&t, name);
    const double alone = one_run(&t, m, "rows", 1, 0);
    char *list = strdup(cuts);
    if (!list) exit(1);
    for (char *at = list, *word; (word = strsep(&at, ","));)
        for (const char *p = gpus; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
            const int count = atoi(p);
            if (count > 1 && count <= MOST_GPUS) one_run(&t, m, word, count, alone);
        }
    free(list);
    free_triangle(&t);
}

int main(int argc, char **argv)
{
    machine m = {.local = 520e-9,
                 .in_host = 850e-9,
                 .between = 5e-6,
                 .memory = 1200e9,
                 .link = 396e9,
                 .host = 8};
    const char *gpus = "2,4,8", *cuts = "rows,levels,boxes,jacobi";
    for (int c; (c = getopt(argc, argv, "b:c:f:g:l:n:p:r:")) != -1;) {
        if (c == 'b') m.memory = 1e9 * atof(optarg);
        else if (c == 'p') m.link = 1e9 * atof(optarg);
        else if (c == 'l') m.local = 1e-9 * atof(optarg);
        else if (c == 'r') m.in_host = 1e-9 * atof(optarg);
        else if (c == 'f') m.between = 1e-9 * atof(optarg);
        else if (c == 'n' && atoi(optarg) > 0) m.host = atoi(optarg);
        else if (c == 'g') gpus = optarg;
        else if (c == 'c') cuts = optarg;
        else return 1;
    }
    printf("triangle,rows,entries,levels,cut,gpus,ms,gain,entries_between,numbers_a_row,balance\n");
    for (; optind < argc; optind++) one_triangle(argv[optind], &m, gpus, cuts);
    return 0;
}
