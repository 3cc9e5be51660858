// The rounds of DBoost, and its decision values.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boosting/cut_search.hpp"
#include "common/views.hpp"

namespace similitude {

// Base classifiers: the output is outputs(t, 1) where psi(x, x+) - psi(x, x-) > cuts[t], otherwise outputs(t, 0).
template <class I, class V>
struct Rounds {
    Matrix<I> pairs;  // the positions of x+ and x-
    Vector<V> cuts;
    Matrix<V> outputs;
};

// All pairs of one of the first n_plus columns with one of the others, of which there are n_minus.
struct AllPairs {
    Index n_plus, n_minus;

    Index size() const { return n_plus * n_minus; }
    std::pair<Index, Index> operator[](Index m) const { return {m / n_minus, n_plus + m % n_minus}; }
};

// The pairs in the rows of a matrix.
struct ListedPairs {
    Matrix<const Index> pairs;

    Index size() const { return pairs.rows; }
    std::pair<Index, Index> operator[](Index m) const { return {pairs(m, 0), pairs(m, 1)}; }
};

// Rounds of boosting on columns, where columns(j, i) is psi(x_i, x_j), the positive samples before the negative ones.
//
// The columns are those of the samples themselves if pairs are drawn by their weights, and of any samples otherwise.
template <class T, bool real>
class Boosting {
  public:
    Boosting(Matrix<const T> columns, Index n_positive, const Scale &scale, Index n_buckets, Vector<double> weights)
        : columns_(columns), n_positive_(n_positive), weights_(weights), cumulated_(weights.n), units_(weights.n),
          search_(weights.n, n_positive, scale, n_buckets) {}

    // Run one round for each matrix of uniforms, whose rows choose the pairs; the weights change.
    void run(Cube<const double> uniforms, Rounds<Index, double> rounds) {
        for (Index t = 0; t < uniforms.depth; ++t) {
            const Matrix<const double> numbers = uniforms[t];
            run_round(rounds, t, numbers.rows, [&](Index m) {
                return std::pair{draw(0, n_positive_, numbers(m, 0)), draw(n_positive_, n(), numbers(m, 1))};
            });
        }
    }

    // Run rounds in each of which the best of the same pairs of columns is used; the weights change.
    template <class Pairs>
    void run_among(const Pairs &pairs, Rounds<Index, double> rounds) {
        for (Index t = 0; t < rounds.cuts.n; ++t) {
            run_round(rounds, t, pairs.size(), [&](Index m) { return pairs[m]; });
        }
    }

  private:
    // The largest gamma: a perfect pair gets a finite coefficient, and boosting continues.
    static constexpr double kCap = 1.0 - 1e-10;
    // The search counts weights in so many whole units: sums of them are exact in any order.
    static constexpr double kUnits = 0x1p52;
    // The smallest weight: none is lost for good, and there are no denormal numbers.
    static constexpr double kFloor = 1e-300;

    Index n() const { return weights_.n; }

    // Run round t with the best of n_pairs pairs, of which pair_at returns one by its number.
    template <class PairAt>
    void run_round(Rounds<Index, double> rounds, Index t, Index n_pairs, PairAt pair_at) {
        const Masses all = weigh();
        const Vector<Index> pair = rounds.pairs[t];
        // The cut below all differences comes first: it predicts + throughout.
        double best = cut_value<real>({}, all), place = -std::numeric_limits<double>::infinity();
        for (Index m = 0; m < n_pairs; ++m) {
            const auto [plus, minus] = pair_at(m);
            search_.compare(columns_[plus], columns_[minus]);
            const auto found = search_.search(units_, all, best);
            if (m == 0 || found.value < best) {
                pair[0] = plus, pair[1] = minus;
                best = found.value, place = found.place;
            }
        }
        search_.compare(columns_[pair[0]], columns_[pair[1]]);
        rounds.cuts[t] = cut_above(place, columns_[pair[0]], columns_[pair[1]]);
        reweight(rounds.cuts[t], rounds.outputs[t]);
    }

    // Cumulate the weights within each class, and count them in whole units; return the units of both classes.
    Masses weigh() {
        double total = 0.0;
        for (const double weight : weights_) total += weight;
        Masses all;
        for (Index i = 0; i < n(); ++i) {
            cumulated_[i] = i == 0 || i == n_positive_ ? weights_[i] : cumulated_[i - 1] + weights_[i];
            units_[i] = std::floor(weights_[i] * (kUnits / total) + 0.5);
            (i < n_positive_ ? all.positive : all.negative) += units_[i];
        }
        return all;
    }

