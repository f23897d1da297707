/* t_wisdom.c: wisdom is found again for the same question only, in this process and through files; a file that is not
 * wisdom is refused and changes nothing.  And the costs in the user's cache, which come next in the choice. */
#include "tests/common/model.h"

#include "base/device.h"
#include "base/parallel.h"
#include "matrix/pattern_hash.h"
#include "select/select.h"
#include "select/user_costs.h"
#include "select/wisdom.h"

#include <glob.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static const char file[] = "t_wisdom.file", other_file[] = "t_wisdom.other";
static const char head[] = "# trisolve-sparse wisdom 2\n";
static const char line[] =
    "9ae16a3b2f90404f 100 498 lower f64 N 1 columns host auto any 0 0 8 16 0.1.0 "
    "cpu-level 0.000391 sm_90, 132 SMs, 4.8 TB/s\n";

static void write_text(const char *name, const char *text, size_t size)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static char *read_text(const char *name, size_t *size)
{
    char *text = calloc(1, 1 << 16);
    FILE *f = fopen(name, "r");
    assert_true(f && text);
    *size = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    return text;
}

static int clean(void **state)
{
    (void)state;
    trs_wisdom_forget();
    remove(file);
    remove(other_file);
    return unsetenv("TRISOLVE_WISDOM");
}

/* ---- plans ------------------------------------------------------------------------------------- */

typedef struct question { /* all that a key has */
    trs_options opt;
    trs_dtype dtype;
    bool upper, unit;
    int extra; /* an entry that others have elsewhere: its column */
    double value;
} question;

enum { ROWS = 60 };

/* A plan for a triangle with a diagonal, the entries beside it, and one more in the last row. */
static trs_plan *plan_for(const question *q, trs_info *info)
{
    random_t r = {7};
    const form f = {.dtype = q->dtype, .unit = q->unit, .ptr_bits = 64, .idx_bits = 32};
    model m = {.n = ROWS, .upper = q->upper};
    for (int i = 0; i < ROWS; i++) {
        model_add(&m, i, i, 4 + q->value);
        if (i > 0) model_add(&m, i, i - 1, 1);
    }
    model_add(&m, ROWS - 1, q->extra, 1);
    trs_mat a = show(&m, &f, &r);
    trs_plan *p;
    assert_status(trs_plan_create(&p, &a, &q->opt), TRS_OK);
    assert_status(trs_plan_analyse(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, info), TRS_OK);
    mat_free(&a);
    model_free(&m);
    return p;
}

/* Does the reason have these words? */
static bool reason_has(const question *q, const char *words)
{
    trs_info info;
    trs_plan *p = plan_for(q, &info);
    const bool has = strstr(info.reason, words);
    print_message("# %s: %s\n", info.solver, info.reason);
    trs_plan_destroy(p);
    return has;
}

static bool is_wise(const question *q)
{
    return reason_has(q, "levels, widest 1, longest row 3: wisdom: ");
}

static const question plain = {.extra = 5};

static void measure(const question *q)
{
    question measured = *q;
    measured.opt.measure = 1;
    assert_true(reason_has(&measured, "; measured cpu-"));
}

/* ---- what is found ----------------------------------------------------------------------------- */

static void found_for_the_same_question(void **state)
{
    question q = plain;
    trs_info first, then;
    (void)state;
    assert_false(is_wise(&q));
    q.opt.measure = 1;
    trs_plan *p = plan_for(&q, &first), *again = plan_for(&q, &then);
    assert_non_null(strstr(first.reason, "; measured "));
    assert_null(strstr(then.reason, "measured"));
    assert_string_equal(first.solver, then.solver);
    assert_true(then.predicted > 0);
    char words[100];
    snprintf(words, sizeof words, ": wisdom: %s took ", then.solver);
    assert_non_null(strstr(then.reason, words));
    trs_plan_destroy(p);
    trs_plan_destroy(again);
    q.opt.measure = 0;
    q.value = 1; /* other numbers in the same places */
    assert_true(is_wise(&q));
    q.opt.solver = "cpu-serial";
    assert_false(is_wise(&q));
    q.opt.solver = NULL;
    trs_wisdom_forget();
    assert_false(is_wise(&q));
}

