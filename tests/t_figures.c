/* t_figures.c: the figures of --dense and of triangles, from results that are made up, as a machine with a
 * GPU would give them: which figures, which curves, which numbers. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench_figures.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the program has in bench.c and bench_args.c -------------------------------------------- */

void complain(const char *format, ...)
{
    (void)format;
    fail();
}

void progress(const settings *s, const char *name, const char *step)
{
    (void)s, (void)name, (void)step;
}

int out_of_memory(void)
{
    fail();
    return EXIT_USAGE;
}

bool is_wanted(const settings *s, const trs_solver_info *solver)
{
    (void)s, (void)solver;
    return false;
}

/* ---- results -------------------------------------------------------------------------------------- */

/* In order: solver k takes (k + 1) n ns to factor or, without factors, to solve. */
static const char *const triangles[] = {
    "dense-serial",         "dense-simple",  "dense-pair",   "dense-doubling",
    "dense-doubling-tiled", "dense-blocked", "cublas-dense", "cpu-serial"};
static const char *const generals[] = {"lu-serial",      "lu-simple",        "lu-row-global",
                                       "lu-row-shared",  "lu-column-global", "lu-column-shared",
                                       "lu-element",     "lu-fullgrid",      "lu-submatrix",
                                       "cusolver-getrf", "gauss-vec4"};

enum { T = sizeof triangles / sizeof *triangles, G = sizeof generals / sizeof *generals };

static const double ns = 1e-9;

static cell fake(const char *name, int block, int64_t n, double factor, double solve)
{
    cell c = {.block = block, .factor = factor, .accurate = true};
    c.solver.name = name;
    c.solver.needs = strstr(name, "serial") ? "cpu" : "cuda";
    c.solve = (spread){1, solve, solve, solve};
    c.error.omega = 1e-16 * (double)n;
    return c;
}

static void add_result(kept *k, const char *name, bool triangle, int64_t n, int count, cell *cells)
{
    const result r = {.name = name,
                      .kind = triangle ? TRS_LOWER : 0,
                      .n = n,
                      .alloc = 1e-3,
                      .copy = (double)n * 1e-6,
                      .count = count,
                      .cells = cells};
    assert_int_equal(keep(k, &r), EXIT_GOOD);
}

static kept dense_results(void)
{
    kept k = {0};
    for (int64_t n = 256; n <= 1024; n *= 2) {
        cell t[T], g[G + 6];
        for (int s = 0; s < T; s++) t[s] = fake(triangles[s], 0, n, 0, (s + 1) * (double)n * ns);
        add_result(&k, "triangle", true, n, T, t);
        for (int s = 0; s < G; s++) g[s] = fake(generals[s], 0, n, (s + 1) * (double)n * ns, 5e-9);
        g[G - 1].factor = 0; /* Gauss: in the solve */
        for (int b = 0; b < 6; b++)
            g[G + b] = fake("lu-column-shared", 16 << b, n, (16 << b) * (double)n * ns, 5e-9);
        if (n == 1024) g[1].status = TRS_ESUPPORT; /* lu-simple was skipped */
        add_result(&k, "general", false, n, G + 6, g);
    }
    return k;
}

/* ---- scripts ------------------------------------------------------------------------------------------ */

static const char *script_of(const figure_list *l, const char *file)
{
    for (int k = 0; k < l->count; k++)
        if (!strcmp(l->figure[k].file, file)) return l->figure[k].script;
    print_error("no figure %s\n", file);
    fail();
    return "";
}

static int occurrences(const char *text, const char *of)
{
    int count = 0;
    for (; (text = strstr(text, of)); text += strlen(of)) count++;
    return count;
}

static void has(const char *script, const char *text)
{
    if (!strstr(script, text)) print_error("\"%s\" is not in\n%s\n", text, script);
    assert_non_null(strstr(script, text));
}

