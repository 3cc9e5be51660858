// The dual problem of a support vector machine on a given kernel matrix, solved up to rounding error.
//
// With beta = y * alpha the problem is
//
//     minimise  beta^T K beta / 2 - y^T beta  over  sum beta = 0,  low <= beta <= high.
//
// SMO steps with libsvm's second-order choice of pairs (Fan, Chen & Lin, JMLR 6, 2005, WSS 2) determine which variables
// are at a bound, and Newton steps solve for the others; the factor of their part of K is kept and follows their
// changes. Where classes overlap, with 900 samples and C = 1e5, SMO alone takes millions of steps; together they take a
// few hundred, and the result is accurate to rounding error instead of libsvm's 1e-3.
//
// libsvm shrinks the problem to the variables that may still change. Here few SMO steps are left, and this would save
// at most a fourth of the time with n = 1000.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/views.hpp"
#include "numerics/changing_cholesky.hpp"
#include "numerics/vector_loops.hpp"

namespace similitude {

// The arrays of a problem that its SMO steps read and write, all of length n.
struct Ascents {
    const double *y, *diagonal;  // the labels, and the diagonal of K
    const double *up, *down;     // 0 if beta may grow and -inf if not; 0 if it may shrink and inf if not
    double *h;                   // K beta
    double *rise, *fall;         // y - h + up and y - h + down
    double *gains;               // see pair_gains
    Index n;
};

// The best ascent of a variable that may grow, and the worst of one that may shrink.
struct Extremes {
    double largest, smallest;
};

// Add p a + q b to h, and write rise, fall and their extremes.
SIMILITUDE_CLONES static void update_ascents(const Ascents &all, double p, const double *__restrict a, double q,
                                             const double *__restrict b, Extremes *extremes) {
    const double *__restrict y = all.y, *__restrict up = all.up, *__restrict down = all.down;
    double *__restrict h = all.h, *__restrict rise = all.rise, *__restrict fall = all.fall;
    double largest = -std::numeric_limits<double>::infinity(), smallest = -largest;
#pragma omp simd reduction(max : largest) reduction(min : smallest)
    for (Index t = 0; t < all.n; ++t) {
        h[t] += p * a[t] + q * b[t];
        const double ascent = y[t] - h[t];
        rise[t] = ascent + up[t];
        fall[t] = ascent + down[t];
        largest = rise[t] > largest ? rise[t] : largest;
        smallest = fall[t] < smallest ? fall[t] : smallest;
    }
    *extremes = {largest, smallest};
}

// Write the second-order gains of moving a variable with this ascent and row of K against the others; return the best.
//
// Curvatures that are not positive count as tau.
SIMILITUDE_CLONES static double pair_gains(const Ascents &all, double ascent, const double *__restrict row, double own,
                                           double tau) {
    const double *__restrict fall = all.fall, *__restrict diagonal = all.diagonal;
    double *__restrict gains = all.gains;
    double best = 0.0;
#pragma omp simd reduction(max : best)
    for (Index t = 0; t < all.n; ++t) {
        const double slope = ascent - fall[t], curvature = (own + diagonal[t]) - 2.0 * row[t];
        const double descent = slope > 0.0 ? slope : 0.0;
        gains[t] = descent * descent / (curvature > 0.0 ? curvature : tau);
        best = gains[t] > best ? gains[t] : best;
    }
    return best;
}

class DualProblem {
  public:
    // The largest accepted violation of the optimality conditions, in units of the decision value. Twice its value
    // bounds the duality gap relative to the optimum.
    static constexpr double kGap = 1e-11;

    // size is the largest |K|. The bounds and variables are 0 at the start.
    DualProblem(Matrix<const double> K, Vector<const double> y, double size)
        : K_(K), y_(y), size_(size), factor_(K, size), work_(6, y.n), low(y.n), high(y.n), beta(y.n), h(y.n) {
        for (Index t = 0; t < n(); ++t) work_(kDiagonal, t) = K(t, t);
    }

  private:
    Matrix<const double> K_;
    Vector<const double> y_;
    double size_;
    ChangingCholesky factor_;   // of the free variables, at the last Newton step
    OwnedMatrix<double> work_;  // the arrays of Ascents
    Index steps_ = 0;
    // Work space of a Newton step: its variables, their values at the start, and the steps to the minimum.
    std::vector<Index> free_, entering_, samples_, moved_;
    std::vector<double> start_, step_;

