/* t_choice.c: the automatic choice.  With costs that the test sets, predictions must be those by hand; files of costs
 * that are wrong must be refused; a triangle that is nearly full must go to a dense solver; what was measured must be
 * what is chosen; and of cpu-serial and those that are tried against it the fastest must stay. */
#include "tests/common/counter.h"
#include "tests/common/model.h"

#include "base/device.h"
#include "base/parallel.h"

#include <math.h>
#include <unistd.h>

/* ---- a file of costs ------------------------------------------------------------------------------ */

static const char head[] = "# trisolve-sparse machine 2\n";

static void set_machine(const char *text)
{
    static const char name[] = "t_choice.machine";
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(setenv("TRISOLVE_MACHINE", name, 1), 0);
}

static int no_machine(void **state)
{
    (void)state;
    remove("t_choice.machine");
    return unsetenv("TRISOLVE_MACHINE");
}

/* ---- triangles of n rows --------------------------------------------------------------------------- */

/* Row i has its diagonal and the min (i, before) columns before it. */
static model band(int n, int before)
{
    model m = {.n = n};
    for (int i = 0; i < n; i++)
        for (int j = i < before ? 0 : i - before; j <= i; j++) model_add(&m, i, j, i == j ? n : 1);
    return m;
}

/* An analysed plan; its status in *rc. */
static trs_plan *plan_of(const model *m, const trs_options *opt, int *rc)
{
    random_t r = {5};
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    trs_mat a = show(m, &f, &r);
    trs_plan *p;
    *rc = trs_plan_create(&p, &a, opt);
    if (!*rc) *rc = trs_plan_analyse(p);
    mat_free(&a);
    return p;
}

/* By prediction alone: cpu-dense has bits of its own. */
static trs_info choice(const model *m, trs_plan **p)
{
    const trs_options opt = {.bitwise = 1};
    trs_info info;
    int rc;
    *p = plan_of(m, &opt, &rc);
    assert_status(rc, TRS_OK);
    assert_int_equal(trs_plan_info(*p, &info), TRS_OK);
    print_message("# n %d, nnz %d: %s; %s\n", m->n, (int)m->nnz, info.reason, info.costs);
    return info;
}

/* Every cost tiny but one: the prediction is that one, as often as it occurs. */
static void costs_from_a_file(void **state)
{
    static const char tiny[] =
        "cpu_byte 1e-20\ncpu_cached 1e-20 # near\r\n\n  cpu_entry 1e-20\n"
        "cpu_latency 1e-20\ncpu_branch 1e-20\ncpu_barrier 1\nlink_start 1\nell_row 1\n";
    char text[400];
    trs_plan *p;
    (void)state;
    model m = band(500, 0);
    snprintf(text, sizeof text, "%s%scpu_row\t1.5e-3", head, tiny);
    set_machine(text);
    trs_info i = choice(&m, &p);
    assert_true(fabs(i.predicted - 500 * 1.5e-3) < 1e-6);
    assert_string_equal(i.costs, "t_choice.machine");
    trs_plan_destroy(p);
    no_machine(NULL);
    i = choice(&m, &p);
    assert_true(i.predicted < 1e-3);
    assert_non_null(strstr(i.costs, "built in"));
    trs_plan_destroy(p);
    model_free(&m);
}

static void assert_work_of_an_sm(const trs_machine *m, double times)
{
    const trs_machine *table = trs_machine_table();
#define TRS_COST(name, value, unit)                                                                \
    if (!strcmp(unit, "SM s")) assert_true(fabs(m->name / (times * table->name) - 1) < 1e-12);
#include "costs.inc"
#undef TRS_COST
}

