// The linear program of an LP machine, by the simplex method on its dual, with bounds on all variables.
//
//     maximise  sum_i alpha_i   over   0 <= alpha_i <= price,   -1 <= r_j <= 1,   e = 0,
//     where     r_j = sum_i rows(j, i) y_i alpha_i   and   e = sum_i y_i alpha_i
//
// The weight w_j of a column is the gain by a larger r_j, the offset that by a larger e. alpha = 0 is the start. Some
// variables, at first r and e, are basic: linear functions of the others, each of which is at one of its bounds. A step
// moves one of these until another variable is at a bound, with which it then changes places.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/views.hpp"
#include "numerics/vector_loops.hpp"

namespace similitude {

class MarginProgram {
  public:
    // rows is of shape (k, n); y holds -1 and 1.
    MarginProgram(Matrix<const double> rows, Vector<const double> y, double price)
        : n_(y.n), m_(rows.rows + 1), table_(m_ + 1, n_), basic_(m_), other_(n_), value_(n_ + m_, 0.0),
          low_(n_ + m_, -1.0), high_(n_ + m_, 1.0) {
        for (Index i = 0; i < n_; ++i) {
            for (Index j = 0; j + 1 < m_; ++j) table_(j, i) = rows(j, i) * y[i];
            table_(m_ - 1, i) = y[i];
            table_(m_, i) = 1.0;  // the objective
            other_[i] = i;
            low_[i] = 0.0;
            high_[i] = price;
        }
        for (Index j = 0; j < m_; ++j) basic_[j] = n_ + j;
        low_[n_ + m_ - 1] = high_[n_ + m_ - 1] = 0.0;
    }

    // Solve the program, in at most so many steps; return their number.
    Index solve(Index most) {
        Index steps = 0;
        for (; steps < most; ++steps) {
            // Where other rules go in a circle, Bland's does not.
            const Index column = entering(idle_ > n_ + m_);
            if (column < 0) break;
            move(column);
        }
        return steps;
    }

    // Write for alpha, r and e whether each is at its lower (-1) or upper bound (1), or basic (0).
    void write_states(Vector<Index> states) const {
        for (Index v = 0; v < n_ + m_; ++v) states[v] = 0;
        for (Index i = 0; i < n_; ++i) states[other_[i]] = value_[other_[i]] == low_[other_[i]] ? -1 : 1;
    }

  private:
    // Gains and pivots up to these count as 0, and a bound may be missed by the last.
    static constexpr double kNoGain = 1e-10, kNoPivot = 1e-9, kMissed = 1e-10;

    // Return the column of the variable that gains most by leaving its bound, the first variable of those that gain
    // something if in doubt, or -1 if none gains.
    Index entering(bool in_doubt) {
        const Vector<const double> gains = table_[m_];
        Index best = -1;
        double most = kNoGain;
        for (Index i = 0; i < n_; ++i) {
            const Index v = other_[i];
            const double gain = value_[v] == low_[v] ? gains[i] : -gains[i];
            if (gain <= kNoGain || low_[v] == high_[v]) continue;
            if (in_doubt ? best < 0 || v < other_[best] : gain > most) best = i, most = gain;
        }
        return best;
    }

    // How far a basic variable that changes at this rate is from its bound.
    double room(Index row, double rate) const {
        const Index v = basic_[row];
        return rate > 0.0 ? high_[v] - value_[v] : value_[v] - low_[v];
    }

    // Move the variable of a column as far as the bounds permit.
    void move(Index column) {
        const Index v = other_[column];
        const double sign = value_[v] == low_[v] ? 1.0 : -1.0;
        const double slack = kMissed * std::min(1.0, high_[0]);
        double reach = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < m_; ++j) {
            const double rate = sign * table_(j, column);
            if (std::abs(rate) > kNoPivot) reach = std::min(reach, (room(j, rate) + slack) / std::abs(rate));
        }
        // Of the variables that would be at their bound by then, the one with the largest pivot.
        Index leaving = -1;
        double pivot = 0.0, length = high_[v] - low_[v];
        for (Index j = 0; j < m_ && reach < length; ++j) {
            const double rate = sign * table_(j, column), size = std::abs(rate);
            if (size > kNoPivot && size > pivot && room(j, rate) <= reach * size) leaving = j, pivot = size;
        }
        if (leaving >= 0) length = std::max(room(leaving, sign * table_(leaving, column)) / pivot, 0.0);
        idle_ = length > slack ? 0 : idle_ + 1;
        for (Index j = 0; j < m_; ++j) value_[basic_[j]] += sign * length * table_(j, column);
        if (leaving < 0) {
            value_[v] = sign > 0.0 ? high_[v] : low_[v];
            return;
        }
        value_[v] += sign * length;
        const Index w = basic_[leaving];
        value_[w] = sign * table_(leaving, column) > 0.0 ? high_[w] : low_[w];
        exchange(leaving, column);
    }

    // Let the basic variable of a row and the variable of a column change places.
    void exchange(Index row, Index column) {
        const Vector<double> own = table_[row];
        const double pivot = own[column];
        for (Index i = 0; i < n_; ++i) own[i] /= -pivot;
        own[column] = 1.0 / pivot;
        for (Index j = 0; j <= m_; ++j) {
            const double weight = table_(j, column);
            if (j == row || weight == 0.0) continue;
            table_(j, column) = 0.0;
            add_multiple(table_[j], weight, own);
        }
        std::swap(basic_[row], other_[column]);
    }

    Index n_, m_, idle_ = 0;     // the numbers of alphas and of r and e, and the steps since the last that moved
    OwnedMatrix<double> table_;  // the basic variables, and the objective, as functions of the others
    OwnedVector<Index> basic_, other_;
    OwnedVector<double> value_, low_, high_;
};

}  // namespace similitude
