// The scale on which differences are assigned to buckets, and the differences themselves.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "common/clones.hpp"
#include "common/views.hpp"

namespace similitude {

// The function that assigns differences to buckets, which ascends with them. It affects the time of the search, but not
// its result.
struct Scale {
    // A linear scale has buckets of one width, which is 1 / slope, from start on.
    double start, slope;
    // A logarithmic scale looks at the upper half of the bits of |d|, and counts steps of 2^shift from least. The table
    // has the bucket for each number of steps: those of negative differences before its centre, those of positive ones
    // behind. It is empty if the scale is linear.
    std::int32_t least;
    int shift;
    Vector<const std::int32_t> table;
    // Whether there are so few differences that each may have a bucket of its own.
    bool atoms;
};

namespace detail {

// Return value between 0 and most; 0 for NaN.
[[gnu::always_inline]] inline double clamped(double value, double most) {
    const double above = value > 0.0 ? value : 0.0;
    return above < most ? above : most;
}

// Return a value without its rounding error: rounded to 35 significant bits, or 0 if it is at most 2^-40 of the size of
// the terms that it was computed from.
//
// Differences that are equal, or equal to a cut, except for rounding errors are equal then, so that the units of the
// similarities, with which these errors change, do not matter.
[[gnu::always_inline]] inline double significant(double value, double size) {
    constexpr int dropped = 18;
    constexpr std::uint64_t half = std::uint64_t{1} << (dropped - 1), kept = ~std::uint64_t{0} << dropped;
    const double rounded = std::bit_cast<double>((std::bit_cast<std::uint64_t>(value) + half) & kept);
    return std::abs(value) > 0x1p-40 * size ? rounded : 0.0;
}

template <class T>
[[gnu::always_inline]] inline double difference(T plus, T minus) {
    const double a = static_cast<double>(plus), b = static_cast<double>(minus);
    return significant(a - b, std::max(std::abs(a), std::abs(b)));
}

// Compute differences, and their buckets on a linear scale; a bucket is at most last.
template <class T>
[[gnu::always_inline]] inline void linear(const T *plus, const T *minus, Index n, double start, double slope,
                                          double last, double *differences, std::int32_t *buckets) {
    for (Index i = 0; i < n; ++i) {
        differences[i] = difference(plus[i], minus[i]);
        buckets[i] = static_cast<std::int32_t>(clamped((differences[i] - start) * slope, last));
    }
}

// Compute differences, and their places in the table of a logarithmic scale.
template <class T>
[[gnu::always_inline]] inline void logarithmic(const T *plus, const T *minus, Index n, std::int32_t least, int shift,
                                               std::int32_t centre, double *differences, std::int32_t *places) {
    for (Index i = 0; i < n; ++i) {
        differences[i] = difference(plus[i], minus[i]);
        const auto half = static_cast<std::int32_t>(std::bit_cast<std::int64_t>(differences[i]) >> 32);
        const std::int32_t sign = half >> 31, magnitude = half & 0x7fffffff;
        const std::int32_t steps = std::min((std::max(magnitude, least) - least) >> shift, centre);
        places[i] = centre + ((steps ^ sign) - sign);
    }
}

// Templates cannot be compiled for several machines, but overloads can.

SIMILITUDE_CLONES static void on_linear_scale(const double *plus, const double *minus, Index n, double start,
                                              double slope, double last, double *differences, std::int32_t *buckets) {
    linear(plus, minus, n, start, slope, last, differences, buckets);
}

SIMILITUDE_CLONES static void on_linear_scale(const float *plus, const float *minus, Index n, double start,
                                              double slope, double last, double *differences, std::int32_t *buckets) {
    linear(plus, minus, n, start, slope, last, differences, buckets);
}

SIMILITUDE_CLONES static void on_logarithmic_scale(const double *plus, const double *minus, Index n, std::int32_t least,
                                                   int shift, std::int32_t centre, double *differences,
                                                   std::int32_t *places) {
    logarithmic(plus, minus, n, least, shift, centre, differences, places);
}

SIMILITUDE_CLONES static void on_logarithmic_scale(const float *plus, const float *minus, Index n, std::int32_t least,
                                                   int shift, std::int32_t centre, double *differences,
                                                   std::int32_t *places) {
    logarithmic(plus, minus, n, least, shift, centre, differences, places);
}

}  // namespace detail

// Compute the differences of two columns, and their buckets, of which there are n_buckets.
template <class T>
void compare(Vector<const T> plus, Vector<const T> minus, const Scale &scale, Index n_buckets,
             Vector<double> differences, Vector<std::int32_t> buckets) {
    if (scale.table.n == 0) {
        detail::on_linear_scale(plus.data, minus.data, plus.n, scale.start, scale.slope,
                                static_cast<double>(n_buckets) - 0.5, differences.data, buckets.data);
    } else {
        detail::on_logarithmic_scale(plus.data, minus.data, plus.n, scale.least, scale.shift,
                                     static_cast<std::int32_t>(scale.table.n / 2), differences.data, buckets.data);
        for (std::int32_t &bucket : buckets) bucket = scale.table[bucket];
    }
}

}  // namespace similitude