/* An H200, the same as another driver rounds it, an H100, an A100, a chip that says nothing, none. */
static void costs_built_in(void **state)
{
    static const struct {
        trs_chip chip;
        const char *words;
        double byte, read, sm; /* times those of the table */
    } gpus[] = {
        {{9, 0, 132, 4.8e12, 1.98e9}, "built in, H200, measured", 1, 1, 1},
        {{9, 0, 132, 4.814e12, 1.98e9}, "built in, H200, measured", 1, 1, 1},
        {{9, 0, 132, 2.4e12, 1.98e9}, "for an H200, scaled to this GPU", 2, 1, 1},
        {{8, 0, 66, 1.2e12, 0.99e9},
         "scaled to this GPU by bandwidth, SMs and clock: not measured",
         4,
         2,
         2},
        {{0}, "not known: not measured", 1, 1, 1},
    };
    const trs_machine *table = trs_machine_table();
    trs_context ctx = {0};
    (void)state;
    for (size_t k = 0; k < sizeof gpus / sizeof gpus[0]; k++) {
        const trs_chip *chip = &gpus[k].chip;
        const trs_machine *m = &ctx.machine;
        trs_machine_built_in(&ctx, chip);
        assert_non_null(strstr(ctx.costs, gpus[k].words));
        assert_true(fabs(m->gpu_byte / (gpus[k].byte * table->gpu_byte) - 1) < 1e-12);
        assert_true(fabs(m->gpu_gather / (gpus[k].read * table->gpu_gather) - 1) < 1e-12);
        assert_work_of_an_sm(m, gpus[k].sm);
        assert_true(m->gpu_latency == table->gpu_latency && m->cpu_latency == table->cpu_latency);
        assert_true(!chip->sms || trs_machine_fits(m, chip));
    }
    trs_machine_built_in(&ctx, NULL);
    assert_non_null(strstr(ctx.costs, "the host of an H200"));
    assert_memory_equal(&ctx.machine, table, sizeof *table);
}

/* The table that is installed is a machine file with a line for every cost. */
static void table_as_a_file(void **state)
{
    const trs_machine *table = trs_machine_table();
    trs_context ctx = {0};
    (void)state;
    assert_int_equal(trs_machine_read(&ctx.machine, "h200.machine"), TRS_OK);
    ctx.machine.cpu_threads = table->cpu_threads;
    assert_memory_equal(&ctx.machine, table, sizeof *table);
}

static void refuse(const char *text, int code, const char *words)
{
    trs_plan *p;
    int rc;
    model m = band(3, 1);
    if (text) set_machine(text);
    p = plan_of(&m, NULL, &rc);
    assert_status(rc, code);
    if (!strstr(trs_message(), words))
        print_error("\"%s\" is not in \"%s\"\n", words, trs_message());
    assert_non_null(strstr(trs_message(), words));
    trs_plan_destroy(p);
    no_machine(NULL);
    model_free(&m);
}

static void wrong_files(void **state)
{
    static const struct {
        const char *after_head, *words;
    } wrong[] = {
        {"cpu_byte 1e-11\ncpu_bite 2\n", "t_choice.machine:3: no such cost"},
        {"cpu_byte 1e-11 2\n", ":2: not a number"},
        {"cpu_byte\n", ":2: not a number"},
        {"cpu_byte x\n", ":2: not a number"},
        {"\ncpu_byte 1e-11\n\ncpu_byte 1e-11\n", ":5: the second value"},
        {"cpu_row 0\n", ":2: not between"},
        {"cpu_row -1e-9\n", ":2: not between"},
        {"cpu_row nan\n", ":2: not between"},
        {"cpu_row 1.5\n", ":2: not between"},
        {"gpu_byte 2\n", ":2: not between"},
        {"cpu_complex 0\n", ":2: not a positive number"},
        {"cpu_complex inf\n", ":2: not a positive number"},
        {"gpu_sms -1\n", ":2: not a positive number"},
    };
    char text[600];
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        snprintf(text, sizeof text, "%s%s", head, wrong[k].after_head);
        refuse(text, TRS_EFORMAT, wrong[k].words);
    }
    snprintf(text, sizeof text, "%scpu_row 1e-9%300s1\n", head, "");
    refuse(text, TRS_EFORMAT, ":2: the line is too long");
    refuse("", TRS_EFORMAT, ":1: an empty file");
    refuse("cpu_row 1e-9\n", TRS_EFORMAT, ":1: not a machine file");
    refuse("# trisolve-sparse machine 1\n", TRS_EFORMAT,
           ":1: its costs are those of an earlier version: calibrate");
    assert_int_equal(setenv("TRISOLVE_MACHINE", "no/such/file", 1), 0);
    refuse(NULL, TRS_EFILE, "no/such/file");
    assert_int_equal(setenv("TRISOLVE_MACHINE", ".", 1), 0); /* a folder */
    refuse(NULL, TRS_EFILE, ".");
}

