/* files.h: a matrix from a file of any kind, and files in the user's cache. */
#ifndef TRS_BIN_FILES_H
#define TRS_BIN_FILES_H

#include "trisolve-sparse.h"

#include <stdbool.h>

/* Reads Matrix Market, Rutherford-Boeing or Harwell-Boeing, packed or not, or the binary form of
 * trisolve-gen. mm is always set; said () is the sentence after an error.  Returns a trs_status. */
int file_read(const char *name, const trs_mm_options *opt, trs_mm *mm);

/* Can it be read a second time?  Standard input cannot, nor a pipe, which would wait for ever. */
bool file_is_lasting(const char *name);

/* What stands behind the last slash of a name. */
const char *base_name(const char *name);

/* Which triangle holds all entries of a square matrix?  TRS_LOWER, TRS_UPPER, both of them for a
 * diagonal matrix, 0: neither.  In a full matrix zeros are no entries. */
unsigned file_kind(const trs_mat *A);

/* Is it worth while to ask for TRS_PERMUTED?  A triangle after permutations has a row with a single
 * entry. */
bool file_may_be_permuted(const trs_mat *A);

const char *field_name(trs_field f);
const char *symmetry_name(trs_symmetry s);

/* As mkdir -p does, for what stands before the last slash; path is as it was afterwards.  Returns 0 or errno. */
int make_folders(char *path);

/* path [size]: the file of this name in the user's cache, to be read or written; the folders above it are made.  Returns
 * an exit code, with a sentence. */
int cache_file(const char *name, char *path, size_t size);

#endif
