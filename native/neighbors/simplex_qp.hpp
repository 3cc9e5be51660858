// The quadratic program of kernel ridge interpolation, solved up to rounding error.
//
//     minimise  w^T (A + reg I) w / 2 - s^T w    subject to  w >= 0, sum w = 1        (Chen et al. 2009, eq. 12)
//
// It is a primal active-set method. One neighbour of the support, the reference r, is eliminated by w_r = 1 - sum of
// the others. The reduced matrix M_ab = H_ab - H_ar - H_rb + H_rr, H = A + reg I, determines convexity on the simplex.
// A Cholesky factor of M is kept and updated when neighbours enter (a row is appended) and leave (Givens rotations). If
// M is singular or indefinite, the step goes along that direction to the next face; if A is indefinite, the result is a
// point where the KKT conditions hold, which need not be the optimum.
//
// Neighbour lists are nested, so the factor and the solution for k neighbours are the start for the next larger k. If
// the result could depend, through rounding, on the order in which the support was found, the last solve takes the
// support in ascending order, so that the weights depend only on the support.
//
// `python -m benchmarks neighbors` compares it with Clarabel and OSQP.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/clones.hpp"
#include "common/views.hpp"
#include "neighbors/local_spectrum.hpp"
#include "numerics/cholesky.hpp"

namespace similitude {

// Return the largest absolute value of the first n entries.
inline double largest_absolute(Vector<const double> x, Index n) {
    // Four maxima are kept, so that the processor need not wait for each comparison.
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    const Index whole = n - n % 4;
    for (Index i = 0; i < whole; i += 4) {
        a = std::max(a, std::abs(x[i]));
        b = std::max(b, std::abs(x[i + 1]));
        c = std::max(c, std::abs(x[i + 2]));
        d = std::max(d, std::abs(x[i + 3]));
    }
    for (Index i = whole; i < n; ++i) a = std::max(a, std::abs(x[i]));
    return std::max(std::max(a, b), std::max(c, d));
}

// Return the largest absolute value in the rows from start to before k of the leading block of A, and of s.
inline double largest_entry(Neighborhood given, Index start, Index k) {
    double size = 0.0;
    for (Index i = start; i < k; ++i) {
        size = std::max({size, std::abs(given.s[i]), largest_absolute(given.A[i], i + 1)});
    }
    return size;
}

// Return whether to start with all of the first k neighbours in the support.
//
// From this reg on, relative to the mean self-similarity, most weights are positive.
inline bool starts_full(Matrix<const double> A, Index k, double reg) {
    constexpr double full_start = 0.5;
    double mean = 0.0;
    for (Index i = 0; i < k; ++i) mean += A(i, i) / static_cast<double>(k);
    return reg >= full_start * mean;
}

// Compute n entries of column p of a Cholesky factor from those of M, which stand in their place.
//
// The columns are stride numbers apart; row is the row of the pivot, whose inverse is given. The sums, for which there
// is room for 4 n numbers, are added up as in dot.
SIMILITUDE_CLONES static void finish_column(double *__restrict columns, Index stride, Index p, Index n,
                                            const double *__restrict row, double inverse, double *__restrict sums) {
    const Index whole = p - p % 4;
    for (Index d = 0; d < 4 * n; ++d) sums[d] = 0.0;
    for (Index a = 0; a < whole; a += 4) {
        const double *entries = columns + a * stride;
        for (Index d = 0; d < n; ++d) {
            sums[d] += row[a] * entries[d];
            sums[n + d] += row[a + 1] * entries[stride + d];
            sums[2 * n + d] += row[a + 2] * entries[2 * stride + d];
            sums[3 * n + d] += row[a + 3] * entries[3 * stride + d];
        }
    }
    for (Index a = whole; a < p; ++a) {
        for (Index d = 0; d < n; ++d) sums[d] += row[a] * columns[a * stride + d];
    }
    double *column = columns + p * stride;
    for (Index d = 0; d < n; ++d) {
        column[d] = (column[d] - ((sums[d] + sums[n + d]) + (sums[2 * n + d] + sums[3 * n + d]))) * inverse;
    }
}

// Add w[i] A[i] to the k numbers g for the n rows i, in their order.
SIMILITUDE_CLONES static void add_rows(const double *__restrict A, Index stride, const Index *__restrict rows, Index n,
                                       const double *__restrict w, Index k, double *__restrict g) {
    Index c = 0;
    for (; c + 4 <= n; c += 4) {  // four rows at a time need a fourth of the stores
        const double *p = A + rows[c] * stride, *q = A + rows[c + 1] * stride;
        const double *r = A + rows[c + 2] * stride, *s = A + rows[c + 3] * stride;
        const double e = w[rows[c]], f = w[rows[c + 1]], h = w[rows[c + 2]], i = w[rows[c + 3]];
        for (Index j = 0; j < k; ++j) g[j] = g[j] + e * p[j] + f * q[j] + h * r[j] + i * s[j];
    }
    for (; c < n; ++c) {
        const double *p = A + rows[c] * stride;
        for (Index j = 0; j < k; ++j) g[j] += w[rows[c]] * p[j];
    }
}

class SimplexProgram {
  public:
    // For problems of up to so many neighbours.
    explicit SimplexProgram(Index most)
        : L_(most, most), columns_(most, most), sums_(4 * most), w_(most), z_(most + 1), g_(most), y_(most),
          inverse_(most), order_(most), chosen_(most), member_(most), barred_(most) {}

