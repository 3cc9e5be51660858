// Forward selection of prototypes: the leave-one-out 1-NN error that each candidate would lead to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/clones.hpp"
#include "common/views.hpp"

namespace similitude {

// The nearest prototype of each sample other than itself: its similarity and its position, -inf and -1 where there is
// none.
struct NearestPrototypes {
    Vector<double> similarity;
    Vector<Index> position;
};

// What a sample adds to the totals of all candidates: its similarity to the nearest prototype, and whether that is of
// another class.
struct Contribution {
    double similarity;
    std::int64_t error;
};

namespace detail {

// Add the contribution of one sample to the totals and errors of n candidates. A candidate becomes its nearest
// prototype where its similarity is above bound. The loop has no branches, so that several candidates are treated at
// once.
template <class T>
[[gnu::always_inline]] inline void weigh(const T *similarities, const std::int64_t *labels, std::int64_t own,
                                         double bound, Contribution present, double unit, double *totals,
                                         std::int64_t *errors, Index n) {
    for (Index j = 0; j < n; ++j) {
        const double similarity = similarities[j];
        const bool nearer = similarity > bound;
        totals[j] += nearer ? similarity * unit : present.similarity;
        errors[j] += nearer ? std::int64_t(labels[j] != own) : present.error;
    }
}

SIMILITUDE_CLONES static void weigh_candidates(const double *similarities, const std::int64_t *labels, std::int64_t own,
                                               double bound, Contribution present, double unit, double *totals,
                                               std::int64_t *errors, Index n) {
    weigh(similarities, labels, own, bound, present, unit, totals, errors, n);
}

SIMILITUDE_CLONES static void weigh_candidates(const float *similarities, const std::int64_t *labels, std::int64_t own,
                                               double bound, Contribution present, double unit, double *totals,
                                               std::int64_t *errors, Index n) {
    weigh(similarities, labels, own, bound, present, unit, totals, errors, n);
}

}  // namespace detail

// Compute the errors, and the total similarity of all samples to their nearest prototypes, if candidate j became a
// prototype, for j from start to before stop.
//
// unit multiplies similarities, so that totals do not overflow. errors and totals are 0 at the start.
template <class T>
void weigh_candidates(Matrix<const T> S, Vector<const std::int64_t> labels, NearestPrototypes nearest, double unit,
                      Index start, Index stop, Vector<std::int64_t> errors, Vector<double> totals) {
    for (Index i = 0; i < S.rows; ++i) {
        const double best = nearest.similarity[i];
        const Index at = nearest.position[i];
        const Contribution present = at < 0 ? Contribution{0.0, 1} : Contribution{best * unit, labels[at] != labels[i]};
        const bool inside = start <= i && i < stop;
        const Contribution own = inside ? Contribution{totals[i], errors[i]} : Contribution{0.0, 0};
        // Among equal similarities, the first position counts as nearer.
        const Index middle = std::min(std::max(at, start), stop);
        const Vector<const T> row = S[i];
        auto add = [&](Index first, Index last, double bound) {
            detail::weigh_candidates(row.part(first, last).data, labels.part(first, last).data, labels[i], bound,
                                     present, unit, totals.part(first, last).data, errors.part(first, last).data,
                                     last - first);
        };
        add(start, middle, std::nextafter(best, -std::numeric_limits<double>::infinity()));
        add(middle, stop, best);
        if (inside) {  // a sample is not its own prototype
            totals[i] = own.similarity + present.similarity;
            errors[i] = own.error + present.error;
        }
    }
}

// Make sample j a prototype, and the nearest prototype of the samples that are most similar to it.
template <class T>
void take_prototype(Matrix<const T> S, Index j, NearestPrototypes nearest) {
    for (Index i = 0; i < S.rows; ++i) {
        const double value = S(i, j), best = nearest.similarity[i];
        if (!(value >= best) || i == j) continue;
        if (value > best || j < nearest.position[i]) {
            nearest.similarity[i] = value;
            nearest.position[i] = j;
        }
    }
}

}  // namespace similitude
