// Lasso problems in a box, minimise ||y - A a||^2 / 2 + epsilon ||a||_1 over |a_j| <= bounds_j.
//
// sweep descends along one coordinate after the other: it is cheap, and a good guess of which coefficients are 0, at
// their bound, or free. ActiveSet ends at rounding error, by Newton's method on the free coefficients. rows holds the
// columns of A, and G = A^T A.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/clones.hpp"
#include "common/views.hpp"
#include "numerics/cholesky.hpp"

namespace similitude::lasso {

// Minimise along each coordinate in turn, at most so many times; a and r = y - A a are changed.
//
// squares holds the squares of the columns. Returns the largest change of r by one coefficient in the last sweep.
inline double sweep(Matrix<const double> rows, Vector<const double> squares, double epsilon,
                    Vector<const double> bounds, Index sweeps, Vector<double> a, Vector<double> r) {
    double largest = 0.0;
    for (Index round = 0; round < sweeps; ++round) {
        largest = 0.0;
        for (Index j = 0; j < a.n; ++j) {
            const double target = a[j] + dot(rows[j], r, r.n) / squares[j];
            const double size = std::min(std::max(std::abs(target) - epsilon / squares[j], 0.0), bounds[j]);
            const double change = std::copysign(size, target) - a[j];
            if (change == 0.0) continue;
            a[j] += change;
            largest = std::max(largest, std::abs(change) * std::sqrt(squares[j]));
            add_multiple(r, -change, rows[j]);
        }
        if (largest <= 1e-8) break;
    }
    return largest;
}

// The factorisation G = U^T U of the products of some columns.
class ColumnFactor {
  public:
    ColumnFactor(Matrix<const double> rows, Matrix<const double> G)
        : rows_(rows), G_(G), x_(rows.rows), again_(rows.rows), rest_(rows.columns) {}

    // Factor up to the first column that depends on those before it; return its position, or the number of columns.
    //
    // If there is such a column, at position c, combination() gives it from those before it, and the entry (c, c) of U
    // is the square of what is left of it.
    Index factor(Vector<const Index> columns) {
        const Index m = columns.n;
        if (m > U_.view().rows) U_ = OwnedMatrix<double>(m, m);
        columns_ = columns;
        for (Index c = 0; c < m; ++c) {
            const Vector<double> row = U_[c].part(0, m);
            const double own = G_(columns[c], columns[c]);
            for (Index b = c; b < m; ++b) row[b] = G_(columns[c], columns[b]);
            subtract_rows(c, m);
            if (row[c] <= kDoubtful * own) {
                compute_rest(c);
                row[c] = dot(rest_, rest_, rest_.size());
                if (row[c] <= kDependent * own) return c;
                for (Index b = c + 1; b < m; ++b) row[b] = dot(rest_, rows_[columns[b]], rest_.size());
            }
            const double scale = 1.0 / std::sqrt(row[c]);
            for (Index b = c; b < m; ++b) row[b] *= scale;
        }
        return m;
    }

    // The entry (i, j) of U.
    double operator()(Index i, Index j) { return U_(i, j); }

    // The coefficients with which the columns before a dependent one give it.
    Vector<const double> combination() { return x_.view(); }

    // Write G^-1 h, over the factored columns, into step.
    void solve(Vector<const double> h, Vector<double> step) {
        std::copy(h.begin(), h.end(), step.begin());
        forward(U_, h.n, step);
        backward(U_, h.n, step);
    }

  private:
    // A pivot below this share of its column's square is mostly rounding errors of G; it is computed from the column
    // itself.
    static constexpr double kDoubtful = 1e-8;
    // What is left of a column, relative to its square, if it is a combination of those before it.
    static constexpr double kDependent = 1e-14;

