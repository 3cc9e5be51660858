// The centroids of the classes within neighbourhoods, and distances to local means.
//
// Neighbour lists are nested, so one pass computes every size of a grid. Each running sum is added up in the order of
// the neighbours, nearest first, whatever the sizes are: a grid gives the same digits as each of its points alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/views.hpp"

namespace similitude {

// The centroid of each class in a growing neighbourhood of one sample after another.
//
// Totals within tolerance times the largest total of absolute values in the class are tied. Of tied members the nearest
// to the sample is the centroid, and of equally near ones the one with the largest total over all neighbours, then over
// those of the first class where they differ.
class LocalCentroids {
  public:
    // At most k neighbours, of classes with so many training samples.
    LocalCentroids(Index k, Vector<const Index> class_sizes, double tolerance)
        : tolerance_(tolerance), class_sizes_(class_sizes), heads_(class_sizes.n), following_(k), totals_(k),
          magnitudes_(k), counts_(class_sizes.n), thresholds_(class_sizes.n) {}

    // Begin with the neighbours of another sample, given by their classes and similarities, nearest first; none is
    // taken in yet.
    void start(Vector<const Index> labels, Vector<const double> similarities) {
        labels_ = labels;
        similarities_ = similarities;
        size_ = 0;
        // With many classes most pairs of neighbours belong to different classes; following the links skips them.
        heads_.fill(labels.n);
        for (Index j = labels.n - 1; j >= 0; --j) {
            following_[j] = heads_[labels[j]];
            heads_[labels[j]] = j;
        }
    }

    // Take in the neighbours before size, where psi(z, mu) is the similarity of neighbour z to neighbour mu.
    template <class Similarity>
    void grow(const Similarity &psi, Index size) {
        for (; size_ < size; ++size_) add(psi, size_);
        for (Index c = 0; c < counts_.size(); ++c) summarise(c);
    }

    // Return how many of the neighbours so far belong to each class.
    Vector<const Index> counts() const { return counts_; }

    // Return the neighbour that is the centroid of a class with at least one neighbour.
    template <class Similarity>
    Index centroid(const Similarity &psi, Index c) const {
        Index mu = heads_[c];
        while (totals_[mu] < thresholds_[c]) mu = following_[mu];
        for (Index other = next_tied(mu); other < size_; other = next_tied(other)) {
            if (is_more_central(psi, other, mu)) mu = other;
        }
        return mu;
    }

    // Return the class of the centroid most similar to the sample.
    //
    // Of classes with equally similar centroids the one with more neighbours wins, then the one with the most similar
    // neighbour, then the one with more training samples, then the first one.
    Index nearest() const {
        Index winner = -1;
        double most_similar = 0.0;
        for (Index j = 0; j < size_; ++j) {
            // Neighbours are in descending order of similarity, so every later centroid is less similar.
            if (winner >= 0 && similarities_[j] < most_similar) break;
            const Index c = labels_[j];
            if (totals_[j] < thresholds_[c]) continue;
            if (winner < 0) most_similar = similarities_[j];
            if (winner < 0 || is_before(c, winner)) winner = c;
        }
        return winner;
    }

  private:
    double tolerance_;
    Vector<const Index> class_sizes_;
    Vector<const Index> labels_;
    Vector<const double> similarities_;
    Index size_ = 0;                           // the number of neighbours so far
    OwnedVector<Index> heads_, following_;     // the first neighbour of each class, and the next one after each; or k
    OwnedVector<double> totals_, magnitudes_;  // of psi(z, mu) and |psi(z, mu)| over z, for each neighbour mu
    OwnedVector<Index> counts_;
    OwnedVector<double> thresholds_;  // the smallest total in each class that is tied for the best

    // Return the next member of the same class that is tied with mu and equally similar to the sample; size or more if
    // there is none.
    Index next_tied(Index mu) const {
        const double near = similarities_[mu], threshold = thresholds_[labels_[mu]];
        do mu = following_[mu];
        while (mu < size_ && similarities_[mu] == near && totals_[mu] < threshold);
        return mu < size_ && similarities_[mu] == near ? mu : size_;
    }

