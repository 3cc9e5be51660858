// The k best columns of each row of a matrix that is given block by block.
#pragma once

#include <algorithm>
#include <type_traits>

#include "common/clones.hpp"
#include "common/views.hpp"

namespace similitude::stream {

constexpr Index kChunk = 32;

// Return the position of the first chunk, from start on, that has a value of at least worst; n if there is none.
//
// Most chunks have none. Counting needs no branch, so the compiler vectorises it.
template <class T>
[[gnu::always_inline]] inline Index find_chunk(const T *values, Index start, Index n, T worst) {
    using Count = std::conditional_t<sizeof(T) == 4, int, long long>;  // as wide as T
    for (; start < n; start += kChunk) {
        const Index stop = std::min(start + kChunk, n);
        Count hits = 0;
        for (Index j = start; j < stop; ++j) hits += values[j] >= worst;
        if (hits > 0) return start;
    }
    return n;
}

SIMILITUDE_CLONES inline Index next_chunk(const double *values, Index start, Index n, double worst) {
    return find_chunk(values, start, n, worst);
}

SIMILITUDE_CLONES inline Index next_chunk(const float *values, Index start, Index n, float worst) {
    return find_chunk(values, start, n, worst);
}

// The best columns of one row so far: a heap with the worst on top, and of equal values the one with the largest place.
template <class T>
struct Heap {
    Vector<T> values;
    Vector<Index> places;

    static bool is_worse(T value, Index place, T other, Index other_place) {
        return value < other || (value == other && place > other_place);
    }

    bool accepts(T value, Index place) const { return is_worse(values[0], places[0], value, place); }

    // Replace the worst value, and restore the order of the heap.
    void replace_worst(T value, Index place) const {
        Index i = 0;
        for (Index child = 1; child < values.n; child = 2 * i + 1) {
            const Index other = child + 1;
            if (other < values.n && is_worse(values[other], places[other], values[child], places[child])) child = other;
            if (!is_worse(values[child], places[child], value, place)) break;
            values[i] = values[child], places[i] = places[child];
            i = child;
        }
        values[i] = value, places[i] = place;
    }
};

// Update the k best columns of a few rows with the columns first, first + 1, ... of a block.
//
// values and places (m, k) are the heaps of the rows; the values are minus infinity at the start. Of equal values the
// smaller place is the better one, so the blocks may be given in any order.
template <class T>
void offer(Matrix<const T> block, Index first, Matrix<T> values, Matrix<Index> places) {
    if (values.columns == 0) return;
    for (Index row = 0; row < block.rows; ++row) {
        const Heap<T> heap{values[row], places[row]};
        const Vector<const T> offered = block[row];
        Index start = next_chunk(offered.data, 0, offered.n, heap.values[0]);
        while (start < offered.n) {
            const Index stop = std::min(start + kChunk, offered.n);
            for (Index j = start; j < stop; ++j) {
                if (heap.accepts(offered[j], first + j)) heap.replace_worst(offered[j], first + j);
            }
            start = next_chunk(offered.data, stop, offered.n, heap.values[0]);
        }
    }
}

// The same, and count in beyond (m, G), by class, the columns that are left out although they equal the k-th best.
template <class T>
void offer_counting(Matrix<const T> block, Index first, Matrix<T> values, Matrix<Index> places,
                    Vector<const Index> labels, Matrix<double> beyond) {
    for (Index row = 0; row < block.rows; ++row) {
        const Heap<T> heap{values[row], places[row]};
        const Vector<const T> offered = block[row];
        const Vector<double> left_out = beyond[row];
        Index start = next_chunk(offered.data, 0, offered.n, heap.values[0]);
        while (start < offered.n) {
            const Index stop = std::min(start + kChunk, offered.n);
            for (Index j = start; j < stop; ++j) {
                const T worst = heap.values[0];
                Index dropped = first + j;
                if (heap.accepts(offered[j], dropped)) {
                    const Index taken = dropped;
                    dropped = heap.places[0];
                    heap.replace_worst(offered[j], taken);
                    if (heap.values[0] != worst) {
                        std::fill(left_out.begin(), left_out.end(), 0.0);
                        continue;
                    }
                } else if (offered[j] != worst) {
                    continue;
                }
                if (dropped < labels.n) left_out[labels[dropped]] += 1.0;  // the first entries of a heap have no column
            }
            start = next_chunk(offered.data, stop, offered.n, heap.values[0]);
        }
    }
}

}  // namespace similitude::stream