    // Subtract the products with the finished rows from the entries c, ..., m - 1 of row c.
    void subtract_rows(Index c, Index m) {
        const Index whole = c - c % 4;
        double *const row = U_[c].data;
        for (Index i = 0; i < whole; i += 4) {  // four finished rows at a time need a fourth of the stores
            subtract_four(row, U_[i].data, U_[i + 1].data, U_[i + 2].data, U_[i + 3].data, c, m);
        }
        for (Index i = whole; i < c; ++i) add_multiple(U_[c].part(c, m), -U_(i, c), U_[i].part(c, m));
    }

    SIMILITUDE_CLONES static void subtract_four(double *__restrict row, const double *__restrict o,
                                                const double *__restrict p, const double *__restrict q,
                                                const double *__restrict s, Index c, Index m) {
        const double d = o[c], e = p[c], f = q[c], h = s[c];
        for (Index b = c; b < m; ++b) row[b] -= d * o[b] + e * p[b] + f * q[b] + h * s[b];
    }

    // Split column c into its combination of those before it, x_, and the rest.
    void compute_rest(Index c) {
        const Vector<const double> column = rows_[columns_[c]];
        std::copy(column.begin(), column.end(), rest_.begin());
        std::fill(x_.begin(), x_.begin() + c, 0.0);
        for (int round = 0; round < 2; ++round) {  // the second time removes the rounding errors of the first
            for (Index i = 0; i < c; ++i) again_[i] = dot(rows_[columns_[i]], rest_, rest_.size());
            forward(U_, c, again_);
            backward(U_, c, again_);
            for (Index i = 0; i < c; ++i) {
                x_[i] += again_[i];
                add_multiple(rest_, -again_[i], rows_[columns_[i]]);
            }
        }
    }

    Matrix<const double> rows_, G_;
    Vector<const Index> columns_;
    OwnedMatrix<double> U_{0, 0};
    OwnedVector<double> x_, again_, rest_;
};

// Newton's method on the free coefficients of a problem, with the others fixed at 0 or at their bound.
class ActiveSet {
  public:
    struct Outcome {
        Index used;    // the number of factorisations; negative, and one more, if the optimum was not reached
        double pivot;  // the smallest square of what is left of a free column, relative to its own; 0 if not reached
    };

    // a holds the start, and free says which coefficients are free at the start; the others must be 0 or at the bound.
    ActiveSet(Matrix<const double> rows, Matrix<const double> G, Vector<const double> y, double epsilon,
              Vector<const double> bounds, Vector<const bool> free, Vector<double> a)
        : rows_(rows), G_(G), y_(y), epsilon_(epsilon), bounds_(bounds), a_(a), factor_(rows, G), states_(a.n),
          roots_(a.n), signs_(a.n), g_(a.n), h_(a.n), step_(a.n), r_(y.n), image_(y.n) {
        for (Index j = 0; j < k(); ++j) {
            states_[j] = free[j] ? State::free : State::fixed;
            roots_[j] = std::sqrt(G(j, j));
            signs_[j] = std::copysign(1.0, a[j]);
        }
    }

    // Move a to the optimum, with at most so many factorisations, and so many that end at a dependent column.
    Outcome solve(Index budget, Index slides) {
        const double square = dot(y_, y_, y_.n);
        Index used = 0;
        while (used < budget && slides > 0) {
            list_free();
            compute_gradient();
            compute_slopes();
            const Index rank = factor_.factor(free_.view());
            if (rank < m()) {
                --slides;
                slide(rank, 1e-9 * epsilon_, 1e-16 * square);
                continue;
            }
            ++used;
            factor_.solve(h_.part(0, m()), step_.part(0, m()));
            if (!take_projected_step()) continue;
            compute_gradient();
            if (release(std::sqrt(square)) > 0) continue;
            polish();
            double smallest = 1.0;
            for (Index i = 0; i < m(); ++i) {
                smallest = std::min(smallest, factor_(i, i) * factor_(i, i) / G_(free_[i], free_[i]));
            }
            return {used, smallest};
        }
        return {-used - 1, 0.0};
    }

  private:
    // A coefficient is at 0 or at its bound, between these, or kept where it is between these.
    enum class State : unsigned char { fixed, free, held };

