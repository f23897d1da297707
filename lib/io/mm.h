/* mm.h: what the files of the Matrix Market reader share.
 *
 * The way of a file:  input.c --whole lines--> mm_header.c (banner, sizes); then, in every thread,
 *   mm_parse.c: a piece of text --> a chunk: its entries, those of one range of lines together;
 *   at the end mm_build.c: every range of lines from all chunks --> CSR, CSC, COO, or DENSE.
 *
 * A "line" is a row of CSR or a column of CSC; i is the number of the line, j the place in it,
 * both from 0.  The lines are cut into ranges of 2^shift, few enough entries each that counting
 * and placing them stays in the cache, and no two threads ever write to the same range.  Within
 * a range the entries keep the order of the file, whoever parsed them: sums of duplicates are
 * the same for any number of threads. */
#ifndef TRS_MM_H
#define TRS_MM_H

#include "input.h"
#include "base/memory.h"

#include <stdbool.h>
#ifdef _OPENMP
#include <omp.h>
#define TRS_OMP(directive) _Pragma(#directive)
#else
#define TRS_OMP(directive)
#endif

typedef struct trs_mm_head {
    bool array;
    trs_field field;
    trs_symmetry symmetry;
    int64_t rows, cols;
    int64_t stored; /* entries or values that must follow */
    int64_t line;   /* number of the size line */
    bool cut;       /* the size line is the last one and has no '\n' */
} trs_mm_head;

typedef struct
    trs_mm_mark { /* entries e, e+1, ... of a chunk stand on its lines line, line+1, ... */
    int64_t entry, line;
} trs_mm_mark;

typedef struct trs_mm_chunk { /* one piece of text, parsed */
    int64_t lines;            /* '\n' in it */
    int64_t entries;          /* data lines; array: values */
    int64_t kept;        /* entries to be placed: without the other triangle, with mirror images */
    const int64_t *from; /* [ranges+1]: where the entries of each range begin; array: NULL */
    const char *entry;   /* [kept] trs_mm_entry_bytes each: a key, then the value; array:
                                [words*kept] doubles */
    const char *const *part; /* low_memory: [ranges] where the entries of each range are, in place
                                of `entry`; else NULL */
    const trs_mm_mark *mark; /* [marks]; none: every line holds one entry */
    int64_t marks;
} trs_mm_chunk;

typedef struct trs_mm_slab trs_mm_slab;   /* memory for chunks, many to a slab */
typedef struct trs_mm_block trs_mm_block; /* low_memory: pages with entries of one range */

typedef struct trs_mm_job { /* one call of trs_mm_read */
    const char *file;
    trs_mm_options opt; /* zeros resolved */
    trs_mm *mm;
    trs_input *in;
    trs_mm_head head;
    int words;     /* doubles an entry: 0 pattern, 1, 2 complex */
    bool by_cols;  /* lines are columns */
    int64_t lines; /* rows or cols */
    int threads, shift, ranges;
    int bits;      /* that the largest j takes */
    bool wide;     /* a key takes 64 bits, not 32 */
    int64_t piece; /* bytes of text to parse at once */
    int64_t used;  /* bytes of memory */
    int64_t rounded;
    int64_t bytes; /* of text after the sizes */
    trs_mm_slab *slab;
    trs_mm_block **block; /* [ranges] low_memory; else NULL */
    trs_mm_chunk **chunk; /* [chunks] in the order of the file */
    int64_t chunks, room;
    int64_t entries;    /* in the chunks that are ready */
    bool stop;          /* no more text is wanted */
    int code;           /* of the error that comes first in the file */
    int64_t code_chunk; /* the chunk it is in */
    int64_t code_line;  /* and the line there, from 0; -1: no line to name */
    char what[200];
#ifdef _OPENMP
    omp_lock_t lock; /* of everything above that changes, and of the input */
#endif
} trs_mm_job;

static inline void trs_mm_lock(trs_mm_job *job)
{
#ifdef _OPENMP
    omp_set_lock(&job->lock);
#else
    (void)job;
#endif
}

static inline void trs_mm_unlock(trs_mm_job *job)
{
#ifdef _OPENMP
    omp_unset_lock(&job->lock);
#else
    (void)job;
#endif
}

/* Where an entry stands: its line within the range and its place in the line, in one number. */
static inline uint64_t trs_mm_key(const trs_mm_job *job, int64_t i, int64_t j)
{
    return (uint64_t)(i & (((int64_t)1 << job->shift) - 1)) << job->bits | (uint64_t)j;
}

/* An entry in a chunk: a key of 32 or 64 bits and its value, not aligned. */
static inline int64_t trs_mm_entry_bytes(int words, bool wide)
{
    return (wide ? 8 : 4) + 8 * words;
}

/* Write "file:line: ..." (line < 1: "file: ...") and return the code. */
int trs_mm_fail(trs_mm_job *job, int code, int64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* trs_alloc that counts, within the limit; safe in threads.  NULL: too much, or out of memory. */
void *trs_mm_new(trs_mm_job *job, int64_t count, size_t size);
void trs_mm_delete(trs_mm_job *job, void *p, int64_t count, size_t size);

/* Large arrays on large pages, where the system has them. */
void trs_mm_large_pages(void *p, int64_t bytes);

/* What a text of this many bytes can hold at most. */
int64_t trs_mm_most_entries(const trs_mm_job *job, int64_t bytes);

typedef struct trs_mm_space { /* what is left of a block */
    char *at;
    int64_t left;
} trs_mm_space;

typedef struct trs_mm_store { /* memory of one thread for chunks (mm_store.c) */
    trs_mm_job *job;
    char *at; /* what is left of its slab */
    int64_t left;
    trs_mm_space *space; /* [ranges] low_memory; else NULL */
} trs_mm_store;

void *trs_mm_carve(trs_mm_store *s, int64_t bytes); /* NULL: no memory, or over the limit */
char *trs_mm_carve_range(trs_mm_store *s, int r, int64_t bytes);
void trs_mm_give_back(trs_mm_job *job, int r); /* what trs_mm_carve_range gave, from all threads */
void trs_mm_free_slabs(trs_mm_job *job);

/* Three quarters of the memory of this machine, in bytes. */
int64_t trs_mm_default_limit(void);

/* Up to 40 characters of p..end-1 that can be shown, in quotes. */
typedef struct trs_mm_quote {
    char s[48];
} trs_mm_quote;
trs_mm_quote trs_mm_show(const char *p, const char *end);

int trs_mm_header(trs_mm_job *job); /* read banner and sizes */
/* "entries", of one "entry"; of an array "values", "value" */
const char *trs_mm_stored_noun(const trs_mm_head *h);
/* The banner on the line p..end-1 into job->head. */
int trs_mm_banner(trs_mm_job *job, const char *p, const char *end);
/* Whole numbers of a line into size [most]; how many there are, -1: one is none, or one too
 * many. */
int trs_mm_sizes(trs_mm_job *job, const char *at, const char *end, int most, int64_t *size);
/* Can so many bytes (-1: unknown) hold what the sizes say? */
int trs_mm_check_promise(trs_mm_job *job, int64_t bytes);
int trs_mm_parse(trs_mm_job *job);                                    /* all text into chunks */
int trs_mm_build(trs_mm_job *job);                                    /* chunks into job->mm */
int64_t trs_mm_line(const trs_mm_job *job, int64_t k, int64_t entry); /* of an entry of chunk k */

#endif
