// Votes of neighbours and of pairs of classes.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/views.hpp"

namespace similitude {

// Write the sums of the neighbours' weights per class, at each neighbourhood size, into totals (m, sizes, G).
//
// labels and weights have the shape (m, k), nearest first; sizes is ascending.
template <class T>
void class_totals(Matrix<const Index> labels, Matrix<const T> weights, Vector<const Index> sizes,
                  Cube<double> totals) {
    OwnedVector<double> running(totals.columns);
    for (Index row = 0; row < labels.rows; ++row) {
        running.fill(0.0);
        Index start = 0;
        for (Index g = 0; g < sizes.n; ++g) {
            for (Index j = start; j < sizes[g]; ++j) running[labels(row, j)] += weights(row, j);
            start = sizes[g];
            std::copy(running.begin(), running.end(), totals[row][g].begin());
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

// Write the best class of each row and neighbourhood size into winners (m, sizes).
//
// Of tied classes, the one whose first neighbour is nearest wins. Scores within tolerance times the largest absolute
// score of the best are tied. A class with the score -inf cannot win. If no tied class has a neighbour, the lowest class
// wins.
inline void break_ties(Cube<const double> scores, Matrix<const Index> labels, Vector<const Index> sizes,
                       double tolerance, Matrix<Index> winners) {
    const Index n_classes = scores.columns;
    for (Index row = 0; row < scores.depth; ++row) {
        for (Index g = 0; g < sizes.n; ++g) {
            const Vector<const double> score = scores[row][g];
            Index best = 0, n_tied = 0, winner = -1;
            double largest = 0.0;
            for (Index c = 0; c < n_classes; ++c) {
                if (score[c] > score[best]) best = c;
                if (std::isfinite(score[c])) largest = std::max(largest, std::abs(score[c]));
            }
            const double threshold = score[best] - tolerance * largest;
            for (Index c = 0; c < n_classes; ++c) n_tied += score[c] >= threshold;
            for (Index j = 0; n_tied > 1 && winner < 0 && j < sizes[g]; ++j) {
                if (score[labels(row, j)] >= threshold) winner = labels(row, j);
            }
            winners(row, g) = winner < 0 ? best : winner;
        }
    }
}

// Write the scores of the classes, from their pairwise votes and sums of decision values, into scores.
//
// A score is the number of votes plus a term between -1/3 and 1/3 that grows with the sum; it is -1 for a class whose
// count is 0. Of the classes with the most votes, the one with the largest sum has the largest score, or the first one if
// first_of_tied.
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
