// The selection of neighbours.
#pragma once

#include "common/clones.hpp"
#include "common/views.hpp"

namespace similitude {

// Write the columns of the k largest values of each row into columns (m, k), in ascending order of the columns.
//
// These are the columns above the row's threshold, its k-th largest value, and the first of those equal to it.
template <class T>
void collect_best(Matrix<const T> S, Vector<const T> thresholds, Matrix<Index> columns) {
    const Index k = columns.columns;
    for (Index row = 0; row < S.rows; ++row) {
        const Vector<const T> values = S[row];
        const T threshold = thresholds[row];
        Index equal = k;
        for (Index j = 0; j < S.columns; ++j) equal -= values[j] > threshold;
        Index kept = 0;
        for (Index j = 0; j < S.columns && kept < k; ++j) {
            if (!(values[j] >= threshold)) continue;
            if (values[j] == threshold) {
                if (equal <= 0) continue;
                --equal;
            }
            columns(row, kept++) = j;
        }
    }
}

}  // namespace similitude
