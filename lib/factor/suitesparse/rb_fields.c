/* rb_fields.c: the fields of a Boeing file, one number a line: see rb_fields.h. */
#include "config.h"

#include "factor.h"
#include "rb_fields.h"
#include "base/debug.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { HEADER = 4, LONGEST = 60 };

/* ---- formats ------------------------------------------------------------------------------------- */

/* text = the next "(...)" from *at, in capitals and without blanks; false: there is none, or it is too long. */
static bool next_format(const char **at, char text[32])
{
    int n = 0;
    const char *p = strchr(*at, '(');
    for (; p && *p && n < 31; p++) {
        if (isgraph((unsigned char)*p)) text[n++] = (char)toupper((unsigned char)*p);
        if (*p == ')') break;
    }
    text[n] = '\0';
    if (p) *at = p + 1;
    return p && *p == ')';
}

/* The number at *s, which moves behind it; `otherwise` when there is none, -1 when it is out of range. */
static int number_at(const char **s, int otherwise)
{
    if (!isdigit((unsigned char)**s)) return otherwise;
    char *end;
    long v = strtol(*s, &end, 10);
    *s = end;
    if (v <= 100000) return (int)v;
    return -1;
}

/* Parse [scale P [,]] [count] I|E|D|F|G [S|N] width [. decimals [E digits]]. */
static bool parse_format(trs_rb_format *f)
{
    const char *s = f->text + 1;
    f->count = number_at(&s, 1);
    if (*s == 'P') {
        s++;
        if (*s == ',') s++;
        f->scale = f->count;
        f->count = number_at(&s, 1);
    }
    if (!*s || !strchr("IEDFG", *s)) return false;
    f->real = *s++ != 'I';
    if (f->real && (*s == 'S' || *s == 'N')) s++;
    f->width = number_at(&s, 0);
    if (*s == '.') {
        s++;
        f->decimals = number_at(&s, -1);
        if (*s == 'E') s++, number_at(&s, 0);
    }
    return f->count > 0 && f->width > 0 && f->width <= LONGEST && f->decimals >= 0 &&
           !strcmp(s, ")");
}

/* A pattern has no values. */
static int sections(const trs_boeing *h)
{
    return h->type[0] == 'p' || h->type[0] == 'q' ? 2 : 3;
}

/* Go on with this section of pointers, rows and values, or with the next one that has numbers.  Each begins on a line of
 * its own. */
static void start_section(trs_rb_fields *f, int section)
{
    const trs_boeing *h = &f->head;
    const int parts = h->type[0] == 'c' ? 2 : 1;
    const int64_t count[] = {h->cols + 1, h->stored, h->stored * parts};
    for (f->left = 0; section < sections(h) && !f->left; section++) f->left = count[section];
    f->section = f->left ? section - 1 : 3;
    TRS_ASSERT(f->section >= 0 && f->left >= 0);
}

int trs_rb_formats(trs_rb_fields *f, const char *fourth)
{
    f->line = HEADER;
    if (f->head.type[2] == 'e')
        return trs_fail(TRS_ESUPPORT, "finite elements, not assembled, which RBio does not read");
    for (int k = 0; k < sections(&f->head); k++) {
        trs_rb_format *one = &f->format[k];
        if (!next_format(&fourth, one->text) || !parse_format(one) || (k < 2 && one->real))
            return trs_fail(TRS_ESUPPORT, "the Fortran format '%s' is not read here", one->text);
    }
    f->line = 0;
    start_section(f, 0);
    return TRS_OK;
}

/* ---- fields -------------------------------------------------------------------------------------- */

static bool blank(const char *p, int64_t n)
{
    while (n > 0 && *p == ' ') p++, n--;
    return n <= 0;
}

/* Write the number p [n] as C has it.  Fortran may have D or Q in place of E, and no letter before a sign: 1.5-100. */
static void write_as_c(const char *p, int n, char *word)
{
    bool exponent = false;
    for (int k = 0; k < n; k++) {
        const char c = strchr("DdQqe", p[k]) ? 'E' : p[k];
        if ((c == '+' || c == '-') && k > 0 && !exponent) *word++ = 'E', exponent = true;
        if (c == 'E') exponent = true;
        *word++ = c;
    }
    *word = '\0';
}

static bool is_number(const char *word, bool real)
{
    char *end = NULL;
    if (word[strspn(word, "0123456789+-.ENAIFTYnaifty")]) return false; /* no hexadecimal ones */
    const double v = real ? strtod(word, &end) : (double)strtoll(word, &end, 10);
    return end > word && !*end && (isfinite(v) || strpbrk(word, "NnIi"));
}

/* Write the number in the field p [n] to out. */
static int take_field(trs_rb_fields *f, const char *p, int n)
{
    const trs_rb_format *format = &f->format[f->section];
    TRS_ASSERT(n <= LONGEST);
    char word[2 * LONGEST + 1], shown[LONGEST + 1];
    for (; n > 0 && *p == ' '; p++) n--;
    while (n > 0 && p[n - 1] == ' ') n--;
    for (int k = 0; k < n; k++) shown[k] = p[k] >= ' ' && p[k] < 127 ? p[k] : '?';
    shown[n] = '\0';
    write_as_c(p, n, word);
    if (!is_number(word, format->real))
        return trs_fail(TRS_EMATRIX, "'%s' is no number in a field of %s", shown, format->text);
    const bool digits = !strpbrk(word, ".NnIi"), plain = !strpbrk(word, "ENnIi");
    if ((format->decimals && digits) || (format->scale && plain))
        return trs_fail(TRS_EMATRIX, "'%s' leaves its %s to the format %s", shown,
                        digits ? "decimal point" : "exponent", format->text);
    return fprintf(f->out, "%s\n", word) > 0 ? TRS_OK : TRS_EFILE;
}

/* Read a line of fields. */
static int take_fields(trs_rb_fields *f, const char *p, int64_t n)
{
    const trs_rb_format *format = &f->format[f->section];
    int rc = TRS_OK;
    for (int k = 0; k < format->count && f->left && !rc && !blank(p, n); k++, f->left--) {
        const int width = (int)trs_min(n, format->width);
        rc = take_field(f, p, width);
        p += width;
        n -= width;
    }
    if (!rc && !blank(p, n))
        rc = trs_fail(TRS_EMATRIX, "text behind the last field of %s", format->text);
    if (!f->left) start_section(f, f->section + 1);
    return rc;
}

int trs_rb_line(trs_rb_fields *f, const char *p, int64_t n)
{
    f->line++;
    while (n > 0 && p[n - 1] == '\r') n--;
    if (f->line <= HEADER) return fprintf(f->out, "%.*s\n", (int)n, p) > 0 ? TRS_OK : TRS_EFILE;
    if ((f->line == HEADER + 1 && f->head.has_rhs) || f->section == 3) return TRS_OK;
    return take_fields(f, p, n);
}
