"""The one neighbour selection of the package."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from similitude.numerics.threads import over_row_blocks

_BLOCK_BYTES = 32 * 2**20


def top_k(S, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k most similar columns of each row: ``(similarities, indices)``, both (m, k), nearest first.

    Equal similarities come in the order of the columns, so the lists are nested: the first j columns of the answer
    for k are the answer for j, and one call serves every k of a grid. Rows are read block by block (a memmap or a
    CSR matrix is never held whole in memory), in threads; k larger than the number of columns is cut to it.
    """
    from similitude.numerics._topk_kernel import top_k_rows

    m, n = S.shape
    k = min(k, n)
    dtype = np.float32 if S.dtype == np.float32 else np.float64
    values = np.empty((m, k), dtype=dtype)
    indices = np.empty((m, k), dtype=np.intp)

    def work(start: int, stop: int) -> None:
        block = S[start:stop]
        block = block.toarray() if sparse.issparse(block) else block
        block = np.asarray(block, dtype=dtype)
        top_k_rows(block, k, values[start:stop], indices[start:stop])

    rows = max(1, _BLOCK_BYTES // (8 * max(n, 1)))
    # Small jobs are not worth a thread; larger ones are cut so that every thread gets a share.
    over_row_blocks(work, m, min(rows, max(256, -(-m // 2))))
    return values, indices
