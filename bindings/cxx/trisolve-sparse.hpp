/* trisolve-sparse.hpp: trisolve-sparse.h in C++17: owners, exceptions, arrays of any kind.
 *
 *     auto L = trisolve::csr(ptr, idx, val, TRS_LOWER);     a description; the arrays stay the caller's
 *     trisolve::Plan<double> plan(L);                       checks L
 *     plan.analyse();                                       levels, choice of a solver
 *     plan.solve(b, x);                                     L x = b, as often as wanted
 *
 * Every method is one call of the C function whose page of the manual says what it does; this header adds
 * who frees, the type of the numbers, and the lengths of arrays, which it checks.  An array is whatever std::data and
 * std::size take: std::vector, std::array, a C array, std::span, Span; of device memory, Span.
 *
 * A failure is thrown as trisolve::Error, with the code and the library's sentence.  Who wants codes calls the
 * C functions with get(), and fills an owner through out():
 *     trisolve::Plan<double> plan;
 *     int rc = trs_plan_create(plan.out(), &L, nullptr);
 *
 * Numbers are float, double, std::complex<float> or std::complex<double>. */
#ifndef TRISOLVE_SPARSE_HPP
#define TRISOLVE_SPARSE_HPP

#include "trisolve-sparse.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace trisolve
{

/* ---- errors ------------------------------------------------------------------------------ */

class Error : public std::runtime_error
{
  public:
    /* What the last call of this thread had to say. */
    explicit Error(int status)
        : Error(status, *trs_message() ? trs_message() : trs_strerror(status))
    {
    }
    Error(int status, const std::string &sentence) : std::runtime_error(sentence), status_(status)
    {
    }
    int status() const noexcept { return status_; } /* a trs_status */

  private:
    int status_;
};

/* Throw it; a program that is compiled without exceptions ends with the sentence. */
[[noreturn]] inline void raise(const Error &error)
{
#ifdef __cpp_exceptions
    throw error;
#else
    std::fprintf(stderr, "trisolve: %s\n", error.what());
    std::abort();
#endif
}

inline void check(int status)
{
    if (status != TRS_OK) raise(Error(status));
}

/* ---- numbers and arrays ------------------------------------------------------------------ */

/* The trs_dtype of a type of numbers; other types have none, and do not compile. */
template <class Scalar> struct Dtype;
template <> struct Dtype<double> : std::integral_constant<trs_dtype, TRS_F64> {
};
template <> struct Dtype<float> : std::integral_constant<trs_dtype, TRS_F32> {
};
template <> struct Dtype<std::complex<double>> : std::integral_constant<trs_dtype, TRS_C64> {
};
template <> struct Dtype<std::complex<float>> : std::integral_constant<trs_dtype, TRS_C32> {
};

/* A pointer and a length, for arrays that have no other form. */
template <class T> class Span
{
  public:
    Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

  private:
    T *data_;
    std::size_t size_;
};

/* What an array holds. */
template <class Array>
using Element =
    std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<Array &>()))>>;

/* ---- matrices ---------------------------------------------------------------------------- */

/* A trs_mat whose values are of type Scalar: every member can be changed, as base and device. */
template <class Scalar> struct Matrix : trs_mat {
};

namespace detail
{

template <class Index> constexpr int bits()
{
    static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                  "indices are integers of 32 or 64 bits");
    return 8 * static_cast<int>(sizeof(Index));
}

template <class Ptr, class Idx, class Val>
Matrix<Element<const Val>> compressed(trs_format format, const Ptr &ptr, const Idx &idx,
                                      const Val &val, int block, unsigned kind)
{
    using Scalar = Element<const Val>;
    const std::size_t numbers = static_cast<std::size_t>(block) * static_cast<std::size_t>(block);
    if (block < 1 || std::size(ptr) < 1 || std::size(val) != std::size(idx) * numbers)
        raise(Error(TRS_EARG, "a matrix of " + std::to_string(std::size(idx)) + " indices and " +
                                  std::to_string(std::size(val)) + " values, and " +
                                  std::to_string(std::size(ptr)) + " pointers"));
    Matrix<Scalar> A{};
    A.n = (static_cast<std::int64_t>(std::size(ptr)) - 1) * block;
    A.nnz = static_cast<std::int64_t>(std::size(idx));
    A.ptr = std::data(ptr);
    A.idx = std::data(idx);
    A.val = std::data(val);
    A.ptr_bits = bits<Element<const Ptr>>();
    A.idx_bits = bits<Element<const Idx>>();
    A.dtype = Dtype<Scalar>::value;
    A.format = format;
    A.kind = kind;
    A.block = block;
    return A;
}

} // namespace detail

