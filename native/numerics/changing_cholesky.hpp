// The Cholesky factor of a block of a kernel matrix, for a set of samples that changes.
//
// A direction over samples whose entries sum to 0 is given by all entries but that of one sample, the pivot p. Along it
// the kernel K has the curvature
//
//     H(s, t) = (K(s, t) - K(p, t)) - (K(s, p) - K(p, p)),
//
// which is factored as H + diag(ridge) = U^T U. Adding or removing one of m samples takes about m^2 operations, a new
// factorisation m^3 / 3.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/views.hpp"
#include "numerics/vector_loops.hpp"

namespace similitude {

class ChangingCholesky {
  public:
    // size is the largest |K|.
    ChangingCholesky(Matrix<const double> K, double size) : K_(K), size_(size), position_(K.rows, kAbsent) {}

    // The samples in the order of the factor, without the pivot, which is -1 at the start.
    Index size() const { return static_cast<Index>(samples_.size()); }
    Index sample(Index a) const { return samples_[a]; }
    Index pivot() const { return pivot_; }
    bool holds(Index t) const { return position_[t] != kAbsent; }
    // What was added to the diagonal entry of the a-th sample.
    double ridge(Index a) const { return ridges_[a]; }

    // Remove all samples, and choose another pivot.
    void restart(Index pivot) {
        for (Index t : samples_) position_[t] = kAbsent;
        samples_.clear();
        ridges_.clear();
        pivot_ = pivot;
    }

    // Add samples. Those along which the kernel is not convex are left out, and returned until the next call.
    const std::vector<Index> &append(const std::vector<Index> &samples) {
        left_out_.clear();
        const Index n = static_cast<Index>(samples.size());
        for (Index start = 0; start < n; start += kBlock) {
            const Index *first = samples.data() + start;
            const Index block = std::min(n - start, kBlock);
            if (append_block(first, block)) continue;
            for (Index j = 0; j < block; ++j) {
                if (block == 1 || !append_block(first + j, 1)) left_out_.push_back(first[j]);
            }
        }
        return left_out_;
    }

    // Remove the a-th sample.
    void remove(Index a) {
        const Index m = size();
        for (Index i = 0; i < a; ++i) std::copy(row(i) + a + 1, row(i) + m, row(i) + a);
        // Without column a the rows from a on have one entry below the diagonal; rotations make it 0.
        for (Index i = a; i + 1 < m; ++i) {
            double *const upper = row(i), *const lower = row(i + 1);
            const double x = upper[i + 1], z = lower[i + 1], length = std::sqrt(x * x + z * z);
            rotate(upper + i + 2, lower + i + 2, x / length, z / length, m - i - 2);
            upper[i + 1] = length;
            std::copy(upper + i + 1, upper + m, upper + i);
        }
        position_[samples_[a]] = kAbsent;
        samples_.erase(samples_.begin() + a);
        ridges_.erase(ridges_.begin() + a);
        for (Index i = a; i < m - 1; ++i) position_[samples_[i]] = i;
    }

    // Solve (H + diag(ridge)) x = b in place.
    void solve(Vector<double> x) const {
        const Index m = size();
        forward(x.data);
        for (Index a = m - 1; a >= 0; --a) {
            x[a] = (x[a] - inner_product(row(a) + a + 1, x.data + a + 1, m - a - 1)) / row(a)[a];
        }
    }

    // Write the column of a sample, H(., t).
    void column(Index t, Vector<double> values) const {
        for (Index a = 0; a < size(); ++a) values[a] = entry(samples_[a], t);
    }

  private:
    static constexpr Index kAbsent = -1, kBlock = 32;
    // What is added to the diagonal, relative to it and to the rounding error of its terms, since duplicates make H
    // singular. It does not move the minimum, and it bounds the step.
    static constexpr double kRidge = 1e-12, kRounding = 1e-14;

    double *row(Index a) { return entries_.data() + a * width_; }
    const double *row(Index a) const { return entries_.data() + a * width_; }

    double entry(Index s, Index t) const { return (K_(s, t) - K_(pivot_, t)) - (K_(s, pivot_) - K_(pivot_, pivot_)); }