    Vector<const double> weights() const { return w_; }

    // Forget the factor; the support of the weights is the guess with which the next solve starts.
    void forget_factor() { p_ = kNoFactor; }

    // Forget the factor and the weights.
    void forget() {
        forget_factor();
        w_.fill(0.0);
    }

    // Start the next solve with all weight on neighbour i.
    void start_from(Index i) {
        forget();
        w_[i] = 1.0;
    }

    // Start the next solve with the neighbours whose weight is positive here.
    void start_from(Vector<const double> w) {
        forget();
        std::copy(w.begin(), w.end(), w_.begin());
    }

    // Solve for the first k neighbours; return whether a solution was reached.
    //
    // The start is the factor of a smaller k for the same neighbourhood and reg. Without one it is the support of the
    // weights as a guess, or all neighbours if reg is large, or the best single one. scale bounds the entries of A and
    // s and reg.
    bool solve(Neighborhood given, Index k, double reg, double scale) {
        A_ = given.A, s_ = given.s, k_ = k, reg_ = reg;
        const bool full = starts_full(A_, k, reg);
        if (p_ == kNoFactor) start(guess(full));
        // The tolerance is above the threshold of curvature, or steps would alternate.
        const bool reached = advance(8.0 * kEps * static_cast<double>(k + 16) * scale, full);
        solve_in_order();
        return reached;
    }

  private:
    static constexpr double kEps = 0x1p-52;
    static constexpr Index kNoFactor = -1, kNobody = -1;
    // A factor whose diagonal spans no more than this solves to 1e-13, which is too small to affect ties of classes.
    static constexpr double kWellConditioned = 30.0;

    struct Step {
        Index hit;  // the neighbour whose weight becomes zero first, or kNobody
        double length;
    };

    // Choose the support to start with; return its size.
    Index guess(bool full) {
        Index n_chosen = 0;
        for (Index i = 0; i < k_; ++i) {
            if (w_[i] > 0.0) chosen_[n_chosen++] = i;
        }
        if (n_chosen > 0) return n_chosen;
        if (full) {
            for (Index i = 0; i < k_; ++i) chosen_[i] = i;
            return k_;
        }
        Index best = 0;
        double least = 0.5 * A_(0, 0) - s_[0];
        for (Index i = 1; i < k_; ++i) {
            const double value = 0.5 * A_(i, i) - s_[i];
            best = value < least ? i : best;
            least = value < least ? value : least;
        }
        chosen_[0] = best;
        return 1;
    }

    // Append neighbour i to the factor; return false if M would not be positive definite (the row is still written).
    bool enter(Index i) {
        const Index r = reference_, p = p_;
        const double own = A_(r, r) + reg_, to_reference = A_(i, r);
        const Vector<double> row = L_[p];
        for (Index a = 0; a < p; ++a) {
            const Index j = order_[a];
            row[a] = (A_(i, j) - to_reference - A_(j, r) + own - dot(row, L_[a], a)) * inverse_[a];
        }
        return accept(i, row);
    }

