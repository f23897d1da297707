/* t_eigen.cpp: the solvers of trisolve-eigen.hpp against Eigen's own: triangularView, SparseLU, SimplicialLDLT,
 * IncompleteLUT and IncompleteCholesky, on matrices of the tree and random ones. */
#include "config.h"

#include "trisolve-eigen.hpp"

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <utility>
#include <vector>

#include "tests/bindings/cmocka.hpp" /* last: it has macros of common names */

namespace
{

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using SpMat = Eigen::SparseMatrix<double>;

template <class Scalar> using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar>
const double eps = double(Eigen::NumTraits<typename Eigen::NumTraits<Scalar>::Real>::epsilon());

/* ---- matrices and comparisons -------------------------------------------------------------- */

template <class Scalar> Scalar number_of(const trs_mm &mm, std::int64_t k)
{
    const auto *x = static_cast<const double *>(mm.val);
    if constexpr (!std::is_floating_point_v<Scalar>)
        if (mm.dtype == TRS_C64) return Scalar(float(x[2 * k]), float(x[2 * k + 1]));
    return Scalar(float(x[k])); /* so that single precision holds the same matrix */
}

/* A matrix of the tree, rounded to single precision. */
template <class Matrix> Matrix read(const std::string &name)
{
    using Scalar = typename Matrix::Scalar;
    trs_mm mm;
    trs_mm_options options{};
    options.format = TRS_COO;
    if (trs_mm_read(matrix_file(name).c_str(), &options, &mm)) fail_msg("%s", trs_message());
    std::vector<Eigen::Triplet<Scalar>> entries;
    for (std::int64_t k = 0; k < mm.nnz; k++)
        entries.emplace_back(mm.row[k], mm.idx[k], number_of<Scalar>(mm, k));
    Matrix A(mm.rows, mm.cols);
    A.setFromTriplets(entries.begin(), entries.end());
    trs_mm_free(&mm);
    return A;
}

/* A random matrix with a dominant diagonal, some entries a row. */
template <class Matrix> Matrix random_matrix(int n, int a_row)
{
    using Scalar = typename Matrix::Scalar;
    using Place = typename Matrix::StorageIndex;
    std::vector<Eigen::Triplet<Scalar, Place>> entries;
    for (int i = 0; i < n; i++) {
        entries.emplace_back(i, i, Scalar(float(2 * a_row)));
        for (int k = 0; k < a_row; k++)
            entries.emplace_back(i, Place(std::fabs(random_number<double>()) * n),
                                 random_number<Scalar>());
    }
    Matrix A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

template <class Scalar, class Size> Vector<Scalar> random_vector(Size n)
{
    return Vector<Scalar>::NullaryExpr(Index(n), [](Index) { return random_number<Scalar>(); });
}

template <class X, class Y> void assert_close(const X &x, const Y &y, double factor = 1000)
{
    using Scalar = typename X::Scalar;
    const double error = double((x - y).norm()), size = double(y.norm());
    assert_true(error <= factor * eps<Scalar> * size);
}

/* The normwise backward error of x, for which op(A) x is Ax, is that of a stable method. */
template <class Matrix, class Product, class X, class B>
void assert_residual(const Matrix &A, const Product &Ax, const X &x, const B &b, double factor)
{
    const double size = double(A.norm()) * double(x.norm()) + double(b.norm());
    assert_true(double((Ax - b).norm()) <= factor * eps<typename X::Scalar> * size);
}

template <class Matrix, class X, class B>
void assert_solves(const Matrix &A, const X &x, const B &b, double factor = 1000)
{
    assert_residual(A, A * x, x, b, factor);
}

/* ---- triangles ------------------------------------------------------------------------------ */

/* Against triangularView. */
template <int UpLo> void compare_triangle(const SpMat &A)
{
    const auto b = random_vector<double>(A.rows());
    const trisolve::Triangular<SpMat, UpLo> T(A);
    assert_close(T.solve(b).eval(), A.triangularView<UpLo>().solve(b).eval());
}

void test_triangles(void **)
{
    SpMat A = random_matrix<SpMat>(70, 5);
    compare_triangle<Eigen::Lower>(A);
    compare_triangle<Eigen::Upper>(A);
    A *= 0.01; /* so that a unit triangle is well-conditioned */
    compare_triangle<Eigen::UnitLower>(A);
    compare_triangle<Eigen::UnitUpper>(A);
}

/* Memory of a plan that is counted: an update takes less than what an analysis does. */
int allocations;
void *count_and_allocate(void *, std::size_t bytes)
{
    allocations++;
    return std::malloc(bytes);
}

/* All ops of a solver by residuals, and new values for the same pattern.  trs_options &plan ; of its options. */
template <class Solver, class Matrix>
void solve_all_ops(Solver &solver, trs_options &plan, const Matrix &A)
{
    using Scalar = typename Matrix::Scalar;
    const double factor = 1e5;
    plan.ops = 1 << TRS_N | 1 << TRS_T | 1 << TRS_H;
    plan.memory.alloc = count_and_allocate;
    plan.memory.free = [](void *, void *p) { std::free(p); };
    allocations = 0;
    const auto b = random_vector<Scalar>(A.rows());
    if (solver.compute(A).info() != Eigen::Success)
        fail_msg("%s", solver.lastErrorMessage().c_str());
    assert_int_equal(solver.rows(), A.rows());
    assert_int_equal(solver.cols(), A.cols());
    Vector<Scalar> x = solver.solve(b);
    assert_residual(A, A * x, x, b, factor);
    x = solver.transpose().solve(b);
    assert_residual(A, A.transpose() * x, x, b, factor);
    x = solver.adjoint().solve(b);
    assert_residual(A, A.adjoint() * x, x, b, factor);
    const Matrix changed = A * Scalar(2); /* no other pivots */
    const int analysis = std::exchange(allocations, 0);
    assert_int_equal(solver.factorize(changed).info(), Eigen::Success); /* it prepares for more */
    allocations = 0;
    assert_int_equal(solver.factorize(changed).info(), Eigen::Success);
    assert_true(2 * allocations < analysis);
    x = solver.solve(b);
    assert_residual(changed, changed * x, x, b, factor);
}

template <class Matrix> void solve_triangle()
{
    const Matrix A = random_matrix<Matrix>(70, 5);
    trisolve::Triangular<Matrix> T;
    solve_all_ops(T, T.options(), Matrix(A.template triangularView<Eigen::Lower>()));
}

void test_types_of_triangles(void **)
{
    solve_triangle<Eigen::SparseMatrix<double, Eigen::RowMajor, long>>();
    solve_triangle<Eigen::SparseMatrix<float, Eigen::RowMajor>>();
    solve_triangle<Eigen::SparseMatrix<std::complex<double>, Eigen::ColMajor, long>>();
    solve_triangle<Eigen::SparseMatrix<std::complex<float>>>();
}

/* ---- the forms of matrices and right-hand sides ----------------------------------------------- */

void test_forms_of_matrices(void **)
{
    const SpMat A = random_matrix<SpMat>(50, 4);
    const auto b = random_vector<double>(A.rows());
    const VectorXd x = A.triangularView<Eigen::Lower>().solve(b);
    trisolve::Triangular<double> T(A);
    assert_close(T.solve(b).eval(), x);

    SpMat loose = A;
    loose.uncompress();
    loose.coeffRef(0, 49) = 3; /* in the other triangle */
    assert_false(loose.isCompressed());
    assert_close(T.compute(loose).solve(b).eval(), x);
    const Eigen::Map<const SpMat> map(A.rows(), A.cols(), A.nonZeros(), A.outerIndexPtr(),
                                      A.innerIndexPtr(), A.valuePtr());
    assert_close(T.compute(map).solve(b).eval(), x);
    assert_close(T.compute(A + A).solve(b).eval(), x / 2);
    const Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows = A;
    assert_close(T.compute(by_rows).solve(b).eval(), x);
    assert_close(T.compute(A.transpose().eval().transpose()).solve(b).eval(), x);

    SpMat wide(50, 120);
    wide.middleCols(60, 50) = A;
    wide.coeffRef(7, 3) = 1; /* so that the block does not begin with the arrays */
    wide.makeCompressed();
    assert_close(T.compute(wide.middleCols(60, 50)).solve(b).eval(), x);
    assert_close(T.compute(A.topLeftCorner(20, 20)).solve(b.head(20)).eval(), x.head(20).eval());

    T.compute(SpMat(0, 0));
    assert_int_equal(T.info(), Eigen::Success);
    assert_int_equal(T.solve(VectorXd(0)).eval().size(), 0);
}

void test_forms_of_right_hand_sides(void **)
{
    const SpMat A = random_matrix<SpMat>(40, 4);
    const MatrixXd B =
        MatrixXd::NullaryExpr(40, 7, [](Index, Index) { return random_number<double>(); });
    const MatrixXd expected = A.triangularView<Eigen::Lower>().solve(B);
    const trisolve::Triangular<SpMat> T(A);
    using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    MatrixXd X = T.solve(B);
    assert_close(X, expected);
    assert_close(T.solve(ByRows(B)).eval(), expected);
    ByRows rows = T.solve(B);
    assert_close(rows, expected);
    assert_close(T.solve(2 * B - B).eval(), expected);
    assert_close(T.solve(B.middleCols(2, 3)).eval(), expected.middleCols(2, 3).eval());
    MatrixXd wide = MatrixXd::Zero(60, 9);
    wide.block(10, 1, 40, 7) = T.solve(B);
    assert_close(wide.block(10, 1, 40, 7).eval(), expected);
    assert_close(wide, wide.block(10, 1, 40, 7).eval().norm() / wide.norm() * wide);
    wide.col(8).segment(3, 40) = T.solve(B.col(6));
    assert_close(wide.col(8).segment(3, 40).eval(), expected.col(6).eval());
    rows.row(0).setZero();
    rows.col(3) = T.solve(B.col(3)); /* a column with gaps */
    assert_close(rows.col(3).eval(), expected.col(3).eval());
    std::vector<double> array(40, 0);
    Eigen::Map<VectorXd>(array.data(), 40) = T.solve(B.col(1));
    assert_close(Eigen::Map<VectorXd>(array.data(), 40).eval(), expected.col(1).eval());
    X = B;
    X = T.solve(X); /* in place */
    assert_close(X, expected);
    X.resize(0, 0);
    X.noalias() = T.solve(B);
    assert_close(X, expected);
    const SpMat sparse = B.sparseView();
    const SpMat sparse_x = T.solve(sparse);
    assert_close(MatrixXd(sparse_x), expected);
    assert_int_equal(T.solve(MatrixXd(40, 0)).eval().cols(), 0);
}

/* ---- complete factors ------------------------------------------------------------------------- */

#ifdef HAVE_SUITESPARSE
template <class Matrix> void solve_with_lu(const char *name)
{
    print_message("%s\n", name);
    trisolve::LU<Matrix> lu;
    solve_all_ops(lu, lu.options().plan, read<Matrix>(name));
}

void test_lu(void **)
{
    for (const char *name : {"1138_bus.mtx", "bcsstk02.mtx", "bfwa62.mtx", "impcol_a.mtx",
                             "rdb3200l.mtx", "west0067.mtx"})
        solve_with_lu<SpMat>(name);
    solve_with_lu<Eigen::SparseMatrix<double, Eigen::RowMajor, long>>("west0067.mtx");
    solve_with_lu<Eigen::SparseMatrix<float, Eigen::RowMajor>>("bfwa62.mtx");
    solve_with_lu<Eigen::SparseMatrix<std::complex<double>, Eigen::ColMajor, long>>("qc324.mtx");
    solve_with_lu<Eigen::SparseMatrix<std::complex<float>>>("cg20.mtx");
}

/* About as near to the solution as SparseLU. */
void test_lu_against_sparse_lu(void **)
{
    for (const char *name : {"bfwa62.mtx", "impcol_a.mtx", "rdb3200l.mtx"}) {
        const auto A = read<SpMat>(name);
        const auto expected = random_vector<double>(A.rows());
        const VectorXd b = A * expected;
        const Eigen::SparseLU<SpMat> eigens(A);
        const trisolve::LU<SpMat> lu(A);
        const VectorXd x = lu.solve(b), y = eigens.solve(b);
        const double ours = (x - expected).norm(), theirs = (y - expected).norm();
        print_message("%s: error %.1e, SparseLU %.1e\n", name, ours, theirs);
        assert_true(ours <= 1000 * theirs + 100 * eps<double> * expected.norm());
    }
}

void test_lu_of_definite_matrix(void **)
{
    const auto A = read<SpMat>("1138_bus.mtx");
    const trisolve::LU<SpMat> lu(A);
    trs_lu_info info;
    assert_int_equal(trs_lu_get_info(lu.handle(), &info), TRS_OK);
    print_message("%s\n", info.library);
    const Eigen::SimplicialLDLT<SpMat> ldlt(A);
    const auto b = random_vector<double>(A.rows());
    const VectorXd x = lu.solve(b), y = ldlt.solve(b);
    assert_close(x, y, 1e9); /* a condition of 1e7 */
    assert_solves(A, x, b);
}

/* Another pattern and another size, without and with analyzePattern. */
void test_lu_of_other_patterns(void **)
{
    trisolve::LU<SpMat> lu(random_matrix<SpMat>(30, 3));
    const SpMat other = random_matrix<SpMat>(30, 4), larger = random_matrix<SpMat>(45, 4);
    lu.factorize(other);
    auto b = random_vector<double>(30);
    VectorXd x = lu.solve(b);
    assert_solves(other, x, b);
    lu.analyzePattern(larger);
    assert_int_equal(lu.info(), Eigen::Success);
    lu.factorize(larger);
    b = random_vector<double>(45);
    x = lu.solve(b);
    assert_solves(larger, x, b);
    assert_int_equal(lu.rows(), 45);
    lu.factorize(other); /* refused or solved, never a crash */
    if (lu.info() == Eigen::Success) {
        x = lu.solve(VectorXd::Ones(30));
        assert_solves(other, x, VectorXd::Ones(30));
    } else assert_int_equal(lu.info(), Eigen::InvalidInput);
}
#endif

/* ---- incomplete factors ------------------------------------------------------------------------ */

/* Five points on a grid, with convection along x. */
template <class Matrix> Matrix grid(int m, double convection)
{
    using Scalar = typename Matrix::Scalar;
    std::vector<Eigen::Triplet<Scalar>> entries;
    const auto couple = [&](int i, int j, double a) {
        entries.emplace_back(i, j, Scalar(float(a)));
    };
    for (int i = 0; i < m * m; i++) {
        couple(i, i, 4);
        if (i % m) couple(i, i - 1, -1 - convection), couple(i - 1, i, -1 + convection);
        if (i >= m) couple(i, i - m, -1), couple(i - m, i, -1);
    }
    Matrix A(m * m, m * m);
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

/* Without fill in the complete factors the incomplete ones are complete: an arrow that points down. */
template <class Matrix> void exact_incomplete_factors()
{
    using Scalar = typename Matrix::Scalar;
    const int n = 60;
    std::vector<Eigen::Triplet<Scalar>> entries;
    for (int i = 0; i < n; i++) {
        entries.emplace_back(i, i, Scalar(float(i < n - 1 ? 2 : 2 * n)));
        if (i == n - 1) continue;
        const Scalar a = random_number<Scalar>();
        entries.emplace_back(n - 1, i, a);
        entries.emplace_back(i, n - 1, Eigen::numext::conj(a));
    }
    Matrix A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    const auto b = random_vector<Scalar>(n);
    const trisolve::ILU0<Matrix> ilu(A);
    const trisolve::IC0<Matrix> ic(A), of_a_half(Matrix(A.template triangularView<Eigen::Lower>()));
    assert_int_equal(ilu.info(), Eigen::Success);
    assert_int_equal(ic.info(), Eigen::Success);
    Vector<Scalar> x = ilu.solve(b);
    assert_solves(A, x, b);
    x = ic.solve(b);
    assert_solves(A, x, b);
    x = of_a_half.solve(b);
    assert_solves(A, x, b);
}

void test_incomplete_factors(void **)
{
    exact_incomplete_factors<Eigen::SparseMatrix<double, Eigen::RowMajor, long>>();
    exact_incomplete_factors<Eigen::SparseMatrix<float, Eigen::RowMajor>>();
    exact_incomplete_factors<Eigen::SparseMatrix<std::complex<double>, Eigen::ColMajor, long>>();
    exact_incomplete_factors<Eigen::SparseMatrix<std::complex<float>>>();
}

/* Steps to a residual of 1e-10; all that are allowed, where a solver of Eigen's alone does not get there. */
template <class Solver, class Matrix, class Scalar>
Index iterations(Solver &solver, const Matrix &A, const Vector<Scalar> &b, bool may_fail = false)
{
    solver.setTolerance(1e-10);
    solver.compute(A);
    const Vector<Scalar> x = solver.solve(b);
    if (may_fail && solver.info() == Eigen::NoConvergence) return solver.maxIterations();
    assert_int_equal(solver.info(), Eigen::Success);
    assert_true((A * x - b).norm() <= 1e-9 * b.norm());
    return solver.iterations();
}

template <class Preconditioner>
using CG = Eigen::ConjugateGradient<SpMat, Eigen::Lower | Eigen::Upper, Preconditioner>;

void test_conjugate_gradients(void **)
{
    for (const SpMat &A : {grid<SpMat>(40, 0), read<SpMat>("1138_bus.mtx")}) {
        const auto b = random_vector<double>(A.rows());
        CG<trisolve::IC0<SpMat>> ours;
        CG<Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>>> eigens;
        CG<Eigen::DiagonalPreconditioner<double>> diagonal;
        const Index mine = iterations(ours, A, b), other = iterations(eigens, A, b, true),
                    plain = iterations(diagonal, A, b, true);
        print_message(
            "%d unknowns: CG takes %d steps with IC0, %d with Eigen's, %d with the diagonal\n",
            int(A.rows()), int(mine), int(other), int(plain));
        assert_true(4 * mine <= 5 * other && mine < plain);

        /* new values */
        const SpMat changed = A * 2.0;
        ours.factorize(changed);
        const VectorXd x = ours.solve(b);
        assert_true((changed * x - b).norm() <= 1e-9 * b.norm());
    }
    using Complex = Eigen::SparseMatrix<std::complex<double>, Eigen::RowMajor>;
    const auto A = grid<Complex>(20, 0);
    Eigen::ConjugateGradient<Complex, Eigen::Lower | Eigen::Upper,
                             trisolve::IC0<std::complex<double>>>
        cg;
    iterations(cg, A, random_vector<std::complex<double>>(A.rows()));
}

void test_bicgstab(void **)
{
    for (const SpMat &A : {grid<SpMat>(40, 0.5), read<SpMat>("bfwa62.mtx")}) {
        const auto b = random_vector<double>(A.rows());
        Eigen::BiCGSTAB<SpMat, trisolve::ILU0<double>> ours, filled;
        Eigen::BiCGSTAB<SpMat, Eigen::DiagonalPreconditioner<double>> diagonal;
        Eigen::BiCGSTAB<SpMat, Eigen::IncompleteLUT<double>> eigens;
        Eigen::BiCGSTAB<SpMat, trisolve::ILUT<double>> large;
        Eigen::BiCGSTAB<SpMat, trisolve::DILU<double>> blocks;
        blocks.preconditioner().options().block = 2;
        filled.preconditioner().options().level = 2;
        large.preconditioner().options().drop_tol = 1e-3;
        const Index mine = iterations(ours, A, b), with_fill = iterations(filled, A, b),
                    with_large = iterations(large, A, b), plain = iterations(diagonal, A, b, true),
                    other = iterations(eigens, A, b, true);
        print_message("%d unknowns: BiCGSTAB takes %d steps with ILU0, %d with ILU(2), %d with "
                      "ILUT, %d with IncompleteLUT, %d with the diagonal\n",
                      int(A.rows()), int(mine), int(with_fill), int(with_large), int(other),
                      int(plain));
        assert_true(mine < plain && with_fill < mine && with_large < with_fill);
        assert_true(iterations(blocks, A, b) < plain);
    }
    const auto A = grid<Eigen::SparseMatrix<double, Eigen::RowMajor>>(20, 0.5);
    Eigen::BiCGSTAB<Eigen::SparseMatrix<double, Eigen::RowMajor>, trisolve::ILU0<double>> by_rows;
    iterations(by_rows, A, random_vector<double>(A.rows()));
}

/* ---- failures ---------------------------------------------------------------------------------- */

template <class Solver> void zero_pivot(Solver &solver)
{
    SpMat A = grid<SpMat>(5, 0);
    const SpMat good = A;
    for (Index k = 0; k < A.outerSize(); k++)
        for (SpMat::InnerIterator i(A, k); i; ++i)
            if (i.row() == 3 || i.col() == 3) i.valueRef() = 0;
    const VectorXd b = VectorXd::Ones(A.rows());
    assert_int_equal(solver.compute(A).info(), Eigen::NumericalIssue);
    assert_int_equal(solver.status(), TRS_EPIVOT);
    print_message("%s\n", solver.lastErrorMessage().c_str());
    assert_true(solver.lastErrorMessage().find("row 3") != std::string::npos);
    VectorXd x = solver.solve(b);
    assert_true(x.array().isNaN().all());
    assert_int_equal(solver.info(), Eigen::NumericalIssue);
    assert_int_equal(solver.factorize(good).info(), Eigen::Success);
    assert_true(solver.lastErrorMessage().empty());
    x = solver.solve(b);
    assert_true(x.allFinite());
}

void test_zero_pivots(void **)
{
    trisolve::Triangular<SpMat, Eigen::Upper> triangular;
    trisolve::ILU0<SpMat> ilu;
    trisolve::IC0<SpMat> ic;
    zero_pivot(triangular);
    zero_pivot(ilu);
    zero_pivot(ic);
#ifdef HAVE_SUITESPARSE
    trisolve::LU<SpMat> lu;
    zero_pivot(lu);
#endif
}

void test_invalid_input(void **)
{
    trisolve::ILU0<SpMat> ilu;
    const SpMat A = grid<SpMat>(4, 0);
    const VectorXd b = VectorXd::Ones(16);
    assert_int_equal(ilu.compute(SpMat(3, 4)).info(), Eigen::InvalidInput);
    assert_true(ilu.lastErrorMessage().find("square") != std::string::npos);
    ilu.options().plan.device = TRS_CUDA(0);
    assert_int_equal(ilu.compute(A).info(), Eigen::InvalidInput);
    ilu.options().plan.device = TRS_HOST;
    ilu.options().plan.solver = "no-such";
    assert_int_equal(ilu.compute(A).info(), Eigen::InvalidInput);
    assert_true(ilu.lastErrorMessage().find("no-such") != std::string::npos);
    ilu.options().plan.solver = nullptr;
    assert_int_equal(ilu.compute(A).info(), Eigen::Success);
    SpMat other = A;
    other.coeffRef(0, 15) = 1;
    other.makeCompressed();
    assert_int_equal(ilu.factorize(other).info(), Eigen::InvalidInput); /* another pattern */
    assert_int_equal(ilu.factorize(A).info(), Eigen::Success);
    VectorXd x = ilu.transpose().solve(b); /* not among the ops */
    assert_true(x.array().isNaN().all());
    assert_int_equal(ilu.info(), Eigen::InvalidInput);
    ilu.factorize(A);
    x.resize(15);
    ilu._solve_impl(VectorXd::Ones(15), x); /* what assertions of Eigen stop in debug builds */
    assert_true(x.array().isNaN().all());
    assert_int_equal(ilu.info(), Eigen::InvalidInput);
    CG<trisolve::IC0<SpMat>> cg;
    cg.compute(-A);
    assert_int_equal(cg.info(), Eigen::NumericalIssue);
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(test_triangles),
                                cmocka_unit_test(test_types_of_triangles),
                                cmocka_unit_test(test_forms_of_matrices),
                                cmocka_unit_test(test_forms_of_right_hand_sides),
#ifdef HAVE_SUITESPARSE
                                cmocka_unit_test(test_lu),
                                cmocka_unit_test(test_lu_against_sparse_lu),
                                cmocka_unit_test(test_lu_of_definite_matrix),
                                cmocka_unit_test(test_lu_of_other_patterns),
#endif
                                cmocka_unit_test(test_incomplete_factors),
                                cmocka_unit_test(test_conjugate_gradients),
                                cmocka_unit_test(test_bicgstab),
                                cmocka_unit_test(test_zero_pivots),
                                cmocka_unit_test(test_invalid_input)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
