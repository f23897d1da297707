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

static int begin(const report *p)
{
    static const result none = {.name = "", .trouble = "none"};
    row line;
    make_row(p->session, &none, 0, &line);
    for (int k = 0; k < line.count; k++) fprintf(p->f, "%s%s", k ? "," : "", line.field[k].column);
    fputs("\r\n", p->f);
    return EXIT_GOOD;
}

static int add(const report *p, const result *r)
{
    for (int i = 0; i < rows_of(r); i++) {
        row line;
        make_row(p->session, r, i, &line);
        for (int k = 0; k < line.count; k++) {
            if (k) fputc(',', p->f);
            put_value(p->f, &line.field[k]);
        }
        fputs("\r\n", p->f);
    }
    return EXIT_GOOD;
}

const reporter reporter_csv = {begin, add, NULL};
