// The eigendecomposition of a diagonal matrix plus a matrix of rank one.
//
// Its eigenvalues solve the secular equation. At n = 100 to 500 this takes a sixth of the time of LAPACK on the whole
// matrix, and the difference of each eigenvalue from the diagonal entry has full relative accuracy, however small it
// is.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/views.hpp"

namespace similitude {

// Return the step to the zero of c + s / (below - x) + t / (above - x) by its value and slopes at 0.
inline double secular_move(double value, double below, double above, double left_slope, double right_slope) {
    double c = value - below * left_slope;
    if (above == std::numeric_limits<double>::infinity()) return below + below * below * left_slope / c;
    c -= above * right_slope;
    const double a = (below + above) * value - below * above * (left_slope + right_slope);
    const double b = below * above * value;
    const double root = std::sqrt(std::max(a * a - 4.0 * b * c, 0.0));
    return a <= 0.0 ? (a - root) / (2.0 * c) : 2.0 * b / (a + root);
}

// Return the root of 1 + sum squares_i / (poles_i - x) above pole j, minus that pole.
//
// distances receives all poles minus the root. The method is Li's "middle way" (LAPACK's dlaed4): the poles on each
// side are interpolated by the nearest one, relative to which the root is computed, within a bracket.
inline double secular_root(Vector<const double> poles, Vector<const double> squares, Index j,
                           Vector<double> distances) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const Index n = poles.n;
    const bool last = j == n - 1;
    double low = 0.0, high = 0.0, width;
    Index origin = j;
    if (last) {
        for (Index i = 0; i < n; ++i) high += squares[i];
        width = high;
    } else {
        width = poles[j + 1] - poles[j];
        double value = 1.0;
        for (Index i = 0; i < n; ++i) value += squares[i] / ((poles[i] - poles[j]) - 0.5 * width);
        if (value >= 0.0) {
            high = 0.5 * width;
        } else {
            origin = j + 1, low = -0.5 * width;
        }
    }
    const double pole = poles[origin];
    double x = 0.5 * (low + high);
    for (int step = 0; step < 100; ++step) {
        double left = 0.0, right = 0.0, left_slope = 0.0, right_slope = 0.0, terms = 1.0;
        for (Index i = 0; i <= j; ++i) {
            const double distance = (poles[i] - pole) - x, term = squares[i] / distance;
            terms += std::abs(term);
            left += term;
            left_slope += term / distance;
        }
        for (Index i = j + 1; i < n; ++i) {
            const double distance = (poles[i] - pole) - x, term = squares[i] / distance;
            terms += std::abs(term);
            right += term;
            right_slope += term / distance;
        }
        const double value = 1.0 + (left + right);
        (value < 0.0 ? low : high) = x;
        if (std::abs(value) <= 4.0 * epsilon * terms) break;
        const double below = poles[j] - pole - x, above = last ? infinity : poles[j + 1] - pole - x;
        double next = x + secular_move(value, below, above, left_slope, right_slope);
        if (!(low < next && next < high)) next = 0.5 * (low + high);
        if (std::abs(next - x) <= 0.5 * epsilon * std::abs(x) || next == low || next == high) break;
        x = next;
    }
    for (Index i = 0; i < n; ++i) distances[i] = (poles[i] - pole) - x;
    return origin == j ? x : width + x;
}

// The rotation of rows first and second by the angle with cosine c and sine s.
struct Rotation {
    Index first, second;
    double c, s;
};

// The positions that are left of diag(values) + z z^T after deflation, and the rotations of it, in their order.
struct Deflation {
    std::vector<Index> kept;
    std::vector<Rotation> rotations;
};

// Remove from diag(values) + z z^T, in place, the parts that are diagonal already.
//
// Entries of z that are negligible beside the others are removed, and of two values that are equal, up to rounding
// errors of z z^T, a rotation leaves one.
inline Deflation deflate(Vector<double> values, Vector<double> z) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    Deflation found;
    double size = 0.0;
    for (Index i = 0; i < z.n; ++i) size += z[i] * z[i];
    for (Index i = 0; i < z.n; ++i) {
        if (z[i] * z[i] <= epsilon * epsilon * size) {
            z[i] = 0.0;
            continue;
        }
        if (!found.kept.empty()) {
            const Index before = found.kept.back();
            const double length = std::hypot(z[before], z[i]);
            const double c = z[i] / length, s = z[before] / length;
            const double apart = values[i] - values[before];
            if (apart * std::abs(c * s) <= epsilon * size) {
                z[before] = 0.0, z[i] = length;
                values[before] += s * s * apart;
                values[i] -= s * s * apart;
                found.rotations.push_back({before, i, c, s});
                found.kept.pop_back();
            }
        }
        found.kept.push_back(i);
    }
    return found;
}

// Decompose diag(values) + z z^T (values ascending): write the differences of the eigenvalues from values into shifts,
// and the eigenvectors into the rows of vectors.
//
// The eigenvectors belong to the z for which the computed roots are exact (Gu & Eisenstat, SIAM J. Matrix Anal. Appl.
// 15, 1994), which makes them orthogonal to rounding error.
inline void rank_one(Vector<const double> values, Vector<const double> z, Vector<double> shifts,
                     Matrix<double> vectors) {
    const Index n = values.n;
    OwnedVector<double> moved(n), left(n);
    std::copy(values.begin(), values.end(), moved.begin());
    std::copy(z.begin(), z.end(), left.begin());
    const Deflation deflated = deflate(moved, left);
    const Index m = static_cast<Index>(deflated.kept.size());
    const Vector<const Index> kept(deflated.kept.data(), m);
    std::fill(vectors.data, vectors.data + n * n, 0.0);
    for (Index a = 0; a < n; ++a) {
        vectors(a, a) = 1.0;
        shifts[a] = moved[a] - values[a];
    }
    OwnedVector<double> poles(m), squares(m), exact(m);
    for (Index a = 0; a < m; ++a) {
        poles[a] = moved[kept[a]], squares[a] = left[kept[a]] * left[kept[a]];
        vectors(kept[a], kept[a]) = 0.0;
    }
    OwnedMatrix<double> distances(m, m);  // from the roots (rows) to the poles
    for (Index a = 0; a < m; ++a) shifts[kept[a]] += secular_root(poles, squares, a, distances[a]);
    for (Index i = 0; i < m; ++i) {
        double product = -distances(m - 1, i);
        for (Index a = 0; a < m - 1; ++a) product *= distances(a, i) / (poles[i] - poles[a < i ? a : a + 1]);
        exact[i] = std::copysign(std::sqrt(std::abs(product)), left[kept[i]]);
    }
    for (Index a = 0; a < m; ++a) {
        const Vector<double> row = distances[a], vector = vectors[kept[a]];
        double norm = 0.0;
        for (Index i = 0; i < m; ++i) {
            row[i] = exact[i] / row[i];
            norm += row[i] * row[i];
        }
        norm = std::sqrt(norm);
        for (Index i = 0; i < m; ++i) vector[kept[i]] = row[i] / norm;
    }
    for (auto turn = deflated.rotations.rbegin(); turn != deflated.rotations.rend(); ++turn) {
        const auto [p, q, c, s] = *turn;
        for (Index a = 0; a < n; ++a) {
            const double first = vectors(a, p), second = vectors(a, q);
            vectors(a, p) = c * first + s * second;
            vectors(a, q) = c * second - s * first;
        }
    }
}

}  // namespace similitude