    // Take the row of neighbour i, which has been solved for, as the next row of the factor, if its pivot is positive.
    bool accept(Index i, Vector<double> row) {
        const Index r = reference_, p = p_;
        const double own = A_(r, r) + reg_, to_reference = A_(i, r);
        const double pivot = A_(i, i) + reg_ - 2.0 * to_reference + own - dot(row, row, p);
        const double rounding =
            16.0 * kEps * (std::abs(A_(i, i)) + 2.0 * std::abs(to_reference) + std::abs(A_(r, r)) + reg_);
        if (!(pivot > rounding)) return false;
        row[p] = std::sqrt(pivot);
        inverse_[p] = 1.0 / row[p];
        y_[p] = (s_[i] - s_[r] - to_reference + own - dot(row, y_, p)) * inverse_[p];
        order_[p] = i;
        member_[i] = true;
        ++p_;
        at_target_ = false;
        return true;
    }

    // Factor the first chosen neighbours, the first of which is the reference; dependent neighbours are left out.
    //
    // The result is that of one enter after the other, to the last digit, but it is computed column by column for all
    // neighbours, whose entries are independent of each other.
    void factor_chosen(Index n_chosen) {
        member_.fill(false);
        reference_ = chosen_[0];
        member_[reference_] = true;
        p_ = 0;
        rotated_ = at_target_ = false;
        const Index r = reference_;
        const double own = A_(r, r) + reg_;
        const Matrix<double> columns = columns_;
        for (Index c = 1; c < n_chosen; ++c) {
            const Index i = chosen_[c], p = p_;
            const Vector<double> row = L_[p];
            for (Index a = 0; a < p; ++a) row[a] = columns(a, c);
            if (!accept(i, row)) continue;
            for (Index d = c + 1; d < n_chosen; ++d) {
                const Index j = chosen_[d];
                columns(p, d) = A_(j, i) - A_(j, r) - A_(i, r) + own;
            }
            finish_column(columns.data + c + 1, columns.columns, p, n_chosen - c - 1, row.data, inverse_[p],
                          sums_.view().data);
        }
    }

    // Remove neighbour i from the support; the neighbour with the largest weight replaces a reference that leaves.
    void leave(Index i) {
        w_[i] = 0.0;
        member_[i] = false;
        at_target_ = false;
        if (i == reference_) {
            replace_reference();
            return;
        }
        Index place = 0;
        while (order_[place] != i) ++place;
        for (Index a = place; a < p_ - 1; ++a) {
            order_[a] = order_[a + 1];
            for (Index c = 0; c < a + 2; ++c) L_(a, c) = L_(a + 1, c);
        }
        for (Index c = place; c < p_ - 1; ++c) {
            const double length = std::hypot(L_(c, c), L_(c, c + 1));
            const double cosine = L_(c, c) / length, sine = L_(c, c + 1) / length;
            auto rotate = [&](double &first, double &second) {
                const double old = first;
                first = cosine * old + sine * second;
                second = cosine * second - sine * old;
            };
            for (Index a = c; a < p_ - 1; ++a) rotate(L_(a, c), L_(a, c + 1));
            rotate(y_[c], y_[c + 1]);
            inverse_[c] = 1.0 / L_(c, c);
        }
        --p_;
        rotated_ = true;
    }

    void replace_reference() {
        const Index p = p_;
        Index place = 0;
        for (Index a = 0; a < p; ++a) {
            chosen_[a] = order_[a];
            if (w_[order_[a]] > w_[order_[place]]) place = a;
        }
        std::swap(chosen_[0], chosen_[place]);
        factor_chosen(p);
        for (Index a = 0; a < p; ++a) {
            // A neighbour that is dependent, by rounding, with the new reference gives its weight to the reference.
            if (!member_[chosen_[a]]) {
                w_[chosen_[0]] += w_[chosen_[a]];
                w_[chosen_[a]] = 0.0;
            }
        }
    }

    // Solve L^T x = z in place.
    void backward_z() {
        for (Index a = p_ - 1; a >= 0; --a) {
            z_[a] *= inverse_[a];
            const Vector<double> row = L_[a];
            const double known = z_[a];
            for (Index c = 0; c < a; ++c) z_[c] -= row[c] * known;
        }
    }

    // Write the optimum over the support, whatever the signs, into z, in the factor's order with the reference last.
    void find_target() {
        for (Index a = 0; a < p_; ++a) z_[a] = y_[a];
        backward_z();
        double rest = 1.0;
        for (Index a = 0; a < p_; ++a) rest -= z_[a];
        z_[p_] = rest;
        order_[p_] = reference_;  // so that order_[a] is the neighbour of z_[a] for a = 0, ..., p_
    }