    Index k() const { return a_.n; }
    Index m() const { return free_.size(); }

    void list_free() {
        free_.clear();
        for (Index j = 0; j < k(); ++j) {
            if (states_[j] == State::free) free_.push_back(j);
        }
    }

    // Compute r = y - A a and g = A^T r; this is more accurate than G where A a is close to y.
    void compute_gradient() {
        std::copy(y_.begin(), y_.end(), r_.begin());
        for (Index j = 0; j < k(); ++j) {
            if (a_[j] != 0.0) add_multiple(r_, -a_[j], rows_[j]);
        }
        for (Index j = 0; j < k(); ++j) g_[j] = dot(rows_[j], r_, r_.size());
    }

    // Compute h: by how much the objective falls with each free coefficient.
    void compute_slopes() {
        for (Index i = 0; i < m(); ++i) h_[i] = g_[free_[i]] - epsilon_ * signs_[free_[i]];
    }

    // Return how far a coefficient may go at this rate until it is 0 or at its bound.
    double distance_to_kink(Index j, double rate) const {
        if (rate * signs_[j] > 0.0) return std::max(bounds_[j] - std::abs(a_[j]), 0.0) / std::abs(rate);
        if (rate * signs_[j] < 0.0) return std::abs(a_[j]) / std::abs(rate);
        return std::numeric_limits<double>::infinity();
    }

    // Fix a coefficient that comes to a kink at this rate.
    void fix(Index j, double rate) {
        a_[j] = rate * signs_[j] > 0.0 ? signs_[j] * bounds_[j] : 0.0;
        states_[j] = State::fixed;
    }

    // Move so that little but the norm changes, since the column at position rank depends on those before it.
    //
    // The move descends until a coefficient comes to a kink, and is fixed, or to the lowest point. Where the norm does
    // not change by more than noise either, it goes towards 0, for fewer columns, if that costs no more than worth;
    // otherwise the coefficient is held.
    void slide(Index rank, double noise, double worth) {
        const Vector<const double> x = factor_.combination();
        const double curve = factor_(rank, rank);
        const Index c = free_[rank];
        double slope = h_[rank];
        for (Index i = 0; i < rank; ++i) slope -= x[i] * h_[i];
        const bool level = std::abs(slope) <= noise;
        const double direction = level ? -signs_[c] : std::copysign(1.0, slope);
        if (a_[c] == 0.0 && direction != signs_[c]) {
            states_[c] = State::fixed;
            return;
        }
        Index first = rank;
        double t = distance_to_kink(c, direction);
        for (Index i = 0; i < rank; ++i) {
            const double there = distance_to_kink(free_[i], -direction * x[i]);
            if (there < t) first = i, t = there;
        }
        if (level && 0.5 * curve * t * t > worth) {
            states_[c] = State::held;
            return;
        }
        if (!level && curve * t > std::abs(slope)) first = -1, t = std::abs(slope) / curve;
        a_[c] += t * direction;
        for (Index i = 0; i < rank; ++i) a_[free_[i]] -= t * direction * x[i];
        if (first >= 0) fix(free_[first], first == rank ? direction : -direction * x[first]);
    }

    // Move along step_, cut at the kinks: the whole, or half of it, a quarter, ... until that descends enough.
    //
    // The objective falls all the way to the first kink, or to the end, so that no less than that is taken. Returns
    // whether the whole was taken, without a kink.
    bool take_projected_step() {
        double t = 1.0, nearest = 1.0;
        Index first = -1;
        for (Index i = 0; i < m(); ++i) {
            const Index j = free_[i];
            const double there = distance_to_kink(j, step_[i]);
            if (there < nearest) nearest = there, first = i;
            // Beyond the box no two lengths differ.
            t = std::min(t, step_[i] != 0.0 ? 2.0 * bounds_[j] / std::abs(step_[i]) : 1.0);
        }
        for (; t > nearest; t *= 0.5) {
            if (descends_enough(t)) {
                first = -1;
                break;
            }
        }
        t = std::max(t, nearest);
        bool whole = t == 1.0;
        for (Index i = 0; i < m(); ++i) {
            const Index j = free_[i];
            const double moved = signs_[j] * (a_[j] + t * step_[i]);
            if (i != first && 0.0 < moved && moved < bounds_[j]) {
                a_[j] = signs_[j] * moved;
            } else {
                fix(j, step_[i]);
                whole = false;
            }
        }
        return whole;
    }

