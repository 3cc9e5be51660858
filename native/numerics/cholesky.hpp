// Triangular factorisations of small symmetric matrices, A = U^T diag(signs) U.
//
// The factor is computed row by row, so that factors are nested: the factor of a leading block is the leading block of
// the factor, to the last digit, and one factorisation serves every number of neighbours. LAPACK's blocked algorithms
// do not have this property, and up to n = 128 they are not faster.
#pragma once

#include <cmath>

#include "common/views.hpp"
#include "numerics/vector_loops.hpp"

namespace similitude {

// Factor at most n rows of A + diag(share * A_ii + ridge) into U and signs; return how many were factored.
//
// The factorisation ends at the first pivot that is not positive. With least > 0 it ends at the first pivot whose size
// is below least times its diagonal entry, and negative pivots are accepted with the sign -1. Without pivoting this is
// not stable for every matrix, so check the residual. A and U may be the same matrix.
inline Index factor(Matrix<const double> A, double share, double ridge, double least, Index n, Matrix<double> U,
                    Vector<double> signs) {
    for (Index a = 0; a < n; ++a) {
        const Vector<double> row = U[a];
        for (Index c = a; c < n; ++c) row[c] = A(a, c);
        row[a] += share * A(a, a) + ridge;
        const double own = row[a];
        const Index whole = a - a % 4;
        for (Index b = 0; b < whole; b += 4) {  // four finished rows at a time need a fourth of the stores
            const double f = U(b, a) * signs[b], g = U(b + 1, a) * signs[b + 1];
            const double h = U(b + 2, a) * signs[b + 2], i = U(b + 3, a) * signs[b + 3];
            const Vector<double> p = U[b], q = U[b + 1], r = U[b + 2], s = U[b + 3];
            for (Index c = a; c < n; ++c) row[c] -= f * p[c] + g * q[c] + h * r[c] + i * s[c];
        }
        for (Index b = whole; b < a; ++b) {
            const double f = U(b, a) * signs[b];
            const Vector<double> p = U[b];
            for (Index c = a; c < n; ++c) row[c] -= f * p[c];
        }
        const double pivot = row[a];
        const bool accepted = least > 0.0 ? std::abs(pivot) > least * std::abs(own) : pivot > 0.0;
        if (!accepted) return a;
        signs[a] = pivot > 0.0 ? 1.0 : -1.0;
        const double inverse = signs[a] / std::sqrt(std::abs(pivot));
        for (Index c = a; c < n; ++c) row[c] *= inverse;
    }
    return n;
}

// Solve U^T x = y in place.
inline void forward(Matrix<const double> U, Index n, Vector<double> y) {
    for (Index a = 0; a < n; ++a) {
        y[a] /= U(a, a);
        const Vector<const double> row = U[a];
        const double known = y[a];
        for (Index c = a + 1; c < n; ++c) y[c] -= row[c] * known;
    }
}

// Solve U x = z in place.
inline void backward(Matrix<const double> U, Index n, Vector<double> z) {
    for (Index a = n - 1; a >= 0; --a) {
        z[a] = (z[a] - dot(U[a].part(a + 1, U.columns), z.part(a + 1, z.n), n - a - 1)) / U(a, a);
    }
}

}  // namespace similitude
