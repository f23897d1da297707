/* trisolve-eigen.hpp: the solves of trisolve-sparse as sparse solvers and preconditioners of Eigen 3.
 *
 *     trisolve::Triangular<SpMat, Eigen::Lower>     T x = b; also Upper, UnitLower, UnitUpper
 *     trisolve::LU<SpMat>                           A x = b by complete factors; links libtrisolve-suitesparse
 *     trisolve::ILU0<SpMat>, trisolve::IC0<SpMat>   M x = b, M = L U or L L^H, incomplete; also ILUT, ICT,
 *                                                   DILU, BlockJacobi
 *
 * SpMat is an Eigen::SparseMatrix, or the type of its numbers alone, as in IncompleteLUT<double>.  They have the
 * methods of Eigen's own solvers:
 *     compute(A), analyzePattern(A), factorize(A)   A: any sparse expression, by rows or by columns, compressed or
 *                                                   not, a Map too; it is copied only where Eigen would have to
 *     solve(b)                                      b: a vector, several columns, an expression, or sparse
 *     transpose().solve(b), adjoint().solve(b)      options() must have named these ops before compute
 *     info(), rows(), cols(), lastErrorMessage()
 * The pattern is analysed by the first factorize after analyzePattern or compute, since the choices depend on
 * values too; further ones take new values for the same pattern by an update, which costs a small part of it.
 * info() is Success, NumericalIssue (a pivot is zero, not positive for IC0, not finite) or InvalidInput (the matrix is
 * not square, an option is not known, ...), and stays so until the next factorize; x is NaN after a failure.  Want of
 * memory is std::bad_alloc.  options() may be changed before compute: fill, ordering, solver, threads.
 * As any preconditioner does:
 *     Eigen::ConjugateGradient<SpMat, Eigen::Lower | Eigen::Upper, trisolve::IC0<SpMat>> cg(A);
 *
 * A solver uses a work space of its own: one solve at a time.  Vectors live on the host. */
#ifndef TRISOLVE_EIGEN_HPP
#define TRISOLVE_EIGEN_HPP

#include "trisolve-sparse.hpp"

#include <Eigen/SparseCore>

#include <limits>
#include <string>
#include <type_traits>

#if __has_include("trisolve-suitesparse.h")
#include "trisolve-suitesparse.h"
#endif

