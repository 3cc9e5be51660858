"""Similarities of strings, in plain Python loops."""

import zlib
from collections import deque
from functools import cache


def levenshtein(x, z):
    """The recursion of the definition."""

    @cache
    def D(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(D(i - 1, j) + 1, D(i, j - 1) + 1, D(i - 1, j - 1) + (x[i - 1] != z[j - 1]))

    return D(len(x), len(z))


def damerau(x, z):
    """Shortest way from x to z by single edits, breadth first: what unrestricted means."""
    letters = sorted(set(x + z))
    limit = max(len(x), len(z))
    seen, queue = {x: 0}, deque([x])
    while queue:
        word = queue.popleft()
        if word == z:
            return seen[word]
        for new in _edits(word, letters):
            # A shortest way never needs a word longer than both plus the insertions still to be undone.
            if new not in seen and len(new) <= limit + 1:
                seen[new] = seen[word] + 1
                queue.append(new)
    raise AssertionError("z is always reached")


def _edits(word, letters):
    for i in range(len(word) + 1):
        for letter in letters:
            yield word[:i] + letter + word[i:]
            if i < len(word):
                yield word[:i] + letter + word[i + 1 :]
        if i < len(word):
            yield word[:i] + word[i + 1 :]
        if i + 1 < len(word):
            yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]


def lcs(x, z):
    """The recursion of the definition."""

    @cache
    def L(i, j):
        if i == 0 or j == 0:
            return 0
        return L(i - 1, j - 1) + 1 if x[i - 1] == z[j - 1] else max(L(i - 1, j), L(i, j - 1))

    return L(len(x), len(z))


def indel(x, z):
    """What is not common is deleted or inserted."""
    return len(x) + len(z) - 2 * lcs(x, z)


def jaro_winkler(x, z, prefix_weight=0.1):
    """Jaro's matches from left to right, then Winkler's bonus above 0.7."""
    if not x and not z:
        return 1.0
    reach = max(max(len(x), len(z)) // 2 - 1, 0)
    taken, in_x = set(), []
    for i, letter in enumerate(x):
        for j in range(max(0, i - reach), min(len(z), i + reach + 1)):
            if j not in taken and z[j] == letter:
                taken.add(j)
                in_x.append(letter)
                break
    c = len(in_x)
    if c == 0:
        return 0.0
    out_of_order = sum(a != z[j] for a, j in zip(in_x, sorted(taken)))
    jaro = (c / len(x) + c / len(z) + (c - out_of_order // 2) / c) / 3
    prefix = 0
    while prefix < min(4, len(x), len(z)) and x[prefix] == z[prefix]:
        prefix += 1
    return jaro + prefix * prefix_weight * (1 - jaro) if jaro > 0.7 else jaro


def compression(x, z, level=6):
    """Equation 2 of Cilibrasi and Vitanyi with zlib."""
    x, z = x.encode(), z.encode()
    C = [len(zlib.compress(text, level)) for text in (x, z, x + z)]
    return (C[2] - min(C[:2])) / max(C[:2])
