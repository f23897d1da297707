/* t_figures.c: the figures of --dense and of triangles, from results that are made up as a machine with a GPU would
 * give them: there must be these figures, with these curves, and with numbers that were computed by hand. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bin/bench/figures/figures.h"
#include "bin/bench/measure/summary.h"
#include "bin/common/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "t_figures";

/* ---- results --------------------------------------------------------------------------------- */

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
    c.solver.full = strstr(name, "dense") != NULL;
    c.solve = (spread){1, solve, solve, solve};
    c.error.omega = 1e-16 * (double)n;
    return c;
}

static void add_result(result_list *k, const char *name, bool triangle, int64_t n, int count,
                       cell *cells)
{
    const result r = {.name = name,
                      .kind = triangle ? TRS_LOWER : 0,
                      .n = n,
                      .alloc = 1e-3,
                      .copy = (double)n * 1e-6,
                      .count = count,
                      .cells = cells};
    assert_int_equal(result_list_add(k, &r), EXIT_GOOD);
}

static result_list dense_results(void)
{
    result_list k = {0};
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

/* ---- scripts --------------------------------------------------------------------------------- */

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
    result_list k = dense_results();
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
    result_list_free(&k);
}

static const char *caption_of(const figure_list *l, const char *file)
{
    for (int k = 0; k < l->count; k++)
        if (!strcmp(l->figure[k].file, file)) return l->figure[k].caption;
    fail();
    return "";
}

static void bars_over_a_reference(void **state)
{
    const settings s = {0};
    result_list k = {0};
    figure_list l;
    cell one[] = {fake("cpu-serial", 0, 9, 0, 8e-6), fake("cuda-dataflow", 0, 9, 0, 1e-6),
                  fake("dense-serial", 0, 9, 0, 12e-3), fake("cusparse", 0, 9, 0, 4e-6)};
    cell two[] = {fake("cpu-serial", 0, 9, 0, 2e-6), fake("cuda-dataflow", 0, 9, 0, 1e-6),
                  fake("dense-serial", 0, 9, 0, 1e-6), fake("cusparse", 0, 9, 0, 1e-6)};
    const result refused = {.name = "three", .trouble = "row 3: diagonal is missing"};
    (void)state;
    two[1].status = TRS_ESUPPORT;
    add_result(&k, "it's \"one\"", true, 9, 4, one);
    assert_int_equal(result_list_add(&k, &refused), EXIT_GOOD);
    add_result(&k, "two", true, 9, 4, two);
    assert_int_equal(make_figures(&s, &k, &l), EXIT_GOOD);
    assert_int_equal(l.count, 3);
    const char *script = script_of(&l, "solve");
    has(script, "over that of cusparse");
    has(script, "\nmatrix cpu-serial cuda-dataflow\n");
    has(script, "\n\"it's ?one?\" 2 0.25\n\"two\" 2 ?\nEOD\n");
    has(script, "('it''s \"one\"' 0, 'two' 1)");
    /* bars reach from 1 to the ratio; dense-serial, 3000 times slower, is not there to flatten
     * them */
    has(script, "(cut(column(2))):(y(1)):(1):(cut(column(2)))");
    has(script, "\nlow = 0.2273\nhigh = 2.2\n"); /* 0.25 / 1.1, 2 * 1.1 */
    has(caption_of(&l, "solve"), "Not drawn: dense-serial, which");
    assert_null(strstr(script, "dense-serial"));
    figures_free(&l);
    result_list_free(&k);
}

/* What is slower than a hundred times without being full is cut off. */
static void bars_are_cut_off(void **state)
{
    const settings s = {0};
    result_list k = {0};
    figure_list l;
    cell one[] = {fake("cpu-serial", 0, 9, 0, 1e-6), fake("cpu-level", 0, 9, 0, 3e-3)};
    (void)state;
    add_result(&k, "one", true, 9, 2, one);
    assert_int_equal(make_figures(&s, &k, &l), EXIT_GOOD);
    assert_int_equal(l.count, 1); /* one triangle makes no profile */
    has(script_of(&l, "solve"), "\nhigh = 100\n");
    has(script_of(&l, "solve"), "\n\"one\" 3000\n");
    has(script_of(&l, "solve"), "with labels");
    figures_free(&l);
    result_list_free(&k);
}

/* A result of three solvers on the CPU, of which one was chosen. */
static void add_three(result_list *k, int64_t levels, double a, double b, double c, int chosen)
{
    cell cells[] = {fake("cpu-serial", 0, 9, 0, a), fake("cpu-level", 0, 9, 0, b),
                    fake("cpu-other", 0, 9, 0, c)};
    const result r = {.name = "of three",
                      .kind = TRS_LOWER,
                      .n = 9,
                      .levels = levels,
                      .count = 3,
                      .cells = cells};
    cells[chosen].auto_host = true;
    assert_int_equal(result_list_add(k, &r), EXIT_GOOD);
}

