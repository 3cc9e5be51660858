// What similitude.features calls.
#include <nanobind/stl/pair.h>

#include <utility>

#include "common/arrays.hpp"
#include "features/boxed_lasso.hpp"
#include "features/margin_program.hpp"

namespace similitude {

namespace {

double sweep_coordinates(Matrix<const double> rows, Vector<const double> squares, double epsilon,
                         Vector<const double> bounds, Index sweeps, Vector<double> a, Vector<double> r) {
    check_length("the number of squares", squares.n, rows.rows);
    check_length("the number of bounds", bounds.n, rows.rows);
    check_length("the length of a", a.n, rows.rows);
    check_length("the length of r", r.n, rows.columns);
    return lasso::sweep(rows, squares, epsilon, bounds, sweeps, a, r);
}

std::pair<Index, double> solve_active_set(Matrix<const double> rows, Matrix<const double> G, Vector<const double> y,
                                          double epsilon, Vector<const double> bounds, Index budget, Index slides,
                                          Vector<const bool> free, Vector<double> a) {
    check_shape("G", G, rows.rows, rows.rows);
    check_length("the length of y", y.n, rows.columns);
    check_length("the number of bounds", bounds.n, rows.rows);
    check_length("the length of free", free.n, rows.rows);
    check_length("the length of a", a.n, rows.rows);
    lasso::ActiveSet problem(rows, G, y, epsilon, bounds, free, a);
    const auto [used, pivot] = problem.solve(budget, slides);
    return {used, pivot};
}

Index factor_of_columns(Matrix<const double> rows, Matrix<const double> G, Vector<const Index> columns,
                        Matrix<double> U, Vector<double> x) {
    check_shape("G", G, rows.rows, rows.rows);
    check_range("columns", columns, 0, rows.rows);
    need(columns.n <= rows.rows, "columns must be at most as many as there are rows.");
    check_shape("U", U, columns.n, columns.n);
    check_length("the length of x", x.n, columns.n);
    lasso::ColumnFactor factor(rows, G);
    const Index rank = factor.factor(columns);
    for (Index i = 0; i < columns.n; ++i) {
        x[i] = i < rank && rank < columns.n ? factor.combination()[i] : 0.0;
        for (Index j = 0; j < columns.n; ++j) U(i, j) = i < rank && j >= i ? factor(i, j) : 0.0;
    }
    return rank;
}

Index solve_margins(Matrix<const double> rows, Vector<const double> y, double price, Index steps,
                    Vector<Index> states) {
    check_length("the length of y", y.n, rows.columns);
    check_length("the length of states", states.n, rows.columns + rows.rows + 1);
    MarginProgram program(rows, y, price);
    const Index used = program.solve(steps);
    program.write_states(states);
    return used;
}

}  // namespace

void bind_features(nb::module_ &module) {
    using namespace nb::literals;
    module.def("lasso_sweep", &sweep_coordinates, "rows"_a, "squares"_a, "epsilon"_a, "bounds"_a, "sweeps"_a, "a"_a,
               "r"_a, unlocked(),
               "Minimise a lasso problem in a box along each coordinate in turn; ``a`` and ``r = y - A a`` are changed."
               "\n\nReturns the largest change of r by one coefficient in the last sweep.");
    module.def("lasso_active_set", &solve_active_set, "rows"_a, "G"_a, "y"_a, "epsilon"_a, "bounds"_a, "budget"_a,
               "slides"_a, "free"_a, "a"_a, unlocked(),
               "Move ``a`` to the optimum of a lasso problem in a box, by Newton's method on the free coefficients.\n\n"
               "Returns the number of factorisations, negative if the optimum was not reached within ``budget`` of\n"
               "them and ``slides`` of those that end at a dependent column, and the smallest square of what is left\n"
               "of a free column, relative to its own.");
    module.def("testing_factor_columns", &factor_of_columns, "rows"_a, "G"_a, "columns"_a, "U"_a, "x"_a, unlocked(),
               "Factor the products of some columns into ``U^T U``, up to the first that depends on those before it."
               "\n\nReturns the position of that column, for which ``x`` then holds the combination, or their number.");
    module.def("margin_program", &solve_margins, "rows"_a, "y"_a, "price"_a, "steps"_a, "states"_a, unlocked(),
               "Solve the dual of the linear program of an LP machine by the simplex method: write whether each alpha,"
               "\neach r and e is at its lower (-1) or upper bound (1), or between them (0).\n\n"
               "Returns the number of steps, at most ``steps``.");
}

}  // namespace similitude