    // Return the position, from first to before last, that a number in [0, 1) chooses by the cumulated weights.
    Index draw(Index first, Index last, double uniform) const {
        const double target = uniform * cumulated_[last - 1];
        Index low = first;
        for (Index left = last - 1 - first; left > 0; left /= 2) {
            const Index half = (left + 1) / 2;
            low += cumulated_[low + half - 1] > target ? 0 : half;  // a branch could not be predicted
        }
        return low;
    }

    // Return the middle between a difference of the pair and the next larger one, or infinity if there is none.
    //
    // It is computed from the differences as they were before rounding, so that it is rounded like those of new rows.
    double cut_above(double place, Vector<const T> plus, Vector<const T> minus) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (place == -infinity) return place;
        const Vector<const double> d = search_.differences();
        double following = infinity;
        for (const double value : d) {
            if (value > place && value < following) following = value;
        }
        if (following == infinity) return following;
        double low = -infinity, high = infinity;
        for (Index i = 0; i < n(); ++i) {
            const double exact = d[i] == 0.0 ? 0.0 : static_cast<double>(plus[i]) - static_cast<double>(minus[i]);
            if (d[i] == place) low = std::max(low, exact);
            if (d[i] == following) high = std::min(high, exact);
        }
        const double cut = detail::significant(low + (high - low) / 2.0, std::max(std::abs(low), std::abs(high)));
        return cut >= following ? place : cut;
    }

    // Write the outputs of the base classifier below and above the cut, and compute the weights of the next round.
    void reweight(double cut, Vector<double> outputs) {
        const Vector<const double> d = search_.differences();
        Masses below, above;
        for (Index i = 0; i < n(); ++i) {
            Masses &side = d[i] > cut ? above : below;
            (i < n_positive_ ? side.positive : side.negative) += units_[i];
        }
        const double total = below.positive + below.negative + above.positive + above.negative;
        if constexpr (real) {
            const double share = 1.0 / static_cast<double>(n());
            const double low = std::sqrt((below.negative / total + share) / (below.positive / total + share));
            const double high = std::sqrt((above.negative / total + share) / (above.positive / total + share));
            outputs[0] = -std::log(low), outputs[1] = -std::log(high);
            for (Index i = 0; i < n_positive_; ++i) weights_[i] *= d[i] > cut ? high : low;
            for (Index i = n_positive_; i < n(); ++i) weights_[i] /= d[i] > cut ? high : low;
        } else {
            const double gamma = std::min(1.0 - 2.0 * (below.positive + above.negative) / total, kCap);
            outputs[1] = std::log((1.0 + gamma) / (1.0 - gamma)) / 2.0;
            outputs[0] = -outputs[1];
            for (Index i = 0; i < n_positive_; ++i) weights_[i] /= d[i] > cut ? 1.0 + gamma : 1.0 - gamma;
            for (Index i = n_positive_; i < n(); ++i) weights_[i] /= d[i] > cut ? 1.0 - gamma : 1.0 + gamma;
        }
        double sum = 0.0;
        for (const double weight : weights_) sum += weight;
        for (double &weight : weights_) weight = std::max(weight / sum, kFloor);
    }

    Matrix<const T> columns_;
    Index n_positive_;
    Vector<double> weights_;
    OwnedVector<double> cumulated_, units_;
    CutSearch<real> search_;
};

// Write the sums of the outputs, added to totals, after the first stages[j] (ascending) rounds into decisions.
template <class T>
void decide(Matrix<const T> rows, Rounds<const Index, const double> rounds, Vector<const Index> stages,
            Vector<double> totals, Matrix<double> decisions) {
    for (Index r = 0; r < rows.rows; ++r) {
        const Vector<const T> row = rows[r];
        double total = totals[r];
        Index t = 0;
        for (Index j = 0; j < stages.n; ++j) {
            for (; t < stages[j]; ++t) {
                const double d = detail::difference(row[rounds.pairs(t, 0)], row[rounds.pairs(t, 1)]);
                total += rounds.outputs(t, d > rounds.cuts[t]);
            }
            decisions(r, j) = total;
        }
        totals[r] = total;
    }
}

}  // namespace similitude
