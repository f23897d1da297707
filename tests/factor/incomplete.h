/* incomplete.h: what the tests of incomplete factors share. */
#ifndef TRS_TESTS_INCOMPLETE_H
#define TRS_TESTS_INCOMPLETE_H

#include "tests/common/full.h"

trs_lu *factor(const trs_mat *m, const trs_ilu_options *opt); /* of m, without an error */

/* The factors of both have the same pattern and the same bits. */
void assert_same_bits(const trs_lu *a, const trs_lu *b);

/* Each allocation of trs_ilu, an update and a solve fails once, on the host and on the device: there must be TRS_EMEM, and
 * nothing may be lost.  m->n <= 16.  An update on a device allocates nothing. */
void check_out_of_memory(const trs_mat *m, trs_ilu_options opt);

#endif
