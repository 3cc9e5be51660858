"""Side-by-side runs of ours and the peer on the same work: ``python -m benchmarks [name ...]``.

BLAS runs on one thread unless the environment says otherwise: two of its threads on a busy machine make every figure
meaningless. It is set here, before anything imports NumPy. Our own threads and scikit-learn's are as many as the
cores.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
