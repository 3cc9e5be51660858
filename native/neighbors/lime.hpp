// Entropy-regularised weights (LIME in similarity form, Chen et al. 2009, eq. 10) for many k and reg.
//
//     minimise  w^T K w - 2 s^T w + reg sum_i w_i log w_i    subject to  sum w = 1
//
// Newton's method is applied to x = log w, so that weights may be arbitrarily small. With D = diag(sqrt w) a step
// solves (2 D K D + reg I) v = -D (r + nu), where r is the gradient in w; this system is well conditioned. The solver
// starts at a large reg, where the weights are nearly uniform, and decreases it to the given one.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/views.hpp"
#include "neighbors/local_spectrum.hpp"
#include "neighbors/weight_solver.hpp"
#include "numerics/cholesky.hpp"

namespace similitude {

// The problem of one neighbourhood, with the logarithms x of the weights as variables.
class EntropyProgram {
  public:
    // For problems of up to so many neighbours.
    explicit EntropyProgram(Index most)
        : U_(most, most), x_(most), w_(most), r_(most), a_(most), b_(most), step_(most), trial_(most) {}

    Vector<double> x() { return x_; }

    // Take the first k neighbours; x is 0, where all weights are equal.
    void set(Matrix<const double> K, Vector<const double> s, Index k) {
        K_ = K, s_ = s, k_ = k;
        restart();
    }

    void restart() { x_.fill(0.0); }

    // Solve at reg, from the solution at reg = level; return whether it succeeded.
    bool solve(double reg, double level) {
        while (level > 10.0 * reg && std::isfinite(level)) {
            level *= 0.1;
            newton(level, 1e-3);
        }
        return newton(reg, 1e-10);
    }

  private:
    static constexpr double kEps = 0x1p-52;

    // Return the objective at w = exp(x) / sum exp(x); x is normalised in place, and w is filled.
    double objective(double reg, Vector<double> x) {
        double top = -std::numeric_limits<double>::infinity(), total = 0.0;
        for (Index i = 0; i < k_; ++i) top = std::max(top, x[i]);
        for (Index i = 0; i < k_; ++i) total += std::exp(x[i] - top);
        const double shift = top + std::log(total);
        for (Index i = 0; i < k_; ++i) {
            x[i] -= shift;
            w_[i] = std::exp(x[i]);
        }
        double value = 0.0;
        for (Index i = 0; i < k_; ++i) {
            if (w_[i] > 0.0) value += w_[i] * (dot(K_[i], w_, k_) - 2.0 * s_[i] + reg * x[i]);
        }
        return value;
    }

    // Write Newton's step for x into step; return the relative deviation of the gradient from a constant.
    double find_direction(double reg) {
        double size = reg, mean = 0.0;
        for (Index i = 0; i < k_; ++i) w_[i] = std::exp(x_[i]);
        for (Index i = 0; i < k_; ++i) {
            const double pull = 2.0 * dot(K_[i], w_, k_);
            r_[i] = pull - 2.0 * s_[i] + reg * x_[i];
            size = std::max({size, std::abs(pull), std::abs(2.0 * s_[i]), std::abs(reg * x_[i])});
            mean += w_[i] * r_[i];
        }
        double error = 0.0, ridge = reg;
        for (Index i = 0; i < k_; ++i) {
            r_[i] -= mean;  // the multiplier absorbs any constant; the rest is small near the optimum
            error = std::max(error, std::abs(r_[i]));
        }
        while (factor_scaled(ridge) < k_ && std::isfinite(ridge)) {
            ridge *= 4.0;  // K is indefinite: take a descent step other than Newton's
        }
        for (Index i = 0; i < k_; ++i) {
            b_[i] = std::sqrt(w_[i]);
            a_[i] = b_[i] * r_[i];
        }
        forward(U_, k_, a_);
        forward(U_, k_, b_);
        const double nu = -dot(a_, b_, k_) / dot(b_, b_, k_);
        for (Index i = 0; i < k_; ++i) a_[i] += nu * b_[i];
        backward(U_, k_, a_);
        for (Index i = 0; i < k_; ++i) b_[i] = std::sqrt(w_[i]) * a_[i];
        for (Index i = 0; i < k_; ++i) step_[i] = (2.0 * dot(K_[i], b_, k_) - r_[i] - nu) / ridge;
        return error / size;
    }

