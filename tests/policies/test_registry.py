"""Policies go by their names, their papers' names and the goals they serve."""

import dataclasses
import pickle

import pytest

from penstock.errors import InvalidQuery
from penstock.policies import ALL, by_name

PAPERS = {
    "RAND": "random",
    "RECENT": "recent",
    "UNTIL-EXPIRY": "until-expiry",
    "PROB": "match-probability",
    "LIFE": "remaining-matches",
    "AGE": "age-curve",
    "SIMP": "importance",
    "SIMPPROB": "expected-importance",
    "DIMPPROB": "expected-importance-live",
    "DGL": "gain-and-loss",
}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_s_name_is_known_in_any_case(paper):
    for spelt in (paper, paper.lower(), paper.title(), f" {paper} ", paper.replace("-", "_")):
        assert by_name(spelt).name == PAPERS[paper]
    assert by_name(PAPERS[paper]).paper == paper


def test_a_goal_names_the_policy_that_serves_it():
    assert by_name("largest").name == "match-probability"
    assert by_name("Valuable").name == "expected-importance-live"


@pytest.mark.parametrize("name", ["uniform-sample", "EQ-CLUSTER", "representative", "pps_cluster"])
def test_samples_are_not_here_yet(name):
    with pytest.raises(InvalidQuery, match="not a uniform sample of the exact join"):
        by_name(name)


@pytest.mark.parametrize("name", ["", "fifo", None, 5, ("prob",), "match probability"])
def test_another_name_is_refused_with_those_there_are(name):
    with pytest.raises(InvalidQuery, match="Known: age-curve, expected-importance, "):
        by_name(name)


def test_a_slip_is_understood():
    with pytest.raises(InvalidQuery, match="did you mean 'remaining-matches'"):
        by_name("remaining-match")


def test_an_unknown_parameter_is_refused_with_those_there_are():
    with pytest.raises(InvalidQuery, match="random has no such parameter; it takes none"):
        by_name("random", seed=3)
    with pytest.raises(InvalidQuery, match="it takes refresh"):
        by_name("prob", decay=3)
    with pytest.raises(InvalidQuery, match=r"'always' .* or 'arrival'"):
        by_name("prob", refresh="daily")


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_a_policy_is_a_value(policy):
    assert pickle.loads(pickle.dumps(policy)) == policy == dataclasses.replace(policy)
    assert hash(policy) == hash(dataclasses.replace(policy))
