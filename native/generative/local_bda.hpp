// Parts of local BDA: distances by differences, merged neighbour lists, and densities at nested neighbourhoods.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/clones.hpp"
#include "common/views.hpp"
#include "numerics/cholesky.hpp"

namespace similitude::generative {

// Write -||x - z||^2 for each row x and each column z of columns (d, n), by differences, so that duplicates tie.
SIMILITUDE_CLONES inline void negative_squares(Matrix<const double> rows, Matrix<const double> columns,
                                               Matrix<double> out) {
    const Index d = columns.rows, n = columns.columns, whole = d - d % 4;
    for (Index i = 0; i < rows.rows; ++i) {
        const Vector<const double> x = rows[i];
        const Vector<double> total = out[i];
        for (Index j = 0; j < n; ++j) total[j] = 0.0;
        for (Index f = 0; f < whole; f += 4) {  // four features at a time need a fourth of the stores
            const Vector<const double> p = columns[f], q = columns[f + 1], r = columns[f + 2], s = columns[f + 3];
            const double xp = x[f], xq = x[f + 1], xr = x[f + 2], xs = x[f + 3];
            for (Index j = 0; j < n; ++j) {
                const double a = xp - p[j], b = xq - q[j], c = xr - r[j], e = xs - s[j];
                total[j] -= (a * a + b * b) + (c * c + e * e);
            }
        }
        for (Index f = whole; f < d; ++f) {
            const Vector<const double> p = columns[f];
            const double xp = x[f];
            for (Index j = 0; j < n; ++j) {
                const double a = xp - p[j];
                total[j] -= a * a;
            }
        }
    }
}

// The logarithm of a determinant, and a quadratic form.
struct Form {
    double log_det, value;
};

// The model of a class around one row, which takes in one neighbour after the other.
//
// Mean and scatter grow with each neighbour (Welford): the scatter matrix of the first k is the sum of r_j r_j^T over
// j < k, with r_j = sqrt(j / (j + 1)) (z_j - mean of those before), so that no result depends on the other sizes.
class LocalGaussian {
  public:
    // d features, the multiple of I in B, at most so many neighbours, and the largest number of neighbours below d at
    // which there is a density.
    LocalGaussian(Index d, double ridge, Index most, Index few)
        : d_(d), ridge_(ridge), wide_(most >= d), R_(most, d), mean_(d), squares_(d), inverse_(d), x_(d),
          scatter_(wide_ ? d : 0, wide_ ? d : 0), M_(wide_ ? d : few, wide_ ? d : few), signs_(wide_ ? d : few),
          W_(few, d), v_(few) {}

    // Begin with another row; offsets are from the nearest sample, so that far from the origin no digit is lost.
    void start(Vector<const double> origin) {
        origin_ = origin;
        k_ = 0;
        mean_.fill(0.0);
        squares_.fill(0.0);
        const Matrix<double> scatter = scatter_;
        std::fill(scatter.data, scatter.data + scatter.rows * scatter.columns, 0.0);
    }

    // Take in the next sample.
    void add(Vector<const double> sample) {
        const double share = 1.0 / (static_cast<double>(k_) + 1.0), root = std::sqrt(static_cast<double>(k_) * share);
        const Vector<double> r = R_[k_], mean = mean_, squares = squares_;
        for (Index f = 0; f < d_; ++f) {
            const double change = (sample[f] - origin_[f]) - mean[f];
            mean[f] += change * share;
            r[f] = root * change;
            squares[f] += r[f] * r[f];
        }
        ++k_;
        if (wide_ && k_ % 4 == 0) add_four(k_ - 4);
    }

    // Return the log-density of a row; constant is what depends on the number of neighbours and the dimension alone.
    double log_density(Vector<const double> row, double constant) {
        const double k = static_cast<double>(k_), d = static_cast<double>(d_);
        const double log_det = prior(0.95 * (d + 3.0) / k);
        for (Index f = 0; f < d_; ++f) x_[f] = ((row[f] - origin_[f]) - mean_[f]) * inverse_[f];
        const Form form = k_ < d_ ? by_samples() : by_features();
        const double bent = std::log1p(form.value * k / (k + 1.0));
        return constant - 0.5 * (log_det + form.log_det) - 0.5 * (k + 4.0 + d) * bent;
    }

  private:
    Index d_;
    double ridge_;
    bool wide_;  // whether there are sizes of d or more
    Vector<const double> origin_;
    Index k_ = 0;  // the number of neighbours so far
    OwnedMatrix<double> R_;
    OwnedVector<double> mean_, squares_, inverse_, x_;  // the mean offset, the scatter's diagonal, B^(-1/2), the row
    OwnedMatrix<double> scatter_;                       // the upper triangle, without the last k % 4 neighbours
    OwnedMatrix<double> M_;                             // the matrix that is factored
    OwnedVector<double> signs_;
    OwnedMatrix<double> W_;
    OwnedVector<double> v_;

