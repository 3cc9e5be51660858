"""Benchmarks that run our code and a peer on the same work: ``python -m benchmarks [name ...]``.

BLAS runs on one thread unless the environment sets another number, because with two threads on a busy machine the
figures are meaningless. The number is set here, before anything imports NumPy. Our own code and scikit-learn use as
many threads as there are cores.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