    // Return whether a neighbour has a larger total over all neighbours than another, or, if these are equal, over
    // those of the first class where they differ. Neighbours whose totals are all equal have the same statistics.
    template <class Similarity>
    bool is_more_central(const Similarity &psi, Index mu, Index other) const {
        OwnedVector<double> excess(class_sizes_.n);
        double total = 0.0, magnitude = 0.0;
        for (Index z = 0; z < size_; ++z) {
            const double own = psi(z, mu), compared = psi(z, other);
            excess[labels_[z]] += own - compared;
            total += own - compared;
            magnitude += std::abs(own) + std::abs(compared);
        }
        const double rounding = tolerance_ * magnitude;
        if (std::abs(total) > rounding) return total > 0.0;
        for (double difference : excess) {
            if (std::abs(difference) > rounding) return difference > 0.0;
        }
        return false;
    }

    // Return whether a class wins against another whose centroid is equally similar.
    bool is_before(Index c, Index other) const {
        if (counts_[c] != counts_[other]) return counts_[c] > counts_[other];
        const double own = similarities_[heads_[c]], near = similarities_[heads_[other]];
        if (own != near) return own > near;
        return class_sizes_[c] != class_sizes_[other] ? class_sizes_[c] > class_sizes_[other] : c < other;
    }

    // Add the similarities of neighbour j to the totals of its class, and compute its own total.
    template <class Similarity>
    void add(const Similarity &psi, Index j) {
        double total = 0.0, magnitude = 0.0;
        for (Index a = heads_[labels_[j]]; a < j; a = following_[a]) {
            const double outward = psi(j, a), inward = psi(a, j);
            totals_[a] += outward;
            magnitudes_[a] += std::abs(outward);
            total += inward;
            magnitude += std::abs(inward);
        }
        const double own = psi(j, j);
        totals_[j] = total + own;
        magnitudes_[j] = magnitude + std::abs(own);
    }

    // Count the neighbours of a class, and compute its threshold.
    void summarise(Index c) {
        Index count = 0;
        double best = -std::numeric_limits<double>::infinity(), widest = 0.0;
        for (Index j = heads_[c]; j < size_; j = following_[j]) {
            ++count;
            best = std::max(best, totals_[j]);
            widest = std::max(widest, magnitudes_[j]);
        }
        counts_[c] = count;
        thresholds_[c] = best - tolerance_ * widest;
    }
};

// Write the class whose local centroid is most similar to each row, at each size, into winners (m, sizes).
//
// S gives the similarities among the samples, of which share is taken so that sums do not overflow; neighbors, their
// similarities and their labels are (m, k), nearest first; sizes (m, sizes) is ascending in each row.
template <class Similarities>
void nearest_centroids(const Similarities &S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                       Matrix<const Index> labels, Matrix<const Index> sizes, Vector<const Index> class_sizes,
                       double share, double tolerance, Matrix<Index> winners) {
    LocalCentroids centroids(neighbors.columns, class_sizes, tolerance);
    for (Index row = 0; row < neighbors.rows; ++row) {
        const Vector<const Index> samples = neighbors[row];
        const auto psi = [&](Index z, Index mu) { return share * S(samples[z], samples[mu]); };
        centroids.start(labels[row], similarities[row]);
        for (Index g = 0; g < sizes.columns; ++g) {
            centroids.grow(psi, sizes(row, g));
            winners(row, g) = centroids.nearest();
        }
    }
}

// Write the distances from each row to the mean of its nearest samples, at each neighbourhood size.
//
// neighbors (m, k) are positions in samples, nearest first; sizes (m, sizes) is ascending in each row.
template <class T>
void mean_distances(Matrix<const T> samples, Matrix<const Index> neighbors, Matrix<const double> rows,
                    Matrix<const Index> sizes, Matrix<double> distances) {
    const Index n_features = samples.columns;
    OwnedVector<double> running(n_features);
    for (Index row = 0; row < neighbors.rows; ++row) {
        const Vector<const double> x = rows[row];
        running.fill(0.0);
        Index start = 0;
        for (Index g = 0; g < sizes.columns; ++g) {
            for (Index j = start; j < sizes(row, g); ++j) {
                const Vector<const T> z = samples[neighbors(row, j)];
                // Differences are averaged instead of samples, so that no digits are lost far from the origin.
                for (Index f = 0; f < n_features; ++f) running[f] += z[f] - x[f];
            }
            start = sizes(row, g);
            double square = 0.0;
            for (Index f = 0; f < n_features; ++f) {
                const double offset = running[f] / static_cast<double>(start);
                square += offset * offset;
            }
            distances(row, g) = std::sqrt(square);
        }
    }
}

}  // namespace similitude
