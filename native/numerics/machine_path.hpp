// Support vector machines on one kernel matrix, for ascending values of C.
//
// C increases by powers of ten from a value at which every variable is at a bound, and each solution, rescaled, is the
// start of the next; another C starts from the power of ten below it. The powers do not depend on the values of C that
// are asked for, so that one C alone gives the same result as within a range, to the last digit.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "common/views.hpp"
#include "numerics/smo.hpp"

namespace similitude {

// What is known of a machine: the offset b of its decision values K beta + b, the dual value, the gap to the primal
// value relative to the mean of both, and the number of steps from beta = 0 to here.
struct MachineSolution {
    double offset = 0.0, objective = 0.0, gap = 0.0;
    Index steps = 0;
};

// The machine of two classes, whose labels y are 1 and -1, with the bounds C times the weights.
class Machine {
  public:
    // size is the largest |K|.
    Machine(Matrix<const double> K, Vector<const double> y, Vector<const double> weights, double size)
        : dual_(K, y, size), weights_(weights) {}

    // The variables, and K beta.
    Vector<const double> beta() const { return dual_.beta; }
    Vector<const double> h() const { return dual_.h; }
    // Whether the steps of the last move were enough.
    bool solved() const { return solved_; }

    // Rescale the solution to the bound C, and solve from there. Variables at a bound stay there.
    void move_to(double C) { move_to(C, std::max(kLeastSteps, kStepsPerSample * dual_.n())); }

    // Do the same in at most so many steps.
    void move_to(double C, Index steps) {
        const double ratio = C / C_;
        for (Index t = 0; t < dual_.n(); ++t) {
            double &beta = dual_.beta[t];
            const bool was_bound = std::abs(beta) == bound(t);
            const double new_bound = dual_.y()[t] * (C * weights_[t]);
            dual_.low[t] = std::min(new_bound, 0.0);
            dual_.high[t] = std::max(new_bound, 0.0);
            beta = was_bound ? new_bound : std::min(std::max(beta * ratio, dual_.low[t]), dual_.high[t]);
            dual_.h[t] *= ratio;
        }
        C_ = C;
        solved_ = dual_.solve(steps);
    }

    // Keep the solution for a larger bound C.
    void keep_at(double C) { C_ = C; }

    // Return whether no variable is at its bound, so that a larger C changes nothing.
    bool settled() const {
        for (Index t = 0; t < dual_.n(); ++t) {
            if (weights_[t] > 0.0 && std::abs(dual_.beta[t]) >= bound(t)) return false;
        }
        return true;
    }

    // Return the offset as in libsvm: the mean over the free variables, or the middle of the possible values.
    double offset() const {
        double total = 0.0;
        Index n_free = 0, up = -1, down = -1;
        const auto ascent = [&](Index t) { return dual_.y()[t] - dual_.h[t]; };
        for (Index t = 0; t < dual_.n(); ++t) {
            const bool grows = dual_.beta[t] < dual_.high[t];
            const bool shrinks = dual_.beta[t] > dual_.low[t];
            if (grows && shrinks) total += ascent(t), ++n_free;
            if (grows && (up < 0 || ascent(t) > ascent(up))) up = t;
            if (shrinks && (down < 0 || ascent(t) < ascent(down))) down = t;
        }
        if (n_free > 0) return total / static_cast<double>(n_free);
        // Without a sample of one of the classes, the label of the other is always right.
        if (up < 0 || down < 0) return up < 0 && down < 0 ? 0.0 : dual_.y()[std::max(up, down)];
        // The labels are added separately: they often cancel, and the rest may be as small as the similarities.
        return 0.5 * (dual_.y()[up] + dual_.y()[down]) - 0.5 * (dual_.h[up] + dual_.h[down]);
    }

    // Return what is known of the machine.
    MachineSolution solution() const {
        double norm = 0.0, sum = 0.0;
        for (Index t = 0; t < dual_.n(); ++t) {
            norm += dual_.beta[t] * dual_.h[t];
            sum += dual_.y()[t] * dual_.beta[t];
        }
        MachineSolution found{offset(), sum - 0.5 * norm, 0.0, dual_.steps()};
        found.gap = gap(norm, found.objective, found.offset);
        if (found.gap > kSmallGap) found.gap = std::min(found.gap, gap(norm, found.objective, best_offset()));
        return found;
    }

