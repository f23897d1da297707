/* t_cxx.cpp: owners, exceptions and arrays of trisolve-sparse.hpp, in four types of numbers.  What is solved is
 * compared with substitution on a full matrix, which is written here. */
#include "config.h"

#include "trisolve-sparse.hpp"
#ifdef HAVE_SUITESPARSE
#include "trisolve-suitesparse.hpp"
#endif

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>
#include <vector>

#include "tests/bindings/cmocka.hpp" /* last: it has macros of common names */

namespace
{

template <class Scalar> using Real = decltype(std::abs(Scalar()));
template <class Scalar> Scalar conjugate(Scalar a)
{
    if constexpr (std::is_floating_point_v<Scalar>) return a;
    else return std::conj(a);
}

/* A random lower triangle, full and by rows, with a diagonal that is larger than the rest of its row. */
template <class Scalar, class Ptr, class Idx> struct Lower {
    explicit Lower(int order) : n(order), full(std::size_t(n) * std::size_t(n))
    {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                if (j < i && (i + 3 * j) % 5) continue;
                const Scalar a = random_number<Scalar>() + Scalar(Real<Scalar>(j == i ? n + 2 : 0));
                full[std::size_t(i + n * j)] = a;
                idx.push_back(Idx(j));
                val.push_back(a);
            }
            ptr.push_back(Ptr(idx.size()));
        }
    }
    Scalar at(int i, int j) const { return full[std::size_t(i + n * j)]; }
    int n;
    std::vector<Scalar> full;
    std::vector<Ptr> ptr{0};
    std::vector<Idx> idx;
    std::vector<Scalar> val;
};

template <class Scalar> std::vector<Scalar> random_vector(int n)
{
    std::vector<Scalar> x(static_cast<std::size_t>(n));
    for (Scalar &a : x) a = random_number<Scalar>();
    return x;
}

/* x = op(L) \ b by substitution on the full matrix. */
template <class Triangle, class Scalar>
std::vector<Scalar> substitute(const Triangle &L, trs_op op, std::vector<Scalar> x)
{
    const int n = L.n;
    for (int k = 0; k < n; k++) {
        const int i = op == TRS_N ? k : n - 1 - k;
        const auto entry = [&](int j) {
            if (op == TRS_N) return L.at(i, j);
            return op == TRS_T ? L.at(j, i) : conjugate(L.at(j, i));
        };
        for (int j = 0; j < n; j++)
            if (j != i) x[std::size_t(i)] -= entry(j) * x[std::size_t(j)];
        x[std::size_t(i)] /= entry(i);
    }
    return x;
}

template <class Scalar>
void assert_close(const std::vector<Scalar> &x, const std::vector<Scalar> &y)
{
    double worst = 0, size = 0;
    assert_int_equal(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); i++) {
        worst = std::fmax(worst, double(std::abs(x[i] - y[i])));
        size = std::fmax(size, double(std::abs(y[i])));
        assert_true(std::isfinite(std::abs(x[i])));
    }
    assert_true(worst <= 100 * size * double(std::numeric_limits<Real<Scalar>>::epsilon()));
}

template <class Call> int status_of(Call call)
{
    try {
        call();
    } catch (const trisolve::Error &e) {
        print_message("%s\n", e.what());
        assert_true(e.what()[0] != 0);
        return e.status();
    }
    return TRS_OK;
}