/* ---- dense solvers for what is nearly full ---------------------------------------------------------- */

/* Where bytes are all that counts, a full matrix is read faster: 8 bytes an entry, not 12. */
static void full_on_the_host(void **state)
{
    char text[400];
    trs_plan *p;
    (void)state;
    snprintf(text, sizeof text,
             "%scpu_byte 1e-6\ncpu_cached 1e-6\ncpu_entry 1e-20\ncpu_row 1e-20\ncpu_latency 1e-20\n"
             "cpu_barrier 1\nlink_start 1\ntiles_node 1\nell_row 1\n",
             head);
    set_machine(text);
    static const struct {
        int before;
        bool full;
    } bands[] = {{499, true}, {400, true}, {50, false}, {1, false}};
    for (int k = 0; k < 4; k++) {
        model m = band(500, bands[k].before);
        trs_info i = choice(&m, &p);
        const trs_solver *s = trs_solver_named(i.solver);
        const bool dense =
            s->full || !strcmp(i.solver, "cpu-supernodal"); /* whose blocks are full */
        assert_int_equal(dense, bands[k].full);
        assert_non_null(strstr(i.reason, "predicted"));
        assert_non_null(strstr(i.reason, i.solver));
        assert_non_null(strstr(i.reason, "next"));
        trs_plan_destroy(p);
        model_free(&m);
    }
    no_machine(NULL);
}

/* A full matrix is read in half of the time, but to fill it takes as long as 16 solves: so both are taken, as it comes to
 * solves alone or to updates too.  100 rows have 5050 entries and 10^4 places, of 8 bytes; a value is gathered from 24. */
static void updates_count(void **state)
{
    char text[400];
    (void)state;
    snprintf(text, sizeof text,
             "%scpu_byte 1e-6\ncpu_cached 1e-20\ncpu_entry 2e-6\ncpu_full 1e-6\ncpu_row 1e-20\n"
             "cpu_latency 1e-20\ncpu_barrier 1\nlink_start 1\ntiles_node 1\ncpu_branch 1e-20\n",
             head);
    set_machine(text);
    static const struct {
        int solves;
        bool full;
    } each[] = {{0, true}, {1, false}, {10, false}, {100, true}, {1000000, true}};
    const double serial = 5050 * 2e-6, full = 5050 * 1e-6, gather = 5050 * 24e-6, fill = 8e4 * 1e-6;
    model m = band(100, 99);
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++) {
        const trs_options opt = {.solves_per_update = each[k].solves, .bitwise = 1};
        trs_info i;
        int rc;
        trs_plan *p = plan_of(&m, &opt, &rc);
        assert_status(rc, TRS_OK);
        assert_int_equal(trs_plan_info(p, &i), TRS_OK);
        print_message("# %d solves: %s\n", each[k].solves, i.reason);
        double seconds = each[k].full ? full : serial;
        if (each[k].solves) seconds += (gather + (each[k].full ? fill : 0)) / each[k].solves;
        assert_int_equal(trs_solver_named(i.solver)->full, each[k].full);
        assert_true(fabs(i.predicted / seconds - 1) < 1e-6);
        assert_true(!strstr(i.reason, ", update ") == !each[k].solves);
        trs_plan_destroy(p);
    }
    model_free(&m);
}

/* The cheapest CUDA solver by prediction, which asks no GPU; NULL: none in this build. */
static const trs_solver *cheapest_cuda(const trs_shape *shape)
{
    const trs_prospect p = {.shape = *shape};
    const char *no;
    trs_context ctx = {.threads = 1, .nrhs = 1};
    const trs_solver *best = NULL;
    double least = INFINITY;
    trs_cost c;
    assert_int_equal(trs_machine_find(&ctx, false), TRS_OK);
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        if (s->family != TRS_TRIANGLE || s->place != TRS_ON_CUDA) continue;
        const double t = trs_predict(&p, &ctx.machine, s, NULL, true, &c, &no);
        if (t < least) least = t, best = s;
    }
    return best;
}