static void not_found_for_another(void **state)
{
    question q[] = {plain, plain, plain, plain, plain, plain,
                    plain, plain, plain, plain, plain, plain};
    enum { QUESTIONS = sizeof q / sizeof q[0] };
    (void)state;
    q[1].extra = 6;
    q[2].dtype = TRS_F32;
    q[3].opt.nrhs = 2;
    q[4].opt.ops = 1u << TRS_T;
    q[5].opt.order = TRS_ORDER_NATURAL;
    q[6].opt.bitwise = 1;
    q[7].opt.memory_limit = 1 << 30;
    q[8].upper = true;
    q[9].unit = true;
    q[10].opt.layout = TRS_ROW_MAJOR;
    q[11].opt.solves_per_update = 3;
    for (int k = 0; k < QUESTIONS; k++) {
        measure(&q[k]);
        for (int j = k + 1; j < QUESTIONS; j++) assert_false(is_wise(&q[j]));
    }
    for (int k = 0; k < QUESTIONS; k++) assert_true(is_wise(&q[k]));
    question alone = plain;
    alone.opt.threads = 1;
    assert_true(is_wise(&alone) == (trs_threads_given(trs_default_threads()) == 1));
}

/* The sum over the entries of a pattern changes with any of them, and not with the number of threads. */
static void hashes(void **state)
{
    enum { N = 700000 }; /* so many that threads share them */
    int32_t *idx = malloc(N * sizeof *idx);
    uint64_t one, shared, moved;
    trs_context ctx = {.threads = 1};
    (void)state;
    assert_non_null(idx);
    for (int i = 0; i < N; i++) idx[i] = i;
    trs_operator op = {.ctx = &ctx, .on_host = TRS_OP_PATTERN};
    op.tri = (trs_tri){.n = N, .nnz = N, .idx = idx};
    assert_int_equal(trs_pattern_hash(&op, &one), TRS_OK);
    ctx.threads = 4;
    assert_int_equal(trs_pattern_hash(&op, &shared), TRS_OK);
    assert_true(one == shared);
    idx[N / 2]--;
    assert_int_equal(trs_pattern_hash(&op, &moved), TRS_OK);
    assert_true(one != moved);
    idx[N / 2 + 1]++; /* the sum of the columns is as it was */
    assert_int_equal(trs_pattern_hash(&op, &shared), TRS_OK);
    assert_true(one != shared && moved != shared);
    free(idx);
}

/* ---- on a device ------------------------------------------------------------------------------- */

/* The device finds the hash that the host finds, and so a matrix that is there finds what was measured here. */
static void found_on_a_device(void **state)
{
    const form f = {.ptr_bits = 64, .idx_bits = 32};
    char why[200];
    (void)state;
    if (trs_gpu_probe(0, why, sizeof why)) skip();
    for (int k = 0; k < 4; k++) {
        random_t r = {3};
        const trs_options opt = {.device = TRS_CUDA(0)},
                          measured = {.device = TRS_CUDA(0), .measure = 1};
        model m = model_new(k < 2 ? RANDOM : CHAIN, k % 2, false, false, &r);
        trs_mat here = show(&m, &f, &r), there = mat_to_device(&here);
        trs_plan *p, *q;
        trs_info info;
        uint64_t on_device, on_host;
        assert_status(trs_plan_create(&p, &there, &opt), TRS_OK);
        trs_operator *op = &p->side[0].op;
        assert_false(op->on_host & TRS_OP_PATTERN);
        assert_int_equal(trs_pattern_hash(op, &on_device), TRS_OK);
        assert_int_equal(trs_operator_show(op, TRS_OP_PATTERN), TRS_OK);
        assert_int_equal(trs_pattern_hash(op, &on_host), TRS_OK);
        assert_true(on_device == on_host);
        trs_plan_destroy(p);
        assert_status(trs_plan_create(&q, &here, &measured), TRS_OK);
        assert_status(trs_plan_analyse(q), TRS_OK);
        assert_status(trs_plan_create(&p, &there, &opt), TRS_OK);
        assert_status(trs_plan_analyse(p), TRS_OK);
        assert_int_equal(trs_plan_info(p, &info), TRS_OK);
        print_message("# %s: %s\n", info.solver, info.reason);
        assert_non_null(strstr(info.reason, ": wisdom: "));
        trs_plan_destroy(p);
        trs_plan_destroy(q);
        mat_free_device(&there);
        mat_free(&here);
        model_free(&m);
    }
}