template <class Scalar, class Ptr, class Idx> void solve_all_ops()
{
    const Lower<Scalar, Ptr, Idx> L(40);
    const auto T = trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER);
    trs_options options{};
    options.ops = 1 << TRS_N | 1 << TRS_T | 1 << TRS_H;
    trisolve::Plan<Scalar> plan(T, options);
    plan.analyse();
    assert_int_equal(plan.info().n, L.n);
    assert_int_equal(plan.info().nnz, L.val.size());
    const auto b = random_vector<Scalar>(L.n);
    for (trs_op op : {TRS_N, TRS_T, TRS_H}) {
        std::vector<Scalar> x(b.size());
        plan.solve(b, x, op);
        assert_close(x, substitute(L, op, b));
        assert_true(trisolve::backward_error(T, b, x, op).omega <=
                    200 * double(std::numeric_limits<Real<Scalar>>::epsilon()));
        std::vector<Scalar> y(b.size());
        trisolve::multiply(T, x, y, op);
        assert_close(y, b);
    }
    Real<Scalar> product = 1;
    for (int i = 0; i < L.n; i++) product *= std::abs(L.at(i, i)) / 40;
    const trs_det det = plan.determinant();
    assert_true(std::fabs(det.mantissa * std::pow(2., double(det.exponent)) /
                              (double(product) * std::pow(40., 40)) -
                          1) < 1e-4);
}

void test_types(void **)
{
    solve_all_ops<double, std::int32_t, std::int32_t>();
    solve_all_ops<float, std::int64_t, std::int32_t>();
    solve_all_ops<std::complex<double>, std::int64_t, std::int64_t>();
    solve_all_ops<std::complex<float>, std::size_t, std::uint32_t>();
}

void test_formats(void **)
{
    const Lower<double, int, int> L(12);
    const auto b = random_vector<double>(L.n), expected = substitute(L, TRS_N, b);
    /* the columns of L' are the rows of L */
    const std::vector<int> one_block{0, 1}, first{0};
    trisolve::Matrix<double> forms[] = {trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER),
                                        trisolve::csc(L.ptr, L.idx, L.val, TRS_UPPER),
                                        trisolve::dense(L.n, L.full, TRS_LOWER),
                                        trisolve::bsr(L.n, one_block, first, L.full, TRS_LOWER)};
    for (const auto &T : forms) {
        trs_options options{};
        options.ops = 1 << TRS_N | 1 << TRS_T;
        trisolve::Plan<double> plan(T, options);
        plan.analyse();
        std::vector<double> x(b.size());
        plan.solve(b, x, T.format == TRS_CSC ? TRS_T : TRS_N);
        assert_close(x, expected);
    }
}

void test_arrays_and_columns(void **)
{
    const Lower<double, int, int> L(5);
    trisolve::Plan<double> plan(trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER));
    plan.analyse();
    const std::array<double, 10> b{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    double x[10], by_rows[10];
    plan.solve(b, x); /* two columns */
    const std::vector<double> first(b.begin(), b.begin() + 5), second(b.begin() + 5, b.end());
    const auto one = substitute(L, TRS_N, first), two = substitute(L, TRS_N, second);
    assert_close(std::vector<double>(x, x + 5), one);
    assert_close(std::vector<double>(x + 5, x + 10), two);
    for (int i = 0; i < 5; i++)
        by_rows[2 * i] = b[std::size_t(i)], by_rows[2 * i + 1] = b[std::size_t(i + 5)];
    trs_exec exec{};
    exec.layout = TRS_ROW_MAJOR;
    trisolve::Span<double> same(by_rows, 10);
    plan.solve(same, same, TRS_N, exec);
    for (std::size_t i = 0; i < 5; i++) {
        assert_true(by_rows[2 * i] == x[i]);
        assert_true(by_rows[2 * i + 1] == x[i + 5]);
    }
    std::vector<double> short_one(4), none;
    assert_int_equal(status_of([&] { plan.solve(short_one, short_one); }), TRS_EARG);
    assert_int_equal(status_of([&] { plan.solve(first, short_one); }), TRS_EARG);
    plan.solve(none, none);
    assert_int_equal(status_of([&] { trisolve::csr(L.ptr, L.idx, short_one); }), TRS_EARG);
    const std::vector<int> no_pointers;
    assert_int_equal(status_of([&] { trisolve::csr(no_pointers, L.idx, L.val); }), TRS_EARG);
    assert_int_equal(status_of([&] { trisolve::dense(3, short_one); }), TRS_EARG);
}

