"""Alignment scores with affine gaps, straight from the definition: every length of every last gap is tried."""


def align(x, z, score, gap_open, gap_extend, local):
    """The best score of an alignment, of any two stretches if ``local``, else from end to end."""

    def gap(k):
        return gap_open + k * gap_extend

    S = {(0, 0): 0}
    for i in range(len(x) + 1):
        for j in range(len(z) + 1):
            if i == j == 0:
                continue
            ways = [S[i - k, j] - gap(k) for k in range(1, i + 1)] + [S[i, j - k] - gap(k) for k in range(1, j + 1)]
            if i and j:
                ways.append(S[i - 1, j - 1] + score(x[i - 1], z[j - 1]))
            S[i, j] = max(ways + [0]) if local else max(ways)
    return max(S.values()) if local else S[len(x), len(z)]