/* Describe a square matrix by rows or by columns.
 *     ptr [n+1], idx [nnz] ; in: arrays of integers of 32 or 64 bits.     val [nnz] ; in.
 *     unsigned kind ; bits of trs_mat.kind; 0: a general matrix.
 * The arrays must live as long as the description is used.  Throws Error (TRS_EARG) where lengths do not match. */
template <class Ptr, class Idx, class Val>
auto csr(const Ptr &ptr, const Idx &idx, const Val &val, unsigned kind = 0)
{
    return detail::compressed(TRS_CSR, ptr, idx, val, 1, kind);
}
template <class Ptr, class Idx, class Val>
auto csc(const Ptr &ptr, const Idx &idx, const Val &val, unsigned kind = 0)
{
    return detail::compressed(TRS_CSC, ptr, idx, val, 1, kind);
}

/* The same of blocks, each block by columns.     ptr [n/block+1], idx [blocks], val [blocks*block*block] ; in. */
template <class Ptr, class Idx, class Val>
auto bsr(int block, const Ptr &ptr, const Idx &idx, const Val &val, unsigned kind = 0)
{
    return detail::compressed(TRS_BSR, ptr, idx, val, block, kind);
}

/* Describe a full matrix, by columns.     val [n*n] ; in.     Throws as csr does. */
template <class Val> auto dense(std::int64_t n, const Val &val, unsigned kind = 0)
{
    using Scalar = Element<const Val>;
    const auto rows = static_cast<std::size_t>(n);
    if (n < 0 || (n > 0 && (std::size(val) % rows != 0 || std::size(val) / rows != rows)))
        raise(Error(TRS_EARG, std::to_string(std::size(val)) + " values for a full matrix of " +
                                  std::to_string(n) + " rows"));
    Matrix<Scalar> A{};
    A.n = A.ld = n;
    A.val = std::data(val);
    A.dtype = Dtype<Scalar>::value;
    A.format = TRS_DENSE;
    A.kind = kind;
    return A;
}

/* ---- owners ------------------------------------------------------------------------------ */

namespace detail
{

inline void destroy(trs_plan *p) noexcept
{
    trs_plan_destroy(p);
}
inline void destroy(trs_work *p) noexcept
{
    trs_work_destroy(p);
}
inline void destroy(trs_lu *p) noexcept
{
    trs_lu_destroy(p);
}
inline void destroy(trs_lu_work *p) noexcept
{
    trs_lu_work_destroy(p);
}
inline void destroy(trs_krylov *p) noexcept
{
    trs_krylov_destroy(p);
}

} // namespace detail

