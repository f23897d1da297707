/* heat2d.cpp: the heat equation in the unit square by finite elements, with Eigen's matrices and our solves.
 *
 *     u_t = k(t) (u_xx + u_yy) + f,   u = g on the boundary,   k(t) = 1 + t
 *
 * Linear triangles on a mesh of M x M cells that are distorted, mass matrix M and stiffness matrix K assembled from
 * triplets, implicit Euler: (M + dt k(t) K) u = M (u_old + dt f(t)) in each step.  Values on the boundary are known and
 * go to the right-hand side.  k changes with time, and so do the values of the matrix, but not its pattern:
 * factorize is an update after the first step.
 *
 * f is such that u = x + 2y + exp(-t) sin(pi x) sin(pi y).  Half the width of the cells and a quarter of the time step
 * leave a quarter of the error: the program checks that the order is 2, with complete factors and with conjugate
 * gradients and IC(0).  Exit status 0: right. */
#include <trisolve-eigen.hpp>

#include <Eigen/Dense>
#include <Eigen/IterativeLinearSolvers>

#include <cmath>
#include <cstdio>
#include <vector>

using Matrix = Eigen::SparseMatrix<double>;
using Vector = Eigen::VectorXd;
using Point = Eigen::Vector2d;

static const double pi = 3.14159265358979323846, last = 0.25;

static double exact(const Point &p, double t)
{
    return p.x() + 2 * p.y() + std::exp(-t) * std::sin(pi * p.x()) * std::sin(pi * p.y());
}

static double conductivity(double t)
{
    return 1 + t;
}

static double source(const Point &p, double t)
{
    const double s = std::exp(-t) * std::sin(pi * p.x()) * std::sin(pi * p.y());
    return (2 * pi * pi * conductivity(t) - 1) * s;
}

/* Nodes, those inside first, and triangles. */
struct Mesh {
    std::vector<Point> nodes;
    std::vector<Eigen::Array3i> triangles;
    int inside;
};

static Mesh square(int m)
{
    Mesh mesh;
    Eigen::ArrayXXi number(m + 1, m + 1);
    const auto add_nodes = [&](bool inside) {
        for (int i = 0; i <= m; i++)
            for (int j = 0; j <= m; j++) {
                if ((i > 0 && i < m && j > 0 && j < m) != inside) continue;
                const double x = double(i) / m, y = double(j) / m;
                const double d = 0.04 * std::sin(2 * pi * x) * std::sin(2 * pi * y);
                number(i, j) = int(mesh.nodes.size());
                mesh.nodes.emplace_back(x + d, y - d);
            }
    };
    add_nodes(true);
    mesh.inside = int(mesh.nodes.size());
    add_nodes(false);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            const int a = number(i, j), b = number(i + 1, j), c = number(i + 1, j + 1);
            mesh.triangles.emplace_back(a, b, c);
            mesh.triangles.emplace_back(a, c, number(i, j + 1));
        }
    return mesh;
}

/* Mass and stiffness matrix of all nodes; they have the same pattern. */
static void assemble(const Mesh &mesh, Matrix &mass, Matrix &stiffness)
{
    std::vector<Eigen::Triplet<double>> m, k;
    for (const Eigen::Array3i &t : mesh.triangles) {
        Eigen::Matrix<double, 2, 3> gradient;
        Eigen::Matrix2d edges;
        edges << mesh.nodes[t[1]] - mesh.nodes[t[0]], mesh.nodes[t[2]] - mesh.nodes[t[0]];
        gradient.rightCols(2) = edges.inverse().transpose();
        gradient.col(0) = -gradient.col(1) - gradient.col(2);
        const double area = edges.determinant() / 2;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                m.emplace_back(t[i], t[j], area / (i == j ? 6 : 12));
                k.emplace_back(t[i], t[j], area * gradient.col(i).dot(gradient.col(j)));
            }
    }
    const auto n = Eigen::Index(mesh.nodes.size());
    mass.resize(n, n);
    mass.setFromTriplets(m.begin(), m.end());
    stiffness.resize(n, n);
    stiffness.setFromTriplets(k.begin(), k.end());
}

static Vector at_nodes(const Mesh &mesh, double (*f)(const Point &, double), double t)
{
    Vector u(mesh.nodes.size());
    for (Eigen::Index i = 0; i < u.size(); i++) u[i] = f(mesh.nodes[std::size_t(i)], t);
    return u;
}

/* Time steps; the error of the last u in the norm of L2, or NaN. */
template <class Solver> double run(Solver &solver, int m)
{
    const Mesh mesh = square(m);
    Matrix mass, stiffness;
    assemble(mesh, mass, stiffness);
    const Eigen::Index inside = mesh.inside, boundary = mass.rows() - inside;
    const int steps = m * m / 16;
    const double dt = last / steps;
    Vector u = at_nodes(mesh, exact, 0);
    for (int step = 1; step <= steps; step++) {
        const double t = step * dt;
        const Matrix A = mass + dt * conductivity(t) * stiffness;
        const Matrix among_inside = A.topLeftCorner(inside, inside);
        if (step == 1) solver.compute(among_inside);
        else solver.factorize(among_inside); /* new values, same pattern */
        if (solver.info() != Eigen::Success) return std::nan("");
        const Vector known = mass * (u + dt * at_nodes(mesh, source, t));
        u.head(inside) = solver.solve(known.head(inside) -
                                      A.topRightCorner(inside, boundary) * u.tail(boundary));
    }
    const Vector error = u - at_nodes(mesh, exact, last);
    return std::sqrt(error.dot(mass * error));
}

template <class Solver> bool has_order_two(const char *name, Solver &solver)
{
    bool good = true;
    double before = 0;
    for (int m : {16, 32, 64}) {
        const double error = run(solver, m), order = std::log2(before / error);
        if (m == 16) std::printf("%-12s m = %2d   error %.3e\n", name, m, error);
        else {
            std::printf("%-12s m = %2d   error %.3e   order %.2f\n", name, m, error, order);
            good = good && order > 1.9 && order < 2.2; /* false for NaN */
        }
        before = error;
    }
    return good;
}

int main()
{
    trisolve::LU<Matrix> lu;
    Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, trisolve::IC0<Matrix>> cg;
    cg.setTolerance(1e-10);
    const bool by_lu = has_order_two("LU", lu), by_cg = has_order_two("CG, IC(0)", cg);
    return by_lu && by_cg ? 0 : 1;
}
