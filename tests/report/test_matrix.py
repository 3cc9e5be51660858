import base64
import gzip

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from similitude.report.matrix import pack


def _unpacked(packed, n):
    levels = np.frombuffer(gzip.decompress(base64.b64decode(packed.text)), dtype=f"<u{packed.bits // 8}").astype(float)
    share = levels / (2**packed.bits - 1)
    values = packed.low * (1 - share) + packed.high * share
    if not packed.triangle:
        return values.reshape(n, n)
    S = np.zeros((n, n))
    S[np.tril_indices(n)] = values
    return S + np.tril(S, -1).T


@given(
    hnp.arrays(float, (5, 5), elements=st.floats(-1, 1)),
    st.sampled_from([8, 16]),
    st.sampled_from([1e-150, 1e-3, 1.0, 1e150]),
    st.booleans(),
)
@settings(max_examples=40)
def test_no_value_is_further_off_than_the_page_says(S, bits, scale, symmetric):
    S = (S + S.T if symmetric else S) * scale
    packed = pack(S, bits)
    assert packed.triangle or not symmetric
    slack = 1e-9 * np.abs(S).max()
    assert np.abs(_unpacked(packed, 5) - S).max() <= packed.rounding + slack


def test_sixteen_bits_for_few_samples_and_eight_for_many():
    assert pack(np.eye(600)).bits == 16
    assert pack(np.eye(601)).bits == 8


def test_a_constant_matrix():
    packed = pack(np.full((3, 3), 7.0))
    assert (packed.low, packed.high, packed.rounding) == (7.0, 7.0, 0.0)
    np.testing.assert_array_equal(_unpacked(packed, 3), 7.0)
