// The classes' centroids within neighbourhoods, and how similar each class is to each of them on average.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/views.hpp"
#include "neighbors/local_centroids.hpp"

namespace similitude::generative {

// The smallest and the largest similarity, the span by which distances from them are divided, and the distance that
// counts as 0.
struct Ends {
    double low, high, span, tolerance;

    double below(double similarity) const { return rounded((similarity - low) / span); }
    double above(double similarity) const { return rounded((high - similarity) / span); }

  private:
    double rounded(double distance) const { return std::abs(distance) > tolerance ? distance : 0.0; }
};

// What is written for each row and neighbourhood size.
struct LocalStatistics {
    Cube<Index> centroids;  // (m, sizes, G), the neighbour that is the class's centroid; -1 without one
    Cube<Index> counts;     // (m, sizes, G), the number of neighbours of the class
    Matrix<Index> winners;  // (m, sizes), the class of the most similar centroid
    // (m, sizes, G, G): for (g, h) the mean distances of psi(z, mu_h) from the two ends of Omega, over the neighbours z
    // of class g; not written if one of the classes has no neighbours
    Tesseract<double> below, above;
};

// The sums of the distances of psi(z, mu) from both ends over the neighbours z of each class, for each centroid mu.
class CentroidSums {
  public:
    CentroidSums(Index k, Index n_classes) : summed_(k), below_(k, n_classes), above_(k, n_classes) {}

    // Begin with the neighbours of another row.
    void start() { summed_.fill(0); }

    // Bring the sums of mu up to the first neighbours; they go on where a smaller size has left them.
    void grow(Matrix<const double> A, Index mu, Vector<const Index> labels, Index size, const Ends &ends) {
        const Vector<double> below = below_[mu], above = above_[mu];
        if (summed_[mu] == 0) {
            std::fill(below.begin(), below.end(), 0.0);
            std::fill(above.begin(), above.end(), 0.0);
        }
        for (Index z = summed_[mu]; z < size; ++z) {
            below[labels[z]] += ends.below(A(z, mu));
            above[labels[z]] += ends.above(A(z, mu));
        }
        summed_[mu] = size;
    }

    double below(Index mu, Index g) { return below_(mu, g); }
    double above(Index mu, Index g) { return above_(mu, g); }

  private:
    OwnedVector<Index> summed_;  // how many neighbours are in the sums of each
    OwnedMatrix<double> below_, above_;
};

// Write the centroids and the class means in one pass over the nested neighbourhoods.
//
// S gives the similarities among the samples, which are scaled; neighbors, their similarities and their labels are
// (m, k), nearest first; sizes (m, sizes) is ascending in each row; class_sizes counts all training samples.
template <class Similarities>
void local_statistics(const Similarities &S, Matrix<const Index> neighbors, Matrix<const double> similarities,
                      Matrix<const Index> labels, Matrix<const Index> sizes, Vector<const Index> class_sizes,
                      double scale, double tolerance, const Ends &ends, LocalStatistics found) {
    const Index k = neighbors.columns, n_classes = found.counts.columns;
    LocalCentroids centroids(k, class_sizes, tolerance);
    CentroidSums sums(k, n_classes);
    OwnedMatrix<double> among(k, k);
    const Matrix<double> A = among;  // psi(z, mu) among the neighbours
    for (Index row = 0; row < neighbors.rows; ++row) {
        const Index most = sizes.columns > 0 ? sizes(row, sizes.columns - 1) : 0;
        for (Index z = 0; z < most; ++z) {
            for (Index mu = 0; mu < most; ++mu) A(z, mu) = scale * S(neighbors(row, z), neighbors(row, mu));
        }
        centroids.start(labels[row], similarities[row]);
        sums.start();
        for (Index at = 0; at < sizes.columns; ++at) {
            centroids.grow(A, sizes(row, at));
            found.winners(row, at) = centroids.nearest();
            const Vector<const Index> count = centroids.counts();
            std::copy(count.begin(), count.end(), found.counts[row][at].begin());
            const Matrix<double> below = found.below[row][at], above = found.above[row][at];
            for (Index h = 0; h < n_classes; ++h) {
                found.centroids[row](at, h) = -1;
                if (count[h] == 0) continue;
                const Index mu = centroids.centroid(A, h);
                found.centroids[row](at, h) = mu;
                sums.grow(A, mu, labels[row], sizes(row, at), ends);
                for (Index g = 0; g < n_classes; ++g) {
                    if (count[g] == 0) continue;
                    below(g, h) = sums.below(mu, g) / static_cast<double>(count[g]);
                    above(g, h) = sums.above(mu, g) / static_cast<double>(count[g]);
                }
            }
        }
    }
}

}  // namespace similitude::generative
