/* core_table.h: what libtrisolve-suitesparse gets of the functions of libtrisolve-sparse that are not exported. */
#ifndef TRS_CORE_TABLE_H
#define TRS_CORE_TABLE_H

#include "base/parallel.h"
#include "elimination/elimination_tree.h"
#include "factor/device/schur.h"
#include "factor/lu_first.h"
#include "factor/lu_refine.h"

/* The functions that libtrisolve-suitesparse calls, each under its own name in the table.  The macros of
 * lib/factor/suitesparse/factor.h let its sources call them as usual. */
#define TRS_CORE_FUNCTIONS(F)                                                                      \
    F(trs_enter)                                                                                   \
    F(trs_leave)                                                                                   \
    F(trs_fail)                                                                                    \
    F(trs_forget)                                                                                  \
    F(trs_check_reserved)                                                                          \
    F(trs_step)                                                                                    \
    F(trs_now)                                                                                     \
    F(trs_default_threads)                                                                         \
    F(trs_share)                                                                                   \
    F(trs_lu_new)                                                                                  \
    F(trs_lu_alloc)                                                                                \
    F(trs_lu_free_each)                                                                            \
    F(trs_lu_schur_import)                                                                         \
    F(trs_lu_schur)                                                                                \
    F(trs_lu_csc)                                                                                  \
    F(trs_lu_csc_free)                                                                             \
    F(trs_lu_adopt_there)                                                                          \
    F(trs_lu_begin)                                                                                \
    F(trs_lu_may_wait)                                                                             \
    F(trs_lu_wait)                                                                                 \
    F(trs_lu_stop_waiting)                                                                         \
    F(trs_lu_known_sides)                                                                          \
    F(trs_lu_accurate)                                                                             \
    F(trs_lu_backward_error)                                                                       \
    F(trs_lu_watch)                                                                                \
    F(trs_lu_factors_free)                                                                         \
    F(trs_elimination_tree)                                                                        \
    F(trs_column_counts)                                                                           \
    F(trs_blas_begin)                                                                              \
    F(trs_blas_end)

struct trs_core {
    TRS_CORE_FUNCTIONS(TRS_LIBRARY_MEMBER)
};

#endif
