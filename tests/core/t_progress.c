/* t_progress.c: long calls report their phases in order, from the caller's thread.  Each can be canceled whenever it reports:
 * it returns TRS_ECANCELED, loses no memory, and what the caller has is as good as it was.  Solves report nothing. */
#include "tests/common/counter.h"
#include "tests/common/model.h"

#include <math.h>
#include <pthread.h>
#ifdef HAVE_SUITESPARSE
#include "tests/common/methods.h"
#include "trisolve-suitesparse.h"
#endif

static const char file[] = "t_progress.mtx";
static const char costs_file[] = "t_progress.costs";

/* ---- what is reported ------------------------------------------------------------------------------- */

typedef struct watch {
    pthread_t caller;
    long calls, cancel_at; /* -1: never */
    char names[600];       /* of the phases, ", " after each */
    const char *last;
    double done; /* of the last phase */
} watch;

static int note(const trs_phase *p)
{
    watch *w = p->user;
    assert_true(pthread_equal(w->caller, pthread_self()));
    for (int k = 0; k < 4; k++) assert_int_equal(p->reserved[k], 0);
    assert_true(p->done <= 1);
    if (!strstr("reading, writing, factorization", p->name)) assert_true(p->done == -1);
    const bool same = w->last && !strcmp(w->last, p->name);
    if (same) assert_true(p->done <= 0 || p->done >= w->done); /* 0: it begins once more */
    else {
        assert_true(strlen(w->names) + strlen(p->name) + 3 < sizeof w->names);
        strcat(strcat(w->names, p->name), ", ");
    }
    w->last = p->name;
    w->done = p->done;
    return w->calls++ == w->cancel_at;
}

static int fail_if_called(const trs_phase *p)
{
    (void)p;
    assert_true(false);
    return 0;
}

/* Calls that may take long; returns the first code that is not TRS_OK.  After TRS_ECANCELED a job shows that the caller can
 * go on with what there is, which reports nothing any more. */
typedef int (*job_fn)(counter *c);

static int attempt(job_fn job, watch *w, counter *c)
{
    w->caller = pthread_self();
    trs_set_progress(note, w);
    const int rc = job(c);
    trs_set_progress(NULL, NULL);
    assert_int_equal(c->live, 0);
    return rc;
}

/* The job reports phases that begin so, and can be canceled at every report. */
static void check(job_fn job, const char *phases)
{
    watch all = {.cancel_at = -1};
    counter c = {.fail_at = -1};
    assert_status(attempt(job, &all, &c), TRS_OK);
    print_message("%ld reports: %s\n", all.calls, all.names);
    if (strncmp(all.names, phases, strlen(phases)) != 0) assert_string_equal(all.names, phases);
    for (long k = 0; k < all.calls; k += 1 + k / 16) {
        watch w = {.cancel_at = k};
        const int rc = attempt(job, &w, &c);
        if (w.calls > k) assert_int_equal(w.calls, k + 1);
        assert_status(rc,
                      w.calls > k ? TRS_ECANCELED : TRS_OK); /* a thread may report less often */
    }
}

static void assert_canceled(int rc)
{
    if (rc != TRS_ECANCELED) return;
    assert_non_null(strstr(trs_message(), "canceled by the caller"));
    trs_set_progress(NULL, NULL);
}

/* ---- matrices ---------------------------------------------------------------------------------------- */

/* A full or sparse matrix in CSR with a dominant diagonal; has (i, j) says which entries there are. */
typedef struct csr {
    int64_t *ptr;
    int32_t *idx;
    double *val, *x;
    trs_mat a;
} csr;

static bool in_full(int i, int j)
{
    (void)i, (void)j;
    return true;
}
static bool in_band(int i, int j)
{
    return abs(i - j) < 4;
}
static bool in_arrow(int i, int j)
{
    return i == j || i == 0 || j == 0;
}

static csr csr_new(int n, bool (*has)(int i, int j))
{
    csr m = {zeroed(n + 1, sizeof *m.ptr), NULL, NULL, zeroed(n, sizeof *m.x), {0}};
    int64_t k = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) k += has(i, j);
    m.idx = zeroed(k, sizeof *m.idx);
    m.val = zeroed(k, sizeof *m.val);
    k = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (!has(i, j)) continue;
            m.idx[k] = j;
            m.val[k++] = i == j ? n : -0.5;
        }
        m.ptr[i + 1] = k;
        m.x[i] = 1;
    }
    m.a = (trs_mat){.n = n, .nnz = k, .ptr = m.ptr, .idx = m.idx, .val = m.val};
    return m;
}

static void csr_free(csr *m)
{
    free(m->ptr);
    free(m->idx);
    free(m->val);
    free(m->x);
}