static_assert(!std::is_copy_constructible_v<trisolve::Plan<double>>, "a plan has one owner");
static_assert(!std::is_copy_assignable_v<trisolve::Factors<double>>, "factors have one owner");
static_assert(std::is_nothrow_move_constructible_v<trisolve::Plan<float>>, "a plan can be moved");
static_assert(std::is_nothrow_move_assignable_v<trisolve::Work>, "a work space can be moved");

void test_moves(void **)
{
    const Lower<double, int, int> L(20);
    const auto b = random_vector<double>(L.n);
    std::vector<double> x(b.size());
    trisolve::Plan<double> first(trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER));
    first.analyse();
    std::vector<trisolve::Plan<double>> plans;
    plans.push_back(std::move(first));
    assert_false(bool(first));
    assert_int_equal(status_of([&] { first.solve(b, x); }), TRS_EARG);
    plans.emplace_back(); /* moves the other one again */
    plans[0].solve(b, x);
    assert_close(x, substitute(L, TRS_N, b));
    plans[1] = std::move(plans[0]);
    plans[1].solve(b, x);
    plans[1].reset();
    assert_int_equal(status_of([&] { plans[1].analyse(); }), TRS_EARG);
}

void test_pivots_and_updates(void **)
{
    Lower<double, int, int> L(20);
    const auto b = random_vector<double>(L.n);
    std::vector<double> x(b.size());
    const auto T = trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER);
    double &pivot = L.val[std::size_t(L.ptr[8] - 1)];
    const double good = std::exchange(pivot, 0);
    trisolve::Plan<double> plan(T);
    assert_int_equal(status_of([&] { plan.analyse(); }), TRS_EPIVOT);
    std::int64_t row = -1;
    assert_int_equal(plan.bad_pivots(&row), 1);
    assert_int_equal(row, 7);
    assert_int_equal(status_of([&] { plan.solve(b, x); }), TRS_ESTATE);
    pivot = good;
    plan.update(T);
    plan.solve(b, x);
    assert_close(x, substitute(L, TRS_N, b));

    /* codes in place of exceptions */
    trisolve::Plan<double> by_codes;
    trs_options options{};
    options.solver = "no-such";
    assert_int_equal(trs_plan_create(by_codes.out(), &T, &options), TRS_ESUPPORT);
    assert_false(bool(by_codes));
    assert_int_equal(trs_plan_create(by_codes.out(), &T, nullptr), TRS_OK);
    assert_int_equal(trs_plan_analyse(by_codes.get()), TRS_OK);
    by_codes.solve(b, x);
    try {
        trisolve::Plan<double> refused(T, options);
        fail();
    } catch (const std::runtime_error &e) {
        assert_non_null(std::string(e.what()).find("no-such") == std::string::npos ? nullptr
                                                                                   : e.what());
    }
}

void test_threads(void **)
{
    const Lower<double, int, int> L(300);
    const auto b = random_vector<double>(L.n), expected = substitute(L, TRS_N, b);
    trisolve::Plan<double> plan(trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER));
    plan.analyse();
    std::vector<double> x[2] = {b, b};
    const auto solve = [&](std::vector<double> &mine) {
        trisolve::Work work(plan);
        trs_exec exec{};
        exec.work = work.get();
        for (int k = 0; k < 50; k++) plan.solve(b, mine, TRS_N, exec);
    };
    std::thread other([&] { solve(x[1]); });
    solve(x[0]);
    other.join();
    assert_close(x[0], expected);
    assert_close(x[1], expected);
    trisolve::Work work(plan);
    work.fit(plan, 3);
}

