/* csv.c: --csv, after RFC 4180. */
#include "config.h"

#include "columns.h"
#include "output.h"

#include "bin/common/message.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv {
    output out;
    bool names; /* of the columns, are written instead of values */
    bool begun; /* the line has a field already */
} csv;

static void put_field(csv *c, const char *text)
{
    FILE *f = c->out.f;
    if (c->begun) fputc(',', f);
    c->begun = true;
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

static void put_text(void *user, const char *column, const char *value)
{
    csv *c = user;
    put_field(c, c->names ? column : value);
}

static void put_whole(void *user, const char *column, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_text(user, column, text);
}

static void put_real(void *user, const char *column, double value)
{
    char text[32] = "";
    if (!isnan(value)) snprintf(text, sizeof text, "%.9g", value);
    put_text(user, column, text);
}

static void put_line(const session *s, csv *c, const result *r, int k)
{
    const sink to = {put_text, put_whole, put_real, c};
    c->begun = false;
    put_row(s, r, k, &to);
    fputs("\r\n", c->out.f);
}

static bool wanted(const session *s)
{
    return s->outputs.csv != NULL;
}

static int begin(const session *s, void **data)
{
    static const result none = {.name = "", .trouble = "none"};
    csv *c = calloc(1, sizeof *c);
    if (!c) return out_of_memory();
    const int code = file_open(&c->out, s->outputs.csv);
    if (code) {
        free(c);
        return code;
    }
    c->names = true;
    put_line(s, c, &none, 0);
    c->names = false;
    *data = c;
    return EXIT_GOOD;
}

static int add(const session *s, void *data, const result *r)
{
    csv *c = data;
    for (int k = 0; k < rows_of(r); k++) put_line(s, c, r, k);
    if (!fflush(c->out.f)) return EXIT_GOOD;
    return complain("%s: %s", c->out.temporary, strerror(errno)), EXIT_USAGE;
}

static int end(const session *s, void *data, bool complete)
{
    csv *c = data;
    (void)s;
    const int code = file_close(&c->out, complete);
    free(c);
    return code;
}

const reporter reporter_csv = {wanted, begin, add, end};
