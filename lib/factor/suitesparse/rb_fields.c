/* rb_fields.c: the fields of a Boeing file as words. */
#include "config.h"

#include "factor.h"
#include "rb_fields.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { HEADER = 4, LONGEST = 60 };

/* ---- formats ------------------------------------------------------------------------------------- */

/* The next "(...)" from *at, in capitals without blanks; false: there is none, or it is too long. */
static bool next_format(const char **at, char text[32])
{
    int n = 0;
    const char *p = strchr(*at, '(');
    for (; p && *p && n < 31; p++) {
        if (isgraph((unsigned char)*p)) text[n++] = (char)toupper((unsigned char)*p);
        if (*p == ')') break;
    }
    text[n] = '\0';
    *at = p ? p + 1 : *at;
    return p && *p == ')';
}

static int number_at(const char **s, int otherwise)
{
    if (!isdigit((unsigned char)**s)) return otherwise;
    char *end;
    long v = strtol(*s, &end, 10);
    *s = end;
    return v <= 100000 ? (int)v : -1;
}

/* [scale P [,]] [count] I|E|D|F|G [S|N] width [. decimals [E digits]] */
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

static int parts(const trs_boeing *h)
{
    return h->type[0] == 'p' || h->type[0] == 'q' ? 2 : 3;
}

/* Pointers, rows, values: each begins on a line of its own, and what has no numbers is passed over. */
static void start_part(trs_rb_fields *f, int part)
{
    const trs_boeing *h = &f->head;
    const int64_t count[] = {h->cols + 1, h->stored, h->stored * (h->type[0] == 'c' ? 2 : 1)};
    for (f->left = 0; part < parts(h) && !f->left; part++) f->left = count[part];
    f->part = f->left ? part - 1 : 3;
}

int trs_rb_formats(trs_rb_fields *f, const char *fourth)
{
    f->line = HEADER;
    if (f->head.type[2] == 'e')
        return trs_fail(TRS_ESUPPORT, "finite elements, not assembled, which RBio does not read");
    for (int k = 0; k < parts(&f->head); k++) {
        trs_rb_format *one = &f->format[k];
        if (!next_format(&fourth, one->text) || !parse_format(one) || (k < 2 && one->real))
            return trs_fail(TRS_ESUPPORT, "the Fortran format '%s' is not read here", one->text);
    }
    f->line = 0;
    start_part(f, 0);
    return TRS_OK;
}

/* ---- fields -------------------------------------------------------------------------------------- */

static bool blank(const char *p, int64_t n)
{
    while (n > 0 && *p == ' ') p++, n--;
    return n <= 0;
}

/* Fortran's exponents: D and Q for E, and none before a sign: 1.5-100. */
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

static int take_field(trs_rb_fields *f, const char *p, int n)
{
    const trs_rb_format *format = &f->format[f->part];
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

static int take_fields(trs_rb_fields *f, const char *p, int64_t n)
{
    const trs_rb_format *format = &f->format[f->part];
    int rc = TRS_OK;
    for (int k = 0; k < format->count && f->left && !rc && !blank(p, n); k++, f->left--) {
        const int width = n < format->width ? (int)n : format->width;
        rc = take_field(f, p, width);
        p += width;
        n -= width;
    }
    if (!rc && !blank(p, n))
        rc = trs_fail(TRS_EMATRIX, "text behind the last field of %s", format->text);
    if (!f->left) start_part(f, f->part + 1);
    return rc;
}

int trs_rb_line(trs_rb_fields *f, const char *p, int64_t n)
{
    f->line++;
    while (n > 0 && p[n - 1] == '\r') n--;
    if (f->line <= HEADER) return fprintf(f->out, "%.*s\n", (int)n, p) > 0 ? TRS_OK : TRS_EFILE;
    if (f->line == HEADER + 1 && f->head.has_rhs) return TRS_OK;
    return f->part < 3 ? take_fields(f, p, n) : TRS_OK;
}
