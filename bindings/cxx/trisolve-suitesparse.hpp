/* trisolve-suitesparse.hpp: complete factors of a general matrix by SuiteSparse, in C++17.
 *
 *     auto A = trisolve::csr(ptr, idx, val);
 *     auto lu = trisolve::factor(A);          trisolve::Factors
 *     lu.solve(b, x);                         A x = b
 *
 * A program that calls factor links libtrisolve-suitesparse, which is under the GPL. */
#ifndef TRISOLVE_SUITESPARSE_HPP
#define TRISOLVE_SUITESPARSE_HPP

#include "trisolve-sparse.hpp"
#include "trisolve-suitesparse.h"

namespace trisolve
{

/* Factor A, as trs_factor does; what goes wrong is thrown as Error. */
template <class Scalar>
Factors<Scalar> factor(const Matrix<Scalar> &A, const trs_factor_options &options = {})
{
    Factors<Scalar> factors;
    check(trs_factor(factors.out(), &A, &options));
    return factors;
}

/* The Schur complement S of some rows of A, count x count by columns, as trs_schur computes it; returns the factors of the other
 * rows.  A is in double precision.  S is where the factors solve: on the host, or on options.plan.device. */
template <class Scalar, class Rows, class Array>
Factors<Scalar> schur(const Matrix<Scalar> &A, const Rows &rows, Array &&S,
                      const trs_factor_options &options = {})
{
    static_assert(std::is_same_v<Scalar, double> || std::is_same_v<Scalar, std::complex<double>>,
                  "S and the factors are in double precision");
    const auto count = static_cast<std::int64_t>(std::size(rows));
    if (static_cast<std::int64_t>(std::size(S)) < count * count)
        throw Error(TRS_EARG, "schur: S is too small");
    Factors<Scalar> factors;
    check(trs_schur(factors.out(), &A, count, std::data(rows), std::data(S), count, &options));
    return factors;
}

} // namespace trisolve
#endif
