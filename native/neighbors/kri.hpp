// Kernel ridge interpolation weights (Chen et al. 2009, eq. 12) for many k and reg.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/views.hpp"
#include "neighbors/local_spectrum.hpp"
#include "neighbors/simplex_qp.hpp"
#include "neighbors/weight_solver.hpp"
#include "numerics/cholesky.hpp"

namespace similitude {

class KriSolver : public WeightSolver {
  public:
    // If the spectrum is not modified, A may be indefinite; the program is then started so many times again.
    KriSolver(Index most, Spectrum spectrum, bool consistent, Index restarts)
        : spectrum_(spectrum), consistent_(consistent), restarts_(spectrum == Spectrum::none ? restarts : 0),
          program_(most), modified_(most), along_row_(most), along_ones_(most) {}

    Index solve(Neighborhood given, Vector<const Index> sizes, Vector<const double> regs,
                Cube<double> weights) override {
        const bool decomposes = consistent_ && (spectrum_ == Spectrum::clip || spectrum_ == Spectrum::flip);
        const Index semidefinite = decomposes ? 0 : modified_.leading_semidefinite(given.A);
        Index nested = 0;
        while (nested < sizes.n && (spectrum_ == Spectrum::none || sizes[nested] <= semidefinite)) ++nested;
        Index failed = solve_nested(given, sizes.part(0, nested), regs, semidefinite, weights);
        for (Index g = nested; g < sizes.n; ++g) {
            modified_.modify(given, sizes[g], spectrum_, semidefinite, consistent_);
            failed += solve_decomposed(sizes[g], regs, weights[g]);
        }
        for (Index g = 0; restarts_ > 0 && g < sizes.n; ++g) restart(given, sizes[g], regs, weights[g]);
        return failed;
    }

  private:
    // At a reg below this share of the similarities the support depends on rounding: every solve then starts from
    // scratch, so that a path and a single fit have the same result.
    static constexpr double kWarm = 1e-3;

    // Write the weights for all k with the same matrix; return the number of unsolved problems.
    //
    // The solution for one k is the start for the next, if both are unique.
    Index solve_nested(Neighborhood given, Vector<const Index> sizes, Vector<const double> regs, Index semidefinite,
                       Cube<double> weights) {
        OwnedVector<double> largest(sizes.n);  // for each size
        for (Index g = 0; g < sizes.n; ++g) {
            const Index start = g == 0 ? 0 : sizes[g - 1];
            largest[g] = std::max(g == 0 ? 0.0 : largest[g - 1], largest_entry(given, start, sizes[g]));
        }
        Index failed = 0;
        for (Index t = 0; t < regs.n; ++t) {
            program_.forget();
            for (Index g = 0; g < sizes.n; ++g) {
                const Index k = sizes[g];
                const double scale = std::max(regs[t], largest[g]);
                if (k > semidefinite || regs[t] < kWarm * scale) program_.forget();
                failed += !program_.solve(given, k, regs[t], scale);
                std::copy_n(program_.weights().data, k, weights[g][t].data);
            }
        }
        return failed;
    }

    // Write the weights for one k, whose matrix is decomposed; return the number of unsolved problems.
    //
    // If all weights of the unconstrained optimum are positive, it is the solution. Otherwise the start is the support
    // of its positive weights, or at a small reg the support found at the previous reg.
    Index solve_decomposed(Index k, Vector<const double> regs, Matrix<double> weights) {
        const Neighborhood given = modified_.view();
        const double scale = largest_entry(given, 0, k);
        Eigen &eigen = modified_.eigen();
        for (Index i = 0; i < k; ++i) {
            along_row_[i] = dot(eigen.vectors[i], given.s, k);
            along_ones_[i] = 0.0;
            for (Index a = 0; a < k; ++a) along_ones_[i] += eigen.vectors(i, a);
        }
        program_.forget();
        Index failed = 0;
        for (Index t = 0; t < regs.n; ++t) {
            const Vector<double> w = weights[t].part(0, k);
            if (regs[t] < kWarm * scale) {
                program_.forget();
            } else if (starts_full(given.A, k, regs[t])) {
                if (solve_unconstrained(regs[t], w) > 0.0) continue;
                program_.start_from(w);
            } else {
                program_.forget_factor();
            }
            failed += !program_.solve(given, k, regs[t], std::max(scale, regs[t]));
            std::copy_n(program_.weights().data, k, w.data);
        }
        return failed;
    }

    // Write the optimum over the first neighbours, whatever the signs, into w; return the smallest weight.
    double solve_unconstrained(double reg, Vector<double> w) {
        const Index k = w.n;
        Eigen &eigen = modified_.eigen();
        double cross = 0.0, square = 0.0;
        for (Index i = 0; i < k; ++i) {
            w[i] = 0.0;
            cross += along_row_[i] * along_ones_[i] / (eigen.values[i] + reg);
            square += along_ones_[i] * along_ones_[i] / (eigen.values[i] + reg);
        }
        const double level = (cross - 1.0) / square;
        for (Index i = 0; i < k; ++i) {
            add_multiple(w, (along_row_[i] - level * along_ones_[i]) / (eigen.values[i] + reg), eigen.vectors[i]);
        }
        double least = std::numeric_limits<double>::infinity();
        for (Index i = 0; i < k; ++i) least = std::min(least, w[i]);
        return least;
    }

    // Start again with all weight on each of the nearest neighbours, and keep the best weights.
    void restart(Neighborhood given, Index k, Vector<const double> regs, Matrix<double> weights) {
        const double largest = largest_entry(given, 0, k);
        const Vector<const double> found = program_.weights();
        for (Index t = 0; t < regs.n; ++t) {
            for (Index start = 0; start < std::min(restarts_, k); ++start) {
                program_.start_from(start);
                const bool reached = program_.solve(given, k, regs[t], std::max(regs[t], largest));
                if (reached && objective(given, k, regs[t], found) < objective(given, k, regs[t], weights[t])) {
                    std::copy_n(found.data, k, weights[t].data);
                }
            }
        }
    }

    static double objective(Neighborhood given, Index k, double reg, Vector<const double> w) {
        double value = 0.0;
        for (Index i = 0; i < k; ++i) {
            if (w[i] != 0.0) value += w[i] * (0.5 * dot(given.A[i], w, k) + 0.5 * reg * w[i] - given.s[i]);
        }
        return value;
    }

    Spectrum spectrum_;
    bool consistent_;
    Index restarts_;
    SimplexProgram program_;
    ModifiedNeighborhood modified_;
    OwnedVector<double> along_row_, along_ones_;  // the components of the row and of the ones along each eigenvector
};

}  // namespace similitude
