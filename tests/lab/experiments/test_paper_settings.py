"""The papers' settings: the engine makes the numbers that are known of them."""

import pytest

from penstock.lab.contest import CONTESTANTS, importance_setting, standings
from penstock.lab.contest import attempt as contestant
from penstock.lab.experiments import age_shapes, base, network_ages
from penstock.lab.experiments.base import zipf
from penstock.lab.sweep import Sweep, Try
from penstock.policies import AgeCurve, MatchProbability, RandomDrop, Recent, RemainingMatches

SWEEP = Sweep(seeds=(0, 1, 2))
MEMORIES = (40, 200, 400, 600)


def of(policy, setting, memory=400, **options):
    attempt = Try(policy, memory, **options)
    return SWEEP({"it": (setting, [attempt])}).mean("it", attempt)


@pytest.fixture(scope="module")
def correlated():
    return zipf(correlation="correlated")


def test_match_probability_makes_nine_tenths_of_correlated_streams(correlated):
    assert of(MatchProbability(), correlated) == pytest.approx(0.895, abs=0.01)


def test_match_probability_makes_four_fifths_of_uncorrelated_streams():
    assert of(MatchProbability(), zipf()) == pytest.approx(0.81, abs=0.05)


@pytest.mark.parametrize("memory", MEMORIES)
def test_random_makes_the_share_that_it_can_hold(correlated, memory):
    assert of(RandomDrop(), correlated, memory) == pytest.approx(memory / 800, abs=0.02)


@pytest.mark.parametrize("memory", [100, 200, 400, 600])
def test_remaining_matches_lies_between_the_two(correlated, memory):
    lot, life, prob = (
        of(policy, correlated, memory)
        for policy in (RandomDrop(), RemainingMatches(), MatchProbability())
    )
    assert lot < life < prob


def test_shared_memory_brings_a_twentieth_where_one_stream_is_uniform():
    unlike = zipf(skews=(1.0, 0.0))
    half, shared = (of(MatchProbability(), unlike, split=split) for split in ("half", "shared"))
    assert 1.05 <= shared / half <= 1.09


@pytest.mark.parametrize("correlation", ["correlated", "uncorrelated"])
def test_the_last_window_is_nearly_as_good_as_knowing_the_future(correlation):
    setting = zipf(correlation=correlation)
    known, learned = (
        of(MatchProbability(), setting, frequencies=source) for source in ("known", "window")
    )
    assert learned / known >= 0.94


def test_two_windows_less_two_rows_make_the_exact_result():
    assert of(RandomDrop(), zipf(), 798) == 1.0
    assert of(RandomDrop(), zipf(), 790) < 1.0


@pytest.mark.parametrize("shape", age_shapes.SHAPES)
@pytest.mark.parametrize("percent", age_shapes.PERCENT)
def test_the_age_rule_makes_what_equation_3_predicts(shape, percent):
    attempt = age_shapes.attempt_at(shape, AgeCurve(), percent)
    found = Sweep(seeds=(0,))({"it": (age_shapes.setting_of(shape, False), [attempt])})
    assert found.mean("it", attempt) == pytest.approx(
        age_shapes.predicted(shape, percent), abs=0.01
    )


def test_on_the_network_recent_finds_nothing_and_the_age_rule_most():
    setting = network_ages.setting_of(network_ages.WINDOW)
    recent, age = (network_ages.attempt_at(policy, 40) for policy in (Recent(), AgeCurve()))
    found = Sweep(seeds=(0,))({"it": (setting, [recent, age])})
    assert found.mean("it", recent) <= 0.1
    assert found.mean("it", age) == pytest.approx(0.70, abs=0.03)


def test_the_ranking_of_importance_policies_depends_on_what_they_count():
    setting = importance_setting()
    attempts = [
        contestant(name, 100, estimator)
        for estimator in ("window", "memory")
        for name in CONTESTANTS
    ]
    found = SWEEP({"it": (setting, attempts)})
    window, memory = (standings(found, "it", 100, e) for e in ("window", "memory"))
    assert window["DIMPPROB"] > window["DGL"]
    assert memory["DGL"] > memory["DIMPPROB"]
    assert min(window, key=window.get) == "RAND"


def test_lines_carry_the_range_of_the_seeds():
    made = base.line("x", (1, 2), [[1.0, 3.0], [4.0, 4.0]])
    assert (made.y, made.low, made.high) == ((2.0, 4.0), (1.0, 4.0), (3.0, 4.0))
