/* csv.c: --csv, after RFC 4180, and the file under a temporary name that JSON uses too. */
#include "config.h"

#include "bin/bench/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files that are whole or not there ------------------------------------------------------- */

int file_open(output *o, const char *name)
{
    o->name = name;
    int length = snprintf(o->temporary, sizeof o->temporary, "%s.part", name);
    if (length < 0 || (size_t)length >= sizeof o->temporary)
        return complain("%s: the name is too long", name), EXIT_USAGE;
    o->f = fopen(o->temporary, "w");
    if (!o->f) return complain("%s: %s", o->temporary, strerror(errno)), EXIT_USAGE;
    return EXIT_GOOD;
}

int file_close(output *o, bool complete)
{
    bool bad = ferror(o->f) != 0;
    if (fclose(o->f)) bad = true;
    if (bad) complain("%s: cannot write", o->temporary);
    if (!bad && complete && rename(o->temporary, o->name)) {
        complain("%s: %s", o->name, strerror(errno));
        bad = true;
    }
    if (bad || !complete) remove(o->temporary);
    return bad ? EXIT_USAGE : EXIT_GOOD;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

typedef struct csv {
    const settings *settings;
    const host *host;
    output out;
    bool names; /* of the columns, on this line */
    bool begun; /* the line */
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

static void put_line(csv *c, const result *r, const cell *k, bool names)
{
    const sink to = {put_text, put_whole, put_real, c};
    c->names = names;
    c->begun = false;
    put_columns(c->settings, c->host, r, k, &to);
    fputs("\r\n", c->out.f);
}

static int begin(const settings *s, const host *h, void **data)
{
    static const result no_result = {.name = ""};
    static const cell no_cell = {0};
    if (!s->csv) return EXIT_GOOD;
    csv *c = *data = calloc(1, sizeof *c);
    if (!c) return out_of_memory();
    c->settings = s;
    c->host = h;
    int code = file_open(&c->out, s->csv);
    if (!code) put_line(c, &no_result, &no_cell, true);
    return code;
}

static int add(void *data, const result *r)
{
    static const cell no_cell = {0};
    csv *c = data;
    if (*r->trouble) put_line(c, r, &no_cell, false);
    for (int k = 0; k < r->count && !*r->trouble; k++) put_line(c, r, &r->cells[k], false);
    if (!fflush(c->out.f)) return EXIT_GOOD;
    return complain("%s: %s", c->out.temporary, strerror(errno)), EXIT_USAGE;
}

static int end(void *data, bool complete)
{
    csv *c = data;
    int code = c->out.f ? file_close(&c->out, complete) : EXIT_GOOD;
    free(c);
    return code;
}

const report report_csv = {begin, add, end};