namespace trisolve
{

namespace detail
{

/* The type of numbers, and of indices, of an Eigen::SparseMatrix or of a type of numbers. */
template <class Type, class = void> struct Traits {
    using Scalar = Type;
    using StorageIndex = int;
};
template <class Type> struct Traits<Type, std::void_t<typename Type::StorageIndex>> {
    using Scalar = typename Type::Scalar;
    using StorageIndex = typename Type::StorageIndex;
};

/* The arrays of a compressed matrix of Eigen. */
template <class Compressed> trs_mat arrays(const Compressed &A)
{
    trs_mat mat{};
    mat.n = A.rows();
    mat.nnz = A.nonZeros();
    mat.ptr = A.outerIndexPtr();
    mat.idx = A.innerIndexPtr();
    mat.val = A.valuePtr();
    mat.ptr_bits = mat.idx_bits = bits<typename Compressed::StorageIndex>();
    mat.dtype = Dtype<typename Compressed::Scalar>::value;
    mat.format = Compressed::IsRowMajor ? TRS_CSR : TRS_CSC;
    return mat;
}

/* Call use (trs_mat) with the arrays of any sparse expression.  A block of columns begins within its arrays, and is
 * copied. */
template <class Expression, class Use>
void with_arrays(const Eigen::SparseMatrixBase<Expression> &A, Use use)
{
    using Plain = Eigen::SparseMatrix<typename Expression::Scalar,
                                      Expression::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor,
                                      typename Expression::StorageIndex>;
    const Eigen::Ref<const Plain, Eigen::StandardCompressedFormat> ref(A.derived());
    if (ref.outerIndexPtr() && ref.outerIndexPtr()[0] == 0) return use(arrays(ref));
    Plain copy(ref);
    copy.makeCompressed();
    use(arrays(copy));
}

inline Eigen::ComputationInfo computation_info(int status)
{
    if (status == TRS_OK) return Eigen::Success;
    if (status == TRS_EPIVOT || status == TRS_EGROWTH) return Eigen::NumericalIssue;
    return Eigen::InvalidInput;
}

} // namespace detail

/* op(A) x = b with the factors that a solver has. */
template <class Solver> class TransposeView : public Eigen::SparseSolverBase<TransposeView<Solver>>
{
  public:
    using Scalar = typename Solver::Scalar;
    using StorageIndex = typename Solver::StorageIndex;
    enum { ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic };

    TransposeView(const Solver &solver, trs_op op) : solver_(&solver), op_(op)
    {
        this->m_isInitialized = true;
    }
    TransposeView(const TransposeView &from) : TransposeView(*from.solver_, from.op_) {}
    Eigen::Index rows() const { return solver_->rows(); }
    Eigen::Index cols() const { return solver_->cols(); }

    using Eigen::SparseSolverBase<TransposeView>::_solve_impl;
    template <class B, class X>
    void _solve_impl(const Eigen::MatrixBase<B> &b, Eigen::MatrixBase<X> &x) const
    {
        solver_->solve_op(op_, b, x);
    }

  private:
    const Solver *solver_;
    trs_op op_;
};

/* What the solvers have in common.  Derived has first_values(trs_mat), new_values(trs_mat) and run(trs_op, ...), which
 * return a trs_status, reset(), which forgets the pattern, and device(), that of its options. */
template <class Derived, class Type> class EigenSolver : public Eigen::SparseSolverBase<Derived>
{
    using Base = Eigen::SparseSolverBase<Derived>;

  public:
    using Base::derived;
    using Scalar = typename detail::Traits<Type>::Scalar;
    using RealScalar = typename Eigen::NumTraits<Scalar>::Real;
    using StorageIndex = typename detail::Traits<Type>::StorageIndex;
    using MatrixType = Eigen::SparseMatrix<Scalar, Eigen::ColMajor, StorageIndex>;
    enum { ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic };

    template <class Matrix> Derived &analyzePattern(const Matrix &)
    {
        derived().reset();
        has_pattern_ = false;
        record(TRS_OK);
        return derived();
    }
    template <class Matrix> Derived &factorize(const Matrix &A)
    {
        static_assert(std::is_same_v<typename Matrix::Scalar, Scalar>, "A has other numbers");
        this->m_isInitialized = true;
        rows_ = A.rows();
        cols_ = A.cols();
        if (rows_ != cols_) return refuse("the matrix is not square");
        if (derived().device() > 0) return refuse("vectors of Eigen are on the host");
        detail::with_arrays(A, [this](const trs_mat &mat) { take(mat); });
        return derived();
    }
    template <class Matrix> Derived &compute(const Matrix &A)
    {
        return analyzePattern(A).factorize(A);
    }

    Eigen::Index rows() const { return rows_; }
    Eigen::Index cols() const { return cols_; }
    Eigen::ComputationInfo info() const
    {
        eigen_assert(this->m_isInitialized && "compute or factorize comes first");
        return detail::computation_info(status_);
    }
    int status() const { return status_; } /* a trs_status, which says more than info() */
    const std::string &lastErrorMessage() const { return sentence_; }

    TransposeView<Derived> transpose() const { return {derived(), TRS_T}; }
    TransposeView<Derived> adjoint() const { return {derived(), TRS_H}; }

    using Base::_solve_impl;
    template <class B, class X>
    void _solve_impl(const Eigen::MatrixBase<B> &b, Eigen::MatrixBase<X> &x) const
    {
        solve_op(TRS_N, b, x);
    }
    template <class B, class X>
    void solve_op(trs_op op, const Eigen::MatrixBase<B> &b, Eigen::MatrixBase<X> &x) const
    {
        const Eigen::Ref<const Dense, 0, Eigen::OuterStride<>> from(b.derived());
        if constexpr (by_columns<X>) {
            solve_columns(op, from, x.derived());
        } else {
            Dense columns(x.rows(), x.cols());
            solve_columns(op, from, columns);
            x.derived() = columns;
        }
    }

  private:
    using Dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    template <class X>
    static constexpr bool by_columns =
        bool(Eigen::internal::traits<Eigen::Ref<Dense, 0, Eigen::OuterStride<>>>::template match<
             X>::MatchAtCompileTime);

    /* The first values of a pattern, or new ones.  What a bad pivot stopped takes new values too. */
    void take(const trs_mat &mat)
    {
        const int status = has_pattern_ ? derived().new_values(mat) : derived().first_values(mat);
        record(status);
        if (status == TRS_OK || status == TRS_EPIVOT) has_pattern_ = true;
        else if (!has_pattern_) derived().reset();
    }
    template <class From, class To> void solve_columns(trs_op op, const From &b, To &x) const
    {
        int status = TRS_EARG;
        if (b.rows() == rows_ && b.cols() <= std::numeric_limits<int>::max())
            status = derived().run(op, static_cast<int>(b.cols()), b.data(), stride(b), x.data(),
                                   stride(x));
        if (status == TRS_OK) return;
        if (status_ == TRS_OK) record(status);
        x.setConstant(Scalar(std::numeric_limits<RealScalar>::quiet_NaN()));
    }
    template <class Columns> std::int64_t stride(const Columns &x) const
    {
        return x.cols() > 1 ? x.outerStride() : rows_;
    }
    void record(int status) const
    {
        status_ = status;
        sentence_ = status ? trs_message() : "";
        if (status == TRS_EMEM) Eigen::internal::throw_std_bad_alloc();
    }
    Derived &refuse(const char *why)
    {
        status_ = TRS_EARG;
        sentence_ = why;
        derived().reset();
        has_pattern_ = false;
        return derived();
    }

    Eigen::Index rows_ = 0, cols_ = 0;
    bool has_pattern_ = false;
    mutable int status_ = TRS_OK;
    mutable std::string sentence_;
};

/* T x = b; what A has in the other triangle is not looked at.
 *     Type ; an Eigen::SparseMatrix, or a type of numbers.
 *     UpLo ; Eigen::Lower, Upper, UnitLower or UnitUpper, as for triangularView. */
template <class Type, int UpLo = Eigen::Lower>
class Triangular : public EigenSolver<Triangular<Type, UpLo>, Type>
{
    static_assert(UpLo == Eigen::Lower || UpLo == Eigen::Upper || UpLo == Eigen::UnitLower ||
                      UpLo == Eigen::UnitUpper,
                  "one triangle");