static void full_on_the_device(void **state)
{
    (void)state;
    for (int64_t n = 256; n <= 16384; n *= 2) { /* half of the entries of a full triangle */
        const trs_shape s = {.n = n,
                             .nnz = n * n / 4,
                             .levels = n,
                             .widest = 1,
                             .longest = n,
                             .elem = 8,
                             .nrhs = 1,
                             .sum_longest = (double)(n * n / 4)};
        if (!cheapest_cuda(&s)) skip();
        assert_true(cheapest_cuda(&s)->full);
    }
    const trs_shape grid = {.n = 1000000,
                            .nnz = 4000000,
                            .levels = 300,
                            .widest = 7500,
                            .longest = 4,
                            .elem = 8,
                            .nrhs = 1,
                            .sum_longest = 1200};
    assert_false(cheapest_cuda(&grid)->full);
}

/* ---- by measuring ------------------------------------------------------------------------------------- */

/* How many times the sentence has, the smallest, and that of a solver; in ms, three digits. */
static int times_in(const char *reason, const char *solver, double *least, double *mine)
{
    int count = 0;
    double ms;
    char one[64];
    *least = INFINITY;
    for (const char *p = reason; (p = strstr(p, "; measured ")); p++, count++) {
        assert_int_equal(sscanf(p, "; measured %63s %lf ms", one, &ms), 2);
        if (ms < *least) *least = ms;
        if (!strcmp(one, solver)) *mine = ms;
    }
    return count;
}

static void measure(pattern which, trs_dtype t, trs_layout layout, trs_op op, int nrhs)
{
    random_t r = {(uint64_t)which};
    const form f = {.dtype = t, .format = TRS_CSC, .ptr_bits = 64, .idx_bits = 32};
    model m = model_new(which, true, true, trs_is_complex(t), &r);
    trs_mat a = show(&m, &f, &r);
    const trs_options opt = {.measure = 1, .nrhs = nrhs, .layout = layout, .ops = 1u << op};
    const int64_t ld = layout == TRS_ROW_MAJOR ? nrhs : m.n;
    const trs_exec exec = {.layout = layout};
    trs_plan *p;
    trs_info info;
    trs_error e;
    double least, mine = INFINITY;
    void *B = calloc((size_t)(m.n * nrhs + 1), sizeof(zz)),
         *X = calloc((size_t)(m.n * nrhs + 1), sizeof(zz));
    assert_true(B && X);
    for (int k = 0; k < m.n * nrhs; k++) set_number(B, t, k, random_uniform(&r));
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    print_message("# %s: %s: %s\n", pattern_name[which], info.solver, info.reason);
    if (m.n > 0) {
        assert_true(times_in(info.reason, info.solver, &least, &mine) >= 2);
        assert_at_most(mine, least);
        assert_int_equal(trs_solve(p, op, nrhs, B, ld, X, ld, &exec), TRS_OK);
        assert_int_equal(trs_backward_error(&a, op, nrhs, B, ld, X, ld, layout, &e), TRS_OK);
        assert_at_most(e.omega, 4 * (double)(info.longest + 1) * epsilon(t));
    }
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
    free(B), free(X);
}

static void measured(void **state)
{
    (void)state;
    for (int k = 0; k < PATTERNS; k++)
        measure((pattern)k, (trs_dtype)(k % 4), k % 2 ? TRS_ROW_MAJOR : TRS_COL_MAJOR,
                (trs_op)(k % 3), 1 + k % 3);
}