    // The variables and K beta, to return to.
    using State = std::pair<OwnedVector<double>, OwnedVector<double>>;
    State state() const { return {dual_.beta, dual_.h}; }
    void restore(State state) {
        dual_.beta = std::move(state.first);
        dual_.h = std::move(state.second);
    }

  private:
    static constexpr Index kLeastSteps = 30'000, kStepsPerSample = 100;
    // Margins that fall short of 1 by less than this may be due to rounding.
    static constexpr double kShort = 1e-6;
    // Gaps up to this need no better offset.
    static constexpr double kSmallGap = 1e-9;

    double bound(Index t) const { return C_ * weights_[t]; }
    double margin(Index t, double offset) const { return dual_.y()[t] * (dual_.h[t] + offset); }

    // Return the offset with the smallest primal value.
    //
    // The hinge of a sample has its kink at b = y - h. With b the slope of the sum of hinges grows by the bound of each
    // sample whose kink is passed, from minus the sum of the bounds of the positive class.
    double best_offset() const {
        std::vector<std::pair<double, double>> kinks;
        double slope = 0.0;
        for (Index t = 0; t < dual_.n(); ++t) {
            kinks.emplace_back(dual_.y()[t] - dual_.h[t], bound(t));
            if (dual_.y()[t] > 0.0) slope -= bound(t);
        }
        std::sort(kinks.begin(), kinks.end());
        for (const auto &[place, weight] : kinks) {
            slope += weight;
            if (slope >= 0.0) return place;
        }
        return 0.0;
    }

    // Return the gap of the dual value to the primal value of the solution with this offset, or of the multiple of both
    // that reaches the margins missed by rounding errors. norm is beta^T K beta, and objective the dual value.
    double gap(double norm, double objective, double offset) const {
        double least = 1.0;
        for (Index t = 0; norm > 0.0 && t < dual_.n(); ++t) {
            const double value = margin(t, offset);
            if (value > 1.0 - kShort) least = std::min(least, value);
        }
        double slack = 0.0, stretched_slack = 0.0;
        for (Index t = 0; t < dual_.n(); ++t) {
            const double value = margin(t, offset);
            slack += bound(t) * std::max(0.0, 1.0 - value);
            stretched_slack += bound(t) * std::max(0.0, 1.0 - value / least);
        }
        const double primal = std::min(0.5 * norm + slack, 0.5 * norm / (least * least) + stretched_slack);
        const double scale = primal + objective;
        return scale > 0.0 ? 2.0 * std::max(primal - objective, 0.0) / scale : 0.0;
    }

    DualProblem dual_;
    Vector<const double> weights_;
    double C_ = 1.0;
    bool solved_ = true;
};

// The machines of two classes for ascending values of C.
//
// K is given in units of 2^exponent: C * 2^exponent is to K what C is to the kernel.
class MachinePath {
  public:
    // With much smaller bounds, the squares of the variables would underflow, and with them the gap.
    static constexpr double kSmallestBound = 1e-100;

    // If gives_up, a machine whose gap is hopeless is replaced by that of the power of ten before, which is right only
    // if K is positive semidefinite.
    MachinePath(Matrix<const double> K, Vector<const double> y, Vector<const double> weights, double size, int exponent,
                bool gives_up, double smallest_bound = kSmallestBound)
        : rung_(K, y, weights, size), exponent_(exponent), gives_up_(gives_up), smallest_bound_(smallest_bound) {
        double total = 0.0;
        for (double weight : weights) total += weight;
        // The first power of ten makes |K beta| less than 1.
        const double first = std::floor(-std::log10(total * size) - exponent * std::log10(2.0));
        power_ = static_cast<int>(std::clamp(std::isnan(first) ? 0.0 : first, kFirstPower, kLastPower + 1.0));
    }

    // Return the machine for C, which must be at least that of the last call.
    const Machine &at(double C) {
        while (!settled_ && power_ <= kLastPower && std::pow(10.0, power_) <= C) climb();
        if (settled_) {
            rung_.keep_at(scaled(C));
        } else if (rung_C_ != C) {
            between_ = rung_;
            between_->move_to(scaled(C));
            return *between_;
        }
        return rung_;
    }

