"""Peak memory and time of methods on a CSR matrix of 200,000 samples with 50 neighbours each.

Each method runs in a process of its own: it is fitted on the whole matrix, and predicts 2,000 of its rows without the
samples themselves. The matrix holds similarities, distances whose absent pairs are the farthest, or distances whose
absent pairs are unknown.
"""

import resource
import subprocess
import sys
import time

N, K, ROWS = 200_000, 50, 2_000


def neighbours(n=N, k=K, seed=0):
    """Return a CSR matrix of the distances of points on a circle to themselves and k neighbours, and their labels."""
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(seed)
    place = np.sort(rng.uniform(0, 1000, n))
    noise = rng.normal(scale=0.01, size=n)
    half = k // 2
    offsets = np.arange(-half, half + 1)
    columns = (np.arange(n)[:, None] + offsets) % n
    distances = np.abs(place[:, None] - place[columns])
    distances = np.minimum(distances, 1000 - distances) + np.abs(noise[:, None] - noise[columns])
    rows = np.repeat(np.arange(n, dtype=np.int32), len(offsets))
    D = sparse.csr_matrix((distances.ravel(), (rows, columns.ravel().astype(np.int32))), shape=(n, n))
    labels = (np.sin(place) > 0).astype(int) + (np.sin(place / 7) > 0.5)
    flipped = rng.random(n) < 0.1
    labels[flipped] = rng.integers(0, 3, flipped.sum())
    return D, labels


def methods():
    """Return the classifiers by name."""
    import numpy as np
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    from similitude import KNNClassifier, LocalNearestCentroid, LocalSDA, LocalSVC, SimilarityFeatures

    return {
        "k-NN": KNNClassifier(20),
        "affinity": KNNClassifier(20, "affinity"),
        "KRI": KNNClassifier(20, "kri"),
        "KRR": KNNClassifier(20, "krr"),
        "LocalSVC": LocalSVC(20),
        "local nearest centroid": LocalNearestCentroid(20),
        "local SDA": LocalSDA(20, omega=np.linspace(0, 1, 101)),
        "features + linear": make_pipeline(SimilarityFeatures(), SGDClassifier(random_state=0)),
    }


def measure(name, kind):
    """Fit one method, predict, and print the error, the seconds of both, and the peak of the resident memory in GB."""
    import warnings

    import numpy as np

    from similitude import Proximities

    warnings.simplefilter("ignore")
    D, y = neighbours()
    rng = np.random.default_rng(1)
    chosen = np.sort(rng.permutation(N)[:ROWS])
    estimator = methods()[name]
    options = {"features + linear": "similarityfeatures__dissimilarity"}
    if kind == "similarities":
        D.data = np.exp(-D.data / np.median(D.data))
        X = D
    else:
        estimator.set_params(**{options.get(name, "dissimilarity"): "exp"})
        X = Proximities(D, absent="farthest" if kind == "distances" else "unknown")
    rows = D[chosen].tocoo()
    others = rows.col != chosen[rows.row]
    rows = type(D)((rows.data[others], (rows.row[others], rows.col[others])), shape=rows.shape)
    before = time.perf_counter()
    estimator.fit(X, y)
    fitted = time.perf_counter()
    predicted = estimator.predict(rows)
    seconds = fitted - before, time.perf_counter() - fitted
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(np.mean(predicted != y[chosen]), *seconds, peak)


def run():
    """Return one row for each method and kind of matrix; there is no peer to compare with."""
    rows = []
    for kind in ("similarities", "distances", "unknown"):
        for name in methods():
            if kind == "unknown" and name == "features + linear":
                continue  # it needs all pairs
            command = [sys.executable, "-m", "benchmarks.bench_sparse", name, kind]
            out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            error, fit, predict, peak = map(float, out.split())
            about = f"error {100 * error:.1f} %, fit {fit:.1f} s, predict {predict:.1f} s, peak {peak:.2f} GB"
            row = {"name": f"{name}, {kind}: {about}", "ours_seconds": fit + predict, "goal": "under 2 GB"}
            print(row["name"], flush=True)
            rows.append(row)
    return rows


if __name__ == "__main__":
    measure(*sys.argv[1:])