/* ---- files ------------------------------------------------------------------------------------- */

static void kept_in_a_file(void **state)
{
    question q[4] = {plain, plain, plain, plain};
    size_t size, size_again;
    (void)state;
    q[1].opt = (trs_options){.ops = 7, .nrhs = 3, .bitwise = 1};
    q[2].dtype = TRS_C32;
    q[2].upper = q[2].unit = true;
    q[3].opt.order = TRS_ORDER_LEVEL;
    for (int k = 0; k < 4; k++) measure(&q[k]);
    assert_int_equal(trs_wisdom_export(file), TRS_OK);
    trs_info before, after;
    trs_plan *p = plan_for(&q[0], &before);
    trs_wisdom_forget();
    for (int k = 0; k < 4; k++) assert_false(is_wise(&q[k]));
    assert_int_equal(trs_wisdom_import(file), TRS_OK);
    for (int k = 0; k < 4; k++) assert_true(is_wise(&q[k]));
    trs_plan *again = plan_for(&q[0], &after);
    assert_string_equal(before.solver, after.solver);
    assert_string_equal(before.reason, after.reason);
    trs_plan_destroy(p);
    trs_plan_destroy(again);
    assert_int_equal(trs_wisdom_import(file), TRS_OK); /* changes nothing */
    assert_int_equal(trs_wisdom_export(other_file), TRS_OK);
    char *text = read_text(file, &size), *text_again = read_text(other_file, &size_again);
    print_message("%s", text);
    assert_string_equal(text, text_again);
    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    free(text);
    free(text_again);
}

/* Of two lines for one question the later one counts, and a file counts more than what the process knew; lines about
 * solvers or devices that are not here are kept. */
static void lines(void **state)
{
    char text[1000];
    size_t size;
    (void)state;
    snprintf(text, sizeof text, "%s\r\n# a word\n%s \t\n%s", head, line, line);
    char *second = strstr(strstr(text, "cpu-level") + 1, "cpu-level");
    memcpy(second, "no-solver", 9);
    write_text(file, text, strlen(text) - 1); /* no end of line at the end */
    assert_status(trs_wisdom_import(file), TRS_OK);
    assert_int_equal(trs_wisdom_export(other_file), TRS_OK);
    char *out = read_text(other_file, &size);
    assert_null(strstr(out, "cpu-level"));
    assert_non_null(strstr(out,
                           "9ae16a3b2f90404f 100 498 lower f64 N 1 columns host auto any 0 0 8 16 "
                           "0.1.0 no-solver 0.000391 sm_90, 132 SMs, 4.8 TB/s\n"));
    free(out);
}

/* Make up what was measured for the plain question: this solver was the fastest. */
static void answer(const char *solver)
{
    question q = plain;
    trs_info info;
    trs_wisdom w;
    trs_plan *p = plan_for(&q, &info);
    assert_int_equal(trs_wisdom_key(&p->side[0].op, TRS_LOWER, false, TRS_ORDER_AUTO, &w), TRS_OK);
    snprintf(w.solver, sizeof w.solver, "%s", solver);
    w.seconds = 3.9e-4;
    assert_int_equal(trs_wisdom_add(&w), TRS_OK);
    trs_plan_destroy(p);
}

