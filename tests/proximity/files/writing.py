"""Small matrices in files, and the errors of reading them."""

import gzip

import numpy as np
import pytest

from similitude.datasets import load_proximity

S = np.array([[1.0, 0.5, -0.25], [0.5, 2.0, 1e-3], [-0.25, 1e-3, 3.0]])
ROWS = "1,0.5,-0.25\n0.5,2,0.001\n-0.25,0.001,3\n"


def write(folder, name, text):
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def refused(path, message, *arguments, **options):
    """The error of loading the file names it and says what the message says."""
    with pytest.raises(ValueError, match=message) as caught:
        load_proximity(path, *arguments, **options)
    return str(caught.value)


def with_ids(rows, ids):
    return "".join(f"{name},{row}\n" for name, row in zip(ids, rows.splitlines()))


def parquet(folder, columns, name="S.parquet"):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), folder / name)
    return folder / name
