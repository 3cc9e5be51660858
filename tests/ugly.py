"""Feature vectors that are difficult for solvers, for the tests of several rooms."""


def ugly_points(kind, n, rng):
    """Return n points with three coordinates: normal ones, or with duplicates, ties or zero rows."""
    X = rng.normal(size=(n, 3))
    if kind == "duplicates":
        return X[rng.integers(0, max(1, n // 2), n)]
    if kind == "ties":
        return rng.integers(0, 2, (n, 3)).astype(float)
    if kind == "zero rows":
        X[::2] = 0
    return X
