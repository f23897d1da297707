/* trisolve-suitesparse.h: factor a general sparse matrix with SuiteSparse, solve with the
 * factors.
 *
 *     trs_lu *lu;
 *     int rc = trs_factor(&lu, &A, NULL);                           choose a library, factor, plan
 *     if (!rc) rc = trs_lu_solve(lu, TRS_N, 1, b, n, x, n, NULL);   A x = b
 *     if (!rc) rc = trs_lu_refine(lu, &A, TRS_N, 1, b, n, x, n, NULL, 10, NULL, NULL);
 *     if (rc) fprintf(stderr, "%s\n", trs_message());
 *     trs_lu_destroy(lu);
 *
 * This header belongs to the second library, libtrisolve-suitesparse.  It links UMFPACK, CHOLMOD
 * and KLU; the first two are under the GPL.  libtrisolve-sparse, which has trs_lu_solve and
 * everything else, does not link them. */
#ifndef TRISOLVE_SUITESPARSE_H
#define TRISOLVE_SUITESPARSE_H

#include "trisolve-sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- complete factors ------------------------------------------------------------------ */

/* What to do when new values of a matrix on a device do not suit the pivots of its factors. */
typedef enum trs_growth {
    /* trs_lu_status reports it; updates do not wait and can be captured in a CUDA graph */
    TRS_GROWTH_REPORT = 0,
    /* the update waits, and factors on the host with new pivots */
    TRS_GROWTH_REFACTOR = 1,
} trs_growth;

typedef struct trs_factor_options {
    /* the library:
     * - "umfpack", "klu": for any square matrix
     * - "cholmod": for Hermitian positive definite matrices
     * - "static": L U with the pivots on the diagonal, or L L^H, computed by this library from the
     *   first values on, on a device or, for CSR and CSC in double precision, on the host; CHOLMOD
     *   orders A + A'.  Pivots that let numbers grow more than 100 times are refused (TRS_EGROWTH)
     * - "ldlt": L D L^H of a Hermitian matrix that need not be definite, for quasi-definite
     *   matrices and others whose pivots on the diagonal are good; see boost.  If the diagonal of
     *   the first A has a zero, as of saddle points, and signs is NULL, D has blocks of 2 x 2
     *   numbers as well.  A matching of rows with large entries finds them before A is ordered.
     *   All pivots are chosen before the factorization, so rounding errors may grow: the factors
     *   keep A if solves have to refine x (trs_lu_solve), and trs_lu_refine reports what is left.
     *   A device factors new values
     * - NULL: "static" if each number on the diagonal is at least 1/100 of the largest of its
     *   column, the pattern is nearly symmetric, and the factors take 30 flops or more for each
     *   entry.  On a device this is also for a Hermitian A with a positive diagonal.  If the pivots
     *   turn out to be bad, and in all other cases: "ldlt" if A is exactly Hermitian with zeros or
     *   negative numbers on the diagonal, no pivot is replaced, and a solve with the first factors
     *   is as exact as with L U: on the host after one step of refinement, on a device without
     *   one.  On the host it is not if plan.solves is 1, or L takes less than 40 or more than 500
     *   flops an entry, and nowhere with single or TRS_PIVOT_SKIP.  Otherwise CHOLMOD if A is
     *   exactly Hermitian with a positive diagonal; KLU if A has fewer than 2000 entries, or less
     *   than 60 flops are predicted for each entry of the factors, and either most of the diagonal
     *   is there and the pattern is mostly symmetric (at most 40 entries a row), or most of the
     *   diagonal is missing (at most 12); UMFPACK otherwise, and if CHOLMOD or KLU breaks down
     * The string need not outlive the call. */
    const char *method;
    /* the ordering:
     * - "amd": AMD; with umfpack COLAMD for unsymmetric matrices
     * - "colamd": the same for umfpack
     * - "metis": METIS
     * - "natural": no ordering
     * - "best": the best of several
     * - NULL: AMD or COLAMD; if they predict much work, also METIS, and the better one is used
     * On a device, "best" and NULL prefer the fewest levels, which is mostly METIS, unless
     * plan.solves is 1; but with "ldlt" NULL is AMD, whose pivots are better, unless METIS has much
     * fewer levels and its first pivots are good.  The string need not outlive the call. */
    const char *ordering;
    /* options of both plans.  ops: those of trs_lu_solve, 0: only TRS_N (L L^H solves with every
     * op).  nrhs: number of right-hand sides solved at a time; more are solved in batches.
     * device: where B and X are; a device also factors new values, if trs_lu_info.kernel supports
     * them.  layout: ignored.  memory: also for the factors; SuiteSparse itself allocates with
     * malloc. */
    trs_options plan;
    /* 1: the plans have L and U rounded to single precision and solve in it, with half the bytes.
     * trs_lu_refine then reaches the precision of A in a few more steps, if the condition of A is
     * well below 1e7.  Above that the estimate of trs_lu_condest is too small. */
    int single;
    /* what to do about growth of factors that are computed on a device */
    trs_growth on_growth;
    /* the largest acceptable growth (trs_lu_status); 0: 1e6, or with "ldlt" 10 times that of the
     * first factors if that is more */
    double growth_limit;
    /* "ldlt" alone.  0: a zero pivot is an error.  In (0, 1]: a pivot d(i) that is smaller than
     * boost times the largest entry of column i of A, or has another sign than signs[i], is
     * replaced by this product.  If the determinant of a block is smaller than boost times the
     * square of its largest number, or that is smaller than boost after scaling, its rows have
     * pivots of their own.  trs_lu_info counts the pivots that are replaced, trs_lu_middle the
     * blocks */
    double boost;
    /* [n] by row of A, each 1 or -1, the sign of its pivot, or 0, if it is not known; copied.
     * NULL: none is known */
    const int8_t *signs;
    /* must be zero; reserved for new members */
    int64_t reserved[2];
} trs_factor_options;

