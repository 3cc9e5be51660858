// The weights of the neighbours of many test samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/views.hpp"
#include "neighbors/kri.hpp"
#include "neighbors/krr.hpp"
#include "neighbors/lime.hpp"
#include "neighbors/local_spectrum.hpp"

namespace similitude {

enum class Weighting { kri, krr, lime };

inline Weighting weighting_named(std::string_view name) {
    if (name == "kri") return Weighting::kri;
    if (name == "krr") return Weighting::krr;
    if (name == "lime") return Weighting::lime;
    throw std::invalid_argument("weights must be kri, krr or lime; got " + std::string(name) + ".");
}

// What weights are computed, and from which matrices.
struct WeightOptions {
    Weighting weighting;
    Spectrum spectrum;
    bool consistent;  // whether rows are modified like the matrices
    Index restarts;   // of KRI with the spectrum none: from each of so many nearest neighbours
    bool shares;      // whether interchangeable neighbours get the same weight
};

inline std::unique_ptr<WeightSolver> make_solver(Index most, const WeightOptions &options) {
    const auto [weighting, spectrum, consistent, restarts, shares] = options;
    if (weighting == Weighting::krr) return std::make_unique<KrrSolver>(most, spectrum, consistent);
    if (weighting == Weighting::lime) return std::make_unique<LimeSolver>(most, spectrum, consistent);
    return std::make_unique<KriSolver>(most, spectrum, consistent, restarts);
}

// The weights of one test sample after another, for the same values of reg, which are ascending.
class NeighborWeights {
  public:
    // For up to most neighbours.
    NeighborWeights(Index most, Vector<const double> regs, WeightOptions options)
        : regs_(regs), shares_(options.shares), solver_(make_solver(most, options)), interchangeable_(most),
          scaled_s_(most), scaled_regs_(regs.n) {}

    // Write the weights of the first sizes[g] neighbours at regs[t] into weights (sizes, regs, k); return the number of
    // unsolved problems. Sizes are ascending.
    //
    // If products would overflow or underflow, the entries of A, s and reg are scaled by a power of four, which does
    // not change a digit of the weights.
    Index solve(Matrix<double> A, Vector<const double> s, Vector<const Index> sizes, Cube<double> weights) {
        const double largest = largest_entry({A, s}, 0, s.n);
        if (0x1p-400 < largest && largest < 0x1p400) return solve_scaled({A, s}, sizes, regs_, weights);
        int exponent = 0;
        if (std::isfinite(largest)) std::frexp(largest, &exponent);
        exponent -= exponent % 2;
        const auto scaled = [&](double value) { return std::ldexp(value, -exponent); };
        for (Index a = 0; a < A.rows; ++a) std::transform(A[a].begin(), A[a].end(), A[a].begin(), scaled);
        std::transform(s.begin(), s.end(), scaled_s_.begin(), scaled);
        for (Index t = 0; t < regs_.n; ++t) {  // a positive reg stays positive
            scaled_regs_[t] = std::max(scaled(regs_[t]), std::min(regs_[t], std::numeric_limits<double>::denorm_min()));
        }
        return solve_scaled({A, scaled_s_.part(0, s.n)}, sizes, scaled_regs_, weights);
    }

  private:
    Index solve_scaled(Neighborhood given, Vector<const Index> sizes, Vector<const double> regs, Cube<double> weights) {
        const Index failed = solver_->solve(given, sizes, regs, weights);
        for (Index g = 0; shares_ && g < sizes.n; ++g) interchangeable_.share(given, sizes[g], weights[g]);
        return failed;
    }

    Vector<const double> regs_;
    bool shares_;
    std::unique_ptr<WeightSolver> solver_;
    Interchangeable interchangeable_;
    OwnedVector<double> scaled_s_, scaled_regs_;
};

// Write the weights of each test sample's neighbours into weights (m, sizes, regs, k); return the number of unsolved
// problems.
//
// neighbors (m, k) holds the positions of the neighbours in S, nearest first, similarities (m, k) the similarities of
// the test samples to them, and sizes (m, sizes) how many of them are taken, ascending in each row.
template <class Similarities>
Index local_weights(const Similarities &S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                    Matrix<const Index> sizes, Vector<const double> regs, WeightOptions options,
                    Tesseract<double> weights) {
    if (neighbors.rows == 0 || sizes.columns == 0 || regs.n == 0) return 0;
    const Index k = neighbors.columns;
    NeighborWeights solver(k, regs, options);
    // Several matrices are read in a row, because the processor then waits for many entries of S at a time.
    constexpr Index most_entries = 1 << 12;
    const Index n_matrices = std::min(std::max<Index>(most_entries / (k * k), 1), neighbors.rows);
    OwnedVector<double> entries(n_matrices * k * k);
    const auto most = [&](Index m) { return sizes(m, sizes.columns - 1); };
    const auto among = [&](Index m, Index start) {
        return Matrix<double>(entries.view().data + (m - start) * k * k, most(m), most(m));
    };
    Index failed = 0;
    for (Index start = 0; start < neighbors.rows; start += n_matrices) {
        const Index stop = std::min(start + n_matrices, neighbors.rows);
        for (Index m = start; m < stop; ++m) gather(S, neighbors[m].part(0, most(m)), among(m, start));
        for (Index m = start; m < stop; ++m) {
            failed += solver.solve(among(m, start), similarities[m].part(0, most(m)), sizes[m], weights[m]);
        }
    }
    return failed;
}

}  // namespace similitude