    // Make z, which is the optimum over the support and positive, the weights.
    void take_target() {
        for (Index a = 0; a <= p_; ++a) w_[order_[a]] = z_[a];
        at_target_ = true;
    }

    // Compute a feasible w from a guess of the support, from which neighbours with negative weights are dropped.
    void start(Index n_chosen) {
        w_.fill(0.0);
        while (true) {
            factor_chosen(n_chosen);
            find_target();
            n_chosen = 0;
            for (Index a = 0; a <= p_; ++a) {
                if (z_[a] > 0.0) chosen_[n_chosen++] = order_[a];
            }
            if (n_chosen == p_ + 1) break;
            // The reference is last in z; it is moved to the front, so that the order stays ascending.
            if (z_[p_] > 0.0) {
                for (Index c = n_chosen - 1; c > 0; --c) chosen_[c] = chosen_[c - 1];
                chosen_[0] = reference_;
            }
        }
        take_target();
    }

    // Write the gradient (A + reg I) w - s into g.
    void find_gradient() {
        Index n_chosen = 0;
        for (Index i = 0; i < k_; ++i) {
            g_[i] = reg_ * w_[i] - s_[i];
            chosen_[n_chosen] = i;
            n_chosen += w_[i] != 0.0;
        }
        add_rows(A_.data, A_.columns, chosen_.view().data, n_chosen, w_.view().data, k_, g_.view().data);
    }

    // Move to the next face along the direction in which neighbour i makes M singular or indefinite; return whether i
    // still has to enter.
    bool slide(Index i) {
        const Index r = reference_;
        at_target_ = false;
        for (Index a = 0; a < p_; ++a) z_[a] = L_(p_, a);
        backward_z();
        find_gradient();
        double slope = g_[i] - g_[r], rest = 1.0;
        for (Index a = 0; a < p_; ++a) {
            slope -= z_[a] * (g_[order_[a]] - g_[r]);
            rest -= z_[a];
        }
        const double sign = slope <= 0.0 ? 1.0 : -1.0;
        z_[p_] = rest;
        order_[p_] = r;
        Index hit = sign < 0.0 ? i : kNobody;
        double length = sign < 0.0 ? w_[i] : std::numeric_limits<double>::infinity();
        for (Index a = 0; a <= p_; ++a) {
            const double fall = sign * z_[a];
            if (fall > 0.0 && w_[order_[a]] < fall * length) hit = order_[a], length = w_[order_[a]] / fall;
        }
        if (hit == kNobody) return false;  // only if numbers are not finite
        for (Index a = 0; a <= p_; ++a) {
            double &weight = w_[order_[a]];
            weight = std::max(weight - sign * length * z_[a], 0.0);
        }
        w_[i] = std::max(w_[i] + sign * length, 0.0);
        if (hit == i) {
            w_[i] = 0.0;
            return false;
        }
        if (p_ == 0) {
            w_[r] = 0.0;
            chosen_[0] = i;
            factor_chosen(1);
            return false;
        }
        leave(hit);
        return true;
    }

    // Move towards the optimum over the support as far as weights stay positive.
    Step step() {
        find_target();
        Step found{kNobody, 1.0};
        for (Index a = 0; a <= p_; ++a) {
            const double have = w_[order_[a]];
            if (z_[a] <= 0.0 && have <= found.length * (have - z_[a])) {
                found = {order_[a], have > 0.0 ? have / (have - z_[a]) : 0.0};
            }
        }
        if (found.hit == kNobody) {
            take_target();
            return found;
        }
        for (Index a = 0; a <= p_; ++a) {
            double &weight = w_[order_[a]];
            weight = std::max(weight + found.length * (z_[a] - weight), 0.0);
        }
        return found;
    }

    // Return whether the entry of neighbour i promises a gain.
    bool promises(Index i, double tolerance) const {
        return !member_[i] && !barred_[i] && g_[i] < g_[reference_] - tolerance;
    }

    // Return the neighbour whose entry promises the largest gain, or kNobody.
    Index best_candidate(double tolerance) const {
        Index best = kNobody;
        double least = g_[reference_] - tolerance;
        for (Index i = 0; i < k_; ++i) {
            const bool better = (g_[i] < least) & !member_[i] & !barred_[i];
            least = better ? g_[i] : least;
            best = better ? i : best;
        }
        return best;
    }