  public:
    OwnedVector<double> low, high, beta, h;  // the bounds, the variables, and K beta

    Index n() const { return y_.n; }
    Vector<const double> y() const { return y_; }
    // The number of SMO and Newton steps so far.
    Index steps() const { return steps_; }

    // Move a feasible beta to the solution; return whether so many steps were enough. If K is indefinite, the solution
    // is a point where the first-order conditions hold.
    bool solve(Index left) {
        double spent = 0.0;  // the cost of the SMO steps since the last Newton step
        bool checked = false;
        while (left > 0) {
            const auto [steps, optimal] = smo(std::min(kBurst, left));
            if (optimal && checked) return true;
            left -= steps;
            spent += kStepCost * static_cast<double>(steps * n());
            const double cost = newton_cost();
            if (optimal) {
                // SMO stops at a point within its tolerance that depends on the start; a Newton step removes that. Then
                // the rounding errors are removed that many steps have added up.
                if (cost <= kPolishCost * static_cast<double>(n() * n())) newton();
                balance();
                multiply();
                checked = true;
            } else if (cost <= spent) {
                newton();
                left -= n();
                spent = 0.0;
            }
        }
        return false;
    }

  private:
    // The rounding errors of K beta, relative to its terms; they do not count as violations.
    static constexpr double kNoise = 0x1p-48;
    // The replacement of curvatures that are not positive, relative to the largest |K|.
    static constexpr double kTau = 1e-12;
    // SMO steps are taken in groups of this size.
    static constexpr Index kBurst = 20;
    // The cost of an SMO step, in multiplications for each sample, and the largest cost of the last Newton step, for
    // each pair of samples. An SMO step takes as long as about 8 n multiplications, but with Newton steps more often
    // than that the whole is faster. It does not depend much on these numbers.
    static constexpr double kStepCost = 80.0, kPolishCost = 8.0;

    enum Work : Index { kDiagonal, kUp, kDown, kRise, kFall, kGains };  // the rows of work_

    struct Progress {
        Index steps;
        bool optimal;
    };

    double diagonal(Index t) const { return Matrix<const double>(work_)(kDiagonal, t); }

    // The curvature along a move of i against j, or libsvm's small number if it is not positive.
    double curvature(Index i, Index j) const {
        const double value = (diagonal(i) + diagonal(j)) - 2.0 * K_(i, j);
        return value > 0.0 ? value : kTau * size_;
    }

    // A bound on the rounding error of h[i] - h[j].
    double rounding(Index i, Index j) const {
        double total = 0.0;
        for (Index t = 0; t < n(); ++t) total += (std::abs(K_(i, t)) + std::abs(K_(j, t))) * std::abs(beta[t]);
        return kNoise * total;
    }

    bool is_free(Index t) const { return low[t] < beta[t] && beta[t] < high[t]; }

    // Note whether a variable may grow and shrink.
    void note_bounds(Index t) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        work_(kUp, t) = beta[t] < high[t] ? 0.0 : -infinity;
        work_(kDown, t) = beta[t] > low[t] ? 0.0 : infinity;
    }

    // Take at most so many SMO steps.
    Progress smo(Index steps) {
        double total = 0.0;
        for (Index t = 0; t < n(); ++t) {
            note_bounds(t);
            total += std::abs(beta[t]);
        }
        const auto row = [&](Work which) { return work_[which].data; };
        const Ascents all{y_.data,    row(kDiagonal), row(kUp),    row(kDown), h.view().data,
                          row(kRise), row(kFall),     row(kGains), n()};
        Extremes found;
        update_ascents(all, 0.0, all.y, 0.0, all.y, &found);
        for (Index step = 0; step < steps; ++step) {
            const auto [largest, smallest] = found;
            const double gap = largest - smallest;
            if (!(gap > kGap)) return {step, true};
            const Index i = find_value(all.rise, largest, n());
            if (gap <= 2.0 * kNoise * size_ * total && gap <= rounding(i, find_value(all.fall, smallest, n()))) {
                return {step, true};
            }
            const double best = pair_gains(all, largest, K_[i].data, diagonal(i), kTau * size_);
            const Index j = best > 0.0 ? find_value(all.gains, best, n()) : find_value(all.fall, smallest, n());
            const double room_i = high[i] - beta[i], room_j = beta[j] - low[j];
            const double free_move = (largest - all.fall[j]) / curvature(i, j);
            const double move = std::min(std::min(free_move, room_i), room_j);
            // A variable that reaches its bound is set to it, because rounding could leave it slightly inside.
            const double new_i = move == room_i ? high[i] : beta[i] + move;
            const double new_j = move == room_j ? low[j] : beta[j] - move;
            const double moved_i = new_i - beta[i], moved_j = new_j - beta[j];
            total += std::abs(new_i) - std::abs(beta[i]) + std::abs(new_j) - std::abs(beta[j]);
            beta[i] = new_i;
            beta[j] = new_j;
            note_bounds(i);
            note_bounds(j);
            ++steps_;
            update_ascents(all, moved_i, K_[i].data, moved_j, K_[j].data, &found);
        }
        return {steps, false};
    }

