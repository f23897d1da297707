/* mm.h: shared by the files of this module: the state of one call of trs_mm_read, and the steps of reading.
 *
 *     file --input.c--> whole lines --header.c--> banner and sizes
 *
 *     in every thread:    a text, some whole lines      (parse.c takes it)
 *                           --lines.c--> its entries, in the order of the file
 *                           --chunk.c--> a chunk, the same entries range by range
 *     when all are read:  a range, from all chunks      --build.c--> CSR, CSC, or COO
 *                         values of an array file       --dense.c--> DENSE
 *
 * A line is always a line of text.  The major index i of an entry is its row in CSR and COO and its column in CSC;
 * the minor index j is the other one; both count from 0 here.  A range is 2^shift consecutive major indices, with few
 * enough entries that counting and placing them stays in the cache.  No two threads ever write to the same range, and
 * within a range the entries stay in the order of the file, whichever thread parsed them.  So sums of duplicates have
 * the same bits for any number of threads. */
#ifndef TRS_MM_H
#define TRS_MM_H

#include "io/input.h"
#include "base/debug.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct trs_mm_head { /* the contents of the banner and the size line */
    bool array;
    trs_field field;
    bool is_unsigned; /* the field is unsigned-integer */
    trs_symmetry symmetry;
    int64_t rows, cols;
    int64_t stored; /* entries, or values of an array, that must follow */
    int64_t line;   /* number of the size line, from 1 */
    bool cut;       /* the size line is the last one and has no '\n' */
} trs_mm_head;

/* Where entries stand in their text, kept for sentences about errors: entries e, e+1, ... up to the next mark are on the
 * lines line, line+1, ... of it, both from 0. */
typedef struct trs_mm_mark {
    int64_t entry, line;
} trs_mm_mark;

/* The entries of one text, those of a range together:
 *
 *     entry    | range 0          | range 1 | range 2     | ...
 *              ^ from [0] = 0     ^ [1]     ^ [2]         ^ [3]           from [ranges] = kept
 *
 * With low_memory the entries of range r are in pages of that range, at place [r], and there is no `entry`.  The values
 * of an array file are [parts*kept] doubles at `entry`, in the order of the file. */
typedef struct trs_mm_chunk {
    int64_t lines;   /* '\n' in the text */
    int64_t entries; /* lines with an entry; array: values */
    int64_t kept;    /* entries to be placed: without the triangle not wanted, with mirror images */
    const int64_t *from;      /* [ranges+1]; array: NULL */
    const char *entry;        /* [kept] of trs_mm_entry_bytes each: a key, then the value */
    const char *const *place; /* [ranges] with low_memory; else NULL */
    const trs_mm_mark *mark;  /* [marks]; without a mark, line e holds entry e */
    int64_t marks;
} trs_mm_chunk;

typedef struct trs_mm_slab trs_mm_slab;   /* memory for many chunks (store.c) */
typedef struct trs_mm_pages trs_mm_pages; /* low_memory: whole pages with entries of one range */

typedef struct trs_mm_job { /* one call of trs_mm_read */
    const char *file;
    trs_mm_options opt; /* with defaults in place of zeros */
    trs_mm *mm;
    trs_input *in;
    trs_mm_head head;
    int parts;            /* doubles of a value: 0 for a pattern, 1, 2 when complex */
    bool by_cols;         /* the major index is the column */
    int64_t majors;       /* rows or columns: how many major indices there are */
    int threads;          /* that parse and build */
    int shift, ranges;    /* major indices in ranges of 2^shift */
    int bits;             /* of the largest minor index */
    bool wide;            /* a key takes 64 bits, not 32 */
    int64_t text_bytes;   /* of a text, about */
    int64_t used;         /* bytes of memory, for opt.memory_limit */
    int64_t rounded;      /* integers that are no doubles */
    int64_t bytes;        /* of all texts */
    trs_mm_slab *slab;    /* the latest one */
    trs_mm_pages **pages; /* [ranges] with low_memory, the latest of each; else NULL */
    trs_mm_chunk **chunk; /* [room], of which [chunks] are in use, in the order of the file */
    int64_t chunks, room;
    int64_t entries;    /* in the chunks that are ready */
    bool stop;          /* no more text is wanted */
    int code;           /* of the error that comes first in the file */
    int64_t code_chunk; /* the chunk it is in, -1: in none */
    int64_t code_line;  /* its line in that chunk's text, from 0; -1: there is no line to name */
    char what[200];     /* its sentence */
#ifdef _OPENMP
    omp_lock_t lock; /* of the input and of all of the above that changes while threads run */
#endif
} trs_mm_job;