static void answers_that_cannot_be_had(void **state)
{
    (void)state;
    answer("cpu-level");
    assert_true(reason_has(&plain, ": wisdom: cpu-level took 0.39 ms here"));
    answer("cuda-of-another-build");
    assert_true(reason_has(&plain, ": predicted "));
    assert_false(reason_has(&plain, "wisdom"));
    answer("lu-serial"); /* for general matrices */
    assert_true(reason_has(&plain, "; wisdom ignored: lu-serial cannot be chosen here"));
    assert_true(reason_has(&plain, ": predicted "));
    measure(&plain); /* puts it right */
    assert_true(is_wise(&plain));
}

static void wrong_files(void **state)
{
    static const struct {
        const char *was, *is, *words;
    } wrong[] = {
        {"wisdom 2", "wisdom 3", ":1: no wisdom: the first line is not # trisolve-sparse wisdom 2"},
        {"#", "##", ":1: no wisdom"},
        {"9ae16a3b2f90404f", "9ae16a3b2f90404g", ":2: missing or wrong: pattern"},
        {"9ae16a3b2f90404f", "19ae16a3b2f90404f", ":2: missing or wrong: pattern"},
        {" 100 ", " -100 ", ":2: missing or wrong: n"},
        {" 100 ", " 1e2 ", ":2: missing or wrong: n"},
        {" 498 ", " 99999999999999999999 ", ":2: missing or wrong: nnz"},
        {"lower", "left", ":2: missing or wrong: kind"},
        {"f64", "f16", ":2: missing or wrong: dtype"},
        {" N ", " NN ", ":2: missing or wrong: ops"},
        {" 1 ", " one ", ":2: missing or wrong: nrhs"},
        {"columns", "column", ":2: missing or wrong: layout"},
        {"host", "home", ":2: missing or wrong: place"},
        {"auto", "autos", ":2: missing or wrong: order"},
        {"any", "some", ":2: missing or wrong: bitwise"},
        {" 0 ", " +0 ", ":2: missing or wrong: limit"},
        {" 8 ", " 8. ", ":2: missing or wrong: threads"},
        {" 16 ", " 0x10 ", ":2: missing or wrong: cpus"},
        {"0.1.0", "0.1.0-of-a-very-long-name", ":2: missing or wrong: version"},
        {"cpu-level", "cpu-level-that-nobody-has-ever-written-and-nobody-will",
         ":2: missing or wrong: solver"},
        {"0.000391", "0", ":2: missing or wrong: seconds"},
        {"0.000391", "-1", ":2: missing or wrong: seconds"},
        {"0.000391", "inf", ":2: missing or wrong: seconds"},
        {"0.000391", "nan", ":2: missing or wrong: seconds"},
        {"0.000391", "0.000391s", ":2: missing or wrong: seconds"},
        {"sm_90, 132 SMs, 4.8 TB/s", "", ":2: missing or wrong: chip"},
        {"0.1.0 cpu-level 0.000391 sm_90, 132 SMs, 4.8 TB/s", "", ":2: missing or wrong: version"},
    };
    char text[1000];
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        snprintf(text, sizeof text, "%s%s", head, line);
        char *at = strstr(text, wrong[k].was);
        assert_non_null(at);
        const size_t was = strlen(wrong[k].was), is = strlen(wrong[k].is);
        memmove(at + is, at + was, strlen(at + was) + 1);
        memcpy(at, wrong[k].is, is);
        write_text(file, text, strlen(text));
        assert_status(trs_wisdom_import(file), TRS_EFORMAT);
        if (!strstr(trs_message(), wrong[k].words) || strncmp(trs_message(), file, sizeof file - 1))
            fail_msg("\"%s\" is not in \"%s\"", wrong[k].words, trs_message());
        assert_true(trs_wisdom_is_empty());
    }
}

