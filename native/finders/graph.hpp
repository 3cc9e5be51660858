// Parts of the neighbour graph: lists of neighbours that grow, pairs to compare next, walks over the graph.
//
// Samples are named by their positions, and -1 stands for an empty place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "common/views.hpp"

namespace similitude::graph {

using Position = std::int32_t;  // half of the memory that Index would take

// The neighbours of all samples, K each.
//
// Each list is sorted with the best first, and equal values by position; the closeness of an empty place is minus
// infinity. fresh says which neighbours were inserted since it was reset.
struct Lists {
    Matrix<Position> nearest;
    Matrix<double> closeness;
    Matrix<bool> fresh;

    // Insert sample j into the list of sample i if it is close enough and not there yet; return whether it was.
    bool insert(Index i, Position j, double value) const {
        const Vector<Position> list = nearest[i];
        const Vector<double> values = closeness[i];
        const Vector<bool> flags = fresh[i];
        const auto precedes = [&](Index a) { return value > values[a] || (value == values[a] && j < list[a]); };
        Index place = list.n - 1;
        if (place < 0 || !precedes(place)) return false;
        if (std::find(list.begin(), list.end(), j) != list.end()) return false;
        for (; place > 0 && precedes(place - 1); --place) {
            list[place] = list[place - 1], values[place] = values[place - 1], flags[place] = flags[place - 1];
        }
        list[place] = j, values[place] = value, flags[place] = true;
        return true;
    }
};

// Insert the pairs (rows[t], columns[t]) with their values into the lists; return how many were inserted.
inline Index insert(Vector<const Index> rows, Vector<const Index> columns, Vector<const double> values, Lists lists) {
    Index changes = 0;
    for (Index t = 0; t < rows.n; ++t) {
        changes += lists.insert(rows[t], static_cast<Position>(columns[t]), values[t]);
    }
    return changes;
}

// Write the neighbours of each sample, then the samples whose neighbour it is, into links (n, L), at most L each.
//
// new_links says which of these are fresh. The entries of links must be -1 at the start.
inline void both_directions(Matrix<const Position> nearest, Matrix<const bool> fresh, Matrix<Position> links,
                            Matrix<bool> new_links) {
    const Index n = nearest.rows, K = nearest.columns;
    OwnedVector<Index> used(n);
    for (Index i = 0; i < n; ++i) {
        for (Index a = 0; a < K; ++a) {
            if (nearest(i, a) < 0) continue;
            links(i, used[i]) = nearest(i, a);
            new_links(i, used[i]) = fresh(i, a);
            ++used[i];
        }
    }
    // In the order of the places, so that samples with i as their first neighbour precede those with i as their last.
    for (Index a = 0; a < K; ++a) {
        for (Index i = 0; i < n; ++i) {
            const Index j = nearest(i, a);
            if (j < 0 || used[j] == links.columns) continue;
            const Vector<Position> known = links[j].part(0, used[j]);
            if (std::find(known.begin(), known.end(), static_cast<Position>(i)) != known.end()) continue;
            links(j, used[j]) = static_cast<Position>(i);
            new_links(j, used[j]) = fresh(i, a);
            ++used[j];
        }
    }
}

// The best few candidates, sorted with the best first; empty places are -1.
struct Candidates {
    Vector<Position> places;
    Vector<float> scores;

    void clear() const {
        std::fill(places.begin(), places.end(), Position(-1));
        std::fill(scores.begin(), scores.end(), -std::numeric_limits<float>::infinity());
    }

    // Insert a candidate if it is better than the last one, which is dropped.
    void keep(Position place, float score) const {
        Index a = scores.n - 1;
        if (a < 0 || score <= scores[a]) return;
        for (; a > 0 && scores[a - 1] < score; --a) scores[a] = scores[a - 1], places[a] = places[a - 1];
        scores[a] = score, places[a] = place;
    }
};

// Return the inner product of two codes.
inline float inner(Vector<const float> x, Vector<const float> z) {
    float total = 0.0f;
    for (Index f = 0; f < x.n; ++f) total += x[f] * z[f];
    return total;
}

// Write the neighbours' neighbours with the most similar codes, reached by a fresh link, into proposed.
//
// This is done for the samples first, first + 1, ..., one for each row of proposed, whose last places are -1 if there
// are fewer. links and new_links are those of all samples, as both_directions writes them.
inline void propose(Matrix<const Position> links, Matrix<const bool> new_links, Matrix<const Position> nearest,
                    Matrix<const float> codes, Index first, Matrix<Position> proposed) {
    OwnedVector<Index> seen(nearest.rows, -1);  // the last sample for which each was met
    OwnedVector<float> scores(proposed.columns);
    for (Index i = first; i < first + proposed.rows; ++i) {
        const Candidates best{proposed[i - first], scores};
        best.clear();
        seen[i] = i;
        for (Position j : nearest[i]) {
            if (j >= 0) seen[j] = i;
        }
        for (Index a = 0; a < links.columns; ++a) {
            const Position j = links(i, a);
            if (j < 0) continue;
            if (new_links(i, a) && seen[j] != i) {
                seen[j] = i;
                best.keep(j, inner(codes[i], codes[j]));
            }
            for (Index b = 0; b < links.columns; ++b) {
                const Position c = links(j, b);
                if (c < 0 || seen[c] == i || !(new_links(i, a) || new_links(j, b))) continue;
                seen[c] = i;
                best.keep(c, inner(codes[i], codes[c]));
            }
        }
    }
}

// Write the unvisited neighbours of the best waiting samples of each row into found; return how many there are.
//
// At most so many steps are made for a row, each of which expands one sample of its pool. pool (m, L) holds the best
// samples so far, and waiting those of them that have not been expanded. found (m, most) gets positions, and -1 after
// the last. The graph is much larger than the part that a walk visits, so edges are checked where they are followed.
inline Index walk(Matrix<const Position> pool, Matrix<bool> waiting, Matrix<const Position> edges, Index steps,
                  Matrix<bool> visited, Matrix<Position> found) {
    Index total = 0;
    for (Index row = 0; row < pool.rows; ++row) {
        const Vector<Position> list = found[row];
        const Vector<bool> met = visited[row];
        std::fill(list.begin(), list.end(), Position(-1));
        Index count = 0, walked = 0;
        for (Index a = 0; a < pool.columns && walked < steps; ++a) {
            if (pool(row, a) < 0 || !waiting(row, a)) continue;
            waiting(row, a) = false;
            ++walked;
            for (const Position j : edges[pool(row, a)]) {
                if (j >= met.n) throw std::invalid_argument("edges must lead to samples of the graph.");
                if (j < 0 || met[j]) continue;
                met[j] = true;
                list[count++] = j;
            }
        }
        total += count;
    }
    return total;
}

}  // namespace similitude::graph
