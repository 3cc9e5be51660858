// What similitude.generative calls.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "common/arrays.hpp"
#include "generative/local_bda.hpp"
#include "generative/local_sda.hpp"
#include "generative/max_entropy.hpp"
#include "generative/mixture.hpp"

namespace similitude {

using namespace generative;

namespace {

// The arrays of a table: log_means, centres, widths, coefficients.
using TableArrays = std::tuple<Vector<const double>, Vector<const double>, Vector<const double>, Matrix<const double>>;

Table table_of(const char *name, const TableArrays &arrays) {
    const auto &[log_means, centres, widths, coefficients] = arrays;
    const std::string what = std::string(" of the table ") + name;
    need(centres.n > 0, "a table must have at least one interval.");
    check_length(("the number of means" + what).c_str(), log_means.n, centres.n + 1);
    check_length(("the number of widths" + what).c_str(), widths.n, centres.n);
    check_shape(("the coefficients" + what).c_str(), coefficients, centres.n, kOrder + 1);
    return {log_means, centres, widths, coefficients};
}

template <class Number, class Flag>
PmfsOf<Number, Flag> pmfs_of(Vector<Number> rates, Vector<Number> log_z, Vector<Flag> from_above, Index n) {
    check_length("the length of rates", rates.n, n);
    check_length("the length of log_z", log_z.n, n);
    check_length("the length of from_above", from_above.n, n);
    return {rates, log_z, from_above};
}

Index tabulated(Vector<const double> distances, Vector<const double> weights, bool atoms, double floor,
                Vector<double> log_means, Vector<double> centres, Vector<double> widths, Matrix<double> coefficients) {
    const Index most = centres.n;
    need(distances.n > 0, "distances must not be empty.");
    for (Index i = 0; i < distances.n; ++i) {
        need(distances[i] >= (i > 0 ? distances[i - 1] : 0.0) && distances[i] <= 1.0,
             "distances must be ascending, from 0 to 1.");
    }
    check_length("the number of weights", weights.n, distances.n);
    check_length("the length of log_means", log_means.n, most + 1);
    check_length("the length of widths", widths.n, most);
    check_shape("coefficients", coefficients, most, kOrder + 1);
    Partition Z(distances, weights, atoms);
    const std::vector<Interval> found = tabulate(Z, floor, most);
    const Index count = static_cast<Index>(found.size());
    for (Index i = 0; i < count; ++i) {
        const Interval &interval = found[static_cast<std::size_t>(i)];
        log_means[i] = std::log(interval.mean(-1.0));
        centres[i] = interval.centre;
        widths[i] = interval.width;
        std::copy(interval.coefficients.begin(), interval.coefficients.end(), coefficients[i].begin());
    }
    if (count > 0) log_means[count] = std::log(found.back().mean(1.0));
    return count;
}

void solved(Vector<const double> below, Vector<const double> above, double floor, bool atoms, const TableArrays &lower,
            const TableArrays &upper, Vector<double> rates, Vector<double> log_z, Vector<bool> from_above) {
    check_length("the length of above", above.n, below.n);
    const MaximumEntropy family{floor, atoms, table_of("lower", lower), table_of("upper", upper)};
    family.solve(below, above, pmfs_of(rates, log_z, from_above, below.n));
}

void products_of_averages(Matrix<const double> below, Matrix<const double> above, Matrix<const Index> order,
                          Matrix<const bool> present, Vector<const Index> starts, Vector<const double> rates,
                          Vector<const double> log_z, Vector<const bool> from_above, double empty,
                          Matrix<double> totals) {
    const Index m = below.rows, n_classes = below.columns;
    check_shape("above", above, m, n_classes);
    check_shape("order", order, m, n_classes);
    check_range("order", order, 0, m);
    check_shape("present", present, m, n_classes);
    check_shape("totals", totals, m, n_classes);
    check_length("the length of starts", starts.n, n_classes * n_classes + 1);
    check_starts("starts", starts, rates.n);
    log_average_products(below, above, order, present, starts, pmfs_of(rates, log_z, from_above, rates.n), empty,
                         totals);
}

void jacobi_matrices(Vector<const double> values, Vector<const Index> starts, Cube<double> jacobi) {
    check_length("the length of starts", starts.n, jacobi.depth + 1);
    check_starts("starts", starts, values.n);
    for (Index p = 0; p < jacobi.depth; ++p) need(starts[p] < starts[p + 1], "starts must leave no group empty.");
    check_length("the third axis of jacobi", jacobi.columns, jacobi.rows);
    recurrences(values, starts, jacobi);
}

Index fitted_mixture(Matrix<const double> below, Matrix<const double> above, double floor, bool atoms,
                     const TableArrays &lower, const TableArrays &upper, double tol, Vector<double> weights,
                     Matrix<double> means, Vector<double> rates, Vector<double> log_z, Vector<bool> from_above,
                     Vector<double> history) {
    const Index c = below.columns;
    check_shape("above", above, below.rows, c);
    check_length("the number of weights", weights.n, c);
    check_shape("means", means, 2, c);
    const MaximumEntropy family{floor, atoms, table_of("lower", lower), table_of("upper", upper)};
    const Mixture mixture{below, above, weights, means, pmfs_of(rates, log_z, from_above, c)};
    return mixture.fit(family, tol, history);
}

// What local_statistics is given beside S, for n samples.
template <class Similarities>
void statistics_in(const Similarities &S, Index n, Matrix<const Index> neighbors, Matrix<const double> similarities,
                   Matrix<const Index> labels, Matrix<const Index> sizes, Vector<const Index> class_sizes, double scale,
                   double tolerance, const Ends &ends, const LocalStatistics &found) {
    const Index m = neighbors.rows, n_classes = found.counts.columns;
    check_range("neighbors", neighbors, 0, n);
    check_shape("similarities", similarities, m, neighbors.columns);
    check_shape("labels", labels, m, neighbors.columns);
    check_range("labels", labels, 0, n_classes);
    check_length("the number of rows of sizes", sizes.rows, m);
    check_sizes("sizes", sizes, neighbors.columns);
    check_length("the number of class_sizes", class_sizes.n, n_classes);
    need(tolerance >= 0.0, "tolerance must be at least 0.");
    check_shape("centroids", found.centroids, m, sizes.columns, n_classes);
    check_shape("counts", found.counts, m, sizes.columns, n_classes);
    check_shape("winners", found.winners, m, sizes.columns);
    check_shape("below", found.below, m, sizes.columns, n_classes, n_classes);
    check_shape("above", found.above, m, sizes.columns, n_classes, n_classes);
    local_statistics(S, neighbors, similarities, labels, sizes, class_sizes, scale, tolerance, ends, found);
}

template <class T>
void statistics_dense(Strided<const T> S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                      Matrix<const Index> labels, Matrix<const Index> sizes, Vector<const Index> class_sizes,
                      double scale, double tolerance, double low, double high, double span, double rounding,
                      Cube<Index> centroids, Cube<Index> counts, Matrix<Index> winners, Tesseract<double> below,
                      Tesseract<double> above) {
    check_length("the number of columns of S", S.columns, S.rows);
    statistics_in(S, S.rows, neighbors, similarities, labels, sizes, class_sizes, scale, tolerance,
                  {low, high, span, rounding}, {centroids, counts, winners, below, above});
}

template <class T, class I>
void statistics_csr(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                    Matrix<const Index> neighbors, Matrix<const double> similarities, Matrix<const Index> labels,
                    Matrix<const Index> sizes, Vector<const Index> class_sizes, double scale, double tolerance,
                    double low, double high, double span, double rounding, Cube<Index> centroids, Cube<Index> counts,
                    Matrix<Index> winners, Tesseract<double> below, Tesseract<double> above) {
    // Columns are only compared, so that any are safe; to look at all of them would take longer than the statistics.
    check_length("the number of indices", indices.n, data.n);
    check_starts("indptr", indptr, data.n);
    const Sparse<T, I> S{data, indices, indptr};
    statistics_in(S, S.rows(), neighbors, similarities, labels, sizes, class_sizes, scale, tolerance,
                  {low, high, span, rounding}, {centroids, counts, winners, below, above});
}

void squares_of_distances(Matrix<const double> rows, Matrix<const double> columns, Matrix<double> out) {
    check_length("the number of columns of rows", rows.columns, columns.rows);
    check_shape("out", out, rows.rows, columns.columns);
    negative_squares(rows, columns, out);
}

void densities(Matrix<const double> samples, Matrix<const Index> nearest, Matrix<const double> rows,
               Matrix<const Index> sizes, Matrix<const double> constants, double ridge, Matrix<double> logs) {
    check_range("nearest", nearest, 0, samples.rows);
    check_shape("rows", rows, nearest.rows, samples.columns);
    check_length("the number of rows of sizes", sizes.rows, nearest.rows);
    check_sizes("sizes", sizes, nearest.columns);
    check_shape("constants", constants, nearest.rows, sizes.columns);
    check_shape("logs", logs, nearest.rows, sizes.columns);
    log_densities(samples, nearest, rows, sizes, constants, ridge, logs);
}

template <class T, class I>
void bind_local_statistics_csr(nb::module_ &module) {
    using namespace nb::literals;
    module.def("local_statistics_csr", &statistics_csr<T, I>, "data"_a, "indices"_a, "indptr"_a, "neighbors"_a,
               "similarities"_a, "labels"_a, "sizes"_a, "class_sizes"_a, "scale"_a, "tolerance"_a, "low"_a, "high"_a,
               "span"_a, "rounding"_a, "centroids"_a, "counts"_a, "winners"_a, "below"_a, "above"_a, unlocked(),
               "Write the same as ``local_statistics``, from a CSR matrix with ascending columns.");
}

template <class T>
void bind_local_statistics(nb::module_ &module) {
    using namespace nb::literals;
    module.def("local_statistics", &statistics_dense<T>, "S"_a, "neighbors"_a, "similarities"_a, "labels"_a, "sizes"_a,
               "class_sizes"_a, "scale"_a, "tolerance"_a, "low"_a, "high"_a, "span"_a, "rounding"_a, "centroids"_a,
               "counts"_a, "winners"_a, "below"_a, "above"_a, unlocked(),
               "Write the centroids and the class means in the neighbourhood of each row, at each size.");
    bind_local_statistics_csr<T, std::int32_t>(module);
    bind_local_statistics_csr<T, std::int64_t>(module);
}

}  // namespace

void bind_generative(nb::module_ &module) {
    using namespace nb::literals;
    module.def("tabulate_partition", &tabulated, "distances"_a, "weights"_a, "atoms"_a, "floor"_a, "log_means"_a,
               "centres"_a, "widths"_a, "coefficients"_a, unlocked(),
               "Write the Taylor series of log Z into the arrays of a table; return the number of intervals.");
    module.def("solve_max_entropy", &solved, "below"_a, "above"_a, "floor"_a, "atoms"_a, "lower"_a, "upper"_a,
               "rates"_a, "log_z"_a, "from_above"_a, unlocked(),
               "Write the maximum-entropy distributions with the given mean distances from the two ends of Omega.");
    module.def("log_average_products", &products_of_averages, "below"_a, "above"_a, "order"_a, "present"_a, "starts"_a,
               "rates"_a, "log_z"_a, "from_above"_a, "empty"_a, "totals"_a, unlocked(),
               "Add the logarithms of averages of distributions, over the classes that are present, to ``totals``.");
    module.def("recurrences", &jacobi_matrices, "values"_a, "starts"_a, "jacobi"_a, unlocked(),
               "Write the Jacobi matrices of groups of ascending values into ``jacobi``, which must be zero.");
    module.def("keep_distinct", &keep_distinct, "values"_a, "limit"_a, unlocked(),
               "Move those of ascending values that are more than ``limit`` apart to the front; return their number.");
    module.def("fit_mixture", &fitted_mixture, "below"_a, "above"_a, "floor"_a, "atoms"_a, "lower"_a, "upper"_a,
               "tol"_a, "weights"_a, "means"_a, "rates"_a, "log_z"_a, "from_above"_a, "history"_a, unlocked(),
               "Fit a mixture of maximum-entropy distributions; return the number of steps.");
    bind_local_statistics<double>(module);
    bind_local_statistics<float>(module);
    module.def("negative_squares", &squares_of_distances, "rows"_a, "columns"_a, "out"_a, unlocked(),
               "Write the negative squared distances of all rows from all columns into ``out``.");
    module.def("log_densities", &densities, "samples"_a, "nearest"_a, "rows"_a, "sizes"_a, "constants"_a, "ridge"_a,
               "logs"_a, unlocked(),
               "Write the log-densities of the rows under the models of their neighbours into ``logs``.");
}

}  // namespace similitude
