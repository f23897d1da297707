/* options.c: a command line, read by a table with a row for each option. */
#include "config.h"

#include "message.h"
#include "options.h"

#include "base/debug.h"
#include "base/nearest.h"
#include "trisolve-sparse.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FIRST is what getopt_long returns for row 0: it is beyond all letters */
enum { FIRST = 256, MOST_ROWS = 64 };

/* ---- values ---------------------------------------------------------------------------------- */

static void *place(const option_row *row, void *arguments)
{
    return (char *)arguments + row->member;
}

/* The sentence of the row, or the one that most have. */
static _Noreturn void wrong_value(const option_row *row, const char *text)
{
    char what[80];
    snprintf(what, sizeof what, "--%s needs a positive number, but got", row->name);
    wrong(row->what ? row->what : what, text);
}

int whole_number(const option_row *row, const char *text)
{
    char *end;
    const long v = strtol(text, &end, 10);
    if (end == text || *end || (double)v < row->least || (double)v > row->most)
        wrong_value(row, text);
    return (int)v;
}

double positive_number(const option_row *row, const char *text)
{
    char *end;
    const double v = strtod(text, &end);
    if (end == text || *end || !(v > 0 && v < row->most)) wrong_value(row, text);
    return v;
}

int word_of(const option_row *row, const char *text, const char *const *words)
{
    const char *best = NULL;
    for (int k = 0; words[k]; k++) {
        if (!strcmp(text, words[k])) return k;
        trs_nearer(text, words[k], &best);
    }
    wrong_word(row->what, text, best);
}

void take_flag(const option_row *row, const char *text, void *arguments)
{
    (void)text;
    *(bool *)place(row, arguments) = true;
}

void take_text(const option_row *row, const char *text, void *arguments)
{
    *(const char **)place(row, arguments) = text;
}

void take_bits(const option_row *row, const char *text, void *arguments)
{
    (void)text;
    *(unsigned *)place(row, arguments) |= row->value;
}

void take_whole(const option_row *row, const char *text, void *arguments)
{
    *(int *)place(row, arguments) = whole_number(row, text);
}

void take_positive(const option_row *row, const char *text, void *arguments)
{
    *(double *)place(row, arguments) = positive_number(row, text);
}

void take_gib(const option_row *row, const char *text, void *arguments)
{
    *(int64_t *)place(row, arguments) = (int64_t)(positive_number(row, text) * 0x1p30);
}

void leave_with_text(const option_row *row, const char *text, void *arguments)
{
    (void)text, (void)arguments;
    fputs(row->what, stdout);
    print_address();
    exit(flush_output(EXIT_GOOD));
}

void print_address(void)
{
    printf("\nReport bugs to %s\n", TRS_BUG_REPORT);
}

void leave_version(const option_row *row, const char *text, void *arguments)
{
    (void)row, (void)text, (void)arguments;
    printf("%s %s\n", program_name, trs_version());
    exit(flush_output(EXIT_GOOD));
}

/* ---- the command line ------------------------------------------------------------------------ */

/* The letters as getopt wants them: those of options with a text have a colon behind. */
static void list_letters(const option_row *rows, int count, char *letters)
{
    for (int k = 0; k < count; k++) {
        if (!rows[k].letter) continue;
        *letters++ = (char)rows[k].letter;
        if (rows[k].has_text == TEXT) *letters++ = ':';
    }
    *letters = '\0';
}

/* The row that getopt_long's answer c stands for; count: none. */
static int find_row(const option_row *rows, int count, int c)
{
    int k = 0;
    if (c >= FIRST) return c - FIRST;
    while (k < count && rows[k].letter != c) k++;
    return k;
}

unsigned take_options(int argc, char **argv, const option_row *rows, void *arguments)
{
    struct option options[MOST_ROWS + 1] = {{NULL, 0, NULL, 0}};
    char letters[2 * MOST_ROWS + 1];
    unsigned given = 0;
    int count = 0, c;
    for (; rows[count].name; count++) {
        TRS_ASSERT(count < MOST_ROWS);
        options[count] =
            (struct option){rows[count].name, rows[count].has_text, NULL, FIRST + count};
    }
    list_letters(rows, count, letters);
    while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
        const option_row *row = &rows[find_row(rows, count, c)];
        if (!row->name) wrong(row->what, NULL);
        row->take(row, optarg, arguments);
        given |= row->bits;
    }
    return given;
}

void check_exclusions(unsigned given, const exclusion *table)
{
    for (; table->what; table++)
        if ((given & table->one) && (given & table->others)) wrong(table->what, NULL);
}
