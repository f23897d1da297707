/* report.c: the facts as text for people and as JSON for programs. */
#include "config.h"

#include "info.h"
#include "base/noun.h"
#include "bin/common/output/document.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#ifdef HAVE_JANSSON
#endif

static const char *format_name(const facts *f)
{
    return f->mm.format == TRS_DENSE ? "array" : "coordinate";
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_triangle(const triangle *t)
{
    if (!t->name) return;
    printf("%-10s %" PRId64 " %s, %" PRId64 " %s: widest %" PRId64 " %s, mean %.4g, median %.4g\n",
           t->name, t->entries, trs_noun(t->entries, "entry", "entries"), t->levels,
           trs_noun(t->levels, "level", "levels"), t->widest, trs_noun(t->widest, "row", "rows"),
           t->mean_width, t->median_width);
    printf("           rows: longest %" PRId64 " %s, mean %.4g\n", t->longest,
           trs_noun(t->longest, "entry", "entries"), t->mean_row);
    printf("           diagonal: %" PRId64 " missing, %" PRId64 " zero\n", t->missing, t->zero);
    printf("           traffic: a solve moves at least %.0f bytes\n", t->floor);
}

void print_text(const facts *f)
{
    const trs_mm *mm = &f->mm;
    printf("matrix     %s: %" PRId64 " x %" PRId64 ", %" PRId64 " %s, %s %s %s\n", f->file,
           mm->rows, mm->cols, mm->nnz, trs_noun(mm->nnz, "entry", "entries"), format_name(f),
           field_name(mm->field), symmetry_name(mm->symmetry));
    printf("stored     %" PRId64 " %s", mm->stored,
           mm->format == TRS_DENSE ? trs_noun(mm->stored, "value", "values")
                                   : trs_noun(mm->stored, "entry", "entries"));
    if (mm->duplicates) printf(", %" PRId64 " added to another one", mm->duplicates);
    if (mm->rounded)
        printf(", %" PRId64 " %s rounded to a double", mm->rounded,
               trs_noun(mm->rounded, "integer", "integers"));
    printf("; read in %.3g s\n", f->seconds);
    printf("values     sum %.17g", f->sum_re);
    if (mm->dtype == TRS_C64) printf(" %+.17g i", f->sum_im);
    printf(", largest %.17g\n", f->max_abs);
    printf("triangle   %s%s\n", f->shape ? f->shape : "not square",
           f->part[PERMUTED].name ? ": a triangle after permutations of its rows and columns" : "");
    for (int k = 0; k < TRIANGLES; k++) print_triangle(&f->part[k]);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#ifdef HAVE_JANSSON

/* [{"how": "one sweep over the rows", "seconds": 0.01}, ...] */
static json_t *analyses_json(const triangle *t)
{
    json_t *all = json_array();
    for (int k = 0; k < ANALYSES && all; k++)
        if (t->levels_by[k].how)
            json_array_append_new(all, json_pack("{s:s, s:f}", "how", t->levels_by[k].how,
                                                 "seconds", t->levels_by[k].seconds));
    return all;
}

static json_t *triangle_json(const triangle *t)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:I, s:I, s:o, s:o}", "entries",
                     (json_int_t)t->entries, "levels", (json_int_t)t->levels, "widest",
                     (json_int_t)t->widest, "mean_width", document_number(t->mean_width),
                     "median_width", document_number(t->median_width), "longest_row",
                     (json_int_t)t->longest, "mean_row", document_number(t->mean_row),
                     "missing_diagonals", (json_int_t)t->missing, "zero_diagonals",
                     (json_int_t)t->zero, "floor_bytes", document_number(t->floor),
                     "level_analyses", analyses_json(t));
}

/* Of a file that could not be read: what was known when reading failed. */
static json_t *facts_json(const facts *f)
{
    const trs_mm *mm = &f->mm;
    json_t *j = document_new(*f->error ? EXIT_USAGE : EXIT_GOOD, f->error);
    json_object_set_new(j, "file", document_text(f->file));
    if (mm->size_line || !*f->error)
        json_object_update_new(j, json_pack("{s:s, s:s, s:s, s:I, s:I}", "format", format_name(f),
                                            "field", field_name(mm->field), "symmetry",
                                            symmetry_name(mm->symmetry), "rows",
                                            (json_int_t)mm->rows, "cols", (json_int_t)mm->cols));
    if (*f->error) return j;
    json_object_update_new(
        j, json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "stored",
                     (json_int_t)mm->stored, "entries", (json_int_t)mm->nnz, "duplicates",
                     (json_int_t)mm->duplicates, "rounded", (json_int_t)mm->rounded, "sum_re",
                     document_number(f->sum_re), "sum_im", document_number(f->sum_im), "max_abs",
                     document_number(f->max_abs), "seconds_read", document_number(f->seconds),
                     "triangle", document_text(f->shape)));
    for (int k = 0; k < TRIANGLES; k++)
        if (f->part[k].name) json_object_set_new(j, f->part[k].name, triangle_json(&f->part[k]));
    return j;
}

int print_json(const facts *f, int count)
{
    json_t *j = count == 1 ? facts_json(f) : json_array();
    for (int k = 0; count > 1 && k < count; k++) json_array_append_new(j, facts_json(&f[k]));
    return document_write(j, stdout);
}

#else

int print_json(const facts *f, int count)
{
    (void)f, (void)count;
    complain("--json: built without jansson");
    return EXIT_USAGE;
}

#endif