    // Solve U^T x = b in place.
    void forward(double *x) const {
        const Index m = size();
        for (Index a = 0; a < m; ++a) {
            x[a] /= row(a)[a];
            add_multiple(x + a + 1, -x[a], row(a) + a + 1, m - a - 1);
        }
    }

    // Make room for m samples.
    void widen(Index m) {
        if (m <= width_) return;
        const Index width = std::max(m, width_ + width_ / 2);
        std::vector<double> entries(static_cast<std::size_t>(width * width));
        for (Index a = 0; a < size(); ++a) std::copy(row(a) + a, row(a) + size(), entries.data() + a * width + a);
        entries_.swap(entries);
        width_ = width;
    }

    // Add samples; return false, and add none, if the kernel is not convex along all of them.
    bool append_block(const Index *samples, Index n) {
        const Index m = size();
        widen(m + n);
        for (Index a = 0; a < m; ++a) {
            for (Index j = 0; j < n; ++j) row(a)[m + j] = entry(samples_[a], samples[j]);
        }
        for (Index i = 0; i < n; ++i) {
            for (Index j = i; j < n; ++j) row(m + i)[m + j] = entry(samples[i], samples[j]);
            double &own = row(m + i)[m + i];
            ridges_.push_back(kRidge * own + kRounding * (std::abs(K_(pivot_, pivot_)) + kRounding * size_));
            own += ridges_.back();
        }
        if (!(n == 1 ? eliminate_column(m) : eliminate_columns(m, m + n))) {
            ridges_.resize(samples_.size());
            return false;
        }
        for (Index j = 0; j < n; ++j) {
            position_[samples[j]] = m + j;
            samples_.push_back(samples[j]);
        }
        return true;
    }

    // Turn column m of H into that of U; return whether the last pivot is positive.
    bool eliminate_column(Index m) {
        column_.resize(samples_.size());
        double *const x = column_.data();
        for (Index a = 0; a < m; ++a) x[a] = row(a)[m];
        forward(x);
        for (Index a = 0; a < m; ++a) row(a)[m] = x[a];
        const double rest = row(m)[m] - inner_product(x, x, m);
        if (!(rest > 0.0)) return false;
        row(m)[m] = std::sqrt(rest);
        return true;
    }

    // Turn the columns from m to before n of H into those of U; return whether all their pivots are positive.
    bool eliminate_columns(Index m, Index n) {
        for (Index start = 0; start < m; start += 4) {
            const Index stop = std::min(start + 4, m);
            for (Index a = start; a < stop; ++a) {
                for (Index b = start; b < a; ++b) subtract(b, a, m, n);
                const double inverse = 1.0 / row(a)[a];
                for (Index j = m; j < n; ++j) row(a)[j] *= inverse;
            }
            for (Index i = stop; i < n; ++i) {
                const Index from = std::max(m, i);
                if (stop - start == 4) {
                    const double weights[] = {-row(start)[i], -row(start + 1)[i], -row(start + 2)[i],
                                              -row(start + 3)[i]};
                    add_four_multiples(row(i) + from, weights, row(start) + from, row(start + 1) + from,
                                       row(start + 2) + from, row(start + 3) + from, n - from);
                } else {
                    for (Index a = start; a < stop; ++a) subtract(a, i, from, n);
                }
            }
        }
        for (Index a = m; a < n; ++a) {
            for (Index b = m; b < a; ++b) subtract(b, a, a, n);
            if (!(row(a)[a] > 0.0)) return false;
            row(a)[a] = std::sqrt(row(a)[a]);
            const double inverse = 1.0 / row(a)[a];
            for (Index j = a + 1; j < n; ++j) row(a)[j] *= inverse;
        }
        return true;
    }

    // Subtract the multiple of row a that belongs to row i from it, in the columns from m to before n.
    void subtract(Index a, Index i, Index m, Index n) { add_multiple(row(i) + m, -row(a)[i], row(a) + m, n - m); }

    Matrix<const double> K_;
    double size_;
    Index pivot_ = kAbsent, width_ = 0;
    OwnedVector<Index> position_;  // of each sample in the factor
    std::vector<Index> samples_, left_out_;
    std::vector<double> ridges_, column_, entries_;  // entries_ is U, in rows of width_ entries
};

}  // namespace similitude