    // Return the approximate number of multiplications of a Newton step.
    double newton_cost() const {
        Index m = 0, entering = 0;
        for (Index t = 0; t < n(); ++t) {
            if (is_free(t)) ++m, entering += !factor_.holds(t);
        }
        const double size = static_cast<double>(m), products = size * static_cast<double>(n());
        if (3 * entering > m) return products + 5.0 / 3.0 * size * size * size;
        return products + size * size * static_cast<double>(2 + entering);
    }

    // Minimise over the free variables, the others being fixed. A variable that reaches a bound stays there.
    //
    // If K is not convex along all free variables, it is so along those of the factor. Afterwards each of the others is
    // moved, together with those, in the direction of descent until one reaches a bound.
    void newton() {
        free_.clear();
        for (Index t = 0; t < n(); ++t) {
            if (is_free(t)) free_.push_back(t);
        }
        if (free_.size() < 2) return;
        ++steps_;
        const std::vector<Index> left_out = follow();
        descend();
        for (Index t : left_out) {
            if (is_free(t) && is_free(factor_.pivot())) escape(t);
        }
    }

    // Make the factor that of the free variables; return those along which K is not convex.
    const std::vector<Index> &follow() {
        // In a difference from a larger diagonal entry the smallest one would be lost, so it becomes the pivot.
        const Index least = smallest_diagonal(free_), pivot = factor_.pivot();
        Index leaving = 0;
        for (Index a = 0; a < factor_.size(); ++a) leaving += !is_free(factor_.sample(a));
        if (pivot < 0 || !is_free(pivot) || std::abs(diagonal(least)) < 0.5 * std::abs(diagonal(pivot)) ||
            4 * leaving > factor_.size()) {
            factor_.restart(least);
        }
        for (Index a = factor_.size() - 1; a >= 0; --a) {
            if (!is_free(factor_.sample(a))) factor_.remove(a);
        }
        entering_.clear();
        for (Index t : free_) {
            if (t != factor_.pivot() && !factor_.holds(t)) entering_.push_back(t);
        }
        return factor_.append(entering_);
    }

    Index smallest_diagonal(const std::vector<Index> &samples) const {
        return *std::min_element(samples.begin(), samples.end(),
                                 [&](Index s, Index t) { return std::abs(diagonal(s)) < std::abs(diagonal(t)); });
    }

    // Move to the minimum over the samples of the factor, and update h.
    void descend() {
        collect_samples();
        note_start();
        const Vector<double> ascent = work_[kGains];  // of each sample, up to a common constant
        for (Index t : samples_) ascent[t] = y_[t] - h[t];
        while (samples_.size() > 1) {
            const Index m = factor_.size(), last = factor_.pivot();
            step_.assign(samples_.size(), 0.0);
            for (Index a = 0; a < m; ++a) step_[a] = ascent[samples_[a]] - ascent[last];
            factor_.solve({step_.data(), m});
            for (Index a = 0; a < m; ++a) step_[m] -= step_[a];
            const auto [length, stopped] = advance(1.0);
            if (stopped < 0) break;
            for (Index a = 0; a < m; ++a) {
                const double slope = ascent[samples_[a]] - ascent[last];
                ascent[samples_[a]] -= length * (slope - factor_.ridge(a) * step_[a]);
            }
            samples_.erase(samples_.begin() + stopped);
            if (stopped < m) {
                factor_.remove(stopped);
            } else {
                const Index pivot = smallest_diagonal(samples_);
                samples_.erase(std::find(samples_.begin(), samples_.end(), pivot));
                factor_.restart(pivot);
                factor_.append(samples_);
                collect_samples();
            }
        }
        add_moves();
    }

