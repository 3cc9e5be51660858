// What similitude.kernel calls.
#include "common/arrays.hpp"
#include "kernel/rank_one.hpp"
#include "numerics/smo.hpp"

namespace similitude {

namespace {

void changed_by_rank_one(Vector<const double> values, Vector<const double> z, Vector<double> shifts,
                         Matrix<double> vectors) {
    check_length("the length of z", z.n, values.n);
    check_length("the length of shifts", shifts.n, values.n);
    check_shape("vectors", vectors, values.n, values.n);
    rank_one(values, z, shifts, vectors);
}

bool dual_solved(Matrix<const double> K, Vector<const double> y, double size, Vector<const double> low,
                 Vector<const double> high, Index steps, Vector<double> beta, Vector<double> h) {
    check_shape("K", K, y.n, y.n);
    check_length("the length of low", low.n, y.n);
    check_length("the length of high", high.n, y.n);
    check_length("the length of beta", beta.n, y.n);
    check_length("the length of h", h.n, y.n);
    DualProblem problem(K, y, size);
    std::copy(low.begin(), low.end(), problem.low.begin());
    std::copy(high.begin(), high.end(), problem.high.begin());
    std::copy(beta.begin(), beta.end(), problem.beta.begin());
    std::copy(h.begin(), h.end(), problem.h.begin());
    const bool solved = problem.solve(steps);
    std::copy(problem.beta.begin(), problem.beta.end(), beta.begin());
    std::copy(problem.h.begin(), problem.h.end(), h.begin());
    return solved;
}

}  // namespace

void bind_kernel(nb::module_ &module) {
    using namespace nb::literals;
    module.def("rank_one", &changed_by_rank_one, "values"_a, "z"_a, "shifts"_a, "vectors"_a, unlocked(),
               "Decompose ``diag(values) + z z^T``: write the changes of the eigenvalues into ``shifts``, and the "
               "eigenvectors into the rows of ``vectors``.");
    module.def("solve_dual", &dual_solved, "K"_a, "y"_a, "size"_a, "low"_a, "high"_a, "steps"_a, "beta"_a, "h"_a,
               unlocked(),
               "Move a feasible ``beta``, with ``h = K beta``, to the solution of the dual of a support vector "
               "machine; return whether so many steps were enough. ``size`` is the largest ``|K|``.");
}

}  // namespace similitude
