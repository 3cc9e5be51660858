// Kernel ridge regression weights, w = (A + reg I)^-1 s (Chen et al. 2009, eq. 15), for many k and reg.
//
// If the local matrix is not modified, one triangular factor per reg serves every k; if its spectrum is modified, one
// eigendecomposition per k serves every reg.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/views.hpp"
#include "neighbors/local_spectrum.hpp"
#include "neighbors/weight_solver.hpp"
#include "numerics/cholesky.hpp"
#include "numerics/lapack.hpp"

namespace similitude {

class KrrSolver : public WeightSolver {
  public:
    KrrSolver(Index most, Spectrum spectrum, bool consistent)
        : spectrum_(spectrum), consistent_(consistent), U_(most, most), signs_(most), y_(most), z_(most) {}

    Index solve(Neighborhood given, Vector<const Index> sizes, Vector<const double> regs,
                Cube<double> weights) override {
        Index unmodified = sizes[sizes.n - 1];
        if (spectrum_ != Spectrum::none) {
            const bool decomposes = consistent_ && spectrum_ != Spectrum::shift;
            unmodified = decomposes ? 0 : std::min(unmodified, leading_semidefinite(given.A, U_, signs_));
        }
        OwnedMatrix<unsigned char> solved(sizes.n, regs.n);
        for (Index t = 0; t < regs.n; ++t) {
            const Index n = factor(given.A, 0.0, regs[t], kLeastPivot, unmodified, U_, signs_);
            for (Index a = 0; a < n; ++a) y_[a] = given.s[a];
            forward(U_, n, y_);
            for (Index g = 0; g < sizes.n && sizes[g] <= n; ++g) {
                const Index k = sizes[g];
                for (Index a = 0; a < k; ++a) z_[a] = signs_[a] * y_[a];
                backward(U_, k, z_);
                solved(g, t) = solves(given, k, regs[t], z_);
                std::copy_n(z_.begin(), k, weights[g][t].begin());
            }
        }
        for (Index g = 0; g < sizes.n; ++g) {
            const Vector<unsigned char> done = solved[g];
            if (!std::all_of(done.begin(), done.end(), [](unsigned char one) { return one; })) {
                solve_decomposed(given, sizes[g], regs, done, weights[g]);
            }
        }
        return 0;
    }

  private:
    static constexpr double kEps = 0x1p-52;
    // If a pivot is below this share of its diagonal entry, or a residual above that share, the eigendecomposition is
    // used, which handles singular matrices.
    static constexpr double kLeastPivot = 1e-6, kResidual = 1e-13;

    // Return whether (A + reg I) w = s up to rounding.
    static bool solves(Neighborhood given, Index k, double reg, Vector<const double> w) {
        double error = 0.0, size = 0.0;
        for (Index i = 0; i < k; ++i) {
            const double product = dot(given.A[i], w, k);
            error = std::max(error, std::abs(product + reg * w[i] - given.s[i]));
            size = std::max({size, std::abs(given.s[i]), std::abs(product), reg * std::abs(w[i])});
        }
        return error <= kResidual * size;
    }

    // Write the weights of the problems that are not solved yet.
    void solve_decomposed(Neighborhood given, Index k, Vector<const double> regs, Vector<const unsigned char> solved,
                          Matrix<double> weights) {
        Eigen eigen = eigh(given.A, k);
        OwnedVector<double> values(k), kept(k, 1.0);
        for (Index i = 0; i < k; ++i) {
            const ModifiedValue changed = modified(eigen.values, i, spectrum_);
            values[i] = spectrum_ == Spectrum::none ? eigen.values[i] : changed.value;
            if (spectrum_ != Spectrum::none && consistent_) kept[i] = changed.kept;
        }
        const double top = *std::max_element(values.begin(), values.end());
        for (Index t = 0; t < regs.n; ++t) {
            if (solved[t]) continue;
            const double largest = std::max(std::abs(values[0] + regs[t]), std::abs(top + regs[t]));
            const Vector<double> w = weights[t];
            for (Index i = 0; i < k; ++i) w[i] = 0.0;
            for (Index i = 0; i < k; ++i) {
                const double ridged = values[i] + regs[t];
                if (std::abs(ridged) > static_cast<double>(k) * kEps * largest) {
                    add_multiple(w, kept[i] * dot(eigen.vectors[i], given.s, k) / ridged, eigen.vectors[i]);
                }
            }
        }
    }

    Spectrum spectrum_;
    bool consistent_;
    OwnedMatrix<double> U_;
    OwnedVector<double> signs_, y_, z_;
};

}  // namespace similitude