    // Move a variable along which K is not convex, and those of the factor such that their slopes stay the same, until
    // one reaches a bound. Update h.
    void escape(Index t) {
        const Index m = factor_.size(), last = factor_.pivot();
        collect_samples();
        samples_.push_back(t);
        step_.assign(samples_.size(), 0.0);
        factor_.column(t, {step_.data(), m});
        factor_.solve({step_.data(), m});
        const auto slope = [&](Index s) { return (y_[s] - h[s]) - (y_[last] - h[last]); };
        double total = slope(t);
        for (Index a = 0; a < m; ++a) total -= step_[a] * slope(samples_[a]);
        if (std::abs(total) <= kGap) return;
        const double sign = total > 0.0 ? 1.0 : -1.0;
        for (Index a = 0; a < m; ++a) {
            step_[m] += sign * step_[a];
            step_[a] *= -sign;
        }
        step_[m] -= sign;
        step_[m + 1] = sign;
        note_start();
        const Index stopped = advance(std::numeric_limits<double>::infinity()).stopped;
        add_moves();
        if (0 <= stopped && stopped < m) factor_.remove(stopped);
    }

    // Write the samples of the factor into samples_, the pivot last.
    void collect_samples() {
        samples_.clear();
        for (Index a = 0; a < factor_.size(); ++a) samples_.push_back(factor_.sample(a));
        samples_.push_back(factor_.pivot());
    }

    struct Advance {
        double length;
        Index stopped;  // the position of the variable that reached a bound, or -1
    };

    // Move the variables by a multiple of their steps, at most length, until the first of them reaches a bound.
    Advance advance(double length) {
        const Index m = static_cast<Index>(samples_.size());
        Index stopped = -1;
        for (Index a = 0; a < m; ++a) {
            const Index t = samples_[a];
            const double room = std::abs((step_[a] > 0.0 ? high[t] : low[t]) - beta[t]), step = std::abs(step_[a]);
            if (length * step > room) length = room / step, stopped = a;
        }
        for (Index a = 0; a < m; ++a) {
            const Index t = samples_[a];
            beta[t] = std::min(std::max(beta[t] + length * step_[a], low[t]), high[t]);
            if (a == stopped) beta[t] = step_[a] > 0.0 ? high[t] : low[t];
        }
        return {length, stopped};
    }

    // Note where the variables are before they move.
    void note_start() {
        moved_ = samples_;
        start_.clear();
        for (Index t : moved_) start_.push_back(beta[t]);
    }

    // Update h after they have moved.
    void add_moves() {
        RowSum sum(h);
        for (std::size_t a = 0; a < moved_.size(); ++a) sum.add(beta[moved_[a]] - start_[a], K_[moved_[a]]);
    }

    // Move variables to a bound that they missed by a rounding error, as the last one does if the others are at theirs;
    // then make sum beta 0 by a change of the free variable that is farthest from its bounds.
    void balance() {
        double sum = 0.0, most = 0.0;
        Index best = -1;
        for (Index t = 0; t < n(); ++t) {
            if (high[t] - beta[t] < kNoise * high[t]) beta[t] = high[t];
            if (beta[t] - low[t] < -kNoise * low[t]) beta[t] = low[t];
            sum += beta[t];
            const double room = std::min(beta[t] - low[t], high[t] - beta[t]);
            if (room > most) best = t, most = room;
        }
        if (std::abs(sum) < most) beta[best] -= sum;
    }

    // Compute h = K beta.
    void multiply() {
        h.fill(0.0);
        RowSum sum(h);
        for (Index t = 0; t < n(); ++t) sum.add(beta[t], K_[t]);
    }

    // Adds multiples of rows to a vector, four at a time.
    class RowSum {
      public:
        explicit RowSum(Vector<double> total) : total_(total) {}
        RowSum(const RowSum &) = delete;
        ~RowSum() {
            for (int i = 0; i < held_; ++i) add_multiple(total_.data, weights_[i], rows_[i], total_.n);
        }
        void add(double weight, Vector<const double> row) {
            if (weight == 0.0) return;
            weights_[held_] = weight;
            rows_[held_++] = row.data;
            if (held_ < 4) return;
            add_four_multiples(total_.data, weights_, rows_[0], rows_[1], rows_[2], rows_[3], total_.n);
            held_ = 0;
        }

      private:
        Vector<double> total_;
        double weights_[4];
        const double *rows_[4];
        int held_ = 0;
    };
};

}  // namespace similitude
