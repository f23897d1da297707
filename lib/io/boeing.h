/* boeing.h: the first lines of Harwell-Boeing and Rutherford-Boeing files.
 *
 *     1    title, key
 *     2    number of all lines, of those with pointers, with rows, with values, and, in the Harwell-Boeing format, with
 *          right-hand sides
 *     3    type, rows, columns, entries, entries of elements
 *     4    the Fortran formats of pointers, rows, values, and right-hand sides
 *     5    the kind of right-hand sides, if a Harwell-Boeing file has any
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

/* Read the second and the third line; false: the file has neither format.  In the Harwell-Boeing format the type is in
 * capitals, and the fifth count may be blank. */
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
