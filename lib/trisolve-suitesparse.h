/* trisolve-suitesparse.h: factor a general sparse matrix with SuiteSparse, solve with the factors.
 *
 *     trs_lu *lu;
 *     int rc = trs_factor(&lu, &A, NULL);        the library is chosen; both plans
 *     if (!rc) rc = trs_lu_solve(lu, TRS_N, 1, b, n, x, n, NULL);            A x = b
 *     if (!rc) rc = trs_lu_refine(lu, &A, TRS_N, 1, b, n, x, n, NULL, 10, NULL, NULL);
 *     if (rc) fprintf(stderr, "%s\n", trs_message());
 *     trs_lu_destroy(lu);
 *
 * This is the second library, libtrisolve-suitesparse.  It links UMFPACK, CHOLMOD and KLU, the
 * first two of which are under the GPL; libtrisolve-sparse, which has trs_lu_solve and all else, does not. */
#ifndef TRISOLVE_SUITESPARSE_H
#define TRISOLVE_SUITESPARSE_H

#include "trisolve-sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- complete factors ------------------------------------------------------------------ */

/* What to do when new values of a matrix on a device do not suit the pivots that its factors have. */
typedef enum trs_growth {
    TRS_GROWTH_REPORT = 0,  /* trs_lu_status says so; updates do not wait and can be captured */
    TRS_GROWTH_REFACTOR = 1 /* the update waits, and factors on the host, with new pivots */
} trs_growth;

typedef struct trs_factor_options {
    const char *method;   /* "umfpack", "klu": any square matrix; "cholmod": Hermitian positive
                             definite; NULL: cholmod when A is exactly Hermitian with a positive
                             diagonal; klu when the pattern is that of a circuit or power grid (short
                             rows, mostly symmetric, most of the diagonal, less than 40 flops an
                             entry of the factors); umfpack for all else, and when one of these
                             breaks down.  Not kept. */
    const char *ordering; /* "amd" (umfpack, unsymmetric: COLAMD), "colamd" (umfpack: the same),
                             "metis", "natural", or "best" (tries several); NULL: AMD or COLAMD, and
                             METIS too when they promise much work, keeping the better.  On a
                             device, "best" and NULL prefer the fewest levels: METIS, mostly.
                             Not kept. */
    trs_options plan;     /* of both triangles.  ops: those of trs_lu_solve; 0: TRS_N alone (L L^H
                             solves with every op anyhow).  nrhs: solved at a time; more are done in
                             turns.  device: where B and X live; on a device new values are factored
                             there too, if a kernel of trs_lu_info takes them.  layout is ignored.  memory: also for the
                             factors; SuiteSparse itself allocates with malloc. */
    int single;           /* 1: the plans have L and U rounded to single precision, and solve in it:
                             half the bytes.  trs_lu_refine brings x to the precision of A in a few
                             steps more while the condition of A is well below 1e7; above that
                             trs_lu_condest is too small. */
    trs_growth on_growth; /* of factors that are computed on a device */
    double growth_limit;  /* above which their growth is too much (trs_lu_status); 0: 1e6 */
    int64_t reserved[4];  /* zeros: room for new members */
} trs_factor_options;

/* Factor A and make the plans of both triangles.
 *     trs_lu **lu ; out: to be destroyed, also after an error, unless it is NULL then.
 *     const trs_mat *A ; in: CSR, CSC or DENSE, kind = 0 or TRS_SELFADJOINT with a triangle, entries in any order, on the host, or if opt->plan
 *         is for a device on any; it is copied to the host then.  Entries stored as zero are part of the pattern
 *         (DENSE: they are not).
 *     const trs_factor_options *opt ; in, NULL: all defaults.
 * B and X of trs_lu_solve and trs_lu_refine have the dtype of A.  Factors, and unless opt->single says
 * otherwise the plans and all vectors in between, are in double precision, F64 or C64, also for a matrix in
 * single precision.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX (not well-formed; a value is not finite; "cholmod"
 * was asked for and A is not Hermitian), TRS_EPIVOT (A is singular, or "cholmod" was asked for and A is
 * not positive definite: the sentence names a row, of "klu" a column, counted from A->base), TRS_ESUPPORT (unknown method
 * or ordering, or not in this build), TRS_ELIBRARY, or an error of trs_plan_create, trs_plan_analyse.
 * With opt->single, TRS_ESUPPORT also means that a number of L or U is beyond that range.
 * trs_lu_update factors again with new values.  Where trs_lu_info.kernel is not NULL, it does so on the device, with the
 * pivots and the fill of the first factors, from values on the host or there; L L^H takes the new A to be Hermitian.  By
 * default it does not wait, and trs_lu_status has to be asked whether the pivots still suit. */
TRS_API int trs_factor(trs_lu **lu, const trs_mat *A, const trs_factor_options *opt);

/* ---- Rutherford-Boeing and Harwell-Boeing files ---------------------------------------- */

/* Read a Rutherford-Boeing file (.rb), also packed or inside a .tar.gz of the SuiteSparse collection, or a
 * Harwell-Boeing file (.rua, .rsa, ...), by RBio; right-hand sides behind the matrix are left out.
 * Arguments, result and ownership as in trs_mm_read; of the options format, base, kind, real_only,
 * memory_limit (of the unpacked text) and memory are heeded.  The text is copied to a temporary file;
 * RBio itself allocates with malloc.
 * Returns TRS_OK, TRS_EARG, TRS_EFILE, TRS_EFORMAT (a file of neither format), TRS_EMATRIX (one that is
 * damaged), TRS_EMEM, TRS_ESUPPORT (no RBio in this build, a complex matrix with real_only, a matrix of
 * elements, a Fortran format that is not one field repeated, as "(1P,5E15.8)" is).
 * Sources: Duff, Grimes, Lewis, RAL-TR-97-031 and TR/PA/92/86. */
TRS_API int trs_rb_read(const char *file, const trs_mm_options *opt, trs_mm *mm);

/* ---- version of SuiteSparse ------------------------------------------------------------ */

/* "UMFPACK 5.7.9, CHOLMOD 3.0.14, KLU 1.3.9": what this library was built with. */
TRS_API const char *trs_suitesparse_version(void);

#ifdef __cplusplus
}
#endif
#endif