  private:
    static constexpr double kLargestBound = 1e100;
    static constexpr double kFirstPower = -307.0, kLastPower = 308.0;
    // With larger gaps, the labels are lost in the rounding errors of K beta.
    static constexpr double kHopeless = 1e-4;

    double scaled(double C) const { return std::clamp(std::ldexp(C, exponent_), smallest_bound_, kLargestBound); }

    // Solve for the next power of ten.
    void climb() {
        std::optional<Machine::State> before;
        if (gives_up_ && rung_C_ > 0.0) before = rung_.state();
        rung_C_ = std::pow(10.0, power_++);
        rung_.move_to(scaled(rung_C_));
        settled_ = rung_.settled();
        if (before && !settled_ && rung_.solution().gap > kHopeless) {
            rung_.restore(std::move(*before));
            settled_ = true;
        }
    }

    Machine rung_;                    // the machine of the last power of ten, ...
    double rung_C_ = 0.0;             // ... which was this, and 0 before the first
    std::optional<Machine> between_;  // the machine of another C
    int exponent_, power_ = 0;
    bool gives_up_, settled_ = false;
    double smallest_bound_;
};

// The machines of all pairs of classes, for each C, and what is known of them, (costs, pairs).
struct SolvedPairs {
    Cube<double> coefficients;  // (costs, G - 1, n), those of a sample against the other classes in their order
    Matrix<double> offsets, objectives, gaps;
    Matrix<Index> steps;
};

// Solve the machines of all pairs of classes for ascending values of C.
//
// In each pair the later class is the positive one. codes holds the class of each sample; samples of weight 0 take no
// part. K is given in units of 2^exponent, and so are the objectives, see MachinePath.
inline void solve_machines(Matrix<const double> K, Vector<const Index> codes, Index n_classes,
                           Vector<const double> weights, Vector<const double> costs, int exponent, bool semidefinite,
                           const SolvedPairs &solved) {
    double largest = 0.0;
    for (Index i = 0; !semidefinite && i < K.rows; ++i) {
        for (double value : K[i]) largest = std::max(largest, std::abs(value));
    }
    std::vector<Index> members;
    std::vector<double> block, y, own_weights;
    Index pair = 0;
    for (Index first = 0; first < n_classes; ++first) {
        for (Index second = first + 1; second < n_classes; ++second, ++pair) {
            members.clear();
            y.clear();
            own_weights.clear();
            double size = largest;
            for (Index t = 0; t < codes.n; ++t) {
                if ((codes[t] != first && codes[t] != second) || weights[t] == 0.0) continue;
                members.push_back(t);
                y.push_back(codes[t] == second ? 1.0 : -1.0);
                own_weights.push_back(weights[t]);
                size = std::max(size, std::abs(K(t, t)));
            }
            const Index m = static_cast<Index>(members.size());
            Matrix<const double> own = K;
            if (m < K.rows) {
                // A copy takes less time than to solve on scattered columns.
                block.resize(static_cast<std::size_t>(m * m));
                for (Index a = 0; a < m; ++a) {
                    const Vector<const double> row = K[members[a]];
                    for (Index b = 0; b < m; ++b) block[a * m + b] = row[members[b]];
                }
                own = {block.data(), m, m};
            }
            MachinePath path(own, {y.data(), m}, {own_weights.data(), m}, size > 0.0 ? size : 1.0, exponent,
                             semidefinite);
            for (Index c = 0; c < costs.n; ++c) {
                const Machine &machine = path.at(costs[c]);
                const MachineSolution solution = machine.solution();
                for (Index a = 0; a < m; ++a) {
                    solved.coefficients[c](y[a] > 0.0 ? first : second - 1, members[a]) = machine.beta()[a];
                }
                solved.offsets(c, pair) = solution.offset;
                solved.objectives(c, pair) = solution.objective;
                solved.gaps(c, pair) = solution.gap;
                solved.steps(c, pair) = solution.steps;
            }
        }
    }
}

}  // namespace similitude
