// What similitude.similarities calls.
#include "common/arrays.hpp"
#include "similarities/tangent.hpp"

namespace similitude {

namespace {

void orthonormalize_tangents(Cube<const double> tangents, Cube<double> bases) {
    check_shape("bases", bases, tangents.depth, tangents.rows, tangents.columns);
    tangent::orthonormalize(tangents, bases);
}

void check_images(Matrix<const double> X, Matrix<const double> Z, Cube<const double> bases_z, Index start, Index stop,
                  Matrix<double> squares) {
    check_length("the number of columns of Z", Z.columns, X.columns);
    check_shape("bases_z", bases_z, Z.rows, bases_z.rows, Z.columns);
    need(start >= 0 && start <= stop && stop <= X.rows, "start and stop must be rows of X.");
    check_shape("squares", squares, X.rows, Z.rows);
}

void two_sided_tangent(Matrix<const double> X, Cube<const double> bases_x, Matrix<const double> Z,
                       Cube<const double> bases_z, double spring, bool same, Index start, Index stop,
                       Matrix<double> squares) {
    check_images(X, Z, bases_z, start, stop, squares);
    check_shape("bases_x", bases_x, X.rows, bases_z.rows, X.columns);
    tangent::two_sided(X, bases_x, Z, bases_z, spring, same, start, stop, squares);
}

void one_sided_tangent(Matrix<const double> X, Matrix<const double> Z, Cube<const double> bases_z, double spring,
                       Index start, Index stop, Matrix<double> squares) {
    check_images(X, Z, bases_z, start, stop, squares);
    tangent::one_sided(X, Z, bases_z, spring, start, stop, squares);
}

}  // namespace

void bind_similarities(nb::module_ &module) {
    using namespace nb::literals;
    module.def("orthonormalize", &orthonormalize_tangents, "tangents"_a, "bases"_a, unlocked(),
               "Write orthonormal bases of the spans of the tangents of each image into ``bases``.");
    module.def("two_sided_tangent", &two_sided_tangent, "X"_a, "bases_x"_a, "Z"_a, "bases_z"_a, "spring"_a, "same"_a,
               "start"_a, "stop"_a, "squares"_a, unlocked(),
               "Write the rows from ``start`` to ``stop`` of the squares of two-sided tangent distances.");
    module.def("one_sided_tangent", &one_sided_tangent, "X"_a, "Z"_a, "bases_z"_a, "spring"_a, "start"_a, "stop"_a,
               "squares"_a, unlocked(),
               "Write the rows from ``start`` to ``stop`` of the squares of one-sided tangent distances.");
}

}  // namespace similitude