/* Dolan and More's rho by hand.  Times, and ratios to the fastest:
 *     8 1 4     8 1 4      cpu-level is wrong on the second, and so is not the fastest there
 *     2 . 1     2 . 1
 *     3 3 6     1 1 2
 * cpu-serial: 1, 2, 8; cpu-level: 1, 1; cpu-other: 1, 2, 4; chosen: third, first, first: 4, 2,
 * 1. */
static void profile_by_hand(void **state)
{
    const settings s = {0};
    result_list k = {0};
    figure_list l;
    (void)state;
    add_three(&k, 17, 8e-6, 1e-6, 4e-6, 2);
    add_three(&k, 400, 2e-6, 5e-7, 1e-6, 0);
    k.r[1].cells[1].accurate = false;
    add_three(&k, 9, 3e-6, 3e-6, 6e-6, 0);
    assert_int_equal(make_figures(&s, &k, &l), EXIT_GOOD);
    const char *script = script_of(&l, "profile");
    has(script, "$d1 << EOD\n1 0\n1 0.33333\n2 0.66667\n8 1\n8.4 1\nEOD\n");
    has(script, "$d2 << EOD\n1 0\n1 0.66667\n8.4 0.66667\nEOD\n");
    has(script, "$d3 << EOD\n1 0\n1 0.33333\n2 0.66667\n4 1\n8.4 1\nEOD\n");
    has(script, "$d0 << EOD\n1 0\n1 0.33333\n2 0.66667\n4 1\n8.4 1\nEOD\n");
    assert_int_equal(occurrences(script, " with steps "), 4);
    has(caption_of(&l, "profile"), "the 3 triangles");
    /* over the time of cpu-serial, against the levels */
    has(script_of(&l, "levels"), "$d1 << EOD\n17 0.125\n400 0.25\n9 1\nEOD\n");
    has(script_of(&l, "levels"), "$d2 << EOD\n17 0.5\n400 0.5\n9 2\nEOD\n");
    assert_null(strstr(script_of(&l, "levels"), "$d0"));
    figures_free(&l);
    result_list_free(&k);
}

/* The same results: geometric means, and what is chosen over what is fastest. */
static void standings_by_hand(void **state)
{
    const settings s = {0}, on_device = {.device = TRS_CUDA(0)};
    result_list k = {0};
    (void)state;
    add_three(&k, 17, 8e-6, 1e-6, 4e-6, 2);
    add_three(&k, 400, 2e-6, 5e-7, 1e-6, 0);
    k.r[1].cells[1].accurate = false;
    add_three(&k, 9, 3e-6, 4e-6, 6e-6, 0);
    k.r[2].cells[2].status = TRS_EMEM;
    const standing serial = find_standing(&s, &k, 0), level = find_standing(&s, &k, 1);
    const standing other = find_standing(&s, &k, 2);
    assert_float_equal(serial.good, 3, 0);
    assert_float_equal(serial.chosen, 2, 0);
    assert_float_equal(serial.fastest, 1, 0);
    assert_float_equal(serial.over_fastest, cbrt(8 * 2 * 1), 1e-12);
    assert_float_equal(serial.over_serial, 1, 1e-12);
    assert_true(isnan(serial.over_cusparse));
    assert_float_equal(level.good, 2, 0);
    assert_float_equal(level.inaccurate, 1, 0);
    assert_float_equal(level.over_fastest, sqrt(1 * 4. / 3), 1e-12);
    assert_float_equal(level.over_serial, sqrt(1. / 8 * 4 / 3), 1e-12);
    assert_float_equal(other.refused, 1, 0);
    assert_float_equal(other.over_fastest, sqrt(4 * 1), 1e-12);
    const choice_sum sum = sum_choices(&s, &k);
    assert_int_equal(sum.count, 3);
    assert_int_equal(sum.fastest, 1);
    assert_int_equal(sum.within[0], 1);
    assert_float_equal(choice_mean(&sum), cbrt(4 * 2 * 1), 1e-12);
    assert_float_equal(sum.worst, 4, 1e-12);
    assert_float_equal(sum.worst_over_serial, 1, 1e-12); /* 4 of 8, 2 of 2, 3 of 3 us */
    /* with B and X on a device cpu-serial, which wants them on the host, does not compete */
    assert_true(isnan(find_standing(&on_device, &k, 0).fastest));
    assert_ptr_equal(find_choice(&on_device, &k.r[2]).best, &k.r[2].cells[1]);
    result_list_free(&k);
}

static void nothing_to_draw(void **state)
{
    const settings s = {0}, dense = {.dense = true};
    const result_list k = {0};
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
        cmocka_unit_test(the_seeds_figures), cmocka_unit_test(bars_over_a_reference),
        cmocka_unit_test(bars_are_cut_off),  cmocka_unit_test(profile_by_hand),
        cmocka_unit_test(standings_by_hand), cmocka_unit_test(nothing_to_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
