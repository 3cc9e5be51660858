// What similitude.neighbors calls.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "common/arrays.hpp"
#include "neighbors/local_centroids.hpp"
#include "neighbors/local_machines.hpp"
#include "neighbors/local_spectrum.hpp"
#include "neighbors/local_weights.hpp"
#include "neighbors/simplex_qp.hpp"
#include "numerics/lapack.hpp"

namespace similitude {

namespace {

// Raise a ValueError unless S is square and the neighbours are rows of it.
template <class T>
void check_neighbors(const Strided<const T> &S, Matrix<const Index> neighbors) {
    check_length("the number of columns of S", S.columns, S.rows);
    check_range("neighbors", neighbors, 0, S.rows);
}

// Only the rows that are read are checked: the function is called for each block of test samples, and S may be large.
// Columns are compared with others and never used as indices.
template <class T, class I>
void check_neighbors(const Sparse<T, I> &S, Matrix<const Index> neighbors) {
    need(S.starts.n > 0, "indptr must have at least one entry.");
    check_length("the number of indices", S.columns.n, S.data.n);
    check_range("neighbors", neighbors, 0, S.rows());
    for (Index m = 0; m < neighbors.rows; ++m) {
        for (Index i : neighbors[m]) {
            need(0 <= S.starts[i] && S.starts[i] <= S.starts[i + 1] && S.starts[i + 1] <= S.data.n,
                 "indptr must be ascending from 0 to the number of indices.");
        }
    }
}

struct WeightsEntry {
    template <class Similarities>
    static Index call(const Similarities &S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                      Matrix<const Index> sizes, Vector<const double> regs, const std::string &kind,
                      const std::string &spectrum, bool consistent, Index restarts, bool shares,
                      Tesseract<double> weights) {
        const WeightOptions options{weighting_named(kind), spectrum_named(spectrum), consistent, restarts, shares};
        check_neighbors(S, neighbors);
        check_shape("similarities", similarities, neighbors.rows, neighbors.columns);
        check_length("the number of rows of sizes", sizes.rows, neighbors.rows);
        check_sizes("sizes", sizes, neighbors.columns);
        for (double reg : regs) {
            need(options.weighting == Weighting::lime ? reg > 0.0 : reg >= 0.0,
                 "regs must not be negative, and must be positive for lime.");
        }
        check_shape("weights", weights, neighbors.rows, sizes.columns, regs.n, neighbors.columns);
        return local_weights(S, neighbors, similarities, sizes, regs, options, weights);
    }
};

struct MachinesEntry {
    template <class Similarities>
    static Index call(const Similarities &S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                      Matrix<const Index> labels, Index n_classes, const std::vector<std::string> &spectra,
                      Matrix<const Index> sizes, Vector<const double> costs, Cube<const bool> wanted,
                      Tesseract<double> scores) {
        MachineGrid grid{{}, costs, wanted};
        for (const std::string &spectrum : spectra) grid.spectra.push_back(spectrum_named(spectrum));
        const Index n_spectra = static_cast<Index>(spectra.size());
        check_neighbors(S, neighbors);
        need(neighbors.columns > 0, "neighbors must have at least one column.");
        need(n_classes > 0, "n_classes must be at least 1.");
        check_shape("similarities", similarities, neighbors.rows, neighbors.columns);
        check_shape("labels", labels, neighbors.rows, neighbors.columns);
        check_range("labels", labels, 0, n_classes);
        check_length("the number of rows of sizes", sizes.rows, neighbors.rows);
        check_sizes("sizes", sizes, neighbors.columns);
        check_shape("wanted", wanted, n_spectra, sizes.columns, costs.n);
        check_shape("scores", scores, neighbors.rows, n_spectra * sizes.columns, costs.n,
                    n_classes > 2 ? n_classes : 1);
        return local_machines(S, neighbors, similarities, labels, sizes, n_classes, grid, scores);
    }
};

// The functions that take S as an array, or as the three arrays of a CSR matrix, before the other arguments.
template <class T, class... Arguments>
auto of_dense(Index (*function)(const Strided<const T> &, Arguments...)) {
    return [function](Strided<const T> S, Arguments... arguments) {
        load_lapack();
        const nb::gil_scoped_release unlocked;
        return function(S, arguments...);
    };
}

template <class T, class I, class... Arguments>
auto of_sparse(Index (*function)(const Sparse<T, I> &, Arguments...)) {
    return [function](Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, Arguments... arguments) {
        load_lapack();
        const nb::gil_scoped_release unlocked;
        return function({data, indices, indptr}, arguments...);
    };
}

template <class Function, class... Names>
void define_for_similarities(nb::module_ &module, const char *name, const char *doc, const Names &...names) {
    using namespace nb::literals;
    const auto dense = [&](auto entry) { module.def(name, entry, "S"_a, names..., doc); };
    const auto sparse = [&](auto entry) { module.def(name, entry, "data"_a, "indices"_a, "indptr"_a, names..., doc); };
    dense(of_dense(&Function::template call<Strided<const double>>));
    dense(of_dense(&Function::template call<Strided<const float>>));
    sparse(of_sparse(&Function::template call<Sparse<double, std::int32_t>>));
    sparse(of_sparse(&Function::template call<Sparse<double, std::int64_t>>));
    sparse(of_sparse(&Function::template call<Sparse<float, std::int32_t>>));
    sparse(of_sparse(&Function::template call<Sparse<float, std::int64_t>>));
}

Index simplex_programs(Cube<const double> A, Matrix<const double> s, double reg, Matrix<double> weights) {
    check_shape("A", A, s.rows, s.columns, s.columns);
    check_shape("weights", weights, s.rows, s.columns);
    need(s.columns > 0, "s must have at least one column.");
    need(reg >= 0.0, "reg must not be negative.");
    return solve_each(A, s, reg, weights);
}

std::tuple<bool, double> one_machine(Matrix<const double> K, Vector<const double> y, double C, Index steps,
                                     Vector<double> beta, Vector<double> h) {
    check_shape("K", K, y.n, y.n);
    check_length("the length of beta", beta.n, y.n);
    check_length("the length of h", h.n, y.n);
    const OwnedVector<double> weights(y.n, 1.0);
    Machine machine(K, y, weights, largest_size(K));
    machine.move_to(C, steps);
    std::copy_n(machine.beta().data, y.n, beta.data);
    std::copy_n(machine.h().data, y.n, h.data);
    return {machine.solved(), machine.offset()};
}

Index decisions_of_machines(Matrix<const double> K, Vector<const double> y, Vector<const double> row, double ratio,
                            int exponent, Vector<const double> costs, Vector<const bool> wanted,
                            Vector<double> values) {
    check_shape("K", K, y.n, y.n);
    check_length("the length of row", row.n, y.n);
    check_length("the length of wanted", wanted.n, costs.n);
    check_length("the length of values", values.n, costs.n);
    return decisions(K, y, row, ratio, exponent, costs, wanted, values);
}

// Local centroids and means.

template <class Similarities>
void nearest_local_centroids(const Similarities &S, Index n, Matrix<const Index> neighbors,
                             Matrix<const double> similarities, Matrix<const Index> labels, Matrix<const Index> sizes,
                             Vector<const Index> class_sizes, double share, double tolerance, Matrix<Index> winners) {
    check_range("neighbors", neighbors, 0, n);
    check_shape("similarities", similarities, neighbors.rows, neighbors.columns);
    check_shape("labels", labels, neighbors.rows, neighbors.columns);
    check_range("labels", labels, 0, class_sizes.n);
    check_length("the number of rows of sizes", sizes.rows, neighbors.rows);
    check_sizes("sizes", sizes, neighbors.columns);
    need(tolerance >= 0.0, "tolerance must be at least 0.");
    check_shape("winners", winners, neighbors.rows, sizes.columns);
    nearest_centroids(S, neighbors, similarities, labels, sizes, class_sizes, share, tolerance, winners);
}

template <class T>
void nearest_centroids_dense(Strided<const T> S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                             Matrix<const Index> labels, Matrix<const Index> sizes, Vector<const Index> class_sizes,
                             double share, double tolerance, Matrix<Index> winners) {
    check_length("the number of columns of S", S.columns, S.rows);
    nearest_local_centroids(S, S.rows, neighbors, similarities, labels, sizes, class_sizes, share, tolerance, winners);
}

template <class T, class I>
void nearest_centroids_csr(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                           Matrix<const Index> neighbors, Matrix<const double> similarities, Matrix<const Index> labels,
                           Matrix<const Index> sizes, Vector<const Index> class_sizes, double share, double tolerance,
                           Matrix<Index> winners) {
    // Columns are only compared, so that any are safe; to look at all of them would take longer than the search.
    check_length("the number of indices", indices.n, data.n);
    check_starts("indptr", indptr, data.n);
    const Sparse<T, I> S{data, indices, indptr};
    nearest_local_centroids(S, S.rows(), neighbors, similarities, labels, sizes, class_sizes, share, tolerance,
                            winners);
}

template <class T>
void distances_to_means(Matrix<const T> samples, Matrix<const Index> neighbors, Matrix<const double> rows,
                        Matrix<const Index> sizes, Matrix<double> distances) {
    check_range("neighbors", neighbors, 0, samples.rows);
    check_shape("rows", rows, neighbors.rows, samples.columns);
    check_length("the number of rows of sizes", sizes.rows, neighbors.rows);
    check_sizes("sizes", sizes, neighbors.columns);
    check_shape("distances", distances, neighbors.rows, sizes.columns);
    mean_distances(samples, neighbors, rows, sizes, distances);
}

template <class T, class I>
void bind_nearest_centroids_csr(nb::module_ &module) {
    using namespace nb::literals;
    module.def("nearest_centroids_csr", &nearest_centroids_csr<T, I>, "data"_a, "indices"_a, "indptr"_a, "neighbors"_a,
               "similarities"_a, "labels"_a, "sizes"_a, "class_sizes"_a, "share"_a, "tolerance"_a, "winners"_a,
               unlocked(), "Write the same as ``nearest_centroids``, from a CSR matrix with ascending columns.");
}

template <class T>
void bind_local_centroids(nb::module_ &module) {
    using namespace nb::literals;
    module.def("nearest_centroids", &nearest_centroids_dense<T>, "S"_a, "neighbors"_a, "similarities"_a, "labels"_a,
               "sizes"_a, "class_sizes"_a, "share"_a, "tolerance"_a, "winners"_a, unlocked(),
               "Write the class of the most similar local centroid of each row and size into ``winners``.");
    bind_nearest_centroids_csr<T, std::int32_t>(module);
    bind_nearest_centroids_csr<T, std::int64_t>(module);
    module.def("mean_distances", &distances_to_means<T>, "samples"_a, "neighbors"_a, "rows"_a, "sizes"_a, "distances"_a,
               unlocked(), "Write the distances from each row to the mean of its nearest samples, at each size.");
}

}  // namespace

void bind_neighbors(nb::module_ &module) {
    using namespace nb::literals;
    define_for_similarities<WeightsEntry>(
        module, "neighbor_weights",
        "Write the weights of the neighbours of each row, (m, sizes, regs, k), into ``weights``; return how many "
        "problems were not solved.",
        "neighbors"_a, "similarities"_a, "sizes"_a, "regs"_a, "kind"_a, "spectrum"_a, "consistent"_a, "restarts"_a,
        "shares"_a, "weights"_a);
    define_for_similarities<MachinesEntry>(
        module, "local_machines",
        "Write the scores of the machines on the neighbours of each row, (m, spectra * sizes, costs, 1 or G), into "
        "``scores``; return how many machines were not solved.",
        "neighbors"_a, "similarities"_a, "labels"_a, "n_classes"_a, "spectra"_a, "sizes"_a, "costs"_a, "wanted"_a,
        "scores"_a);
    module.def("testing_simplex_programs", &simplex_programs, "A"_a, "s"_a, "reg"_a, "weights"_a, unlocked(),
               "Write the minimisers of ``w^T (A + reg I) w / 2 - s^T w`` on the simplex into ``weights``; return how "
               "many programs were not solved.");
    module.def(
        "testing_one_machine", &one_machine, "K"_a, "y"_a, "C"_a, "steps"_a, "beta"_a, "h"_a, unlocked(),
        "Write the variables of a support vector machine and K beta; return whether it was solved, and the offset.");
    module.def("testing_machine_decisions", &decisions_of_machines, "K"_a, "y"_a, "row"_a, "ratio"_a, "exponent"_a,
               "costs"_a, "wanted"_a, "values"_a, unlocked(),
               "Write the decision values of a row at the wanted C into ``values``; return how many machines were not "
               "solved.");
    // Local centroids and means.
    bind_local_centroids<double>(module);
    bind_local_centroids<float>(module);
}

}  // namespace similitude