/* Factor A and create the plans of both triangles.
 *     trs_lu **lu ; out.  The caller destroys it, also after an error, unless it is NULL then.
 *     const trs_mat *A ; in.  CSR, CSC or DENSE, kind = 0 or TRS_SELFADJOINT with a triangle,
 *         entries in any order.  On the host, or, if opt->plan is for a device, on any device;
 *         then it is copied to the host.  Stored zeros are part of the pattern, except in DENSE.
 *     const trs_factor_options *opt ; in.  NULL: all defaults.
 * B and X of trs_lu_solve and trs_lu_refine have the dtype of A.  The factors are in double
 * precision, F64 or C64, even for a matrix in single precision.  So are the plans and all
 * intermediate vectors, unless opt->single is set.
 *
 * trs_lu_update factors again with new values.  If trs_lu_info.kernel is not NULL, the device
 * does it, with the pivots and the fill of the first factors.  The values may be on the host or
 * on the device.  With L L^H or L D L^H, the new A is assumed to be Hermitian.  By default the
 * update does not wait, and the caller asks trs_lu_status whether the pivots still suit; boosted
 * and first_boosted of trs_lu_info are then up to date, too.
 *
 * SuiteSparse and its BLAS use at most opt->plan.threads threads (0: the default of OpenMP), with
 * three exceptions.  CHOLMOD before version 4 uses one thread, or as many as it was built for,
 * which is mostly 4.  A BLAS other than OpenBLAS, MKL and those that use OpenMP obeys only its own
 * environment variables.  OpenBLAS without OpenMP has one number of threads for the process: that
 * of the last of several factorisations at the same time.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_ELIBRARY, an error of trs_plan_create or
 * trs_plan_analyse, or:
 *     TRS_EMATRIX ; A is not well formed, or a value is not finite, or "cholmod" or "ldlt" was
 *         requested and A is not Hermitian.
 *     TRS_EPIVOT ; A is singular, or "ldlt" met a zero pivot, or "cholmod" was requested and A is
 *         not positive definite.  The message names a row ("klu": a column), counted from A->base.
 *     TRS_EGROWTH ; "static" was requested, and the pivots on the diagonal do not suit A.
 *     TRS_ESUPPORT ; the method or ordering is unknown or not in this build; "static" was
 *         requested on the host and A is neither CSR nor CSC, or with opt->single or
 *         TRS_PIVOT_SKIP; opt->plan.sweeps is not 0; or, with opt->single, a number of L or U is
 *         beyond the range of single precision. */
TRS_API int trs_factor(trs_lu **lu, const trs_mat *A, const trs_factor_options *opt);

