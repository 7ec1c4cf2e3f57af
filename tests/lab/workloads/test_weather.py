"""weather_pair: skewed cells, two streams nearly alike, both moving slowly."""

import numpy as np
import pytest

from penstock.lab.workloads import weather_pair


def shares(keys):
    return np.bincount(keys, minlength=648) / keys.size


def total_variation(first, second):
    return np.abs(shares(first) - shares(second)).sum() / 2


@pytest.fixture(scope="module")
def keys():
    pair = weather_pair(rows=1_000_000)
    return pair.left["key"].to_numpy(), pair.right["key"].to_numpy()


def test_cells_are_those_of_the_grid(keys):
    assert all(np.unique(side).tolist() == list(range(648)) for side in keys)


def test_the_better_half_of_the_cells_makes_nine_tenths_of_the_matches(keys):
    left, right = shares(keys[0]), shares(keys[1])
    matches = (left * right)[np.argsort(-left)]
    half = np.searchsorted(np.sort(left)[::-1].cumsum(), 0.5)
    assert 0.90 < matches[:half].sum() / matches.sum() < 0.98


def test_the_streams_differ_a_little(keys):
    assert 0.03 < total_variation(*keys) < 0.10


def test_each_stream_drifts_a_little(keys):
    for side in keys:
        tenth = side.size // 10
        assert 0.05 < total_variation(side[:tenth], side[-tenth:]) < 0.15


def test_without_drift_only_chance_is_left():
    pair = weather_pair(rows=500_000, drift=0.0)
    assert total_variation(pair.left["key"].to_numpy(), pair.right["key"].to_numpy()) < 0.02