/* B and X on the GPU: no CPU solver is tried, and a copy within the device arrives. */
static void measured_on_a_device(void **state)
{
    enum { N = 300 };
    const int device = TRS_CUDA(0);
    const size_t bytes = N * sizeof(double);
    double b[N], x[N], least, mine = INFINITY;
    void *B = NULL, *X = NULL;
    char why[200];
    trs_info info;
    int rc;
    (void)state;
    if (trs_gpu_probe(0, why, sizeof why)) skip();
    model m = band(N, 1); /* N, and 1 to its left: x = 1 */
    for (int i = 0; i < N; i++) b[i] = N + (i > 0);
    trs_plan *p = plan_of(&m, &(trs_options){.device = device, .measure = 1}, &rc);
    assert_status(rc, TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    print_message("# %s: %s; %s\n", info.solver, info.reason, info.costs);
    assert_true(info.on_gpu);
    assert_null(strstr(info.reason, "cpu-"));
    assert_true(times_in(info.reason, info.solver, &least, &mine) >= 2);
    assert_at_most(mine, least);
    assert_int_equal(trs_device_new(device, bytes, &B), TRS_OK);
    assert_int_equal(trs_device_new(device, bytes, &X), TRS_OK);
    assert_int_equal(trs_device_put(device, X, b, bytes), TRS_OK);
    assert_int_equal(trs_device_copy(device, B, X, bytes, NULL), TRS_OK);
    assert_int_equal(trs_solve(p, TRS_N, 1, B, N, X, N, NULL), TRS_OK);
    assert_int_equal(trs_device_get(device, x, X, bytes), TRS_OK);
    for (int i = 0; i < N; i++) assert_at_most(fabs(x[i] - 1), 1e-12);
    assert_int_equal(trs_device_copy(device, NULL, X, bytes, NULL), TRS_EARG);
    trs_device_free(device, B);
    trs_device_free(device, X);
    trs_plan_destroy(p);
    model_free(&m);
}

/* ---- cpu-serial and the order of the levels ----------------------------------------------------------- */

/* The lower triangle of the 5-point grid of m x m. */
static model grid(int m)
{
    model g = {.n = m * m};
    for (int i = 0; i < m * m; i++) {
        if (i >= m) model_add(&g, i, i - m, 1);
        if (i % m) model_add(&g, i, i - 1, 1);
        model_add(&g, i, i, 4);
    }
    return g;
}

/* Each row of the second half needs some of the first: two levels, which stand in the natural order. */
static model two_levels(int half, int each)
{
    model g = {.n = 2 * half};
    for (int i = 0; i < half; i++) model_add(&g, i, i, 2);
    for (int i = half; i < 2 * half; i++) {
        for (int k = 0; k < each; k++) model_add(&g, i, (i + k * 101) % half, 1. / each);
        model_add(&g, i, i, 2);
    }
    return g;
}

static bool is_tried(const char *reason, const char *solver)
{
    const char *tried = strstr(reason, "; tried: ");
    return tried && strstr(tried, solver);
}

/* What waits from row to row may gain from another order, on one thread as well: the order is tried where it is not
 * predicted to lose, and never taken untried. */
static void rows_that_wait(void **state)
{
    static const double latency[] = {1e-9, 1.15e-6, 2e-6}; /* s; a row takes 1e-6 */
    char text[400];
    trs_plan *p;
    trs_info i;
    int rc;
    (void)state;
    model g = grid(30), small = grid(10), chain = band(900, 1); /* one order of levels alone */
    for (int threads = 1; threads <= 2; threads++)
        for (int k = 0; k < 3; k++) {
            const trs_options opt = {.threads = threads};
            snprintf(text, sizeof text,
                     "%scpu_byte 1e-20\ncpu_cached 1e-20\ncpu_entry 1e-20\ncpu_row 1e-6\n"
                     "cpu_full 1e-3\ncpu_latency %g\nlink_start 1\nell_row 1\n",
                     head, latency[k]);
            set_machine(text);
            p = plan_of(&g, &opt, &rc);
            assert_status(rc, TRS_OK);
            assert_int_equal(trs_plan_info(p, &i), TRS_OK);
            print_message("# %s: %s\n", i.solver, i.reason);
            assert_true(k == 0 || strstr(i.reason, "; tried: cpu-serial "));
            trs_plan_destroy(p);
            p = plan_of(&small, &opt, &rc);
            assert_int_equal(trs_plan_info(p, &i), TRS_OK);
            assert_string_equal(i.solver, "cpu-serial");
            assert_int_equal(k > 0, !!strstr(i.reason, "; cpu-serial is kept: too small to try "));
            trs_plan_destroy(p);
            p = plan_of(&chain, &opt, &rc);
            assert_int_equal(trs_plan_info(p, &i), TRS_OK);
            assert_false(is_tried(i.reason, "cpu-level"));
            trs_plan_destroy(p);
        }
    no_machine(NULL);
    model_free(&g), model_free(&small), model_free(&chain);
}

/* Once b and x are larger than a cache, the order of the levels costs a line from memory a row; more threads than there
 * are take nothing off. */
static void order_of_levels(void **state)
{
    const trs_prospect s = {
        .shape = {
            .n = 3000000, .nnz = 3000000, .levels = 2, .scattered = 0.5, .elem = 8, .nrhs = 1}};
    const trs_solver *level = &trs_solver_cpu_level, *serial = &trs_solver_cpu_serial;
    const char *no;
    trs_context ctx = {.threads = 1, .nrhs = 1};
    char text[400];
    trs_cost c;
    (void)state;
    snprintf(
        text, sizeof text,
        "%scpu_byte 1e-20\ncpu_cached 1e-20\ncpu_entry 1e-20\ncpu_row 1e-20\ncpu_latency 1e-20\n"
        "cpu_barrier 1e-20\ncpu_branch 1e-20\ncpu_gather 1e-20\n"
        "cpu_scatter 1e-6\ncpu_cache 1e6\n",
        head);
    set_machine(text);
    assert_int_equal(trs_machine_find(&ctx, false), TRS_OK);
    assert_true(fabs(trs_predict(&s, &ctx.machine, level, NULL, false, &c, &no) - 1.5) < 1e-6);
    assert_true(trs_predict(&s, &ctx.machine, serial, NULL, false, &c, &no) < 1e-6);
    ctx.threads = TRS_MOST_THREADS;
    assert_int_equal(trs_machine_find(&ctx, false), TRS_OK);
    assert_true(ctx.machine.cpu_threads == trs_threads_given(8));
    no_machine(NULL);
}

/* What is predicted of a solver that is named is a time, or 0 if nothing is, and more rows take no less. */
static void predictions_are_times(void **state)
{
    (void)state;
    model m[] = {band(2000, 3), band(4000, 3), grid(40), grid(80), band(100, 99), band(200, 199)};
    char why[200];
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *s = trs_solver_at(k);
        double before = 0;
        if (s->family != TRS_TRIANGLE || !trs_solver_available(s, 0, why, sizeof why)) continue;
        for (int j = 0; j < 6; j++) {
            const trs_options opt = {.solver = s->name, .threads = 1};
            trs_info i;
            int rc;
            trs_plan *p = plan_of(&m[j], &opt, &rc);
            assert_status(rc, TRS_OK);
            assert_int_equal(trs_plan_info(p, &i), TRS_OK);
            print_message("# %s, %d rows: %g s\n", s->name, m[j].n, i.predicted);
            assert_true(i.predicted >= 0 && isfinite(i.predicted));
            assert_true(j % 2 == 0 || i.predicted >= before);
            if (s->place == TRS_ON_CPU) assert_null(strstr(i.costs, "GPU"));
            before = i.predicted;
            trs_plan_destroy(p);
        }
    }
    for (int j = 0; j < 6; j++) model_free(&m[j]);
}

