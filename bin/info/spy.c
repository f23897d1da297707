/* spy.c: the pattern of a triangle as a grid of cells, in the order of the file and in the order of levels. */
#include "config.h"

#include "info.h"

#include <stdlib.h>

enum { MOST_CELLS = 150 };

/* place [n]: row i is row place [i] of the triangle whose rows are sorted by levels.  Rows of a level stay in their
 * order. */
static void sort_by_level(int64_t n, const int32_t *level, const triangle *t, int64_t *place,
                          int64_t *next)
{
    int64_t begin = 0;
    for (int64_t l = 0; l < t->levels; l++) {
        next[l] = begin;
        begin += t->width[l];
    }
    for (int64_t i = 0; i < n; i++) place[i] = next[level[i]]++;
}

static void add_entry(spy *s, int64_t n, int64_t row, int64_t col, int32_t level)
{
    const int64_t r = row * s->cells / n, c = col * s->cells / n;
    spy_cell *cell = &s->cell[r * s->cells + c];
    cell->count++;
    cell->levels += level;
}

int spy_make(const trs_mm *mm, bool lower, const int32_t *level, triangle *t)
{
    const int64_t n = mm->rows, cells = n < MOST_CELLS ? n : MOST_CELLS;
    int64_t *place = malloc((size_t)n * sizeof *place + 1);
    int64_t *next = malloc((size_t)t->levels * sizeof *next + 1);
    bool good = place && next;
    for (int k = 0; k < ORDERS; k++) {
        t->spy[k] = (spy){cells, calloc((size_t)(cells * cells) + 1, sizeof *t->spy[k].cell)};
        good = good && t->spy[k].cell;
    }
    if (good) sort_by_level(n, level, t, place, next);
    for (int64_t i = 0; i < n && good; i++) {
        int64_t p, end;
        for (row_part(mm, lower, i, &p, &end); p < end; p++) {
            const int32_t j = mm->idx[p];
            add_entry(&t->spy[IN_FILE], n, i, j, level[i]);
            add_entry(&t->spy[BY_LEVEL], n, place[i], place[j], level[i]);
        }
    }
    free(next);
    free(place);
    return good ? TRS_OK : TRS_EMEM;
}
