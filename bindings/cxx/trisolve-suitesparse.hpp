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

} // namespace trisolve
#endif
