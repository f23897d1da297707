/* options.h: a command line, read by a table with a row for each option.
 *
 * A row says how the option is called and which function takes it.  The functions below store into
 * the member of the program's arguments that lies at the row's offset; a program adds its own for
 * what is particular. */
#ifndef TRS_BIN_OPTIONS_H
#define TRS_BIN_OPTIONS_H

#include <getopt.h>
#include <stddef.h>

enum { NO_TEXT = no_argument, MAY_TEXT = optional_argument, TEXT = required_argument };

typedef struct option_row {
    const char *name; /* of --name; NULL: the end of the table */
    int letter;       /* of -o, which is the same option; 0: it has none */
    int has_text;
    void (*take)(const struct option_row *row, const char *text, void *arguments);
    size_t member; /* where in the arguments the value is stored */
    unsigned bits; /* that say, in the result of take_options, that the option was given */
    unsigned value;
    double least, most; /* a whole number is in [least, most], a positive one is below most */
    /* the sentence for a wrong value, NULL: that it is not a positive number; in the last row, for
     * an unknown option */
    const char *what;
} option_row;

/* Calls the functions of the options that were given; returns their bits.  Wrong use leaves.
 * optind is then the place of the first argument that is no option. */
unsigned take_options(int argc, char **argv, const option_row *rows, void *arguments);

/* What a row may call. */
void take_flag(const option_row *row, const char *text, void *arguments);  /* bool: true */
void take_text(const option_row *row, const char *text, void *arguments);  /* const char * */
void take_bits(const option_row *row, const char *text, void *arguments);  /* unsigned: |= value */
void take_whole(const option_row *row, const char *text, void *arguments); /* int */
void take_positive(const option_row *row, const char *text, void *arguments);   /* double */
void take_gib(const option_row *row, const char *text, void *arguments);        /* int64_t, bytes */
void leave_with_text(const option_row *row, const char *text, void *arguments); /* prints what */
void leave_version(const option_row *row, const char *text, void *arguments);

/* Print the last line of every --help: where to report bugs. */
void print_address(void);

/* Numbers as the functions above read them; wrong use leaves. */
int whole_number(const option_row *row, const char *text);
double positive_number(const option_row *row, const char *text);

/* The place of text among the words, which end with NULL.  If it is none of them: the sentence of the
 * row, with the nearest word, and leaves. */
int word_of(const option_row *row, const char *text, const char *const *words);

/* Options that exclude one another: one of the first with one of the others. */
typedef struct exclusion {
    unsigned one, others; /* bits of the rows */
    const char *what;     /* the sentence; NULL: the end of the table */
} exclusion;

void check_exclusions(unsigned given, const exclusion *table);

#endif
