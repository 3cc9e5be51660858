import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from similitude.generative.max_entropy import (
    MaximumEntropy,
    Pmfs,
    check_omega,
    compressed,
    distinct,
    distinct_similarities,
)
from tests.reference import sda as reference


def max_entropy(omega, means):
    """Return lambda and log gamma of the distributions with these means."""
    family = MaximumEntropy(check_omega(omega))
    return family.parameters(family.fit(*family.distances(means)))


# Omega, mean, lambda, gamma, s, log P(s)
VECTORS = [
    ((0, 1, 2), 0.5, -0.8341151944, 0.6162040604, 1, -1.318292298),
    (range(11), 7.3, 0.2599380007, 0.01804598755, 9, -1.675389909),
    (range(11), 9.99, 4.615120517, 8.963237175e-21, 8, -9.240191365),
    ((0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1), 0.62, 1.739072626, 0.03904605074, 0.5, -2.373477228),
    ((-1, 0, 0.25, 3), 2, 0.5802966583, 0.1187891992, 0.25, -1.985330628),
    (range(101), 55.5, 0.00651717442, 0.007020184606, 60, -4.567935299),
    (range(17), 15.9, 2.397895273, 1.978446689e-17, 3, -31.26794873),
]
RNG = np.random.default_rng(0)
OMEGAS = {
    "two": np.array([0.0, 1.0]),
    "seventeen": np.arange(17.0),
    "uniform": RNG.random(10_000),
    "skewed": np.exp(-25 * RNG.random(3_000)),
    "skewed to the top": 1 - np.exp(-25 * RNG.random(3_000)),
    "one far off": np.append(1e-3 * RNG.random(5_000), 1.0),
    "clusters": np.concatenate([c + 1e-7 * RNG.random(200) for c in RNG.random(20)]),
    "far from zero": 1000 + RNG.random(2_000),
    "three scales": np.array([0.0, 1e-9, 1 - 1e-8, 1.0]),
    "gaps at the ends": np.concatenate([[0.0, 1.0], 0.3 + 0.4 * RNG.random(3_000)]),
    "near ones and far ones": np.concatenate([[0.0, 1e-11, 1 - 1e-10, 1.0], 0.1 + 0.05 * RNG.random(2_000)]),
}


def _distances_of_means(family, count=30):
    """Mean distances from the two ends, from the middle to as near to an end as a mean of samples may be."""
    rng = np.random.default_rng(1)
    near = np.concatenate([rng.random(count) / 2, 10 ** -rng.uniform(0.5, 11, count)])
    near = np.maximum(near, 2 * family.floor)
    return np.concatenate([near, 1 - near]), np.concatenate([1 - near, near])


def _moments(family, pmfs, i):
    """Total mass and mean distance from the nearer end of the i-th distribution, summed over all of Omega."""
    below, above = family.distances(family.omega)
    one = Pmfs(*(part[i] for part in pmfs))
    mass = np.exp(family.log_pmf(one, below, above))
    return mass.sum(), mass @ (above if one.from_above else below)


@pytest.mark.parametrize(("omega", "mean", "lam", "gamma", "s", "log_p"), VECTORS)
@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8, 1e-150, 1e150])
def test_vectors(omega, mean, lam, gamma, s, log_p, scale):
    lams, log_gammas = max_entropy(scale * np.array(omega), [scale * mean])
    assert lams[0] * scale == pytest.approx(lam, rel=1e-8)
    assert np.exp(log_gammas[0]) == pytest.approx(gamma, rel=1e-8)
    assert log_gammas[0] + lams[0] * scale * s == pytest.approx(log_p, abs=1e-8)


@pytest.mark.parametrize("name", OMEGAS)
@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
def test_mass_is_one_and_the_mean_as_given(name, scale):
    family = MaximumEntropy(scale * OMEGAS[name])
    below, above = _distances_of_means(family)
    pmfs = family.fit(below, above)
    near = np.minimum(below, above)
    for i in range(len(below)):
        mass, mean = _moments(family, pmfs, i)
        assert mass == pytest.approx(1.0, abs=1e-12)
        assert mean == pytest.approx(near[i], rel=1e-11)