static void the_seeds_figures(void **state)
{
    static const struct {
        const char *file;
        int curves;
        const char *titles[6];
    } want[] = {
        {"dense-kernels",
         7,
         {"'dense-serial'", "'dense-pair'", "'dense-doubling-tiled'", "'cublas-dense'"}},
        {"dense-copies", 3, {"'allocate and copy'", "'dense-serial'"}},
        {"lu-figure7", 2, {"'lu-serial'", "'lu-simple'"}},
        {"lu-figure8", 2, {"'lu-row-global'", "'lu-row-shared'"}},
        {"lu-figure9", 2, {"'lu-column-global'", "'lu-column-shared'"}},
        {"lu-figure10", 3, {"'lu-row-shared'", "'lu-column-shared'", "'lu-element'"}},
        {"lu-figure11", 6, {"'block 16'", "'block 512'"}},
        {"lu-submatrix", 1, {"'lu-fullgrid / lu-submatrix'"}},
        {"all-triangles", T, {"'cpu-serial'"}},
        {"all-general", G, {"'cusolver-getrf'", "'gauss-vec4'"}},
    };
    const settings s = {.dense = true};
    kept k = dense_results();
    figure_list l;
    (void)state;
    assert_int_equal(make_figures(&s, &k, &l), EXIT_GOOD);
    assert_int_equal(l.count, sizeof want / sizeof *want);
    for (size_t f = 0; f < sizeof want / sizeof *want; f++) {
        const char *script = script_of(&l, want[f].file);
        assert_int_equal(occurrences(script, " with linespoints "), want[f].curves);
        for (int t = 0; t < 6 && want[f].titles[t]; t++) has(script, want[f].titles[t]);
    }
    /* numbers in ms: dense-simple, second, 2 * 512 ns; the moves, 1 ms and 1 us a row */
    has(script_of(&l, "dense-kernels"), "\n512 0.001024\n");
    has(script_of(&l, "dense-copies"), "\n256 1.256\n");
    /* lu-row-shared, fourth, to factor; lu-simple ran twice of three times */
    has(script_of(&l, "lu-figure8"), "\n1024 0.004096\n");
    assert_int_equal(occurrences(script_of(&l, "lu-figure7"), "\n1024 "), 1);
    has(script_of(&l, "lu-figure11"), "\n1024 0.524288\n");    /* 512 * 1024 ns */
    has(script_of(&l, "lu-submatrix"), "\n256 0.888888889\n"); /* eighth over ninth */
    has(script_of(&l, "all-general"), "\n256 5e-06\n");        /* Gauss: the solve alone */
    has(script_of(&l, "all-general"), "\n256 0.000261\n");     /* lu-serial: both */
    figures_free(&l);
    kept_free(&k);
}

static void bars_over_a_reference(void **state)
{
    const settings s = {0};
    kept k = {0};
    figure_list l;
    cell one[] = {fake("cpu-serial", 0, 9, 0, 8e-6), fake("cuda-dataflow", 0, 9, 0, 1e-6),
                  fake("cusparse", 0, 9, 0, 4e-6)};
    cell two[] = {fake("cpu-serial", 0, 9, 0, 2e-6), fake("cuda-dataflow", 0, 9, 0, 1e-6),
                  fake("cusparse", 0, 9, 0, 1e-6)};
    (void)state;
    two[1].status = TRS_ESUPPORT;
    add_result(&k, "it's \"one\"", true, 9, 3, one);
    add_result(&k, "two", true, 9, 3, two);
    assert_int_equal(make_figures(&s, &k, &l), EXIT_GOOD);
    assert_int_equal(l.count, 1);
    const char *script = script_of(&l, "solve");
    has(script, "over that of cusparse");
    has(script, "\nmatrix cpu-serial cuda-dataflow\n");
    has(script, "\n\"it's ?one?\" 2 0.25\n");
    has(script, "\n\"two\" 2 ?\n");
    figures_free(&l);
    kept_free(&k);
}

static void nothing_to_draw(void **state)
{
    const settings s = {0}, dense = {.dense = true};
    const kept k = {0};
    figure_list l;
    (void)state;
    assert_int_equal(make_figures(&s, &k, &l), EXIT_GOOD);
    assert_int_equal(l.count, 0);
    assert_int_equal(make_figures(&dense, &k, &l), EXIT_GOOD);
    assert_int_equal(l.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seeds_figures),
        cmocka_unit_test(bars_over_a_reference),
        cmocka_unit_test(nothing_to_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
