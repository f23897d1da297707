/* csv.c: --csv, after RFC 4180. */
#include "config.h"

#include "columns.h"

#include "bin/common/exits.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_text(FILE *f, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void put_value(FILE *f, const field *one)
{
    if (one->text) put_text(f, one->text);
    else if (one->is_whole) fprintf(f, "%" PRId64, one->whole);
    else if (!isnan(one->real)) fprintf(f, "%.9g", one->real);
}

static void put_head(const session *s, FILE *f)
{
    static const result none = {.name = "", .trouble = "none"};
    row line;
    make_row(s, &none, 0, &line);
    for (int k = 0; k < line.count; k++) fprintf(f, "%s%s", k ? "," : "", line.field[k].column);
    fputs("\r\n", f);
}

static void put_result(const session *s, const result *r, FILE *f)
{
    for (int i = 0; i < rows_of(r); i++) {
        row line;
        make_row(s, r, i, &line);
        for (int k = 0; k < line.count; k++) {
            if (k) fputc(',', f);
            put_value(f, &line.field[k]);
        }
        fputs("\r\n", f);
    }
}

void csv_write(const report *p, FILE *f)
{
    put_head(p->session, f);
    for (int i = 0; i < p->all->count; i++) put_result(p->session, &p->all->r[i], f);
}

static int begin(const report *p)
{
    put_head(p->session, p->f);
    return EXIT_GOOD;
}

static int add(const report *p, const result *r)
{
    put_result(p->session, r, p->f);
    return EXIT_GOOD;
}

const reporter reporter_csv = {begin, add, NULL};