/* ---- files ------------------------------------------------------------------------------------------- */

static int read_file(counter *c)
{
    const trs_mm_options opt = {.threads = 2, .memory = counted_memory(c)};
    trs_mm mm;
    const int rc = trs_mm_read(file, &opt, &mm);
    assert_canceled(rc);
    if (rc) assert_null(mm.val);
    trs_mm_free(&mm);
    return rc;
}

enum { SIZE = 1000 }; /* rows and columns of the matrix in the file */

/* A file that could not be written completely leaves the old one. */
static int write_file(counter *c)
{
    csr m = csr_new(SIZE, in_full);
    trs_mm mm;
    (void)c;
    const int rc = trs_mm_write(file, &m.a, SIZE, SIZE, TRS_GENERAL, NULL);
    assert_canceled(rc);
    trs_set_progress(NULL, NULL);
    assert_int_equal(trs_mm_read(file, &(trs_mm_options){.header = 1}, &mm), TRS_OK);
    assert_int_equal(mm.stored, SIZE * SIZE);
    trs_mm_free(&mm);
    csr_free(&m);
    return rc;
}

static int take_text(void *user, const char *text, int64_t bytes)
{
    (void)text;
    *(int64_t *)user += bytes;
    return 0;
}

static int unpack_file(counter *c)
{
    int64_t bytes = 0;
    (void)c;
    const int rc = trs_unpack(file, NULL, 0, take_text, &bytes);
    assert_canceled(rc);
    assert_true(rc || bytes > 1000000);
    return rc;
}

static void test_files(void **state)
{
    counter c = {.fail_at = -1};
    (void)state;
    assert_int_equal(write_file(&c), TRS_OK);
    check(write_file, "writing, ");
    check(read_file, "reading, assembly, ");
    check(unpack_file, "reading, ");
    remove(file);
}

/* ---- plans ------------------------------------------------------------------------------------------- */

static void assert_solves(trs_plan *p, const csr *m)
{
    double *b = zeroed(m->a.n, sizeof *b), *x = zeroed(m->a.n, sizeof *x);
    const trs_op op = TRS_N;
    assert_int_equal(trs_multiply(&m->a, op, 1, m->x, m->a.n, b, m->a.n, TRS_COL_MAJOR), TRS_OK);
    trs_set_progress(fail_if_called, NULL);
    assert_status(trs_solve(p, op, 1, b, m->a.n, x, m->a.n, NULL), TRS_OK);
    trs_set_progress(NULL, NULL);
    for (int i = 0; i < m->a.n; i++) assert_at_most(fabs(x[i] - 1), 1e-10);
    free(b);
    free(x);
}

static int analyse(const trs_options *opt, counter *c)
{
    csr m = csr_new(300, in_band);
    trs_options o = *opt;
    trs_plan *p;
    o.memory = counted_memory(c);
    m.a.kind = TRS_LOWER;
    int rc = trs_plan_create(&p, &m.a, &o);
    if (rc) assert_null(p);
    if (!rc) rc = trs_plan_analyse(p);
    assert_canceled(rc);
    if (!rc) assert_solves(p, &m);
    else if (p) assert_int_equal(trs_solve(p, TRS_N, 1, m.x, 300, m.x, 300, NULL), TRS_ESTATE);
    trs_plan_destroy(p);
    csr_free(&m);
    return rc;
}

static int named(counter *c)
{
    return analyse(&(trs_options){.solver = "cpu-serial", .ops = 3}, c);
}
static int chosen(counter *c)
{
    return analyse(&(trs_options){.solves = TRS_SOLVES_MANY, .ops = 7}, c);
}
/* With costs by which cpu-serial is slow, so that others are tried against it. */
static int with_slow_serial(job_fn job, counter *c)
{
    FILE *f = fopen(costs_file, "w");
    assert_non_null(f);
    fprintf(f, "# trisolve-sparse machine 2\ncpu_latency 1e-3\n");
    fclose(f);
    assert_int_equal(setenv("TRISOLVE_MACHINE", costs_file, 1), 0);
    const int rc = job(c);
    assert_int_equal(unsetenv("TRISOLVE_MACHINE"), 0);
    remove(costs_file);
    return rc;
}
static int tried(counter *c)
{
    return with_slow_serial(chosen, c);
}
static int measured(counter *c)
{
    const int rc = analyse(&(trs_options){.measure = 1}, c);
    trs_wisdom_forget();
    return rc;
}

