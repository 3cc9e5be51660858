// What similitude.similarities calls.
#include <nanobind/stl/string.h>

#include "common/arrays.hpp"
#include "similarities/elastic.hpp"
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

const elastic::NamedMeasure &measure_by_name(const std::string &name) {
    for (const elastic::NamedMeasure &measure : elastic::kMeasures) {
        if (name == measure.name) return measure;
    }
    throw std::invalid_argument("measure must be the name of an elastic distance; got \"" + name + "\".");
}

void check_collection(const char *name, const elastic::Collection &series, Index shortest) {
    const std::string starts = std::string("the starts of ") + name;
    need(series.channels > 0 && series.values.n % series.channels == 0, "channels must divide the number of values.");
    check_starts(starts.c_str(), series.starts, series.values.n / series.channels);
    for (Index i = 0; i < series.size(); ++i) {
        need(series.length(i) >= shortest, "a series has no time step.");
    }
}

void elastic_distances(const std::string &name, Vector<const double> parameters, double window, Index channels,
                       Vector<const double> x, Vector<const Index> x_starts, Vector<const double> z,
                       Vector<const Index> z_starts, bool half, Index keep, Index start, Index stop,
                       Matrix<double> out) {
    const elastic::NamedMeasure &measure = measure_by_name(name);
    check_length("the number of parameters", parameters.n, measure.parameters);
    for (const double value : parameters) need(std::isfinite(value), "parameters must be finite.");
    need(window <= 1.0, "window must be at most 1.");  // below 0 there is none, and NaN is refused
    Index reach = 0;
    if (name == "shape_dtw") {
        need(parameters[0] >= 0.0 && parameters[0] < 1e6, "the reach must be from 0 to 1e6.");
        reach = static_cast<Index>(parameters[0]);
    }
    need(name != "msm" || channels == 1, "msm takes one channel at a time.");
    const elastic::Task task{
        {x, x_starts, channels}, {z, z_starts, channels}, parameters, window, half, keep, start, stop, out};
    check_collection("x", task.X, 2 * reach + 1);
    check_collection("z", task.Z, 2 * reach + 1);
    need(!half || (x.data == z.data && x_starts.data == z_starts.data), "half needs z to be x.");
    need(keep >= 0 && !(half && keep > 0), "keep must not be negative, and 0 with half.");
    need(start >= 0 && start <= stop && stop <= task.X.size(), "start and stop must be rows of x.");
    check_shape("out", out, task.X.size(), task.Z.size());
    measure.fill(task);
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
    module.def("elastic_distances", &elastic_distances, "measure"_a, "parameters"_a, "window"_a, "channels"_a, "x"_a,
               "x_starts"_a, "z"_a, "z_starts"_a, "half"_a, "keep"_a, "start"_a, "stop"_a, "out"_a, unlocked(),
               "Write the rows from ``start`` to ``stop`` of the distances between the series of ``x`` and ``z``.");
}

}  // namespace similitude
