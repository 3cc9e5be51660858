// The tangent distance.
//
// The tangent plane of an image is given as an orthonormal basis, with one row for each direction and rows of zeros if
// there are fewer. A pair needs the inner products of two bases and the solution of a small linear system. The order of
// summation depends only on the number of pixels, so equal pairs have equal distances, to the last bit, on every
// machine. On 16 x 16 images a pair takes 2 microseconds of one core. Computed pair by pair from the same tangent
// vectors, NumPy's least squares take 70 to 80 times as long and its normal equations 15 to 25 times
// (benchmarks/bench_tangent.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/clones.hpp"
#include "common/views.hpp"
#include "numerics/cholesky.hpp"

namespace similitude::tangent {

// Four partial sums of products, which are added up at the end.
//
// The compiler may not split a single sum, and it does not vectorise four separate ones, so they are of a vector type
// where the compiler has one.
class Sums {
  public:
    static constexpr Index kWidth = 4;

    // Add the products of the next four entries.
    [[gnu::always_inline]] void add(const double *x, const double *z) {
        for (Index i = 0; i < kRegisters; ++i) {
            Register a, b;
            std::memcpy(&a, x + i * (kWidth / kRegisters), sizeof a);
            std::memcpy(&b, z + i * (kWidth / kRegisters), sizeof b);
            sums_[i] += a * b;
        }
    }

    [[gnu::always_inline]] void add(const Sums &other) {
        for (Index i = 0; i < kRegisters; ++i) sums_[i] += other.sums_[i];
    }

    [[gnu::always_inline]] double total() const {
        double s[kWidth];
        std::memcpy(s, sums_, sizeof s);
        return (s[0] + s[1]) + (s[2] + s[3]);
    }

  private:
#if defined(__GNUC__) && defined(__x86_64__)
    typedef double Register __attribute__((vector_size(32)));
#elif defined(__GNUC__)
    typedef double Register __attribute__((vector_size(16)));
#else
    typedef double Register;
#endif
    static constexpr Index kRegisters = kWidth * sizeof(double) / sizeof(Register);

    Register sums_[kRegisters] = {};
};

// Return the inner product of two vectors.
[[gnu::always_inline]] inline double inner(const double *x, const double *z, Index n) {
    constexpr Index w = Sums::kWidth;
    Sums a, b, c, d;  // four of them, since an addition waits for the last one to the same sums
    Index q = 0;
    for (; q + 4 * w <= n; q += 4 * w) {
        a.add(x + q, z + q);
        b.add(x + q + w, z + q + w);
        c.add(x + q + 2 * w, z + q + 2 * w);
        d.add(x + q + 3 * w, z + q + 3 * w);
    }
    for (; q + w <= n; q += w) a.add(x + q, z + q);
    a.add(b);
    c.add(d);
    a.add(c);
    double total = a.total();
    for (; q < n; ++q) total += x[q] * z[q];
    return total;
}

// Write the inner products of the vectors p, a multiple of four, with the vectors r, a multiple of two, into C.
//
// They are computed four by two, so that the vectors are read from memory fewer times.
[[gnu::always_inline]] inline void all_inner(const std::vector<const double *> &p, const std::vector<const double *> &r,
                                             Index n, Matrix<double> C) {
    constexpr Index w = Sums::kWidth;
    for (Index c = 0; c < C.rows; c += 4) {
        const double *const p0 = p[c], *const p1 = p[c + 1], *const p2 = p[c + 2], *const p3 = p[c + 3];
        for (Index e = 0; e < C.columns; e += 2) {
            const double *const r0 = r[e], *const r1 = r[e + 1];
            Sums s00, s01, s10, s11, s20, s21, s30, s31;
            Index q = 0;
            for (; q + w <= n; q += w) {
                s00.add(p0 + q, r0 + q), s01.add(p0 + q, r1 + q);
                s10.add(p1 + q, r0 + q), s11.add(p1 + q, r1 + q);
                s20.add(p2 + q, r0 + q), s21.add(p2 + q, r1 + q);
                s30.add(p3 + q, r0 + q), s31.add(p3 + q, r1 + q);
            }
            C(c, e) = s00.total(), C(c, e + 1) = s01.total();
            C(c + 1, e) = s10.total(), C(c + 1, e + 1) = s11.total();
            C(c + 2, e) = s20.total(), C(c + 2, e + 1) = s21.total();
            C(c + 3, e) = s30.total(), C(c + 3, e + 1) = s31.total();
            for (; q < n; ++q) {
                for (Index i = c; i < c + 4; ++i) C(i, e) += p[i][q] * r0[q], C(i, e + 1) += p[i][q] * r1[q];
            }
        }
    }
}

// Subtract z from x into d.
[[gnu::always_inline]] inline void subtract(const double *x, const double *z, double *__restrict d, Index n) {
    for (Index q = 0; q < n; ++q) d[q] = x[q] - z[q];
}

// Subtract weight x from y.
[[gnu::always_inline]] inline void subtract_multiple(double *__restrict y, double weight, const double *x, Index n) {
    for (Index q = 0; q < n; ++q) y[q] -= weight * x[q];
}

// Divide x by a number into y.
[[gnu::always_inline]] inline void divide(const double *x, double number, double *__restrict y, Index n) {
    for (Index q = 0; q < n; ++q) y[q] = x[q] / number;
}

// Write orthonormal bases of the spans of the tangents (n, t, n_pixels) into bases, which has the same shape.
//
// The Gram-Schmidt process is applied twice to each vector; a vector of which less than 1e-8 of its length is left adds
// no direction.
SIMILITUDE_CLONES inline void orthonormalize(Cube<const double> tangents, Cube<double> bases) {
    const Index n_pixels = tangents.columns;
    OwnedVector<double> vector(n_pixels);
    double *const rest = vector.view().data;
    for (Index row = 0; row < tangents.depth; ++row) {
        const Matrix<double> basis = bases[row];
        std::fill(basis.data, basis.data + basis.rows * basis.columns, 0.0);
        Index found = 0;
        for (Index t = 0; t < tangents.rows; ++t) {
            const double *const tangent = tangents[row][t].data;
            const double length = std::sqrt(inner(tangent, tangent, n_pixels));
            if (length == 0.0) continue;
            divide(tangent, length, rest, n_pixels);
            for (int round = 0; round < 2; ++round) {
                for (Index c = 0; c < found; ++c) {
                    subtract_multiple(rest, inner(basis[c].data, rest, n_pixels), basis[c].data, n_pixels);
                }
            }
            const double left = std::sqrt(inner(rest, rest, n_pixels));
            if (!(left > 1e-8)) continue;
            divide(rest, left, basis[found++].data, n_pixels);
        }
    }
}

// The minimum of |x + P'a - z - Q'b|^2 + spring (|a|^2 + |b|^2) over a and b, where P is the basis of x and Q of z.
//
// With d = x - z, u = P d, v = Q d and C = P Q', it is where ((1 + spring)^2 I - C C') a = C v - (1 + spring) u and
// (1 + spring) b = v + C'a; its value is |d|^2 + a'u - b'v.
class TwoSided {
  public:
    TwoSided(Index n_tangents, Index n_pixels, double spring)
        : width_(n_tangents), stiff_(1.0 + spring), d_(n_pixels), left_(with_d(4), d_.view().data),
          right_(with_d(2), d_.view().data), products_(with_d(4), with_d(2)), M_(n_tangents, n_tangents),
          a_(n_tangents), signs_(n_tangents) {}