    // Return whether the part t of the step, cut at the kinks, improves the objective by a share of what its slope
    // promises.
    bool descends_enough(double t) {
        double gain = 0.0;
        image_.fill(0.0);
        for (Index i = 0; i < m(); ++i) {
            const Index j = free_[i];
            const double moved = signs_[j] * (a_[j] + t * step_[i]);
            const double change = signs_[j] * std::min(std::max(moved, 0.0), bounds_[j]) - a_[j];
            gain += h_[i] * change;
            add_multiple(image_, change, rows_[j]);
        }
        // From A itself: G would give a difference of large numbers where columns are close to dependent.
        return gain > 0.0 && 0.5 * dot(image_, image_, image_.size()) <= (1.0 - 1e-4) * gain;
    }

    // Free the fixed coefficients that would improve the objective most, and return how many these are.
    //
    // Gradients below their rounding errors tell nothing; size is the norm of y.
    Index release(double size) {
        for (Index j = 0; j < k(); ++j) size += roots_[j] * std::abs(a_[j]);
        double worst = 0.0;
        for (Index j = 0; j < k(); ++j) worst = std::max(worst, violation(j, size));
        Index count = 0;
        for (Index j = 0; j < k(); ++j) {
            const double found = violation(j, size);
            if (!(found > 0.0 && found >= 0.5 * worst)) continue;
            signs_[j] = sign_of(j);
            states_[j] = State::free;
            ++count;
        }
        return count;
    }

    // Return the sign of a coefficient that is not free, or the one with which it would leave 0.
    double sign_of(Index j) const { return std::copysign(1.0, a_[j] == 0.0 ? g_[j] : a_[j]); }

    // Return by how much a coefficient that is not free violates its condition of optimality; 0 if it is free, or if
    // the violation is below the rounding errors of the gradient.
    double violation(Index j, double size) const {
        if (states_[j] == State::free) return 0.0;
        double found = a_[j] == 0.0 ? std::abs(g_[j]) - epsilon_ : epsilon_ - g_[j] * sign_of(j);
        if (states_[j] == State::held) found = std::abs(found) - 1e-9 * epsilon_;
        constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
        return found <= rounding * roots_[j] * size ? 0.0 : found;
    }

    // Compute the free coefficients from nothing but which they are, so that no digit depends on the way here.
    void polish() {
        for (Index i = 0; i < m(); ++i) a_[free_[i]] = 0.0;
        for (int round = 0; round < 3; ++round) {
            compute_gradient();
            compute_slopes();
            factor_.solve(h_.part(0, m()), step_.part(0, m()));
            for (Index i = 0; i < m(); ++i) a_[free_[i]] += step_[i];
        }
        for (Index i = 0; i < m(); ++i) {
            const Index j = free_[i];
            a_[j] = signs_[j] * std::min(std::max(signs_[j] * a_[j], 0.0), bounds_[j]);
        }
    }

    Matrix<const double> rows_, G_;
    Vector<const double> y_;
    double epsilon_;
    Vector<const double> bounds_;
    Vector<double> a_;
    ColumnFactor factor_;
    OwnedVector<State> states_;
    OwnedVector<double> roots_, signs_;  // the lengths of the columns, and the signs of the coefficients
    OwnedVector<double> g_, h_, step_;   // the gradient; the slopes and the move of the free coefficients
    OwnedVector<double> r_, image_;      // y - A a, and A times a move
    OwnedVector<Index> free_;            // the positions of the free coefficients
};

}  // namespace similitude::lasso
