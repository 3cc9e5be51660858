// Several numbers that are worked on together, in two vector registers where the compiler has vector types.
//
// Each number goes through the same operations as it would alone, so results do not depend on the number of lanes.
#pragma once

#include <cmath>
#include <cstring>

#include "common/views.hpp"

namespace similitude {

#if defined(__GNUC__) && defined(__x86_64__)
typedef double Register __attribute__((vector_size(32)));
#elif defined(__GNUC__)
typedef double Register __attribute__((vector_size(16)));
#else
typedef double Register;
#endif

#if defined(__GNUC__)
#define SIMILITUDE_INLINE [[gnu::always_inline]] inline
#if !defined(__clang__)
// All functions below are inlined, so that how registers are passed does not matter.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#else
#define SIMILITUDE_INLINE inline
#endif

// An operation takes three to four cycles and two can start in each, so there are two registers.
struct Lanes {
    static constexpr Index kCount = 2 * sizeof(Register) / sizeof(double);
    Register low, high;
};

SIMILITUDE_INLINE Lanes all_lanes(double value) { return {value - Register{}, value - Register{}}; }

SIMILITUDE_INLINE Lanes load(Vector<const double> values, Index first) {
    check_index(first, values.n - Lanes::kCount + 1);
    Register low, high;  // copied one by one: the compiler would copy a structure through memory
    std::memcpy(&low, values.data + first, sizeof low);
    std::memcpy(&high, values.data + first + Lanes::kCount / 2, sizeof high);
    return {low, high};
}

SIMILITUDE_INLINE void store(const Lanes &lanes, Vector<double> values, Index first) {
    check_index(first, values.n - Lanes::kCount + 1);
    const Register low = lanes.low, high = lanes.high;
    std::memcpy(values.data + first, &low, sizeof low);
    std::memcpy(values.data + first + Lanes::kCount / 2, &high, sizeof high);
}

SIMILITUDE_INLINE Lanes operator+(const Lanes &a, const Lanes &b) { return {a.low + b.low, a.high + b.high}; }
SIMILITUDE_INLINE Lanes operator-(const Lanes &a, const Lanes &b) { return {a.low - b.low, a.high - b.high}; }
SIMILITUDE_INLINE Lanes operator*(const Lanes &a, const Lanes &b) { return {a.low * b.low, a.high * b.high}; }

// In each lane c if a < b, otherwise d.
SIMILITUDE_INLINE Lanes where_less(const Lanes &a, const Lanes &b, const Lanes &c, const Lanes &d) {
    return {a.low < b.low ? c.low : d.low, a.high < b.high ? c.high : d.high};
}

SIMILITUDE_INLINE Lanes min(const Lanes &a, const Lanes &b) { return where_less(a, b, a, b); }
SIMILITUDE_INLINE Lanes max(const Lanes &a, const Lanes &b) { return where_less(b, a, a, b); }
SIMILITUDE_INLINE Lanes negative(const Lanes &a) { return {-a.low, -a.high}; }
SIMILITUDE_INLINE Lanes abs(const Lanes &a) { return max(a, negative(a)); }

SIMILITUDE_INLINE Lanes sqrt(const Lanes &a) {
    double values[Lanes::kCount];
    store(a, {values, Lanes::kCount}, 0);
    for (double &value : values) value = std::sqrt(value);
    return load({values, Lanes::kCount}, 0);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace similitude
