// Loops over contiguous numbers, most of them compiled for the instructions of the machine.
//
// Both versions of such a loop (common/clones.hpp) round alike: sums are kept in a fixed number of partial sums.
#pragma once

#include "common/clones.hpp"
#include "common/views.hpp"

namespace similitude {

// Return the sum of x[i] y[i] over the first n entries, for short vectors.
//
// It is compiled into its callers. inner_product cannot take its place without a change of the last digits, since four
// partial sums and eight round differently.
inline double dot(Vector<const double> x, Vector<const double> y, Index n) {
    check_index(n, x.n + 1);
    check_index(n, y.n + 1);
    // Four partial sums are kept, because the compiler may not reorder a single one. Calling BLAS would take longer.
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    const Index whole = n - n % 4;
    for (Index i = 0; i < whole; i += 4) {
        a += x.data[i] * y.data[i];
        b += x.data[i + 1] * y.data[i + 1];
        c += x.data[i + 2] * y.data[i + 2];
        d += x.data[i + 3] * y.data[i + 3];
    }
    for (Index i = whole; i < n; ++i) a += x.data[i] * y.data[i];
    return (a + b) + (c + d);
}

// Return the sum of x[i] y[i], for long vectors.
SIMILITUDE_CLONES static double inner_product(const double *x, const double *y, Index n) {
    constexpr Index lanes = 8;
    double sums[lanes] = {};
    const Index whole = n - n % lanes;
    for (Index i = 0; i < whole; i += lanes) {
#pragma omp simd
        for (Index l = 0; l < lanes; ++l) sums[l] += x[i + l] * y[i + l];
    }
    for (Index i = whole; i < n; ++i) sums[i - whole] += x[i] * y[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// Add weight y to x.
SIMILITUDE_CLONES static void add_multiple(double *__restrict x, double weight, const double *__restrict y, Index n) {
    for (Index i = 0; i < n; ++i) x[i] += weight * y[i];
}

// Add weight y to the first entries of x, which has at least as many.
inline void add_multiple(Vector<double> x, double weight, Vector<const double> y) {
    check_index(y.n, x.n + 1);
    add_multiple(x.data, weight, y.data, y.n);
}

// Add the multiples of four vectors to x, which takes a fourth of the stores.
SIMILITUDE_CLONES static void add_four_multiples(double *__restrict x, const double *weights,
                                                 const double *__restrict a, const double *__restrict b,
                                                 const double *__restrict c, const double *__restrict d, Index n) {
    const double p = weights[0], q = weights[1], r = weights[2], s = weights[3];
    for (Index i = 0; i < n; ++i) x[i] += (p * a[i] + q * b[i]) + (r * c[i] + s * d[i]);
}

// Replace x and y by c x + s y and c y - s x.
SIMILITUDE_CLONES static void rotate(double *__restrict x, double *__restrict y, double c, double s, Index n) {
    for (Index i = 0; i < n; ++i) {
        const double one = x[i], other = y[i];
        x[i] = c * one + s * other;
        y[i] = c * other - s * one;
    }
}

// Return the position of the first entry that equals the value, or n.
SIMILITUDE_CLONES static Index find_value(const double *x, double value, Index n) {
    constexpr Index block = 32;
    Index i = 0;
    for (; i + block <= n; i += block) {
        long long found = 0;
        for (Index j = i; j < i + block; ++j) found |= x[j] == value ? 1LL : 0LL;
        if (found != 0) break;
    }
    while (i < n && !(x[i] == value)) ++i;
    return i;
}

}  // namespace similitude
