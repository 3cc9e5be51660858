// The k x k similarities among a test sample's neighbours, with a modified spectrum.
//
// The neighbour lists are nested, and so are the matrices: the leading block of a larger one is the smaller one. One
// Cholesky elimination determines for all sizes whether a block is positive semidefinite; only blocks that are not are
// decomposed.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/views.hpp"
#include "numerics/cholesky.hpp"
#include "numerics/lapack.hpp"

namespace similitude {

enum class Spectrum { none, clip, flip, shift };

inline Spectrum spectrum_named(std::string_view name) {
    if (name == "none") return Spectrum::none;
    if (name == "clip") return Spectrum::clip;
    if (name == "flip") return Spectrum::flip;
    if (name == "shift") return Spectrum::shift;
    throw std::invalid_argument("spectrum must be none, clip, flip or shift; got " + std::string(name) + ".");
}

// The similarities A among the neighbours of a test sample, nearest first, and its own similarities s to them.
struct Neighborhood {
    Matrix<const double> A;
    Vector<const double> s;
};

// Write the symmetrised similarities among the neighbours, (S[i, j] + S[j, i]) / 2, into A; S is dense or CSR.
template <class Similarities>
void gather(const Similarities &S, Vector<const Index> neighbors, Matrix<double> A) {
    for (Index a = 0; a < neighbors.n; ++a) {
        const Index i = neighbors[a];
        A(a, a) = S(i, i);
        for (Index b = 0; b < a; ++b) {
            const Index j = neighbors[b];
            // Both are halved first, because the sum of two numbers near the largest float would overflow.
            const double there = S(i, j), back = S(j, i);
            A(a, b) = A(b, a) = 0.5 * there + 0.5 * back;
        }
    }
}

// Return how many leading rows and columns of A form a positive semidefinite block, up to rounding.
//
// U and signs are work space. The result for a leading block of A is the minimum of this number and the size of the
// block.
inline Index leading_semidefinite(Matrix<const double> A, Matrix<double> U, Vector<double> signs) {
    constexpr double rounding = 1e-12;
    return factor(A, rounding, 0.0, 0.0, A.rows, U, signs);
}

// What a modification makes of one eigenvalue, and the factor by which it multiplies a new row's component along the
// eigenvector.
struct ModifiedValue {
    double value, kept;
};

// Modify the i-th of the eigenvalues, which are ascending.
inline ModifiedValue modified(Vector<const double> values, Index i, Spectrum spectrum) {
    constexpr double zero_tolerance = 1e-10;  // numerics.eigen.ZERO_TOLERANCE
    const double largest = std::max(std::abs(values[0]), std::abs(values[values.n - 1]));
    const double value = std::abs(values[i]) > zero_tolerance * largest ? values[i] : 0.0;
    if (spectrum == Spectrum::shift) return {values[i] - std::min(values[0], 0.0), 1.0};
    if (spectrum == Spectrum::clip) return {std::max(value, 0.0), value > 0.0 ? 1.0 : 0.0};
    return {std::abs(value), value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0};
}

// A neighbourhood with a modified spectrum: the matrix K, the row s or P s, and, if there was need of them, the
// eigenvalues of K and its eigenvectors as rows.
class ModifiedNeighborhood {
  public:
    explicit ModifiedNeighborhood(Index most) : K_(most, most), row_(most), signs_(most) {}

    Matrix<double> K() { return K_; }
    Vector<double> row() { return row_; }
    Eigen &eigen() { return eigen_; }
    Neighborhood view() { return {K(), row()}; }

    // Return how many leading neighbours have a positive semidefinite matrix. This overwrites K.
    Index leading_semidefinite(Matrix<const double> A) { return similitude::leading_semidefinite(A, K_, signs_); }

