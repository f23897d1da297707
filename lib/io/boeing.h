/* boeing.h: is it a Harwell-Boeing or a Rutherford-Boeing file, and what do its first lines say?
 *
 *     title, key
 *     lines of all, of pointers, of rows, of values, and, in the older format, of right-hand sides
 *     type, rows, columns, entries, entries of elements
 *     the Fortran formats of pointers, rows, values, and right-hand sides
 *     in the older format, when it has lines of right-hand sides: what these are
 *
 * Sources: Duff, Grimes, Lewis, "Users' Guide for the Harwell-Boeing Sparse Matrix Collection", TR/PA/92/86;
 * the same, "The Rutherford-Boeing Sparse Matrix Collection", RAL-TR-97-031. */
#ifndef TRS_BOEING_H
#define TRS_BOEING_H

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct trs_boeing {
    bool harwell; /* Harwell-Boeing, else Rutherford-Boeing */
    bool has_rhs; /* right-hand sides follow the matrix */
    char type[4]; /* three letters: "rua" */
    int64_t rows, cols, stored;
} trs_boeing;

/* The second and the third line; false: neither format.  Types are in capitals in the older one, whose
 * fifth count may be blank. */
static inline bool trs_boeing_header(const char *second, const char *third, trs_boeing *h)
{
    static const char *const letters[] = {"rcpiq", "suhzr", "ae"};
    int64_t count[5] = {0};
    const int counts = sscanf(second, "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64,
                              &count[0], &count[1], &count[2], &count[3], &count[4]);
    *h = (trs_boeing){.harwell = counts == 5, .has_rhs = count[4] > 0};
    if (counts < 4 || sscanf(third, "%3s %" SCNd64 " %" SCNd64 " %" SCNd64, h->type, &h->rows,
                             &h->cols, &h->stored) != 4)
        return false;
    for (int k = 0; k < 3; k++) {
        if (isupper((unsigned char)h->type[k])) h->harwell = true;
        h->type[k] = (char)tolower((unsigned char)h->type[k]);
        if (!h->type[k] || !strchr(letters[k], h->type[k])) return false;
    }
    return true;
}

#endif
