"""importance_pair: the rows of zipf_pair, with a few that matter a lot."""

import numpy as np
import pytest

from penstock.lab.workloads import ImportanceLaw, importance_pair, zipf_pair


def importance(stream):
    return stream["importance"].to_numpy()


def test_normal_rows_dominate_and_special_ones_are_infrequent():
    pair = importance_pair(steps=100_000)
    for stream in (pair.left, pair.right):
        values = importance(stream)
        special = values > 100
        assert values.min() > 0
        assert special.mean() == pytest.approx(0.05, abs=0.004)
        assert np.median(values[~special]) == pytest.approx(10, rel=0.01)
        assert np.median(values[special]) == pytest.approx(1000, rel=0.03)


def test_special_matches_hold_a_fifth_of_the_value_where_the_lesser_row_counts():
    pair = importance_pair(steps=200_000)
    lesser = np.minimum(importance(pair.left), importance(pair.right))
    assert lesser[lesser > 100].sum() / lesser.sum() == pytest.approx(0.2, abs=0.03)


def test_keys_are_those_of_the_zipf_pair_of_the_same_seed():
    with_importance = importance_pair(steps=300, correlation="inverse", seed=5)
    without = zipf_pair(
        steps=300, domain=100, left_skew=1.0, right_skew=0.0, correlation="inverse", seed=5
    )
    assert with_importance.left.drop_columns("importance") == without.left
    assert with_importance.right.drop_columns("importance") == without.right


def test_the_streams_are_independent():
    pair = importance_pair(steps=100_000)
    left, right = np.log(importance(pair.left)), np.log(importance(pair.right))
    assert abs(np.corrcoef(left, right)[0, 1]) < 0.02
    assert abs(np.corrcoef(left, pair.left["key"].to_numpy())[0, 1]) < 0.02


@pytest.mark.parametrize(
    ("law", "help_"),
    [
        ({"normal": 0.0}, "must be above 0"),
        ({"high": float("nan")}, "must be above 0"),
        ({"high_share": 1.5}, "between 0 and 1"),
    ],
)
def test_a_law_that_cannot_be_is_refused(law, help_):
    with pytest.raises(ValueError, match=help_):
        ImportanceLaw(**law)
