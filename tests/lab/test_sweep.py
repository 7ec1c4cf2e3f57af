"""Sweeps: every attempt on every setting with every seed, wherever the work is done."""

import pickle

import pytest

from penstock.errors import InvalidQuery
from penstock.lab.sweep import Setting, Sweep, Task, Try, run, spread_over, value_recall
from penstock.lab.traces import Trace
from penstock.lab.workloads import WORKLOADS
from penstock.policies import AgeCurve, ExpectedImportance, MatchProbability, RandomDrop, Recent
from penstock.query import Budget

SMALL = Setting("zipf", {"steps": 400, "domain": 10}, windows=(39, 39), warmup=80)
LOT, PROB = Try(RandomDrop(), 20), Try(MatchProbability(), 20)


def test_there_is_one_outcome_for_each_seed_in_their_order():
    found = Sweep(seeds=(3, 1))({"a": (SMALL, [LOT, PROB])})
    alone = [Sweep(seeds=(seed,))({"a": (SMALL, [LOT])}).of("a", LOT)[0] for seed in (3, 1)]
    assert [outcome.matches for outcome in found.of("a", LOT)] == [o.matches for o in alone]
    assert found.mean("a", LOT) == pytest.approx(sum(o.recall for o in alone) / 2)


def test_settings_do_not_mix():
    other = Setting("zipf", {"steps": 400, "domain": 40}, windows=(39, 39), warmup=80)
    both = Sweep(seeds=(0,))({"few": (SMALL, [LOT]), "many": (other, [LOT])})
    assert both.of("few", LOT)[0].exact_matches > 2 * both.of("many", LOT)[0].exact_matches


def test_enough_memory_makes_the_exact_result():
    everything = Try(RandomDrop(), 2 * 39)
    assert Sweep(seeds=(0, 1))({"a": (SMALL, [everything])}).all("a", everything) == [1.0, 1.0]


def test_spreading_over_processes_changes_nothing_but_the_seconds():
    grid = {"a": (SMALL, [LOT, PROB])}
    with spread_over(2) as spread:
        there = Sweep(seeds=(0, 1), spread=spread)(grid)
    here = Sweep(seeds=(0, 1))(grid)
    for attempt in (LOT, PROB):
        assert there.all("a", attempt) == here.all("a", attempt)


def test_any_map_that_keeps_the_order_will_do():
    def elsewhere(work, tasks):
        sent = [pickle.loads(pickle.dumps(task)) for task in tasks]
        return [pickle.loads(pickle.dumps(work(task))) for task in sent]

    found = Sweep(seeds=(0, 1), spread=elsewhere)({"a": (SMALL, [LOT])})
    assert found.all("a", LOT) == Sweep(seeds=(0, 1))({"a": (SMALL, [LOT])}).all("a", LOT)


def test_progress_is_told_task_by_task():
    told = []
    Sweep((0, 1, 2), progress=lambda *step: told.append(step))({"a": (SMALL, [LOT])})
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_looks_follow_the_share_of_a_shared_memory_and_change_no_match():
    plain = Try(MatchProbability(), 20, "shared")
    watched = Try(MatchProbability(), 20, "shared", looks=8)
    found = Sweep(seeds=(0,))({"a": (SMALL, [plain, watched])})
    shares = found.of("a", watched)[0].shares
    assert found.of("a", plain)[0].shares == ()
    assert 8 <= len(shares) <= 10
    assert [time for time, _ in shares] == sorted(time for time, _ in shares)
    assert all(0 <= share <= 1 for _, share in shares)
    assert found.all("a", plain) == found.all("a", watched)


def test_streams_with_importance_are_joined_for_their_value():
    rich = Setting("importance", {"steps": 400, "domain": 10}, windows=(39, 39), warmup=80)
    by_value, by_key = Try(ExpectedImportance(), 20), Try(MatchProbability(), 20)
    found = Sweep(seeds=(0, 1, 2))({"a": (rich, [by_value, by_key])})
    assert found.mean("a", by_value, value_recall) > found.mean("a", by_key, value_recall)
    assert found.mean("a", by_value) < found.mean("a", by_key)


def test_ages_measured_on_the_whole_trace_serve_the_age_rule():
    late = Setting(
        "ages",
        {"curve": [0, 0, 0, 1], "buckets": 4, "window": 40, "rows": 800},
        windows=(40_000_000, 0),
    )
    age, recent = (Try(policy, 10, split=(1.0, 0.0), ages=40) for policy in (AgeCurve(), Recent()))
    found = Sweep(seeds=(0,))({"a": (late, [age, recent])})
    assert found.mean("a", age) > 0.2
    assert found.mean("a", recent) < 0.01


def test_sources_of_frequencies_differ():
    tries = [
        Try(MatchProbability(), 20, frequencies=source) for source in ("known", "window", "memory")
    ]
    options = {"steps": 400, "domain": 20, "correlation": "uncorrelated"}
    found = Sweep(seeds=(0,))({"a": (Setting("zipf", options, (39, 39)), tries)})
    assert len({found.of("a", attempt)[0].matches for attempt in tries}) == 3


def test_a_process_is_needed_to_do_the_work():
    with pytest.raises(InvalidQuery, match="at least 1 process"), spread_over(0):
        pass


def test_a_task_needs_nothing_but_itself():
    task = Task(SMALL, 0, (LOT,))
    again = run(pickle.loads(pickle.dumps(task)))
    assert again[0].matches == run(task)[0].matches


def test_each_seed_draws_streams_of_its_own():
    first, second = Sweep(seeds=(0, 1))({"a": (SMALL, [LOT])}).of("a", LOT)
    assert first.exact_matches != second.exact_matches


def test_the_seed_decides_the_chance_of_a_policy_too():
    pair = WORKLOADS["zipf"](**SMALL.options, seed=5)
    trace = Trace(pair.left, pair.right, SMALL.query("half", valued=False))
    by_hand = {
        seed: trace.run(RandomDrop(), memory=Budget("rows", 20), warmup=80, seed=seed).matches
        for seed in (0, 5)
    }
    assert by_hand[0] != by_hand[5]
    assert run(Task(SMALL, 5, (LOT,)))[0].matches == by_hand[5]