static void ask_inside(void *user, int64_t begin, int64_t end)
{
    for (int64_t k = begin; k < end; k++) ((int *)user)[k] = trs_threads_given(8);
}

static void threads_that_there_are(void **state)
{
    int given[2];
    (void)state;
    assert_int_equal(trs_threads_given(1), 1);
    assert_true(trs_threads_given(TRS_MOST_THREADS) <= sysconf(_SC_NPROCESSORS_CONF));
    trs_share(2, 2, 1, ask_inside, given); /* teams within a team have one thread */
    assert_true(given[0] == 1 && given[1] == 1);
}

/* x of the model's b = 1, 2, 3 ... by a plan made with these options; the sentences about it. */
static trs_info solve_model(const model *m, const trs_options *opt, trs_op op, double *x,
                            char reason[500])
{
    trs_info i;
    int rc;
    const int nrhs = opt->nrhs ? opt->nrhs : 1;
    const int64_t ld = opt->layout == TRS_ROW_MAJOR ? nrhs : m->n;
    const trs_exec exec = {.layout = opt->layout};
    double *b = malloc((size_t)m->n * (size_t)nrhs * sizeof *b);
    assert_non_null(b);
    for (int64_t k = 0; k < m->n * (int64_t)nrhs; k++) b[k] = (double)(k % 1000);
    trs_plan *p = plan_of(m, opt, &rc);
    assert_status(rc, TRS_OK);
    assert_int_equal(trs_plan_info(p, &i), TRS_OK);
    snprintf(reason, 500, "%s", i.reason);
    assert_int_equal(trs_solve(p, op, nrhs, b, ld, x, ld, &exec), TRS_OK);
    i.solver = trs_solver_named(i.solver)->name;
    trs_plan_destroy(p);
    free(b);
    return i;
}