/* Compute the Schur complement of some rows s of A, and factor A(r, r), where r are the other rows:
 *     S = A(s, s) - A(s, r) A(r, r)^-1 A(r, s)
 *     trs_lu **lu ; in, out.  The factors of A(r, r), whose rows have the order that they have in
 *         A.  in: NULL, or the factors of an earlier call, which are updated (trs_lu_update).  The
 *         caller destroys them, also after an error, unless *lu is NULL then.
 *     const trs_mat *A ; in.  As in trs_factor.
 *     int64_t count ; in.  The number of rows in s, 0 <= count <= n.
 *     const int64_t *rows ; in [count].  The rows s, from 0, in any order; also the columns.
 *     void *S ; out [ld*count], column-major.  S(i, j) belongs to rows[i] and rows[j].  Undefined
 *         after an error.  It is where the factors solve: on the host, or on opt->plan.device.
 *     int64_t ld ; in, >= count.
 *     const trs_factor_options *opt ; in.  For the factors; signs is by row of A.  NULL: all
 *         defaults.  An update uses only plan.memory.
 * S, and B and X of trs_lu_solve with these factors, are in double precision, F64 or C64, whatever
 * the dtype of A.  If A is TRS_SELFADJOINT, S is exactly Hermitian, with both triangles.  The
 * function solves with count right-hand sides, and keeps no copy of A.
 *
 * With factors on a device, A may be on the host or on a device.  The host splits A in O(n + nnz),
 * and a device that factors new values computes A(r, r) again in an update.  The device solves and
 * multiplies a panel of columns at a time, and has no other array of n * count numbers.  The
 * function uses the default stream, waits until S is complete, and cannot be captured.
 *
 * A x = b then has the solution
 *     S x(s) = b(s) - A(s, r) A(r, r)^-1 b(r),      A(r, r) x(r) = b(r) - A(r, s) x(s)
 * By trs_lu_inertia, the inertia of a Hermitian A is that of A(r, r) plus that of S (Haynsworth).
 * Returns what trs_factor, trs_lu_update, trs_lu_status and trs_lu_solve return, or:
 *     TRS_EARG ; also if rows has an index out of range, or one twice.
 *     TRS_EPIVOT ; A(r, r) is singular.  A message that names a row counts those of A(r, r).
 *     TRS_ESUPPORT ; also if A is on a device, and the factors solve on the host. */
TRS_API int trs_schur(trs_lu **lu, const trs_mat *A, int64_t count, const int64_t *rows, void *S,
                      int64_t ld, const trs_factor_options *opt);

/* ---- Rutherford-Boeing and Harwell-Boeing files ---------------------------------------- */

/* Read a Rutherford-Boeing file (.rb), also packed or inside a .tar.gz of the SuiteSparse
 * collection, or a Harwell-Boeing file (.rua, .rsa, ...), with RBio.  Right-hand sides after the
 * matrix are ignored.
 *     const char *file ; in.  As in trs_mm_read.
 *     const trs_mm_options *opt ; in.  NULL: all defaults.  Uses format, base, kind, real_only,
 *         memory_limit (of the unpacked text) and memory.
 *     trs_mm *mm ; out.  As in trs_mm_read.
 * The text is copied to a temporary file.  RBio itself allocates with malloc.
 * Returns TRS_OK, TRS_EARG, TRS_EFILE, TRS_EMEM, or:
 *     TRS_EFORMAT ; the file has neither format.
 *     TRS_EMATRIX ; the file is damaged.
 *     TRS_ESUPPORT ; this build has no RBio, a matrix is complex and real_only is set, a matrix
 *         consists of elements, or a Fortran format is not one field repeated, as "(1P,5E15.8)"
 *         is not.
 * Sources: Duff, Grimes, Lewis, RAL-TR-97-031 and TR/PA/92/86. */
TRS_API int trs_rb_read(const char *file, const trs_mm_options *opt, trs_mm *mm);

/* ---- version of SuiteSparse ------------------------------------------------------------ */

/* Returns the versions that this library was built with, such as "UMFPACK 5.7.9, CHOLMOD 3.0.14,
 * KLU 1.3.9". */
TRS_API const char *trs_suitesparse_version(void);

#ifdef __cplusplus
}
#endif
#endif