    // Add the outer products of four rows, which needs a fourth of the stores.
    void add_four(Index start) {
        const Vector<const double> p = R_[start], q = R_[start + 1], r = R_[start + 2], s = R_[start + 3];
        for (Index a = 0; a < d_; ++a) {
            const Vector<double> out = scatter_[a];
            const double e = p[a], f = q[a], g = r[a], h = s[a];
            // The upper triangle and a little more, because whole vectors are faster.
            for (Index b = a - a % 8; b < d_; ++b) out[b] += (e * p[b] + f * q[b]) + (g * r[b] + h * s[b]);
        }
    }

    // Return log det B of the diagonal B = share diag(squares) + ridge I, and compute B^(-1/2).
    double prior(double share) {
        double log_det = 0.0;
        for (Index f = 0; f < d_; ++f) {
            const double value = share * squares_[f] + ridge_;
            inverse_[f] = 1.0 / std::sqrt(value);
            log_det += std::log(value);
        }
        return log_det;
    }

    // Return log det (I + W^T W) and x^T (I + W^T W)^-1 x, with W = R B^(-1/2), from a matrix of the samples.
    //
    // B contains so much of the scatter's own diagonal that the eigenvalues are between 1 and 1 + 1.06 k, so that
    // hardly a digit is lost in the difference. The first row of R is zero and left out.
    Form by_samples() {
        const Index n = k_ - 1;
        for (Index a = 0; a < n; ++a) {
            const Vector<const double> r = R_[a + 1], inverse = inverse_.view();
            const Vector<double> w = W_[a];
            for (Index f = 0; f < d_; ++f) w[f] = r[f] * inverse[f];
        }
        for (Index a = 0; a < n; ++a) {
            v_[a] = dot(W_[a], x_.view(), d_);
            for (Index b = a; b < n; ++b) M_(a, b) = dot(W_[a], W_[b], d_);
        }
        const double log_det = factored(n);
        forward(M_.view(), n, v_);
        return {log_det, std::max(dot(x_.view(), x_.view(), d_) - dot(v_.view(), v_.view(), n), 0.0)};
    }

    // Return the same from a matrix of the features; x is overwritten.
    Form by_features() {
        const Vector<const double> inverse = inverse_.view();
        for (Index a = 0; a < d_; ++a) {
            const Vector<double> own = M_[a], total = scatter_[a];
            for (Index b = a; b < d_; ++b) own[b] = total[b];
            for (Index j = k_ - k_ % 4; j < k_; ++j) {
                const Vector<const double> r = R_[j];
                const double ra = r[a];
                for (Index b = a; b < d_; ++b) own[b] += ra * r[b];
            }
            const double ia = inverse[a];
            for (Index b = a; b < d_; ++b) own[b] *= ia * inverse[b];
        }
        const double log_det = factored(d_);
        forward(M_.view(), d_, x_);
        return {log_det, dot(x_.view(), x_.view(), d_)};
    }

    // Factor I + M in place, for the first n rows; return the logarithm of its determinant.
    double factored(Index n) {
        factor(M_.view(), 0.0, 1.0, 0.0, n, M_, signs_);
        double log_det = 0.0;
        for (Index a = 0; a < n; ++a) log_det += 2.0 * std::log(M_(a, a));
        return log_det;
    }
};

// Write the log-densities (m, sizes) of the rows under the models of their first neighbours.
//
// nearest (m, k) are positions in samples, nearest first; sizes (m, sizes) is ascending in each row; constants
// (m, sizes) are the terms that depend on size and dimension alone.
SIMILITUDE_CLONES inline void log_densities(Matrix<const double> samples, Matrix<const Index> nearest,
                                            Matrix<const double> rows, Matrix<const Index> sizes,
                                            Matrix<const double> constants, double ridge, Matrix<double> logs) {
    const Index d = samples.columns, most = nearest.columns;
    if (sizes.rows == 0 || sizes.columns == 0) return;
    Index few = 0;
    for (Index i = 0; i < sizes.rows * sizes.columns; ++i) {
        if (sizes.data[i] < d) few = std::max(few, sizes.data[i]);
    }
    LocalGaussian model(d, ridge, most, few);
    for (Index row = 0; row < rows.rows; ++row) {
        model.start(samples[nearest(row, 0)]);
        Index at = 0;
        for (Index j = 0; j < most; ++j) {
            model.add(samples[nearest(row, j)]);
            for (; at < sizes.columns && sizes(row, at) == j + 1; ++at) {
                logs(row, at) = model.log_density(rows[row], constants(row, at));
            }
        }
    }
}

}  // namespace similitude::generative