/* The fastest that was tried stays, cpu-serial where it is not beaten clearly; x has its bits where the solver promises
 * them. */
static void try_others(const model *m, trs_options opt, trs_op op)
{
    const size_t bytes = (size_t)m->n * (size_t)(opt.nrhs ? opt.nrhs : 1) * sizeof(double);
    double *x = malloc(bytes), *y = malloc(bytes), serial, ms, least = INFINITY, mine = 0;
    char reason[500], other[500], name[64];
    int read = 0;
    assert_true(x && y);
    opt.ops = 1u << op;
    trs_info i = solve_model(m, &opt, op, x, reason);
    const char *words = strstr(reason, "; tried: cpu-serial ");
    print_message("# %s: %s\n", i.solver, reason);
    assert_non_null(words);
    assert_int_equal(sscanf(words, "; tried: cpu-serial %lf ms%n", &serial, &read), 1);
    for (words += read; sscanf(words, ", %63s %lf ms%n", name, &ms, &read) == 2; words += read) {
        least = fmin(least, ms);
        if (!strcmp(i.solver, name)) mine = ms;
        if (!trs_solver_named(name)->serial_bits) continue;
        opt.solver = name;
        solve_model(m, &opt, op, y, other);
        assert_null(strstr(other, "tried"));
        if (trs_solver_named(i.solver)->serial_bits) assert_memory_equal(x, y, bytes);
    }
    assert_true(isfinite(least));
    if (serial < 1.04 * least) assert_string_equal(i.solver, "cpu-serial");
    if (serial > 1.06 * least) assert_true(mine <= 1.01 * least);
    free(x), free(y);
}

/* A row waits for long for the row just before it, and two threads share a level for nothing. */
static const char levels_pay[] = "cpu_latency 1e-6\ncpu_barrier 1e-20\n";

/* A GPU solves these triangles faster than a CPU does: there is nothing to try. */
static bool a_gpu_is_here(void)
{
    char why[200];
    return !trs_gpu_probe(0, why, sizeof why);
}

static void large_ones(void **state)
{
    char text[400], reason[500];
    double *x;
    (void)state;
    if (a_gpu_is_here()) skip();
    snprintf(text, sizeof text, "%s%s", head, levels_pay);
    set_machine(text);
    model g = grid(420), two = two_levels(40000, 14), chain = band(220000, 2);
    try_others(&g, (trs_options){.threads = 1}, TRS_N);
    try_others(&g, (trs_options){.threads = 2, .nrhs = 2, .layout = TRS_ROW_MAJOR}, TRS_T);
    if (trs_threads_given(2) == 2) {
        try_others(&two, (trs_options){.threads = 2}, TRS_N);
        try_others(&two, (trs_options){.threads = 2, .nrhs = 3}, TRS_T);
    }
    x = malloc(220000 * sizeof *x);
    assert_non_null(x);
    solve_model(&two, &(trs_options){.threads = 1}, TRS_N, x, reason); /* one order */
    assert_false(is_tried(reason, "cpu-level"));
    solve_model(&chain, &(trs_options){.threads = 2}, TRS_N, x, reason);
    assert_false(is_tried(reason, "cpu-level"));
    no_machine(NULL);
    free(x);
    model_free(&g), model_free(&two), model_free(&chain);
}