    SIMILITUDE_CLONES double minimum(Vector<const double> x, Matrix<const double> P, Vector<const double> z,
                                     Matrix<const double> Q) {
        subtract(x.data, z.data, d_.view().data, d_.size());
        for (Index c = 0; c < width_; ++c) left_[c] = P[c].data, right_[c] = Q[c].data;
        const Matrix<double> C = products_;
        all_inner(left_, right_, d_.size(), C);
        const Vector<double> v = C[width_];
        const auto u = [&](Index c) { return C(c, width_); };
        for (Index c = 0; c < width_; ++c) {
            a_[c] = dot(C[c], v, width_) - stiff_ * u(c);
            for (Index e = c; e < width_; ++e) {
                M_(c, e) = (e == c ? stiff_ * stiff_ : 0.0) - dot(C[c], C[e], width_);
            }
        }
        solve();
        double value = C(width_, width_);
        for (Index c = 0; c < width_; ++c) {
            double b = v[c];
            for (Index e = 0; e < width_; ++e) b += C(e, c) * a_[e];
            value += a_[c] * u(c) - b / stiff_ * v[c];
        }
        return std::max(value, 0.0);
    }

  private:
    // The number of vectors in a basis and below it, where there is d as often as a multiple of some number needs.
    Index with_d(Index number) const { return width_ + number - width_ % number; }

    // Solve M a = a in place. M is positive definite but for rounding errors, which matter if the spring is very small
    // and the planes share a direction; a is 0 from that direction on.
    void solve() {
        const Index rank = factor(M_, 0.0, 0.0, 0.0, width_, M_, signs_);
        forward(M_, rank, a_);
        backward(M_, rank, a_);
        std::fill(a_.begin() + rank, a_.end(), 0.0);
    }

    Index width_;
    double stiff_;
    OwnedVector<double> d_;
    std::vector<const double *> left_, right_;  // P and Q, and d below each of them, so that C, u and v are one product
    OwnedMatrix<double> products_, M_;
    OwnedVector<double> a_, signs_;
};

// Write the rows from start to before stop of the two-sided minima between X and Z into squares.
//
// If same, X is Z and only the columns after the diagonal are written.
inline void two_sided(Matrix<const double> X, Cube<const double> bases_x, Matrix<const double> Z,
                      Cube<const double> bases_z, double spring, bool same, Index start, Index stop,
                      Matrix<double> squares) {
    TwoSided pair(bases_x.rows, X.columns, spring);
    for (Index i = start; i < stop; ++i) {
        for (Index j = same ? i + 1 : 0; j < Z.rows; ++j) {
            squares(i, j) = pair.minimum(X[i], bases_x[i], Z[j], bases_z[j]);
        }
    }
}

// Write the rows from start to before stop of min_b |x - z - Q'b|^2 + spring |b|^2 into squares.
//
// The minimum is |d|^2 - |Q d|^2 / (1 + spring) with d = x - z.
SIMILITUDE_CLONES inline void one_sided(Matrix<const double> X, Matrix<const double> Z, Cube<const double> bases_z,
                                        double spring, Index start, Index stop, Matrix<double> squares) {
    const Index n_pixels = X.columns;
    OwnedVector<double> difference(n_pixels);
    double *const d = difference.view().data;
    for (Index i = start; i < stop; ++i) {
        for (Index j = 0; j < Z.rows; ++j) {
            subtract(X[i].data, Z[j].data, d, n_pixels);
            double value = inner(d, d, n_pixels);
            for (Index c = 0; c < bases_z.rows; ++c) {
                const double along = inner(bases_z[j][c].data, d, n_pixels);
                value -= along * along / (1.0 + spring);
            }
            squares(i, j) = std::max(value, 0.0);
        }
    }
}

}  // namespace similitude::tangent
