/* rb_fields.c: the fields of a Boeing file, one number a line: see rb_fields.h. */
#include "config.h"

#include "factor.h"
#include "rb_fields.h"
#include "base/debug.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { HEADER = 4, LONGEST = 60, DEEPEST = 4 };

/* ---- formats ------------------------------------------------------------------------------------- */

/* text = the next "(...)" from *at, in capitals and without blanks; false: there is none, or it is too long. */
static bool next_format(const char **at, char text[32])
{
    int n = 0, depth = 0;
    const char *p = strchr(*at, '(');
    for (; p && *p && n < 31; p++) {
        if (isgraph((unsigned char)*p)) text[n++] = (char)toupper((unsigned char)*p);
        depth += (*p == '(') - (*p == ')');
        if (!depth) break;
    }
    text[n] = '\0';
    if (p) *at = p + 1;
    return p && *p == ')';
}

typedef struct parser {
    const char *s; /* what is left of the text */
    trs_rb_format *f;
    int depth, scale, skipped;
} parser;

/* The number at p->s, which moves behind it; `otherwise` when there is none, -1 when it is out of range. */
static int number_at(parser *p, int otherwise)
{
    if (!isdigit((unsigned char)*p->s)) return otherwise;
    char *end;
    long v = strtol(p->s, &end, 10);
    p->s = end;
    if (v <= 100000) return (int)v;
    return -1;
}

/* Is it this character?  Then it is taken. */
static bool take(parser *p, char c)
{
    if (*p->s != c) return false;
    p->s++;
    return true;
}

/* Parse I|E|D|F|G [S|N] width [. decimals [E digits]], `count` fields. */
static bool parse_fields(parser *p, int count)
{
    trs_rb_field one = {.skipped = p->skipped, .scale = p->scale};
    if (!*p->s || !strchr("IEDFG", *p->s)) return false;
    one.real = *p->s++ != 'I';
    if (one.real && (*p->s == 'S' || *p->s == 'N')) p->s++;
    one.width = number_at(p, 0);
    if (take(p, '.')) {
        one.decimals = number_at(p, -1);
        if (take(p, 'E')) number_at(p, 0);
    }
    if (count < 1 || count > TRS_RB_FIELDS - p->f->count) return false;
    if (one.width < 1 || one.width > LONGEST || one.decimals < 0) return false;
    for (; count > 0; count--, one.skipped = 0) p->f->field[p->f->count++] = one;
    p->skipped = 0;
    return true;
}

static bool parse_list(parser *p);

/* Parse the list of a group so many times, each of which has fields. */
static bool parse_group(parser *p, int count)
{
    const char *list = p->s;
    bool good = count > 0 && p->depth < DEEPEST;
    if (!p->depth) {
        p->f->again = p->f->count;
        p->f->skipped_once = p->skipped;
    }
    p->depth++;
    for (; good && count > 0; count--) {
        const int before = p->f->count;
        p->s = list;
        good = parse_list(p) && p->f->count > before;
    }
    p->depth--;
    return good;
}

/* Parse the items of a list, and the ")" behind them: [count] fields, count X, scale P, [count] ( list ). */
static bool parse_list(parser *p)
{
    bool good = true;
    while (good && !take(p, ')')) {
        const bool negative = take(p, '-');
        const int count = number_at(p, 1);
        if (take(p, 'P')) p->scale = negative ? -count : count;
        else if (negative || count < 0) good = false;
        else if (take(p, 'X')) p->skipped += count;
        else if (take(p, '(')) good = parse_group(p, count);
        else good = parse_fields(p, count);
        if (p->skipped > LONGEST) good = false;
        take(p, ',');
    }
    return good;
}

/* Parse f->text. */
static bool parse_format(trs_rb_format *f)
{
    parser p = {.s = f->text + 1, .f = f};
    f->count = f->again = f->skipped_once = 0;
    const bool good = parse_list(&p) && !*p.s && f->count > 0;
    f->skipped_behind = p.skipped;
    return good;
}

/* Has it only fields of integers? */
static bool is_whole(const trs_rb_format *f)
{
    bool whole = true;
    for (int k = 0; k < f->count; k++) whole = whole && !f->field[k].real;
    return whole;
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
    f->reverted = false;
    TRS_ASSERT(f->section >= 0 && f->left >= 0);
}

int trs_rb_formats(trs_rb_fields *f, const char *fourth)
{
    f->line = HEADER;
    if (f->head.type[2] == 'e')
        return trs_fail(TRS_ESUPPORT, "finite elements, not assembled, which RBio does not read");
    for (int k = 0; k < sections(&f->head); k++) {
        trs_rb_format *one = &f->format[k];
        if (!next_format(&fourth, one->text) || !parse_format(one) || (k < 2 && !is_whole(one)))
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
static int take_field(trs_rb_fields *f, const trs_rb_field *field, const char *p, int n)
{
    const trs_rb_format *format = &f->format[f->section];
    TRS_ASSERT(n <= LONGEST);
    char word[2 * LONGEST + 1], shown[LONGEST + 1];
    for (; n > 0 && *p == ' '; p++) n--;
    while (n > 0 && p[n - 1] == ' ') n--;
    for (int k = 0; k < n; k++) shown[k] = p[k] >= ' ' && p[k] < 127 ? p[k] : '?';
    shown[n] = '\0';
    write_as_c(p, n, word);
    if (!is_number(word, field->real))
        return trs_fail(TRS_EMATRIX, "'%s' is no number in a field of %s", shown, format->text);
    const bool digits = !strpbrk(word, ".NnIi"), plain = !strpbrk(word, "ENnIi");
    if ((field->decimals && digits) || (field->scale && plain))
        return trs_fail(TRS_EMATRIX, "'%s' leaves its %s to the format %s", shown,
                        digits ? "decimal point" : "exponent", format->text);
    return fprintf(f->out, "%s\n", word) > 0 ? TRS_OK : TRS_EFILE;
}

/* Read a line of fields.  Behind the first line of a section the last group is repeated, without what is before it. */
static int take_fields(trs_rb_fields *f, const char *p, int64_t n)
{
    const trs_rb_format *format = &f->format[f->section];
    int64_t once = f->reverted ? format->skipped_once : 0;
    int rc = TRS_OK, k = f->reverted ? format->again : 0;
    f->reverted = true;
    for (; k < format->count && f->left && !rc && !blank(p, n); k++, f->left--) {
        const trs_rb_field *field = &format->field[k];
        const int skipped = (int)trs_min(n, field->skipped - once);
        const int width = (int)trs_min(n - skipped, field->width);
        rc = take_field(f, field, p + skipped, width);
        p += skipped + width;
        n -= skipped + width;
        once = 0;
    }
    const int64_t behind = k == format->count ? trs_min(n, format->skipped_behind) : 0;
    if (!rc && !blank(p + behind, n - behind))
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