    // Modify the matrix of the first k neighbours; if consistent, the row is treated in the same way. semidefinite is
    // the result of leading_semidefinite; clip and flip of a consistent row need the eigenvectors in any case.
    void modify(Neighborhood given, Index k, Spectrum spectrum, Index semidefinite, bool consistent) {
        for (Index a = 0; a < k; ++a) {
            row_[a] = given.s[a];
            for (Index b = 0; b < k; ++b) K_(a, b) = given.A(a, b);
        }
        const bool treats_row = consistent && spectrum != Spectrum::shift;
        if (spectrum == Spectrum::none || (k <= semidefinite && !treats_row)) {
            eigen_ = Eigen();
            return;
        }
        eigen_ = eigh(given.A, k);
        const OwnedVector<double> values = eigen_.values;
        if (consistent && spectrum != Spectrum::shift) project(given.s, k, spectrum, values);
        for (Index i = 0; i < k; ++i) eigen_.values[i] = modified(values, i, spectrum).value;
        if (spectrum == Spectrum::shift) {
            for (Index a = 0; a < k; ++a) K_(a, a) += eigen_.values[0] - values[0];
        } else if (k > semidefinite) {
            // Eigenvalues are in ascending order, so the few negative ones come first.
            for (Index i = 0; i < k && values[i] < 0.0; ++i) {
                const double change = eigen_.values[i] - values[i];
                for (Index a = 0; a < k; ++a) add_multiple(K_[a], change * eigen_.vectors(i, a), eigen_.vectors[i]);
            }
        }
    }

  private:
    // Write P s into the row.
    void project(Vector<const double> s, Index k, Spectrum spectrum, const OwnedVector<double> &values) {
        for (Index a = 0; a < k; ++a) row_[a] = 0.0;
        for (Index i = 0; i < k; ++i) {
            const double kept = modified(values, i, spectrum).kept;
            add_multiple(row_, kept * dot(eigen_.vectors[i], s, k), eigen_.vectors[i]);
        }
    }

    OwnedMatrix<double> K_;
    OwnedVector<double> row_, signs_;
    Eigen eigen_;
};

// The neighbours that are interchangeable: they are equally similar to the test sample and to all other neighbours.
class Interchangeable {
  public:
    explicit Interchangeable(Index most) : leader_(most), count_(most) {}

    // Give the same weight to interchangeable neighbours among the first k, whose weights may differ by rounding.
    //
    // Exchanging their weights does not change the objective, and neither does averaging them if the optimum is unique.
    // Each row of weights belongs to one problem.
    void share(Neighborhood given, Index k, Matrix<double> weights) {
        if (!find(given, k)) return;
        for (Index t = 0; t < weights.rows; ++t) {
            const Vector<double> w = weights[t];
            for (Index i = 0; i < k; ++i) {
                if (leader_[i] != i) w[leader_[i]] += w[i];
            }
            for (Index i = 0; i < k; ++i) {
                if (leader_[i] == i) {
                    w[i] /= static_cast<double>(count_[i]);
                } else {
                    w[i] = w[leader_[i]];
                }
            }
        }
    }

  private:
    // Find for each neighbour the first one that it is interchangeable with; return whether there is any such pair.
    bool find(Neighborhood given, Index k) {
        bool found = false;
        for (Index i = 0; i < k; ++i) {
            leader_[i] = i;
            count_[i] = 1;
            // Neighbours are sorted, so equally similar ones are adjacent.
            for (Index j = i - 1; j >= 0 && given.s[j] == given.s[i]; --j) {
                if (leader_[j] != j || !alike(given.A, i, j, k)) continue;
                leader_[i] = j;
                ++count_[j];
                found = true;
                break;
            }
        }
        return found;
    }

    static bool alike(Matrix<const double> A, Index i, Index j, Index k) {
        if (A(i, i) != A(j, j)) return false;
        for (Index a = 0; a < k; ++a) {
            if (A(i, a) != A(j, a) && a != i && a != j) return false;
        }
        return true;
    }

    OwnedVector<Index> leader_, count_;
};

}  // namespace similitude