    // Let all neighbours enter that promise a gain and can enter; return the last of them, or kNobody.
    Index enter_candidates(double tolerance) {
        Index last = kNobody;
        for (Index i = 0; i < k_; ++i) {
            if (promises(i, tolerance) && enter(i)) last = i;
        }
        return last;
    }

    // Move from a feasible w to a KKT point; return whether it was reached. With block, all neighbours that promise a
    // gain enter at once at first.
    bool advance(double tolerance, bool block) {
        Index entered = kNobody, waiting = kNobody;
        barred_.fill(false);
        for (Index round = 0; round < 50 * k_ + 100; ++round) {
            if (waiting >= 0) {
                if (!enter(waiting)) {
                    if (!slide(waiting)) waiting = kNobody;
                    entered = kNobody;
                    continue;
                }
                waiting = kNobody;
            }
            if (!at_target_) {
                const auto [hit, length] = step();
                if (hit >= 0) {
                    if (length > 0.0) {
                        barred_.fill(false);
                    } else if (block) {
                        block = false, entered = kNobody;  // it entered with others and leaves at once
                    } else {
                        barred_[hit] = hit == entered;  // its gain was a rounding error
                    }
                    leave(hit);
                    continue;
                }
            }
            if (p_ + 1 == k_) return true;  // all neighbours are in the support
            if (entered >= 0 && member_[entered]) barred_.fill(false);
            find_gradient();
            const Index best = best_candidate(tolerance);
            if (best < 0) return true;
            if (block) {
                entered = enter_candidates(tolerance);
                block = entered >= 0;  // neighbours that could not enter together are tried one by one
            } else {
                entered = waiting = best;
            }
        }
        return false;
    }

    // Solve on the support once more in ascending order, if it was not and rounding could make a difference.
    void solve_in_order() {
        double least = std::numeric_limits<double>::infinity(), most = 0.0;
        for (Index a = 0; a < p_; ++a) {
            least = std::min(least, inverse_[a]);
            most = std::max(most, inverse_[a]);
        }
        if (most <= kWellConditioned * least) return;
        bool ascending = !rotated_;
        Index n_chosen = 0;
        for (Index i = 0; i < k_; ++i) {
            if (!member_[i]) continue;
            ascending = ascending && i == (n_chosen == 0 ? reference_ : order_[n_chosen - 1]);
            chosen_[n_chosen++] = i;
        }
        if (ascending) return;
        const Index p = p_;
        factor_chosen(n_chosen);
        find_target();
        bool positive = p_ == p;
        for (Index a = 0; a <= p && positive; ++a) positive = z_[a] > 0.0;
        if (positive) {
            take_target();
        } else {
            forget_factor();  // in this order the support is dependent up to rounding, so the weights are not changed
        }
    }

    Matrix<const double> A_;
    Vector<const double> s_;
    Index k_ = 0;
    double reg_ = 0.0;

    OwnedMatrix<double> L_, columns_;             // the Cholesky factor of M, and its columns while it is computed
    OwnedVector<double> sums_;                    // work space for a column
    OwnedVector<double> w_, z_, g_;               // the weights, a target for them, and the gradient
    OwnedVector<double> y_, inverse_;             // the solution of L y = b, and 1 / diagonal of L
    OwnedVector<Index> order_, chosen_;           // the neighbours in the order of the factor, and a list of neighbours
    OwnedVector<unsigned char> member_, barred_;  // whether a neighbour is in the support, and may not enter it
    Index p_ = kNoFactor, reference_ = 0;         // the number of rows of the factor, and the reference
    bool rotated_ = false;                        // whether rotations went into the factor
    bool at_target_ = false;                      // whether the weights are the optimum over the support
};

// Solve separate problems A[t], s[t], each from scratch; return how many were not solved.
inline Index solve_each(Cube<const double> A, Matrix<const double> s, double reg, Matrix<double> weights) {
    const Index k = s.columns;
    SimplexProgram program(k);
    Index failed = 0;
    for (Index t = 0; t < s.rows; ++t) {
        const Neighborhood given{A[t], s[t]};
        program.forget();
        failed += !program.solve(given, k, reg, std::max(reg, largest_entry(given, 0, k)));
        std::copy_n(program.weights().data, k, weights[t].data);
    }
    return failed;
}

}  // namespace similitude
