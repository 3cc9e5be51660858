// SIMILITUDE_CLONES before a function: it is compiled twice, with AVX2 and without, and the machine's processor decides
// which version is used. A source file may leave such a function of a header unused.
//
// It pays for leaf loops that the compiler vectorises, 2 to 14 times; functions that it inlines into others cannot have
// it. Both versions round alike, since products and sums are not contracted.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(SIMILITUDE_CHECKED)
#define SIMILITUDE_CLONES [[maybe_unused, gnu::target_clones("avx2", "default")]]
#else
#define SIMILITUDE_CLONES [[maybe_unused]]
#endif
