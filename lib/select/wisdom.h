/* wisdom.h: the results of measuring, stored for the process and in files: the fastest solver for an operator, a kind
 * of solve and a machine.
 *
 * An entry answers the question that its key asks.  Two plans ask the same question if their operators have one
 * pattern and everything that affects the time of a solve is the same: types, right-hand sides, the location of B and
 * X, threads, chip, and this library itself.  The source of the idea and of the word is FFTW: Frigo, Johnson, "The
 * design and implementation of FFTW3", Proceedings of the IEEE 93 (2005). */
#ifndef TRS_WISDOM_H
#define TRS_WISDOM_H

#include "matrix/operator.h"

enum {                  /* the numbers of a key, in the order in which a file has them */
       TRS_KEY_PATTERN, /* hash of op(T) (matrix/pattern_hash.h) */
       TRS_KEY_N,
       TRS_KEY_NNZ,
       TRS_KEY_KIND, /* of the caller's matrix: bits of trs_mat.kind */
       TRS_KEY_DTYPE,
       TRS_KEY_OPS, /* announced: bits 1 << op */
       TRS_KEY_NRHS,
       TRS_KEY_LAYOUT,  /* of B and X */
       TRS_KEY_PLACE,   /* of B and X: 1: on the device */
       TRS_KEY_ORDER,   /* trs_options.order */
       TRS_KEY_BITWISE, /* 1: only solvers that give the same bits every time */
       TRS_KEY_LIMIT,   /* of the memory, bytes; 0: none */
       TRS_KEY_UPDATES, /* solves for each update of the values; 0: these do not count */
       TRS_KEY_THREADS, /* that a solve would have */
       TRS_KEY_CPUS,    /* of the machine */
       TRS_KEYS
};

typedef struct trs_wisdom {
    uint64_t key[TRS_KEYS];
    char version[16]; /* of the library */
    char chip[112];   /* the GPU that could be chosen, "none" */
    char solver[48];  /* the answer; perhaps one that this build does not have */
    double seconds;   /* of a solve */
} trs_wisdom;

/* The key for an operator that has not been permuted, without an answer.  kind: of the caller's matrix; on_device: B
 * and X live there.  TRS_OK, TRS_EDEVICE. */
int trs_wisdom_key(const trs_operator *op, unsigned kind, bool on_device, trs_order order,
                   trs_wisdom *w);
/* Is there no entry?  Then there is no need to make a key, which costs a sweep over the pattern. */
bool trs_wisdom_is_empty(void);
/* w has a key: fill in the answer; false: there is none. */
bool trs_wisdom_find(trs_wisdom *w);
/* Keep the answer, in the place of one with the same key.  TRS_OK, TRS_EMEM. */
int trs_wisdom_add(const trs_wisdom *w);
/* Import the file of TRISOLVE_WISDOM, if that has not been done yet.  TRS_OK, or as trs_wisdom_import. */
int trs_wisdom_from_environment(void);

#endif