static void no_files(void **state)
{
    char text[2000];
    (void)state;
    assert_int_equal(trs_wisdom_import(NULL), TRS_EARG);
    assert_int_equal(trs_wisdom_export(NULL), TRS_EARG);
    assert_int_equal(trs_wisdom_import("no/such/file"), TRS_EFILE);
    assert_non_null(strstr(trs_message(), "no/such/file: No such file"));
    assert_int_equal(trs_wisdom_import("."), TRS_EFILE);
    assert_int_equal(trs_wisdom_export("no/such/file"), TRS_EFILE);
    assert_int_equal(trs_wisdom_export("."), TRS_EFILE);
    write_text(file, "", 0);
    assert_int_equal(trs_wisdom_import(file), TRS_EFORMAT);
    assert_non_null(strstr(trs_message(), ": an empty file"));
    memset(text, ' ', sizeof text);
    memcpy(text, head, sizeof head - 1);
    write_text(file, text, sizeof text);
    assert_int_equal(trs_wisdom_import(file), TRS_EFORMAT);
    assert_non_null(strstr(trs_message(), ":2: the line is too long"));
    write_text(file, "# trisolve-sparse wisdom 2\n\0\n", 29);
    assert_int_equal(trs_wisdom_import(file), TRS_EFORMAT);
    assert_non_null(strstr(trs_message(), "no text"));
    write_text(file, head, sizeof head - 1);
    assert_int_equal(trs_wisdom_import(file), TRS_OK);
    assert_true(trs_wisdom_is_empty());
}

/* What was there stays there until the new file is complete; nothing else is left behind. */
static void export_over_a_file(void **state)
{
    char text[1000];
    size_t size;
    glob_t others;
    (void)state;
    snprintf(text, sizeof text, "%s%s", head, line);
    write_text(file, text, strlen(text));
    assert_int_equal(trs_wisdom_import(file), TRS_OK);
    assert_int_equal(trs_wisdom_export(file), TRS_OK);
    char *out = read_text(file, &size);
    assert_non_null(strstr(out, line));
    free(out);
    assert_int_equal(glob("t_wisdom.file?*", 0, NULL, &others), GLOB_NOMATCH);
}

/* An export keeps what another process has put into the file meanwhile, and its own entry counts more; it replaces no other
 * file. */
static void export_adds(void **state)
{
    char text[1000], other[1000];
    size_t size;
    (void)state;
    trs_wisdom_forget();
    snprintf(text, sizeof text, "%s%s", head, line);
    write_text(file, text, strlen(text));
    measure(&plain);
    assert_status(trs_wisdom_export(file), TRS_OK);
    char *out = read_text(file, &size);
    assert_non_null(strstr(out, line));
    free(out);
    trs_wisdom_forget();
    assert_status(trs_wisdom_import(file), TRS_OK);
    assert_true(is_wise(&plain));
    snprintf(other, sizeof other, "%s%s", head, line);
    memcpy(strstr(other, "cpu-level"), "no-solver", 9);
    write_text(file, other, strlen(other));
    assert_status(trs_wisdom_export(file), TRS_OK);
    out = read_text(file, &size);
    assert_true(strstr(out, line) && !strstr(out, "no-solver"));
    free(out);
    write_text(file, "a list of other things\n", 23);
    assert_int_equal(trs_wisdom_export(file), TRS_EFORMAT);
    out = read_text(file, &size);
    assert_int_equal(strncmp(out, "a list of other things\n", 23), 0);
    free(out);
    remove(file);
}

static void from_the_environment(void **state)
{
    trs_info info;
    trs_plan *p;
    (void)state;
    measure(&plain);
    assert_int_equal(trs_wisdom_export(file), TRS_OK);
    trs_wisdom_forget();
    setenv("TRISOLVE_WISDOM", "no/such/file", 1);
    random_t r = {1};
    const form f = {.ptr_bits = 64, .idx_bits = 32};
    model m = model_new(SEED5, false, true, false, &r);
    trs_mat a = show(&m, &f, &r);
    assert_int_equal(trs_plan_create(&p, &a, NULL), TRS_OK);
    assert_int_equal(trs_plan_analyse(p), TRS_EFILE);
    assert_non_null(strstr(trs_message(), "TRISOLVE_WISDOM: no/such/file: No such file"));
    trs_plan_destroy(p);
    mat_free(&a);
    model_free(&m);
    setenv("TRISOLVE_WISDOM", "", 1);
    assert_false(is_wise(&plain));
    setenv("TRISOLVE_WISDOM", file, 1);
    assert_true(is_wise(&plain));
    trs_wisdom_forget();
    p = plan_for(&plain, &info); /* the file is not imported again */
    assert_null(strstr(info.reason, "wisdom"));
    trs_plan_destroy(p);
}