    // Factor 2 D K D + ridge I, D = diag(sqrt w), within U; return how many rows were factored. This overwrites step.
    Index factor_scaled(double ridge) {
        for (Index i = 0; i < k_; ++i) {
            for (Index j = i; j < k_; ++j) U_(i, j) = 2.0 * std::sqrt(w_[i] * w_[j]) * K_(i, j);
        }
        return factor(U_.view(), 0.0, ridge, 0.0, k_, U_, step_);
    }

    // Take Newton steps until the gradient is constant within tolerance and no longer improves; return success.
    bool newton(double reg, double tolerance) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double value = objective(reg, x_), last = infinity, residual = infinity;
        for (int round = 0; round < 200; ++round) {
            residual = find_direction(reg);
            if (residual <= 16.0 * kEps || (residual <= tolerance && residual >= 0.5 * last)) return true;
            last = residual <= tolerance ? residual : infinity;
            double rise = 0.0;
            for (Index i = 0; i < k_; ++i) rise = std::max(rise, step_[i]);
            // A weight may grow at most about a hundredfold in a step; a fast decrease does no harm.
            double length = std::min(1.0, 5.0 / std::max(rise, 1e-300)), new_value = infinity;
            for (int attempt = 0; attempt < 60; ++attempt) {
                for (Index i = 0; i < k_; ++i) trial_[i] = x_[i] + length * step_[i];
                new_value = objective(reg, trial_);
                if (new_value <= value + 1e-12 * std::abs(value)) break;
                length *= 0.5;
            }
            for (Index i = 0; i < k_; ++i) x_[i] = trial_[i];
            value = new_value;
        }
        return residual <= tolerance;
    }

    Matrix<const double> K_;
    Vector<const double> s_;
    Index k_ = 0;
    OwnedMatrix<double> U_;
    OwnedVector<double> x_, w_, r_;  // the logarithms of the weights, the weights, and the gradient
    OwnedVector<double> a_, b_, step_, trial_;
};

class LimeSolver : public WeightSolver {
  public:
    LimeSolver(Index most, Spectrum spectrum, bool consistent)
        : spectrum_(spectrum), consistent_(consistent), modified_(most), program_(most) {}

    Index solve(Neighborhood given, Vector<const Index> sizes, Vector<const double> regs,
                Cube<double> weights) override {
        const bool decomposes = consistent_ && (spectrum_ == Spectrum::clip || spectrum_ == Spectrum::flip);
        const Index semidefinite = decomposes ? 0 : modified_.leading_semidefinite(given.A);
        Index failed = 0;
        for (Index g = 0; g < sizes.n; ++g) {
            modified_.modify(given, sizes[g], spectrum_, semidefinite, consistent_);
            const bool convex = spectrum_ != Spectrum::none || sizes[g] <= semidefinite;
            failed += solve_each_reg(sizes[g], regs, convex, weights[g]);
        }
        return failed;
    }

  private:
    // Write the weights for all regs; return the number of unsolved problems.
    //
    // The solver starts from a reg at which the weights are nearly uniform and passes through the regs in descending
    // order. If there may be several optima, it starts again for each reg, so that the result for a reg does not depend
    // on the others.
    Index solve_each_reg(Index k, Vector<const double> regs, bool convex, Matrix<double> weights) {
        const Matrix<double> K = modified_.K();
        const Vector<double> row = modified_.row();
        double least = 0.0, most = 0.0;
        for (Index i = 0; i < k; ++i) {
            most = std::max(most, std::abs(row[i]));
            for (Index j = 0; j < k; ++j) {
                least = std::min(least, K(i, j));
                most = std::max(most, std::abs(K(i, j)));
            }
        }
        // On the simplex, adding a constant to K adds a constant to the objective; it can make K positive definite.
        for (Index i = 0; i < k; ++i) {
            for (Index j = 0; j < k; ++j) K(i, j) -= 2.0 * least;
        }
        program_.set(K, row, k);
        const double top = 10.0 * std::max({most, -2.0 * least, convex ? regs[regs.n - 1] : 0.0});
        double level = top;
        Index failed = 0;
        for (Index t = regs.n - 1; t >= 0; --t) {
            if (!convex) {
                level = top;
                program_.restart();
            }
            failed += !program_.solve(regs[t], level);
            level = regs[t];
            for (Index i = 0; i < k; ++i) weights(t, i) = std::exp(program_.x()[i]);
        }
        return failed;
    }

    Spectrum spectrum_;
    bool consistent_;
    ModifiedNeighborhood modified_;
    EntropyProgram program_;
};

}  // namespace similitude