static int tune(counter *c)
{
    csr m = csr_new(300, in_band);
    trs_plan *p;
    m.a.kind = TRS_LOWER;
    int rc = trs_plan_create(&p, &m.a, &(trs_options){.memory = counted_memory(c)});
    if (!rc) rc = trs_plan_analyse(p);
    const bool analysed = !rc;
    if (!rc) rc = trs_plan_tune(p);
    assert_canceled(rc);
    if (analysed) {
        watch again = {.caller = pthread_self(), .cancel_at = -1};
        assert_solves(p, &m);
        trs_set_progress(note, &again);
        assert_status(trs_plan_tune(p), TRS_OK);
        trs_set_progress(NULL, NULL);
        assert_true((again.calls > 0) == (rc == TRS_ECANCELED)); /* it has not grown before */
        assert_solves(p, &m);
    }
    trs_plan_destroy(p);
    csr_free(&m);
    return rc;
}

/* The last report is that of a trial, which the plan could do without. */
static int tune_and_try(counter *c)
{
    return with_slow_serial(tune, c);
}

/* Analyse and update with another pivot in row 7.  rc: what creating the plan has returned. */
static int update(int rc, trs_plan *p, csr *m, double pivot)
{
    int64_t k = m->ptr[7];
    if (!rc) rc = trs_plan_analyse(p);
    assert_canceled(rc);
    if (rc) return rc;
    while (m->idx[k] != 7) k++;
    m->val[k] = pivot;
    rc = trs_plan_update(p, &m->a, NULL);
    assert_canceled(rc);
    if (!rc) return rc;
    assert_int_equal(trs_solve(p, TRS_N, 1, m->x, m->a.n, m->x, m->a.n, NULL), TRS_ESTATE);
    assert_status(trs_plan_update(p, &m->a, NULL), TRS_OK);
    if (pivot != 0) assert_solves(p, m);
    return rc;
}

/* Another row has to be left out, so that the update analyses. */
static int left_out(counter *c)
{
    csr m = csr_new(40, in_band);
    trs_plan *p;
    m.a.kind = TRS_LOWER;
    const trs_options opt = {.pivot = TRS_PIVOT_SKIP, .memory = counted_memory(c)};
    int rc = trs_plan_create(&p, &m.a, &opt);
    rc = update(rc, p, &m, 0);
    trs_plan_destroy(p);
    csr_free(&m);
    return rc;
}

static int general(counter *c)
{
    csr m = csr_new(20, in_full);
    trs_plan *p;
    m.a.format = TRS_DENSE;
    m.a.ld = 20;
    m.a.ptr = m.a.idx = NULL;
    const trs_options opt = {.solver = "lu-serial", .memory = counted_memory(c)};
    int rc = trs_plan_create(&p, &m.a, &opt);
    rc = update(rc, p, &m, 400);
    trs_plan_destroy(p);
    csr_free(&m);
    return rc;
}

#ifdef HAVE_XXHASH
static const char plan_file[] = "t_progress.plan";

static int save_and_load(counter *c)
{
    csr m = csr_new(300, in_band);
    trs_plan *p, *q = NULL;
    m.a.kind = TRS_LOWER;
    const trs_options opt = {.memory = counted_memory(c)};
    int rc = trs_plan_create(&p, &m.a, &opt);
    if (!rc) rc = trs_plan_analyse(p);
    if (!rc) rc = trs_plan_save(p, plan_file);
    if (!rc) rc = trs_plan_create(&q, &m.a, &opt);
    if (!rc) rc = trs_plan_load(q, plan_file);
    assert_canceled(rc);
    if (!rc) assert_solves(q, &m);
    trs_plan_destroy(p);
    trs_plan_destroy(q);
    csr_free(&m);
    return rc;
}
#endif

static void test_plans(void **state)
{
    (void)state;
    check(named, "import, levels, choice of a solver, solver, ");
    check(chosen, "import, levels, choice of a solver, solver, ");
    check(tried, "import, levels, choice of a solver, solver, trial of a solver, ");
    check(measured, "import, levels, choice of a solver, trial of a solver, import, levels, ");
    check(tune, "import, solver, levels, choice of a solver, solver, ");
    check(tune_and_try, "import, solver, levels, choice of a solver, solver, trial of a solver, ");
    check(left_out,
          "import, levels, choice of a solver, solver, levels, choice of a solver, solver, ");
    check(general, "import, solver, factorization, ");
#ifdef HAVE_XXHASH
    check(save_and_load, "import, solver, levels, choice of a solver, ");
    remove(plan_file);
#endif
}

