// Support vector machines on the neighbours of a sample, for many neighbourhood sizes and values of C.
//
// Those of one neighbourhood and two classes are a numerics/machine_path.hpp, of which only decision values are kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/views.hpp"
#include "neighbors/local_spectrum.hpp"
#include "numerics/machine_path.hpp"
#include "numerics/votes.hpp"

namespace similitude {

// Return the largest |K|, or 1 if K is zero.
inline double largest_size(Matrix<const double> K) {
    double size = 0.0;
    for (Index t = 0; t < K.rows; ++t) {
        for (double value : K[t]) size = std::max(size, std::abs(value));
    }
    return size > 0.0 ? size : 1.0;
}

// Return the decision value of a row, ratio sum beta_i row_i + b; a value that is 0 up to rounding becomes 0.
inline double decision(const Machine &machine, Vector<const double> row, double ratio) {
    constexpr double tie = 1e-11;  // relative to the terms
    const Vector<const double> beta = machine.beta();
    double sum = 0.0, terms = 0.0;
    for (Index t = 0; t < row.n; ++t) {
        sum += beta[t] * row[t];
        terms += std::abs(beta[t] * row[t]);
    }
    const double offset = machine.offset(), value = ratio * sum + offset;
    return std::abs(value) > tie * (ratio * terms + std::abs(offset)) ? value : 0.0;
}

// Write the decision values of one pair of classes for the wanted C; return the number of unsolved machines.
//
// costs holds the values of C, ascending. K is given in units of 2^exponent, see MachinePath.
inline Index decisions(Matrix<const double> K, Vector<const double> y, Vector<const double> row, double ratio,
                       int exponent, Vector<const double> costs, Vector<const bool> wanted, Vector<double> values) {
    constexpr double smallest_bound = 1e-300;  // no gap is computed, in which squares of the variables would underflow
    const OwnedVector<double> weights(y.n, 1.0);
    MachinePath path(K, y, weights, largest_size(K), exponent, false, smallest_bound);
    Index failures = 0;
    for (Index c = 0; c < costs.n; ++c) {
        if (!wanted[c]) continue;
        const Machine &machine = path.at(costs[c]);
        values[c] = decision(machine, row, ratio);
        failures += !machine.solved();
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
          pair_(most), counts_(n_classes), present_(n_classes), values_(grid.costs.n), votes_(grid.costs.n, n_classes),
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
        const double ratio = std::ldexp(1.0, std::min(row_exponent - exponent, 600));
        Index failed = 0;
        for (Index p = 0; p < static_cast<Index>(grid_.spectra.size()); ++p) {
            const Spectrum spectrum = grid_.spectra[p];
            const Index semidefinite = spectrum == Spectrum::shift ? modified_.leading_semidefinite(A) : 0;
            for (Index g = 0; g < sizes.n; ++g) {
                const Index k = sizes[g];
                if (k <= first_other || !grid_.wants(p, g)) continue;
                modified_.modify({A, s}, k, spectrum, semidefinite, true);
                failed += one_vs_one(labels.part(0, k), ratio, exponent, grid_.wanted[p][g], scores[p * sizes.n + g]);
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
    Index one_vs_one(Vector<const Index> labels, double ratio, int exponent, Vector<const bool> wanted,
                     Matrix<double> scores) {
        counts_.fill(0);
        for (Index label : labels) ++counts_[label];
        votes_.fill(0.0);
        sums_.fill(0.0);
        values_.fill(0.0);
        Index n_present = 0;
        for (Index g = 0; g < n_classes_; ++g) {
            if (counts_[g] > 0) present_[n_present++] = g;
        }
        Index failures = 0;
        for (Index i = 0; i < n_present; ++i) {
            for (Index j = i + 1; j < n_present; ++j) {
                const Index first = present_[i], second = present_[j];
                failures += decide_pair(labels, first, second, ratio, exponent, wanted);
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
    Index decide_pair(Vector<const Index> labels, Index first, Index second, double ratio, int exponent,
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
        return decisions(block, y_.part(0, m), part_.part(0, m), ratio, exponent, grid_.costs, wanted, values_);
    }

    const MachineGrid &grid_;
    Index n_classes_;
    OwnedMatrix<double> A_, block_;        // similarities among the neighbours, and those of two classes
    OwnedVector<double> s_, y_, part_;     // a row, and the labels and the row of two classes
    OwnedVector<Index> pair_;              // the neighbours of two classes
    OwnedVector<Index> counts_, present_;  // how many neighbours each class has, and the classes that have some
    OwnedVector<double> values_;           // the decision values of a pair for each C
    OwnedMatrix<double> votes_, sums_;     // for each C and class
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