void test_refinement(void **)
{
    const Lower<double, int, int> L(60);
    const std::vector<float> rounded(L.val.begin(), L.val.end());
    trisolve::Plan<float> plan(trisolve::csr(L.ptr, L.idx, rounded, TRS_LOWER));
    plan.analyse();
    const auto b = random_vector<double>(L.n);
    std::vector<double> x(b.size());
    const auto refined = plan.refine(trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER), b, x);
    assert_int_equal(refined.error.stop, TRS_STOP_CONVERGED);
    assert_true(refined.steps > 1);
    assert_close(x, substitute(L, TRS_N, b));
}

/* A tridiagonal matrix has no fill: its incomplete factors are complete. */
struct Tridiagonal {
    explicit Tridiagonal(int n)
    {
        for (int i = 0; i < n; i++) {
            for (int j = i ? i - 1 : 0; j <= i + 1 && j < n; j++) {
                idx.push_back(j);
                val.push_back(j == i ? 4 + 0.1 * i : -1);
            }
            ptr.push_back(std::int64_t(idx.size()));
        }
    }
    trisolve::Matrix<double> matrix() const { return trisolve::csr(ptr, idx, val); }
    std::vector<std::int64_t> ptr{0};
    std::vector<std::int32_t> idx;
    std::vector<double> val;
};

void solve_with(trisolve::Factors<double> factors, const Tridiagonal &A, int n)
{
    const auto expected = random_vector<double>(n);
    std::vector<double> b(expected.size()), x(expected.size());
    trisolve::multiply(A.matrix(), expected, b);
    factors.solve(b, x);
    assert_close(x, expected);
    trisolve::LuWork work(factors, 2);
    trs_exec exec{};
    exec.lu_work = work.get();
    auto y = b;
    factors.solve(y, y, TRS_N, exec);
    assert_close(y, expected);
    assert_int_equal(factors.refine(A.matrix(), b, x).error.stop, TRS_STOP_CONVERGED);
    factors.status();

    Tridiagonal twice = A;
    for (double &a : twice.val) a *= 2;
    factors.update(twice.matrix());
    factors.solve(b, x);
    for (double &a : x) a *= 2;
    assert_close(x, expected);

    const std::vector<double> nothing(A.val.size());
    assert_int_equal(status_of([&] {
                         auto zero = trisolve::csr(A.ptr, A.idx, nothing);
                         factors.update(zero);
                     }),
                     TRS_EPIVOT);
    assert_int_equal(status_of([&] { factors.solve(b, x); }), TRS_ESTATE);
}

void test_factors(void **)
{
    const int n = 50;
    const Tridiagonal A(n);
    solve_with(trisolve::ilu(A.matrix()), A, n);
    trs_ilu_options options{};
    options.method = TRS_IC0;
    solve_with(trisolve::ilu(A.matrix(), options), A, n);
#ifdef HAVE_SUITESPARSE
    solve_with(trisolve::factor(A.matrix()), A, n);
    trs_factor_options both{};
    both.plan.ops = 1 << TRS_N | 1 << TRS_H;
    auto factors = trisolve::factor(A.matrix(), both);
    /* the determinant by the recurrence of a tridiagonal matrix */
    double before = 0, det = 1;
    for (int i = 0; i < n; i++) before = std::exchange(det, (4 + 0.1 * i) * det - before);
    const trs_det d = factors.determinant();
    assert_true(std::fabs(d.re * d.mantissa * std::pow(2., double(d.exponent)) / det - 1) < 1e-12);
    const double rcond = factors.condest(A.matrix());
    assert_true(rcond > 0.05 && rcond < 1);
    assert_int_equal(status_of([&] {
                         trisolve::factor(
                             trisolve::csr(A.ptr, A.idx, std::vector<double>(A.val.size())));
                     }),
                     TRS_EPIVOT);
    /* of the last row: the last pivot, det A / det A(r, r) */
    std::vector<double> S(1);
    auto others = trisolve::schur(A.matrix(), std::vector<std::int64_t>{n - 1}, S);
    const trs_det rest = others.determinant();
    assert_int_equal(others.blocks(), 0);
    trs_factor_options ldlt{};
    ldlt.method = "ldlt";
    const std::vector<std::int32_t> start{0, 1, 2}, other{1, 0}; /* zeros on the diagonal */
    assert_int_equal(
        trisolve::factor(trisolve::csr(start, other, std::vector<double>{1, 1}), ldlt).blocks(), 1);
    assert_true(std::fabs(rest.re * rest.mantissa * std::pow(2., double(rest.exponent)) / before -
                          1) < 1e-12);
    assert_true(std::fabs(S[0] * before / det - 1) < 1e-12);
    assert_int_equal(status_of([&] {
                         trisolve::schur(A.matrix(), std::vector<std::int64_t>{0, 1}, S);
                     }),
                     TRS_EARG);
#endif
}