/* Without memory for one of the others, or for B and X, it is cpu-serial or another of them. */
static void what_cannot_be_tried(void **state)
{
    trs_plan *p;
    trs_info i;
    random_t r = {5};
    int rc, told = 0;
    (void)state;
    if (a_gpu_is_here()) skip();
    model g = grid(420);
    const form f = {.format = TRS_CSR, .ptr_bits = 64, .idx_bits = 32};
    trs_mat a = show(&g, &f, &r);
    long calls = 1;
    for (long k = 1; k <= calls; k++) {
        counter c = {.fail_at = k};
        const trs_options opt = {.threads = 1, .memory = counted_memory(&c)};
        rc = trs_plan_create(&p, &a, &opt);
        if (!rc) rc = trs_plan_analyse(p);
        assert_true(rc == TRS_OK || rc == TRS_EMEM);
        if (p && !trs_plan_info(p, &i) && !rc &&
            (strstr(i.reason, " could not be tried") ||
             strstr(i.reason, "; no memory for a trial"))) {
            told++;
        }
        trs_plan_destroy(p);
        assert_int_equal(c.live, 0);
        if (c.calls > calls) calls = c.calls;
    }
    assert_true(told >= 2);
    mat_free(&a);
    model_free(&g);
}

/* Nothing can be solved with, so the prediction stays; and the plan can be given better values. */
static void a_pivot_is_zero(void **state)
{
    const int64_t ptr[] = {0, 1, 3};
    const int32_t idx[] = {0, 0, 1};
    const double bad[] = {1, 1, 0}, good[] = {1, 1, 2}, b[] = {1, 5};
    trs_mat a = {.n = 2, .nnz = 3, .ptr = ptr, .idx = idx, .val = bad, .kind = TRS_LOWER};
    const trs_options opt = {.measure = 1};
    double x[2];
    trs_plan *p;
    (void)state;
    assert_int_equal(trs_plan_create(&p, &a, &opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_EPIVOT);
    assert_non_null(strstr(trs_message(), "row 1: diagonal is zero"));
    a.val = good;
    assert_int_equal(trs_plan_update(p, &a, NULL), TRS_OK);
    assert_int_equal(trs_solve(p, TRS_N, 1, b, 2, x, 2, NULL), TRS_OK);
    assert_true(x[0] == 1 && x[1] == 2);
    trs_plan_destroy(p);
}

/* A candidate that finds no memory is passed over; all other failures are told; nothing leaks. */
static void memory_that_runs_out(void **state)
{
    long calls = 1;
    (void)state;
    for (long k = 0; k <= calls; k++) {
        counter c = {.fail_at = k};
        const trs_options opt = {.measure = 1, .memory = counted_memory(&c)};
        int rc;
        model m = band(50, 3);
        trs_wisdom_forget(); /* or it would measure but once */
        trs_plan *p = plan_of(&m, &opt, &rc);
        assert_true(rc == TRS_OK || rc == TRS_EMEM);
        if (rc && p) assert_true(trs_message()[0] != '\0');
        trs_plan_destroy(p);
        assert_int_equal(c.live, 0);
        if (c.calls > calls) calls = c.calls;
        model_free(&m);
    }
    assert_true(calls > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(costs_from_a_file, no_machine),
        cmocka_unit_test(costs_built_in),
        cmocka_unit_test(table_as_a_file),
        cmocka_unit_test_teardown(wrong_files, no_machine),
        cmocka_unit_test_teardown(full_on_the_host, no_machine),
        cmocka_unit_test_teardown(updates_count, no_machine),
        cmocka_unit_test(full_on_the_device),
        cmocka_unit_test(measured),
        cmocka_unit_test(measured_on_a_device),
        cmocka_unit_test_teardown(rows_that_wait, no_machine),
        cmocka_unit_test_teardown(order_of_levels, no_machine),
        cmocka_unit_test(predictions_are_times),
        cmocka_unit_test(threads_that_there_are),
        cmocka_unit_test_teardown(large_ones, no_machine),
        cmocka_unit_test(what_cannot_be_tried),
        cmocka_unit_test(a_pivot_is_zero),
        cmocka_unit_test(memory_that_runs_out),
    };
    unsetenv("TRISOLVE_MACHINE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