/* Owns a handle of the C library: it can be moved, not copied.  One that is empty is refused by every function. */
template <class Handle> class Owner
{
  public:
    Owner() = default;
    Owner(Owner &&from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
    Owner &operator=(Owner &&from) noexcept
    {
        std::swap(handle_, from.handle_);
        return *this;
    }
    ~Owner() { detail::destroy(handle_); }

    Handle *get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    void reset() noexcept { detail::destroy(std::exchange(handle_, nullptr)); }
    Handle **out() noexcept /* where a C function puts a new handle */
    {
        reset();
        return &handle_;
    }

  private:
    Handle *handle_ = nullptr;
};

/* ---- right-hand sides --------------------------------------------------------------------- */

namespace detail
{

struct Columns {
    int nrhs;
    std::int64_t ld;
};

/* How many right-hand sides of n numbers two arrays hold, one after the other. */
template <class Scalar, class B, class X>
Columns columns(std::int64_t n, const B &b, const X &x, trs_layout layout)
{
    static_assert(std::is_same_v<Element<const B>, Scalar> &&
                      std::is_same_v<Element<const X>, Scalar>,
                  "b and x have the type of the matrix");
    const auto rows = static_cast<std::size_t>(n);
    const std::size_t nrhs = n > 0 ? std::size(b) / rows : 0;
    if (std::size(b) != nrhs * rows || std::size(x) != nrhs * rows)
        raise(Error(TRS_EARG, "b has " + std::to_string(std::size(b)) + " numbers, x " +
                                  std::to_string(std::size(x)) + ", and the matrix " +
                                  std::to_string(n) + " rows"));
    if (nrhs > 0x7fffffff) raise(Error(TRS_EARG, "more than 2^31 - 1 right-hand sides"));
    return {static_cast<int>(nrhs), layout == TRS_ROW_MAJOR ? static_cast<std::int64_t>(nrhs) : n};
}

} // namespace detail

struct Refined {
    int steps;       /* the most done for a column */
    trs_error error; /* of the x that is returned */
};

/* ---- plans -------------------------------------------------------------------------------- */

/* A triangle, analysed.  b [n*nrhs] and x [n*nrhs] are vectors, or matrices in the layout that exec says without gaps;
 * x may be b.  For others call the C function with get(). */
template <class Scalar> class Plan : public Owner<trs_plan>
{
  public:
    Plan() = default;
    explicit Plan(const Matrix<Scalar> &T, const trs_options &options = {})
    {
        check(trs_plan_create(out(), &T, &options));
    }
    void analyse() { check(trs_plan_analyse(get())); }
    void save(const std::string &file) const { check(trs_plan_save(get(), file.c_str())); }
    void load(const std::string &file) { check(trs_plan_load(get(), file.c_str())); }
    void update(const Matrix<Scalar> &T, const trs_exec &exec = {})
    {
        check(trs_plan_update(get(), &T, &exec));
    }

    template <class B, class X>
    void solve(const B &b, X &&x, trs_op op = TRS_N, const trs_exec &exec = {}) const
    {
        const auto c = detail::columns<Scalar>(info().n, b, x, exec.layout);
        check(trs_solve(get(), op, c.nrhs, std::data(b), c.ld, std::data(x), c.ld, &exec));
    }
    /* T may be of double precision where the plan is of single: then b and x are as T. */
    template <class Number, class B, class X>
    Refined refine(const Matrix<Number> &T, const B &b, X &&x, int max_steps = 10,
                   trs_op op = TRS_N, const trs_exec &exec = {}) const
    {
        const auto c = detail::columns<Number>(info().n, b, x, exec.layout);
        Refined r{};
        check(trs_refine(get(), &T, op, c.nrhs, std::data(b), c.ld, std::data(x), c.ld, &exec,
                         max_steps, &r.steps, &r.error));
        return r;
    }
    double condest(const Matrix<Scalar> &T, trs_norm norm = TRS_NORM_ONE) const
    {
        double rcond;
        check(trs_condest(get(), &T, norm, &rcond));
        return rcond;
    }
    /* How many pivots are bad.     int64_t *first ; out, NULL allowed: the first row with one. */
    std::int64_t bad_pivots(std::int64_t *first = nullptr) const
    {
        std::int64_t count;
        check(trs_plan_pivots(get(), &count, first));
        return count;
    }
    trs_det determinant() const
    {
        trs_det det;
        check(trs_plan_determinant(get(), &det));
        return det;
    }
    trs_info info() const
    {
        trs_info info;
        check(trs_plan_info(get(), &info));
        return info;
    }
};

/* What changes in a solve: each thread, or stream, that solves with the same plan brings one, as trs_exec.work. */
class Work : public Owner<trs_work>
{
  public:
    Work() = default;
    template <class Scalar> explicit Work(const Plan<Scalar> &plan, int max_nrhs = 1)
    {
        check(trs_work_create(out(), plan.get(), max_nrhs));
    }
    template <class Scalar> void fit(const Plan<Scalar> &plan, int max_nrhs = 1)
    {
        check(trs_work_fit(get(), plan.get(), max_nrhs));
    }
};

/* ---- factors ------------------------------------------------------------------------------ */

/* Factors of a matrix, as ilu makes them, or factor of trisolve-suitesparse.hpp.  b and x are as in Plan. */
template <class Scalar> class Factors : public Owner<trs_lu>
{
  public:
    void update(const Matrix<Scalar> &A, const trs_exec &exec = {})
    {
        check(trs_lu_update_on(get(), &A, &exec));
    }
    /* Throws Error where the last update was not good.     bad, first, growth ; out, NULL allowed. */
    void status(std::int64_t *bad = nullptr, std::int64_t *first = nullptr,
                double *growth = nullptr)
    {
        check(trs_lu_status(get(), bad, first, growth));
    }
    /* Not const: without exec.lu_work the factors' own work space is used. */
    template <class B, class X>
    void solve(const B &b, X &&x, trs_op op = TRS_N, const trs_exec &exec = {})
    {
        const auto c = detail::columns<Scalar>(info().n, b, x, exec.layout);
        check(trs_lu_solve(get(), op, c.nrhs, std::data(b), c.ld, std::data(x), c.ld, &exec));
    }
    template <class B, class X>
    Refined refine(const Matrix<Scalar> &A, const B &b, X &&x, int max_steps = 10,
                   trs_op op = TRS_N, const trs_exec &exec = {})
    {
        const auto c = detail::columns<Scalar>(info().n, b, x, exec.layout);
        Refined r{};
        check(trs_lu_refine(get(), &A, op, c.nrhs, std::data(b), c.ld, std::data(x), c.ld, &exec,
                            max_steps, &r.steps, &r.error));
        return r;
    }
    double condest(const Matrix<Scalar> &A, trs_norm norm = TRS_NORM_ONE)
    {
        double rcond;
        check(trs_lu_condest(get(), &A, norm, &rcond));
        return rcond;
    }
    trs_det determinant() const
    {
        trs_det det;
        check(trs_lu_determinant(get(), &det));
        return det;
    }
    /* How many pivots, and so eigenvalues, are negative (trs_lu_inertia). */
    std::int64_t negative() const
    {
        std::int64_t count;
        check(trs_lu_inertia(get(), nullptr, &count, nullptr));
        return count;
    }
    /* How many pivots are blocks of two rows (trs_lu_middle). */
    std::int64_t blocks() const
    {
        std::vector<double> diagonal(static_cast<std::size_t>(info().n) + 1);
        std::int64_t count;
        check(trs_lu_middle(get(), diagonal.data(), nullptr, &count));
        return count;
    }
    trs_lu_info info() const
    {
        trs_lu_info info;
        check(trs_lu_get_info(get(), &info));
        return info;
    }
};

/* As Work, of factors: it is trs_exec.lu_work. */
class LuWork : public Owner<trs_lu_work>
{
  public:
    LuWork() = default;
    template <class Scalar> explicit LuWork(const Factors<Scalar> &factors, int max_nrhs = 1)
    {
        check(trs_lu_work_create(out(), factors.get(), max_nrhs));
    }
};

/* Make incomplete factors of A: ILU(0), or what options say. */
template <class Scalar>
Factors<Scalar> ilu(const Matrix<Scalar> &A, const trs_ilu_options &options = {})
{
    Factors<Scalar> factors;
    check(trs_ilu(factors.out(), &A, &options));
    return factors;
}

/* ---- Krylov methods ------------------------------------------------------------------------ */

/* What a Krylov method multiplies by: a matrix, or the inverse of factors or of a triangle.  It refers to them. */
template <class Scalar> trs_map map(const Matrix<Scalar> &A, trs_op op = TRS_N)
{
    trs_map m{};
    m.mat = &A;
    m.op = op;
    return m;
}
template <class Scalar> trs_map map(const Factors<Scalar> &factors, trs_op op = TRS_N)
{
    trs_map m{};
    m.lu = factors.get();
    m.op = op;
    return m;
}
template <class Scalar> trs_map map(const Plan<Scalar> &plan, trs_op op = TRS_N)
{
    trs_map m{};
    m.plan = plan.get();
    m.op = op;
    return m;
}
/* Or, on the host, a function f (x, y), y = F x, with pointers to const Scalar and Scalar.  It is referred to, and throws
 * nothing. */
template <class Scalar, class Function> trs_map map_by(Function &f)
{
    trs_map m{};
    m.user = const_cast<void *>(static_cast<const void *>(std::addressof(f)));
    m.apply = [](void *user, const void *x, void *y, void *) noexcept {
        (*static_cast<Function *>(user))(static_cast<const Scalar *>(x), static_cast<Scalar *>(y));
        return static_cast<int>(TRS_OK);
    };
    return m;
}

/* The vectors of a method. */
template <class Scalar> class Krylov : public Owner<trs_krylov>
{
  public:
    Krylov() = default;
    Krylov(trs_krylov_method method, std::int64_t n, trs_krylov_options options = {}) : n_(n)
    {
        options.method = method;
        options.dtype = Dtype<Scalar>::value;
        options.n = n;
        check(trs_krylov_create(out(), &options));
    }
    /* b and x as of Plan, by columns.     const trs_map *M ; in, nullptr: no preconditioner.
     *     trs_krylov_info *info ; out [nrhs], nullptr: not wanted. */
    template <class B, class X>
    void solve(const trs_map &A, const trs_map *M, const B &b, X &&x,
               const trs_krylov_goal &goal = {}, trs_krylov_info *info = nullptr)
    {
        const auto c = detail::columns<Scalar>(n_, b, x, TRS_COL_MAJOR);
        check(trs_krylov_solve(get(), &A, M, c.nrhs, std::data(b), c.ld, std::data(x), c.ld, &goal,
                               info));
    }

  private:
    std::int64_t n_ = 0;
};

/* ---- without a plan ------------------------------------------------------------------------ */

/* y = op(A) x in working precision.     x [n*nrhs] ; in.     y [n*nrhs] ; out: it must not overlap x. */
template <class Scalar, class X, class Y>
void multiply(const Matrix<Scalar> &A, const X &x, Y &&y, trs_op op = TRS_N,
              const trs_exec &exec = {})
{
    const auto c = detail::columns<Scalar>(A.n, x, y, exec.layout);
    check(trs_multiply_on(&A, op, c.nrhs, std::data(x), c.ld, std::data(y), c.ld, &exec));
}

/* Compare op(A) x with b. */
template <class Scalar, class B, class X>
trs_error backward_error(const Matrix<Scalar> &A, const B &b, const X &x, trs_op op = TRS_N,
                         trs_layout layout = TRS_COL_MAJOR)
{
    const auto c = detail::columns<Scalar>(A.n, b, x, layout);
    trs_error error;
    check(
        trs_backward_error(&A, op, c.nrhs, std::data(b), c.ld, std::data(x), c.ld, layout, &error));
    return error;
}

} // namespace trisolve
#endif
