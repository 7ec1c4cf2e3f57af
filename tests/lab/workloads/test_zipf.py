"""zipf_pair: keys in the stated shares, in the stated order, one row a step."""

import numpy as np
import pytest

from penstock.lab.workloads import zipf_pair, zipf_shares


def counts(stream, domain):
    return np.bincount(stream["key"].to_numpy(), minlength=domain)


def test_shares_follow_the_power_law():
    shares = zipf_shares(50, 1.0)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[0] / shares[9] == pytest.approx(10.0)


@pytest.mark.parametrize("skew", [0.0, 1.0, 2.0])
def test_keys_come_in_these_shares(skew):
    pair = zipf_pair(steps=100_000, domain=20, left_skew=skew, right_skew=0.0)
    expected = 100_000 * zipf_shares(20, skew)
    assert np.abs(counts(pair.left, 20) - expected).max() < 5 * np.sqrt(expected.max())
    assert np.abs(counts(pair.right, 20) - 5000).max() < 5 * np.sqrt(5000)


def test_one_row_a_step():
    pair = zipf_pair(steps=7)
    assert pair.left["time"].to_pylist() == pair.right["time"].to_pylist() == list(range(7))


def test_correlation_only_renames_the_values_of_the_right_stream():
    cases = {c: zipf_pair(correlation=c) for c in ("correlated", "inverse", "uncorrelated")}
    same, inverse, mixed = (cases[c].right["key"].to_numpy() for c in sorted(cases))
    assert all(pair.left == cases["correlated"].left for pair in cases.values())
    assert (inverse == 49 - same).all()
    renamed = dict(zip(same.tolist(), mixed.tolist(), strict=True))
    assert [renamed[key] for key in same.tolist()] == mixed.tolist()
    assert len(set(renamed.values())) == len(renamed)
    assert list(renamed.values()) != list(renamed)


def test_an_unknown_correlation_is_told_the_known_ones():
    with pytest.raises(ValueError, match="Known: correlated, inverse, uncorrelated"):
        zipf_pair(correlation="reverse")


def test_a_domain_without_values_is_refused():
    with pytest.raises(ValueError, match="at least 1 value"):
        zipf_pair(domain=0)
