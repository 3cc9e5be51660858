// Votes of neighbours and of pairs of classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/views.hpp"

namespace similitude {

// Write the sums of the neighbours' weights per class, at each neighbourhood size, into totals (m, sizes, G).
//
// labels, similarities and weights have the shape (m, k), nearest first, with equal weights at equal similarities;
// beyond (m, G) counts the samples that are not listed although they are as similar as the last one; sizes is
// ascending. Samples that tie for the last places share them, so the sums are expectations over all orders of equal
// samples.
inline void class_totals(Matrix<const Index> labels, Matrix<const double> similarities, Matrix<const double> weights,
                         Matrix<const double> beyond, Vector<const Index> sizes, Cube<double> totals) {
    const Index k = labels.columns;
    OwnedVector<double> running(totals.columns);
    for (Index row = 0; row < labels.rows; ++row) {
        running.fill(0.0);
        double unlisted = 0.0;
        for (double count : beyond[row]) unlisted += count;
        Index g = 0;
        for (Index start = 0, stop = 1; g < sizes.n && start < k; start = stop++) {
            while (stop < k && similarities(row, stop) == similarities(row, start)) ++stop;
            const double n_tied = static_cast<double>(stop - start) + (stop == k ? unlisted : 0.0);
            for (; g < sizes.n && sizes[g] <= stop; ++g) {
                const Vector<double> total = totals[row][g];
                std::copy(running.begin(), running.end(), total.begin());
                const double share = static_cast<double>(sizes[g] - start) / n_tied * weights(row, start);
                for (Index j = start; j < stop; ++j) total[labels(row, j)] += share;
                for (Index c = 0; stop == k && unlisted > 0.0 && c < total.n; ++c) total[c] += share * beyond(row, c);
            }
            for (Index j = start; j < stop; ++j) running[labels(row, j)] += weights(row, j);
        }
    }
}

// Add the weights per class, for each of J weightings (m, J, k) of the first k neighbours, to totals (m, J, G).
inline void class_sums(Matrix<const Index> labels, Cube<const double> weights, Cube<double> totals) {
    for (Index row = 0; row < labels.rows; ++row) {
        for (Index g = 0; g < weights.rows; ++g) {
            for (Index j = 0; j < weights.columns; ++j) totals[row](g, labels(row, j)) += weights[row](g, j);
        }
    }
}

// The neighbours of rows, of which the first sizes(row, g) vote at place g of a grid.
struct Voters {
    Matrix<const Index> labels;         // (m, k), nearest first
    Matrix<const double> similarities;  // (m, k)
    Cube<const double> counts;          // (m, grid, G), the neighbours of each class, shares of tied ones included
    Matrix<const Index> sizes;          // (m, grid)

    // Return the similarity of the nearest neighbour of a class; minus infinity if it has none.
    double nearest(Index row, Index g, Index c) const {
        const Index size = sizes(row, g);
        for (Index j = 0; j < size; ++j) {
            if (labels(row, j) == c) return similarities(row, j);
        }
        // A class may have only neighbours that are not listed, which are as similar as the last one.
        const bool unlisted = counts[row](g, c) > 0.0 && labels.columns > 0;
        return unlisted ? similarities(row, std::max<Index>(size, 1) - 1) : -std::numeric_limits<double>::infinity();
    }
};

// Write the best class of each row and place of the grid into winners (m, grid).
//
// Scores within tolerance times the largest absolute score of the best are tied. Of tied classes, the one with the most
// similar neighbour wins, then the one with more training samples, then the first one. A class with the score -inf
// cannot win.
inline void break_ties(Cube<const double> scores, const Voters &voters, Vector<const Index> class_sizes,
                       double tolerance, Matrix<Index> winners) {
    const Index n_classes = scores.columns;
    for (Index row = 0; row < scores.depth; ++row) {
        for (Index g = 0; g < scores.rows; ++g) {
            const Vector<const double> score = scores[row][g];
            Index best = 0, n_tied = 0;
            double largest = 0.0;
            for (Index c = 0; c < n_classes; ++c) {
                if (score[c] > score[best]) best = c;
                if (std::isfinite(score[c])) largest = std::max(largest, std::abs(score[c]));
            }
            const double threshold = score[best] - tolerance * largest;
            for (Index c = 0; c < n_classes; ++c) n_tied += score[c] >= threshold;
            winners(row, g) = best;
            if (n_tied < 2) continue;
            Index winner = -1;
            double nearest = 0.0;
            for (Index c = 0; c < n_classes; ++c) {
                if (!(score[c] >= threshold)) continue;
                const double own = voters.nearest(row, g, c);
                if (winner < 0 || own > nearest || (own == nearest && class_sizes[c] > class_sizes[winner])) {
                    winner = c;
                    nearest = own;
                }
            }
            winners(row, g) = winner;
        }
    }
}

// Write how many columns of each class are equal to the value of their row into counts (m, G).
template <class T>
void tied_classes(const Strided<const T> &S, Vector<const T> values, Vector<const Index> labels,
                  Matrix<double> counts) {
    for (Index row = 0; row < S.rows; ++row) {
        for (Index j = 0; j < S.columns; ++j) {
            if (S(row, j) == values[row]) counts(row, labels[j]) += 1.0;
        }
    }
}

// Write the scores of the classes, from their pairwise votes and sums of decision values, into scores.
//
// A score is the number of votes plus a term between -1/3 and 1/3 that grows with the sum; it is -1 for a class whose
// count is 0. Of the classes with the most votes, the one with the largest sum has the largest score, or the first one
// if first_of_tied.
inline void one_vs_one_scores(Vector<const double> votes, Vector<const double> sums, Vector<const Index> counts,
                              bool first_of_tied, Vector<double> scores) {
    Index winner = 0;
    for (Index g = 0; g < votes.n; ++g) {
        scores[g] = counts[g] > 0 ? votes[g] + sums[g] / (3.0 * (std::abs(sums[g]) + 1.0)) : -1.0;
        if (votes[g] > votes[winner]) winner = g;
    }
    for (Index g = 0; first_of_tied && g < votes.n; ++g) {
        if (votes[g] == votes[winner]) scores[winner] = std::max(scores[winner], scores[g]);
    }
}

// Write the scores (m, G) of the classes of each row.
//
// decisions holds the decision values and later whether the later class gets the vote, both of shape (m, pairs), with
// the pairs in the order (0, 1), (0, 2), ...
inline void one_vs_one_rows(Matrix<const double> decisions, Matrix<const bool> later, bool first_of_tied,
                            Matrix<double> scores) {
    const Index n_classes = scores.columns;
    OwnedVector<double> votes(n_classes), sums(n_classes);
    const OwnedVector<Index> counts(n_classes, 1);
    for (Index row = 0; row < decisions.rows; ++row) {
        votes.fill(0.0);
        sums.fill(0.0);
        Index pair = 0;
        for (Index first = 0; first < n_classes; ++first) {
            for (Index second = first + 1; second < n_classes; ++second, ++pair) {
                const double value = decisions(row, pair);
                votes[later(row, pair) ? second : first] += 1.0;
                sums[second] += value;
                sums[first] -= value;
            }
        }
        one_vs_one_scores(votes.view(), sums.view(), counts, first_of_tied, scores[row]);
    }
}

}  // namespace similitude