/* ---- threads ----------------------------------------------------------------------------------- */

static void *import_and_plan(void *user)
{
    const int number = *(const int *)user;
    char name[40];
    snprintf(name, sizeof name, "t_wisdom.thread%d", number);
    for (int k = 0; k < 10; k++) {
        trs_info info;
        const question q = {.extra = k, .opt = {.measure = 1, .threads = 1}};
        if (trs_wisdom_import(file)) return NULL;
        trs_plan_destroy(plan_for(&q, &info));
        if (k % 5 == 0 && trs_wisdom_export(name)) return NULL;
        if (k % 5 == 4) trs_wisdom_forget();
    }
    remove(name);
    return user;
}

static void by_several_threads(void **state)
{
    enum { THREADS = 4 };
    char text[1000];
    int number[THREADS];
    pthread_t thread[THREADS];
    void *result;
    (void)state;
    snprintf(text, sizeof text, "%s%s", head, line);
    write_text(file, text, strlen(text));
    for (int k = 0; k < THREADS; k++) {
        number[k] = k;
        assert_int_equal(pthread_create(&thread[k], NULL, import_and_plan, &number[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_join(thread[k], &result), 0);
        assert_ptr_equal(result, &number[k]);
    }
}

/* ---- damaged files ----------------------------------------------------------------------------- */

/* Whatever is read is refused, or can be written and read again. */
static void damaged_files(void **state)
{
    enum { TIMES = 4000 };
    random_t r = {11};
    char text[2000];
    int taken = 0;
    (void)state;
    for (int k = 0; k < TIMES; k++) {
        trs_wisdom_forget();
        const int length = snprintf(text, sizeof text, "%s# a comment\n%s%s", head, line, line);
        const int head_end = (int)sizeof head - 1;
        for (int changes = 1 + random_below(&r, 4); changes > 0; changes--)
            text[(k % 4 ? head_end : 0) + random_below(&r, length - head_end)] =
                k % 3 ? (char)random_below(&r, 256) : " \n0a.-N#"[random_below(&r, 8)];
        write_text(file, text, (size_t)(k % 5 ? length : random_below(&r, length)));
        const int rc = trs_wisdom_import(file);
        assert_true(rc == TRS_OK || rc == TRS_EFORMAT);
        assert_true((rc != TRS_OK) == (trs_message()[0] != '\0'));
        if (rc) assert_true(trs_wisdom_is_empty());
        if (rc) continue;
        if (taken++ % 20) continue; /* an export waits for the disk */
        assert_int_equal(trs_wisdom_export(other_file), TRS_OK);
        assert_status(trs_wisdom_import(other_file), TRS_OK);
    }
    print_message("# %d of %d damaged files are wisdom\n", taken, TIMES);
    assert_true(taken > 100 && taken < TIMES / 2);
}

/* ---- costs in the user's cache ----------------------------------------------------------------- */

static const char machine_head[] = "# trisolve-sparse machine 2\n";

/* trs_info.costs, the user's cache having a file with this text; NULL: it has none. */
static void costs_with(const char *text, const char *words)
{
    char path[1000], folder[900];
    trs_info info;
    assert_non_null(getcwd(folder, sizeof folder - 20));
    strcat(folder, "/t_wisdom.cache");
    snprintf(path, sizeof path, "%s/trisolve-sparse", folder);
    mkdir(folder, 0700);
    mkdir(path, 0700);
    strcat(path, "/machine");
    remove(path);
    if (text) write_text(path, text, strlen(text));
    setenv("XDG_CACHE_HOME", folder, 1);
    trs_plan *p = plan_for(&plain, &info);
    assert_status(trs_plan_tune(p), TRS_OK);
    assert_int_equal(trs_plan_info(p, &info), TRS_OK);
    print_message("# %s\n", info.costs);
    if (!strstr(info.costs, words)) fail_msg("\"%s\" is not in \"%s\"", words, info.costs);
    trs_plan_destroy(p);
    remove(path);
}

static void costs_of_the_user(void **state)
{
    char was[1000], text[1000];
    (void)state;
    snprintf(was, sizeof was, "%s", getenv("XDG_CACHE_HOME") ? getenv("XDG_CACHE_HOME") : "");
    snprintf(text, sizeof text, "%scpu_row 1e-3\n", machine_head);
    costs_with(NULL, "built in");
    costs_with(text, "/t_wisdom.cache/trisolve-sparse/machine");
    setenv("TRISOLVE_MACHINE", "", 1);
    costs_with(text, "built in");
    write_text(file, machine_head, sizeof machine_head - 1);
    setenv("TRISOLVE_MACHINE", file, 1);
    costs_with(text, file);
    unsetenv("TRISOLVE_MACHINE");
    strcat(text, "cpu_rows 1\n");
    costs_with(text, "built in");
    costs_with(text, "; ignored /");
    costs_with(text, ":3: no such cost"); /* a long name of the file before it is cut */
    setenv("XDG_CACHE_HOME", was, 1);
}

/* As on a machine with a GPU, whatever there is here. */
static void costs_of_another_gpu(void **state)
{
    static const char other[] = "# trisolve-sparse machine 2\ngpu_sms 1000\n";
    const trs_chip chip = {9, 0, 132, 4.8e12, 1.98e9};
    char folder[900], path[1000];
    trs_context ctx = {.costs = "built in", .machine = *trs_machine_table()};
    (void)state;
    assert_non_null(getcwd(folder, sizeof folder - 20));
    strcat(folder, "/t_wisdom.cache");
    snprintf(path, sizeof path, "%s/trisolve-sparse/machine", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
    write_text(path, other, sizeof other - 1);
    trs_machine_from_cache(&ctx, &chip);
    assert_non_null(strstr(ctx.costs, "built in; ignored /"));
    assert_non_null(strstr(ctx.costs, "/machine: not measured with this GPU"));
    assert_true(trs_machine_fits(&ctx.machine, &chip));
    trs_machine_from_cache(&ctx, NULL); /* only the CPU's costs matter */
    assert_string_equal(ctx.costs, path);
    setenv("XDG_CACHE_HOME", "t_wisdom.cache", 1); /* relative: does not count */
    setenv("HOME", folder, 1);
    snprintf(ctx.costs, sizeof ctx.costs, "built in");
    trs_machine_from_cache(&ctx, NULL);
    assert_string_equal(ctx.costs, "built in");
    remove(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(found_for_the_same_question, clean),
        cmocka_unit_test_teardown(not_found_for_another, clean),
        cmocka_unit_test(hashes),
        cmocka_unit_test_teardown(found_on_a_device, clean),
        cmocka_unit_test_teardown(kept_in_a_file, clean),
        cmocka_unit_test_teardown(lines, clean),
        cmocka_unit_test_teardown(answers_that_cannot_be_had, clean),
        cmocka_unit_test_teardown(wrong_files, clean),
        cmocka_unit_test_teardown(no_files, clean),
        cmocka_unit_test_teardown(export_over_a_file, clean),
        cmocka_unit_test_teardown(export_adds, clean),
        cmocka_unit_test_teardown(from_the_environment, clean),
        cmocka_unit_test_teardown(by_several_threads, clean),
        cmocka_unit_test_teardown(damaged_files, clean),
        cmocka_unit_test_teardown(costs_of_the_user, clean),
        cmocka_unit_test(costs_of_another_gpu),
    };
    unsetenv("TRISOLVE_MACHINE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