static void test_growing_solves(void **state)
{
    csr m = csr_new(300, in_band);
    trs_plan *p;
    trs_info info;
    (void)state;
    m.a.kind = TRS_LOWER;
    assert_int_equal(trs_plan_create(&p, &m.a, NULL), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_true(info.grows_at > 0);
    for (int64_t k = 0; k < info.grows_at; k++) assert_solves(p, &m);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    assert_int_equal(info.grows_at, 0);
    trs_plan_destroy(p);
    csr_free(&m);
}

/* ---- factors ----------------------------------------------------------------------------------------- */

/* Factors that could not be made refuse to solve, and are made from the same or other values. */
static int use(trs_lu *lu, int rc, const csr *m)
{
    double x[1000];
    const int64_t n = m->a.n;
    if (!rc) rc = trs_lu_update(lu, &m->a);
    assert_canceled(rc);
    if (rc && lu) {
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, m->x, n, x, n, NULL), TRS_ESTATE);
        const int again = trs_lu_update(lu, &m->a);
        assert_true(again == TRS_OK || again == TRS_ESTATE);
        if (again) assert_int_equal(trs_lu_solve(lu, TRS_N, 1, m->x, n, x, n, NULL), TRS_ESTATE);
    }
    trs_set_progress(fail_if_called, NULL);
    if (!rc) assert_status(trs_lu_solve(lu, TRS_N, 1, m->x, n, x, n, NULL), TRS_OK);
    trs_set_progress(NULL, NULL);
    trs_lu_destroy(lu);
    return rc;
}

static int incomplete(csr m, trs_ilu_options opt, counter *c)
{
    trs_lu *lu;
    opt.plan.memory = counted_memory(c);
    opt.plan.threads = 2;
    int rc = trs_ilu(&lu, &m.a, &opt);
    rc = use(lu, rc, &m);
    csr_free(&m);
    return rc;
}

static int ilu(counter *c)
{
    return incomplete(csr_new(500, in_full), (trs_ilu_options){.ordering = TRS_ILU_RCM}, c);
}
static int ic_with_fill(counter *c)
{
    return incomplete(csr_new(750, in_arrow), (trs_ilu_options){.method = TRS_IC0, .level = 1}, c);
}

static int ict(counter *c)
{
    return incomplete(csr_new(750, in_arrow), (trs_ilu_options){.method = TRS_ICT}, c);
}

static int imported(counter *c)
{
    csr m = csr_new(60, in_band);
    trs_mat L = m.a, U = m.a;
    trs_lu *lu;
    L.kind = TRS_LOWER | TRS_UNIT;
    U.kind = TRS_UPPER;
    const trs_options opt = {.memory = counted_memory(c)};
    int rc = trs_lu_import(&lu, &L, &U, NULL, NULL, NULL, &opt);
    assert_canceled(rc);
    trs_lu_destroy(lu);
    csr_free(&m);
    return rc;
}

#ifdef HAVE_SUITESPARSE
static const char *method;

static int complete(counter *c)
{
    csr m = csr_new(60, in_band);
    trs_lu *lu;
    const trs_factor_options opt = {.method = method, .plan = {.memory = counted_memory(c)}};
    int rc = trs_factor(&lu, &m.a, &opt);
    rc = use(lu, rc, &m);
    csr_free(&m);
    return rc;
}
#endif

static void test_factors(void **state)
{
    (void)state;
    check(ilu, "import, ordering, analysis of L, import, solver, ");
    check(ic_with_fill, "import, fill, analysis of L, import, solver, ");
    check(ict, "import, fill, analysis of L, import, solver, ");
    check(imported, "analysis of L, import, solver, ");
#ifdef HAVE_SUITESPARSE
    for (int k = 0; k < METHODS; k++) {
        method = methods[k];
        check(complete, "import, ordering, factorization, ");
    }
    method = NULL;
    check(complete, "import, ordering, factorization, ");
#endif
}

/* ---- all of it --------------------------------------------------------------------------------------- */

/* Nobody is told of the calls of another thread, nor by the threads of a team, whatever these were told before, nor of any
 * call once that was taken back. */
static void *call_in_thread(void *user)
{
    (void)user;
    counter c = {.fail_at = -1};
    assert_int_equal(named(&c), TRS_OK);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t thread;
    (void)state;
    trs_set_progress(fail_if_called, NULL);
    assert_int_equal(pthread_create(&thread, NULL, call_in_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
#pragma omp parallel num_threads(2)
    trs_set_progress(fail_if_called, NULL);
    check(write_file, "writing, ");
#pragma omp parallel num_threads(2)
    trs_set_progress(NULL, NULL);
    counter c = {.fail_at = -1};
    assert_int_equal(named(&c), TRS_OK);
    remove(file);
    assert_string_equal(trs_strerror(TRS_ECANCELED), "canceled by the caller");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),          cmocka_unit_test(test_plans),
        cmocka_unit_test(test_growing_solves), cmocka_unit_test(test_factors),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
