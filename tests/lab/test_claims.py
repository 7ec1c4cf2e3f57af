"""Claims: a verdict follows from checks, never from what was hoped for."""

import pytest

from penstock.lab.claims import against_the_optimum, judged, without_the_optimum


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((True,), "reproduced"),
        ((True, True), "reproduced"),
        ((True, False), "partly"),
        ((False, True), "partly"),
        ((False,), "refuted"),
        ((False, False), "refuted"),
    ],
)
def test_the_checks_decide(checks, verdict):
    assert judged("A 1", "x", "y", *checks).verdict == verdict


def test_a_verdict_needs_a_check():
    with pytest.raises(ValueError, match="at least one"):
        judged("A 1", "x", "y")


def test_a_share_of_the_exact_result_can_bear_out_a_share_of_the_optimum_but_not_refute_it():
    assert against_the_optimum("A", "x", "y.", at_least=0.9, measured=0.9).verdict == "reproduced"
    short = against_the_optimum("A", "x", "y.", at_least=0.9, measured=0.8)
    assert short.verdict == "not comparable"
    assert without_the_optimum("A", "x").verdict == "not comparable"
