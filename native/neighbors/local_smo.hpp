// Support vector machines of one neighbourhood, for a whole range of C.
//
// Each machine is solved by numerics/smo.hpp. C increases by powers of ten from a value at which every variable is at a
// bound, and each solution is rescaled to be the start of the next, which is 3 to 10 times as fast as starting from
// zero. The powers of ten do not depend on the given values of C, so that one C alone gives the same result as within a
// range, to the last digit, even if the solution is not unique.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/views.hpp"
#include "neighbors/local_spectrum.hpp"
#include "numerics/smo.hpp"
#include "numerics/votes.hpp"

namespace similitude {

// The machine of one pair of classes, whose labels y are 1 and -1.
class LocalMachine {
  public:
    static constexpr Index kMaxSteps = 30'000;

    LocalMachine(Matrix<const double> K, Vector<const double> y) : size_(largest(K)), dual_(K, y, size_) {}

    // The largest |K|, or 1 if K is zero.
    double size() const { return size_; }

    Vector<const double> beta() const { return dual_.beta; }
    Vector<const double> h() const { return dual_.h; }

    // Rescale the solution to a start for the bound C; variables at a bound stay there.
    void stretch(double C) {
        const double ratio = C / C_;
        for (Index t = 0; t < dual_.n(); ++t) {
            const double y = dual_.y()[t];
            dual_.low[t] = std::min(y * C, 0.0);
            dual_.high[t] = std::max(y * C, 0.0);
            double &beta = dual_.beta[t];
            beta = std::abs(beta) == C_ ? y * C : std::min(std::max(beta * ratio, dual_.low[t]), dual_.high[t]);
            dual_.h[t] *= ratio;
        }
        C_ = C;
    }

    // Return whether so many steps were enough to solve it.
    bool solve(Index steps = kMaxSteps) {
        solved_ = dual_.solve(steps);
        return solved_;
    }
    bool solved() const { return solved_; }

    // Return whether no variable is at its bound, so that a larger C changes nothing.
    bool settled() const {
        double largest = 0.0;
        for (double value : beta()) largest = std::max(largest, std::abs(value));
        return largest < C_;
    }

    // Return the offset as in libsvm.
    double rho() const {
        const Vector<const double> low = dual_.low, high = dual_.high, beta = dual_.beta, h = dual_.h, y = dual_.y();
        double total = 0.0;
        Index n_free = 0, up = -1, down = -1;
        for (Index t = 0; t < y.n; ++t) {
            if (low[t] < beta[t] && beta[t] < high[t]) {
                total += h[t] - y[t];
                ++n_free;
            }
            if (beta[t] < high[t] && (up < 0 || y[t] - h[t] > y[up] - h[up])) up = t;
            if (beta[t] > low[t] && (down < 0 || y[t] - h[t] < y[down] - h[down])) down = t;
        }
        if (n_free > 0) return total / static_cast<double>(n_free);
        if (up < 0 || down < 0) return 0.0;  // only if a class is missing
        // The labels are added separately: they often cancel, and the rest may be as small as the similarities.
        return 0.5 * (h[up] + h[down]) - 0.5 * (y[up] + y[down]);
    }

    // Return ratio sum beta_i row_i - rho; a value that is 0 up to rounding becomes 0.
    double decision(Vector<const double> row, double ratio) const {
        double sum = 0.0, terms = 0.0;
        for (Index t = 0; t < row.n; ++t) {
            sum += dual_.beta[t] * row[t];
            terms += std::abs(dual_.beta[t] * row[t]);
        }
        const double offset = rho(), value = ratio * sum - offset;
        return std::abs(value) > kTie * (ratio * terms + std::abs(offset)) ? value : 0.0;
    }

  private:
    // Decision values this small, relative to their terms, count as 0.
    static constexpr double kTie = 1e-11;

    static double largest(Matrix<const double> K) {
        double size = 0.0;
        for (Index t = 0; t < K.rows; ++t) {
            for (double value : K[t]) size = std::max(size, std::abs(value));
        }
        return size > 0.0 ? size : 1.0;
    }