  public:
    Triangular() = default;
    template <class Matrix> explicit Triangular(const Matrix &A) { this->compute(A); }
    trs_options &options() { return options_; }
    trs_plan *handle() const { return plan_.get(); } /* for the functions of trisolve-sparse.h */

  private:
    friend class EigenSolver<Triangular, Type>;
    static constexpr unsigned kind =
        ((UpLo & Eigen::Lower) ? TRS_LOWER : TRS_UPPER) | ((UpLo & Eigen::UnitDiag) ? TRS_UNIT : 0);
    int first_values(trs_mat T)
    {
        T.kind = kind;
        const int status = trs_plan_create(plan_.out(), &T, &options_);
        return status ? status : trs_plan_analyse(plan_.get());
    }
    int new_values(trs_mat T)
    {
        T.kind = kind;
        return trs_plan_update(plan_.get(), &T, nullptr);
    }
    int run(trs_op op, int nrhs, const void *b, std::int64_t ldb, void *x, std::int64_t ldx) const
    {
        return trs_solve(plan_.get(), op, nrhs, b, ldb, x, ldx, nullptr);
    }
    void reset() { plan_.reset(); }
    int device() const { return options_.device; }

    Owner<trs_plan> plan_;
    trs_options options_{};
};

/* Solves with factors.  Derived has make(trs_lu **, trs_mat), which returns a trs_status; Options is the structure of
 * its options. */
template <class Derived, class Type, class Options>
class FactorSolver : public EigenSolver<Derived, Type>
{
  public:
    Options &options() { return options_; }
    trs_lu *handle() const { return lu_.get(); } /* for the functions of trisolve-sparse.h */

  private:
    friend class EigenSolver<Derived, Type>;
    int first_values(const trs_mat &A) { return this->derived().make(lu_.out(), A); }
    int new_values(const trs_mat &A) { return trs_lu_update(lu_.get(), &A); }
    int run(trs_op op, int nrhs, const void *b, std::int64_t ldb, void *x, std::int64_t ldx) const
    {
        return trs_lu_solve(lu_.get(), op, nrhs, b, ldb, x, ldx, nullptr);
    }
    void reset() { lu_.reset(); }
    int device() const { return options_.plan.device; }

    Owner<trs_lu> lu_;

  protected:
    Options options_{};
};

/* M x = b with incomplete factors M = L U of A, or L L^H of its lower triangle; options().level lets in fill. */
template <class Type, trs_ilu_method Method>
class Incomplete : public FactorSolver<Incomplete<Type, Method>, Type, trs_ilu_options>
{
  public:
    Incomplete() { this->options_.method = Method; }
    template <class Matrix> explicit Incomplete(const Matrix &A) : Incomplete()
    {
        this->compute(A);
    }

  private:
    friend class FactorSolver<Incomplete, Type, trs_ilu_options>;
    int make(trs_lu **lu, const trs_mat &A) const { return trs_ilu(lu, &A, &this->options_); }
};
template <class Type> using ILU0 = Incomplete<Type, TRS_ILU0>;
template <class Type> using IC0 = Incomplete<Type, TRS_IC0>;
/* options ().drop_tol and fill_factor say which entries these keep. */
template <class Type> using ILUT = Incomplete<Type, TRS_ILUT>;
template <class Type> using ICT = Incomplete<Type, TRS_ICT>;
/* options ().block is the size of their blocks; 0: it is found. */
template <class Type> using DILU = Incomplete<Type, TRS_DILU>;
template <class Type> using BlockJacobi = Incomplete<Type, TRS_BLOCK_JACOBI>;

#ifdef TRISOLVE_SUITESPARSE_H
/* A x = b with complete factors by UMFPACK, KLU or, where A is Hermitian positive definite, CHOLMOD. */
template <class Type> class LU : public FactorSolver<LU<Type>, Type, trs_factor_options>
{
  public:
    LU() = default;
    template <class Matrix> explicit LU(const Matrix &A) { this->compute(A); }

  private:
    friend class FactorSolver<LU, Type, trs_factor_options>;
    int make(trs_lu **lu, const trs_mat &A) const { return trs_factor(lu, &A, &this->options_); }
};
#endif

} // namespace trisolve
#endif