@pytest.mark.parametrize("name", OMEGAS)
def test_the_table_equals_root_searches(name):
    omega = distinct(OMEGAS[name])
    for share in (0.03, 0.37, 0.5, 0.81, 0.99):
        mean = omega[0] + share * (omega[-1] - omega[0])
        lam = reference.max_entropy(omega, mean)
        ours, log_gamma = max_entropy(omega, [mean])
        span = omega[-1] - omega[0]
        assert ours[0] * span == pytest.approx(lam * span, rel=1e-9, abs=1e-9)
        for s in omega[[0, len(omega) // 2, -1]]:
            expected = reference.log_pmf(omega, lam, s)
            # gamma alone is a large number times lambda where the values are far from 0.
            assert log_gamma[0] + ours[0] * s == pytest.approx(expected, abs=1e-9 * (1 + abs(ours[0] * omega).max()))


@given(
    st.lists(st.integers(-3, 3) | st.floats(-3, 3, width=32) | st.just(1e-13), min_size=1, max_size=8),
    st.lists(st.integers(0, 7), min_size=1, max_size=9),
    st.sampled_from([1.0, 2.0**-500, 2.0**500, 2.0**1021]),
)
@example([0.1, 0.1 + 1e-15, 0.3], [0, 1, 1], 1.0)
@example([0.0], [0], 1.0)
def test_any_set_and_any_sample_of_it(values, sample, scale):
    values = np.array(values, dtype=float)
    family = MaximumEntropy(scale * values)
    below, above = (np.array([a.mean()]) for a in family.distances(scale * values[np.array(sample) % len(values)]))
    pmfs = family.fit(below, above)
    mass, mean = _moments(family, pmfs, 0)
    assert mass == pytest.approx(1.0, abs=1e-11)
    assert mean == pytest.approx(min(below[0], above[0]), rel=1e-10, abs=1e-13)
    lam = reference.fitted(reference.omega_of(values), values[np.array(sample) % len(values)])
    if np.isinf(lam):
        assert np.isinf(pmfs.rates[0])


def test_means_at_the_ends_are_point_masses():
    lam, log_gamma = max_entropy([0.1, 0.2, 0.7], [0.1, np.mean([0.1] * 3), 0.7, 0.7 - 1e-16, 0.4])
    assert lam[:4].tolist() == [-np.inf, -np.inf, np.inf, np.inf]
    assert np.isnan(log_gamma[:4]).all()
    assert np.isfinite(lam[4])
    family = MaximumEntropy(np.array([1.0, 2.0, 4.0]))
    pmfs = family.fit(np.array([0.0]), np.array([1.0]))
    assert family.log_pmf(pmfs, *family.distances([1.0, 1.0 + 1e-14, 2.0, 0.5])).tolist() == [0, 0, -np.inf, -np.inf]


def test_a_single_value():
    for value in (0.0, 3.0, -2e-9):
        family = MaximumEntropy(np.array([value, value]))
        pmfs = family.fit(*(a[None] for a in family.distances(value)))
        assert family.log_pmf(pmfs, *family.distances([value, value + 1.0])).tolist() == [0.0, -np.inf]


def test_a_similarity_outside_omega_is_scored_by_the_formula():
    family = MaximumEntropy(np.array([0.0, 1.0, 2.0]))
    lam, log_gamma = max_entropy([0, 1, 2], [0.5])
    pmfs = family.fit(np.array([0.25]), np.array([0.75]))
    s = np.array([-3.0, 0.3, 2.5])
    assert np.allclose(family.log_pmf(pmfs, *family.distances(s)), log_gamma + lam * s, rtol=1e-13)
    assert np.isfinite(family.log_pmf(pmfs, *family.distances([-1e308, 1e308]))).all()


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
def test_an_interval(scale):
    low, high = scale * -1.0, scale * 3.0
    family = MaximumEntropy(np.array([low, high]), continuous=True)
    for share in (0.004, 0.2, 0.4999, 0.7, 0.995):
        mean = low + share * (high - low)
        pmfs = family.fit(*(a[None] for a in family.distances(mean)))
        s = np.array([low, mean, high, high + scale])
        expected = [reference.log_density(low, high, mean, value) for value in s]
        assert np.allclose(family.log_pmf(pmfs, *family.distances(s)), expected, rtol=1e-10, atol=1e-9)
    assert family.fit(np.array([0.5]), np.array([0.5])).rates[0] == pytest.approx(0, abs=1e-13)
    # No point masses: at the end the density is high, and finite.
    at_end = family.fit(np.array([1.0]), np.array([0.0]))
    top = family.log_pmf(at_end, *family.distances(high))[0]
    assert top == pytest.approx(np.log(1e12) - np.log(high - low), rel=1e-9)


def test_a_fine_grid_comes_near_the_interval():
    grid = np.linspace(2.0, 5.0, 100_001)
    density = MaximumEntropy(np.array([2.0, 5.0]), continuous=True)
    finite = MaximumEntropy(grid)
    means = np.array([2.1, 3.0, 3.5, 4.8])
    a, b = (family.fit(*family.distances(means)).rates for family in (finite, density))
    assert np.allclose(a, b, rtol=1e-3)


@pytest.mark.parametrize("name", OMEGAS)
def test_few_weighted_places_stand_for_many(name):
    omega = distinct(OMEGAS[name])
    span = omega[-1] - omega[0]
    ends = (omega - omega[0]) / span, (omega[-1] - omega) / span
    below, above, weights = compressed(*ends)
    assert len(below) <= (1000 if name == "uniform" else len(omega))
    assert weights.sum() == pytest.approx(len(omega), rel=1e-13)
    assert np.all(np.diff(below) >= 0)
    assert below[0] == above[-1] == 0.0
    for rate in (0.0, 0.7, 13.0, 60.0, 130.0, 400.0, 1e5, 1e9):
        for full, few in ((ends[0], below), (ends[1], above)):
            expected, ours = np.exp(-rate * full), weights * np.exp(-rate * few)
            assert ours.sum() == pytest.approx(expected.sum(), rel=1e-12)
            if full @ expected > 1e-18:
                assert few @ ours == pytest.approx(full @ expected, rel=1e-11)


def test_distinct_values():
    assert distinct([3.0, 1.0, 3.0, 1.0 + 1e-14, 2.0]).tolist() == [1.0, 2.0, 3.0]
    assert distinct([1.0, 1.0 + 1e-14]).tolist() == [1.0]
    # The ends are kept.
    assert distinct([1.0, 2.0, 2.0 + 1e-14]).tolist() == [1.0, 2.0 + 1e-14]
    S = np.array([[2.0, 0.5], [0.0, 2.0]])
    assert distinct_similarities(S).tolist() == distinct_similarities(sparse.csr_array(S)).tolist() == [0.0, 0.5, 2.0]
    assert distinct_similarities(sparse.csr_array(np.full((2, 2), 3.0))).tolist() == [3.0]


def test_a_matrix_is_read_block_by_block(monkeypatch):
    rng = np.random.default_rng(0)
    S = rng.integers(0, 50, (40, 40)) / 8
    for A in (S, S + S.T):
        monkeypatch.undo()
        expected = distinct_similarities(A)
        assert np.array_equal(expected, np.unique(A))
        monkeypatch.setattr("similitude.generative.max_entropy._BLOCK", 100)
        assert np.array_equal(distinct_similarities(A), expected)


def test_families_are_pickled():
    family = MaximumEntropy(np.arange(5.0))
    again = pickle.loads(pickle.dumps(family))
    ends = np.array([0.3]), np.array([0.7])
    assert all(np.array_equal(a, b) for a, b in zip(family.fit(*ends), again.fit(*ends)))


@pytest.mark.parametrize(
    ("omega", "message"),
    [
        ([], "omega must be one or more finite numbers"),
        ([0, np.nan], "omega must be one or more finite numbers"),
        ([[0, 1]], "omega must be one or more finite numbers"),
        (["a"], "omega must be numbers"),
    ],
)
def test_bad_input_is_refused(omega, message):
    with pytest.raises(ValueError, match=message):
        check_omega(omega)