    double size_;
    DualProblem dual_;
    double C_ = 1.0;
    bool solved_ = true;
};

// Write the decision values of one pair of classes for the wanted C; return the number of unsolved machines.
//
// costs holds the values of C, ascending. K is given in units of unit: C * unit is to K what C is to the similarities.
inline Index decisions(Matrix<const double> K, Vector<const double> y, Vector<const double> row, double ratio,
                       double unit, Vector<const double> costs, Vector<const bool> wanted, Vector<double> values) {
    constexpr double smallest_bound = 1e-300, largest_bound = 1e100;
    constexpr int no_power = std::numeric_limits<double>::max_exponent10 + 1;
    const auto bound = [&](double C) { return std::min(std::max(C * unit, smallest_bound), largest_bound); };
    // The machine at the power of ten below C, or at 0 before the first power.
    LocalMachine rung(K, y);
    double rung_C = 0.0;
    const double first = std::floor(-std::log10(static_cast<double>(y.n) * rung.size()) - std::log10(unit));
    int exponent = std::isfinite(first) ? static_cast<int>(first) : no_power;
    bool settled = false;
    Index failures = 0;
    for (Index c = 0; c < costs.n; ++c) {
        if (!wanted[c]) continue;
        while (!settled && rung_C != costs[c] && exponent < no_power && std::pow(10.0, exponent) <= costs[c]) {
            rung_C = std::pow(10.0, exponent++);
            rung.stretch(bound(rung_C));
            rung.solve();
            settled = rung.settled();
        }
        if (settled || rung_C == costs[c]) {
            values[c] = rung.decision(row, ratio);
            failures += !rung.solved();
        } else {
            LocalMachine between = rung;
            between.stretch(bound(costs[c]));
            failures += !between.solve();
            values[c] = between.decision(row, ratio);
        }
    }
    return failures;
}

// Divide by a power of four, which is exact, so that the largest entry is about 1; return its binary exponent.
inline int normalize(Vector<double> values) {
    double largest = 0.0;
    for (double value : values) largest = std::max(largest, std::abs(value));
    int exponent = 0;
    if (std::isfinite(largest)) std::frexp(largest, &exponent);
    exponent = 2 * static_cast<int>(std::floor(0.5 * std::clamp(exponent, -1000, 1000)));
    const double factor = std::ldexp(1.0, -exponent);
    for (double &value : values) value *= factor;
    return exponent;
}

// A grid of spectra, sizes and values of C, and which of its points are wanted, (spectra, sizes, costs).
struct MachineGrid {
    std::vector<Spectrum> spectra;
    Vector<const double> costs;  // ascending
    Cube<const bool> wanted;

    bool wants(Index p, Index g) const {
        const Vector<const bool> points = wanted[p][g];
        return std::any_of(points.begin(), points.end(), [](bool one) { return one; });
    }
};

// The machines of all pairs of classes of a neighbourhood.
class LocalMachines {
  public:
    // For neighbourhoods of up to most neighbours.
    LocalMachines(const MachineGrid &grid, Index n_classes, Index most)
        : grid_(grid), n_classes_(n_classes), A_(most, most), block_(most, most), s_(most), y_(most), part_(most),
          pair_(most), counts_(n_classes), values_(grid.costs.n), votes_(grid.costs.n, n_classes),
          sums_(grid.costs.n, n_classes), modified_(most) {}

    // Write the scores of one test sample, (spectra x sizes, costs, 1 or G); return the number of unsolved machines.
    // Sizes are ascending, and the last one is the number of neighbours.
    //
    // If all neighbours belong to one class, its score is 1 and that of the others -1, without a machine. With two
    // classes there is one score, the decision value of the later class.
    template <class Similarities>
    Index score(const Similarities &S, Vector<const Index> neighbors, Vector<const double> similarities,
                Vector<const Index> labels, Vector<const Index> sizes, Cube<double> scores) {
        Index first_other = 0;
        while (first_other < labels.n && labels[first_other] == labels[0]) ++first_other;
        write_alone(labels[0], scores);
        if (neighbors.n <= first_other) return 0;
        const Matrix<double> A{A_.view().data, neighbors.n, neighbors.n};
        const Vector<double> s = s_.part(0, neighbors.n);
        gather(S, neighbors, A);
        std::copy(similarities.begin(), similarities.end(), s.begin());
        const int exponent = normalize({A.data, neighbors.n * neighbors.n}), row_exponent = normalize(s);
        const double unit = std::ldexp(1.0, exponent), ratio = std::ldexp(1.0, std::min(row_exponent - exponent, 600));
        Index failed = 0;
        for (Index p = 0; p < static_cast<Index>(grid_.spectra.size()); ++p) {
            const Spectrum spectrum = grid_.spectra[p];
            const Index semidefinite = spectrum == Spectrum::shift ? modified_.leading_semidefinite(A) : 0;
            for (Index g = 0; g < sizes.n; ++g) {
                const Index k = sizes[g];
                if (k <= first_other || !grid_.wants(p, g)) continue;
                modified_.modify({A, s}, k, spectrum, semidefinite, true);
                failed += one_vs_one(labels.part(0, k), ratio, unit, grid_.wanted[p][g], scores[p * sizes.n + g]);
            }
        }
        return failed;
    }