#ifdef _OPENMP
#define trs_mm_lock(job)   omp_set_lock(&(job)->lock)
#define trs_mm_unlock(job) omp_unset_lock(&(job)->lock)
#else
#define trs_mm_lock(job)   ((void)(job))
#define trs_mm_unlock(job) ((void)(job))
#endif

/* ---- entries in a chunk: a key of 32 or 64 bits and a value, not aligned ------------------------ */

/* The key: the major index within its range, and the minor index in the lowest bits. */
static inline uint64_t trs_mm_key(const trs_mm_job *job, int64_t i, int64_t j)
{
    return (uint64_t)(i & (((int64_t)1 << job->shift) - 1)) << job->bits | (uint64_t)j;
}

static inline int64_t trs_mm_key_bytes(bool wide)
{
    return wide ? 8 : 4;
}

static inline int64_t trs_mm_entry_bytes(int parts, bool wide)
{
    return trs_mm_key_bytes(wide) + 8 * parts;
}

/* ---- values ------------------------------------------------------------------------------------ */

/* With trs_mm_options.integers a value is the 64 bits of an integer, which are copied as those of a double are.  This is
 * what else is done with values. */
static inline bool trs_mm_exact(const trs_mm_job *job)
{
    return job->opt.integers && job->head.field == TRS_INTEGER;
}

/* -x; exact: of the integer whose bits x has. */
static inline double trs_mm_minus(double x, bool exact)
{
    uint64_t bits;
    if (!exact) return -x;
    memcpy(&bits, &x, sizeof bits);
    bits = 0 - bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- sentences ------------------------------------------------------------------------------ */

/* Write "file:line: ..." (line < 1: "file: ...") and return the code. */
int trs_mm_fail(trs_mm_job *job, int code, int64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Up to 40 characters of p..end-1 in quotes, with '?' for those that are not printed. */
typedef struct trs_mm_quote {
    char s[48];
} trs_mm_quote;
trs_mm_quote trs_mm_show(const char *p, const char *end);

/* "entries" or one "entry"; of an array "values" or "value". */
const char *trs_mm_stored_noun(const trs_mm_head *h);

/* ---- header.c: banner and sizes --------------------------------------------------------------- */

int trs_mm_header(trs_mm_job *job);
/* The word of each trs_symmetry; then NULL. */
extern const char *const trs_mm_symmetry[];
/* The banner on the line p..end-1 into job->head. */
int trs_mm_banner(trs_mm_job *job, const char *p, const char *end);
/* The integers of a line into size [most].  Returns how many there are, or -1 with a sentence: one of them is none, or
 * they are too many. */
int trs_mm_sizes(trs_mm_job *job, const char *at, const char *end, int most, int64_t *size);
/* Can so many bytes of text (-1: unknown) hold what the sizes say? */
int trs_mm_check_promise(trs_mm_job *job, int64_t bytes);

/* ---- the steps ------------------------------------------------------------------------------ */

int trs_mm_parse(trs_mm_job *job);       /* all text into chunks */
int trs_mm_build(trs_mm_job *job);       /* the chunks of a coordinate file into job->mm */
int trs_mm_build_dense(trs_mm_job *job); /* those of an array file */

/* How many entries a text of so many bytes can hold at most. */
int64_t trs_mm_most_entries(const trs_mm_job *job, int64_t bytes);
/* The number of the line, from 1, on which entry e of chunk k stands. */
int64_t trs_mm_line(const trs_mm_job *job, int64_t k, int64_t e);
/* TRS_EMEM: a result with so many entries is too large. */
int trs_mm_too_large(trs_mm_job *job, int64_t nnz);
/* Three quarters of the memory of this machine, in bytes. */
int64_t trs_mm_default_limit(void);

#endif