/* With a matrix and a function as A, and factors, a triangle or nothing as M. */
void test_krylov(void **)
{
    const int n = 50;
    const Tridiagonal A(n);
    const auto matrix = A.matrix();
    auto triangle = matrix;
    triangle.kind = TRS_LOWER;
    const auto factors = trisolve::ilu(matrix);
    trisolve::Plan<double> plan(triangle);
    plan.analyse();
    const auto product = [&](const double *x, double *y) {
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (auto q = A.ptr[std::size_t(i)]; q < A.ptr[std::size_t(i) + 1]; q++)
                y[i] += A.val[std::size_t(q)] * x[A.idx[std::size_t(q)]];
        }
    };
    const auto expected = random_vector<double>(2 * n);
    std::vector<double> b(expected.size()), x(expected.size());
    trisolve::multiply(matrix, expected, b);
    const trs_map by_factors = trisolve::map(factors), by_plan = trisolve::map(plan);
    for (const trs_map *M : {static_cast<const trs_map *>(nullptr), &by_factors, &by_plan})
        for (const trs_map &of : {trisolve::map(matrix), trisolve::map_by<double>(product)}) {
            trisolve::Krylov<double> gmres(TRS_GMRES, n);
            trs_krylov_info info[2];
            trs_krylov_goal goal{};
            goal.rtol = 3e-15;
            gmres.solve(of, M, b, x, goal, info);
            assert_close(x, expected);
            assert_true(info[1].stop == TRS_STOP_CONVERGED &&
                        (info[1].iterations <= 2) == (M == &by_factors));
        }
    trisolve::Krylov<double> cg(TRS_CG, n), moved = std::move(cg);
    assert_int_equal(status_of([&] { cg.solve(trisolve::map(matrix), nullptr, b, x); }), TRS_EARG);
    x.pop_back();
    assert_int_equal(status_of([&] { moved.solve(by_plan, nullptr, b, x); }), TRS_EARG);
}

void test_saved_plans(void **)
{
    const Lower<double, int, int> L(30);
    const auto T = trisolve::csr(L.ptr, L.idx, L.val, TRS_LOWER);
    const std::string file = "t_cxx." + std::to_string(std::rand()) + ".plan";
    trisolve::Plan<double> plan(T), again(T);
    plan.analyse();
#ifdef HAVE_XXHASH
    plan.save(file);
    again.load(file);
    std::remove(file.c_str());
    const auto b = random_vector<double>(L.n);
    std::vector<double> x(b.size());
    again.solve(b, x);
    assert_close(x, substitute(L, TRS_N, b));
    assert_int_equal(status_of([&] { trisolve::Plan<double>(T).load(file); }), TRS_EFILE);
#else
    assert_int_equal(status_of([&] { plan.save(file); }), TRS_ESUPPORT);
#endif
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(test_types),
                                cmocka_unit_test(test_formats),
                                cmocka_unit_test(test_arrays_and_columns),
                                cmocka_unit_test(test_moves),
                                cmocka_unit_test(test_pivots_and_updates),
                                cmocka_unit_test(test_threads),
                                cmocka_unit_test(test_refinement),
                                cmocka_unit_test(test_factors),
                                cmocka_unit_test(test_krylov),
                                cmocka_unit_test(test_saved_plans)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