  private:
    void write_alone(Index label, Cube<double> scores) const {
        for (Index i = 0; i < scores.depth * scores.rows; ++i) {
            const Vector<double> score{scores.data + i * scores.columns, scores.columns};
            if (n_classes_ > 2) {
                std::fill(score.begin(), score.end(), -1.0);
                score[label] = 1.0;
            } else {
                score[0] = label == 0 ? -1.0 : 1.0;
            }
        }
    }

    // Write the decision value (two classes) or the scores (more classes) for each C; return the number of unsolved
    // machines.
    //
    // As in libsvm the earlier class of a pair is the positive one. A score is the number of pairs won plus a term
    // between -1/3 and 1/3 that grows with the sum of the decision values; a class without neighbours has -1.
    Index one_vs_one(Vector<const Index> labels, double ratio, double unit, Vector<const bool> wanted,
                     Matrix<double> scores) {
        counts_.fill(0);
        for (Index label : labels) ++counts_[label];
        votes_.fill(0.0);
        sums_.fill(0.0);
        values_.fill(0.0);
        Index failures = 0;
        for (Index first = 0; first < n_classes_; ++first) {
            for (Index second = first + 1; second < n_classes_; ++second) {
                if (counts_[first] == 0 || counts_[second] == 0) continue;
                failures += decide_pair(labels, first, second, ratio, unit, wanted);
                for (Index c = 0; c < values_.size(); ++c) {
                    votes_(c, values_[c] > 0.0 ? first : second) += 1.0;
                    sums_(c, first) += values_[c];
                    sums_(c, second) -= values_[c];
                }
            }
        }
        for (Index c = 0; c < values_.size(); ++c) {
            if (n_classes_ == 2) {
                scores(c, 0) = sums_(c, 1);
            } else {
                one_vs_one_scores(votes_[c], sums_[c], counts_, true, scores[c]);
            }
        }
        return failures;
    }

    // Write the decision values of one pair of classes into values; return the number of unsolved machines.
    Index decide_pair(Vector<const Index> labels, Index first, Index second, double ratio, double unit,
                      Vector<const bool> wanted) {
        Index m = 0;
        for (Index label : {first, second}) {
            for (Index a = 0; a < labels.n; ++a) {
                if (labels[a] == label) pair_[m++] = a;
            }
        }
        const Matrix<double> block{block_.view().data, m, m};
        const Matrix<double> K = modified_.K();
        for (Index a = 0; a < m; ++a) {
            y_[a] = a < counts_[first] ? 1.0 : -1.0;
            part_[a] = modified_.row()[pair_[a]];
            for (Index b = 0; b < m; ++b) block(a, b) = K(pair_[a], pair_[b]);
        }
        return decisions(block, y_.part(0, m), part_.part(0, m), ratio, unit, grid_.costs, wanted, values_);
    }

    const MachineGrid &grid_;
    Index n_classes_;
    OwnedMatrix<double> A_, block_;     // similarities among the neighbours, and those of two classes
    OwnedVector<double> s_, y_, part_;  // a row, and the labels and the row of two classes
    OwnedVector<Index> pair_, counts_;  // the neighbours of two classes; how many each class has
    OwnedVector<double> values_;        // the decision values of a pair for each C
    OwnedMatrix<double> votes_, sums_;  // for each C and class
    ModifiedNeighborhood modified_;
};

// Write the scores of each test sample into scores (m, spectra x sizes, costs, 1 or G); return the number of unsolved
// machines.
//
// neighbors (m, k) holds the positions of the neighbours in S, nearest first, similarities (m, k) the similarities of
// the test samples to them, labels (m, k) their classes, and sizes (m, sizes) how many of them are taken.
template <class Similarities>
Index local_machines(const Similarities &S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                     Matrix<const Index> labels, Matrix<const Index> sizes, Index n_classes, const MachineGrid &grid,
                     Tesseract<double> scores) {
    LocalMachines machines(grid, n_classes, neighbors.columns);
    Index failed = 0;
    for (Index m = 0; sizes.columns > 0 && m < neighbors.rows; ++m) {
        const Index most = sizes(m, sizes.columns - 1);
        failed += machines.score(S, neighbors[m].part(0, most), similarities[m].part(0, most), labels[m].part(0, most),
                                 sizes[m], scores[m]);
    }
    return failed;
}

}  // namespace similitude
