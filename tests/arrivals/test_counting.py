"""Counters of keys: exact while they fit, then a sketch, which errs little."""

import datasketches
import numpy as np
import pytest

from penstock.arrivals.counting import (
    DECAYED,
    PANES,
    RETAINED,
    add,
    count_of,
    fade_factor,
    forget_unseen,
    full,
    move_landmark,
    new_counting,
    to_sketch,
    turn_pane,
)
from penstock.compiled import compiled

pytestmark = pytest.mark.plain
SEEDS = 10
ENDS = [-(2**63) + 1, -1, 0, 1, 2**63 - 1]


@compiled
def add_each(counting, keys, stream, weight):
    for i in range(len(keys)):
        add(counting, keys[i], stream, weight)


@compiled
def count_each(counting, keys, stream, counts):
    for i in range(len(keys)):
        counts[i] = count_of(counting, keys[i], stream)


@compiled
def turn(counting, stream, at):
    return turn_pane(counting, stream, at)


@compiled
def fade(counting, at, half_life):
    return fade_factor(counting, at, half_life)


@compiled
def move(counting, at, half_life):
    return move_landmark(counting, at, half_life)


@compiled
def is_full(counting):
    return full(counting)


def added(counting, keys, stream=0, weight=1.0):
    with np.errstate(over="ignore"):
        add_each(counting, np.array(keys, np.int64), stream, weight)


def counts(counting, keys, stream=0):
    found = np.zeros(len(keys))
    with np.errstate(over="ignore"):
        count_each(counting, np.array(keys, np.int64), stream, found)
    return found.tolist()


def hashes(count, seed=0):
    return np.random.default_rng(seed).integers(-(2**63), 2**63, count)


def test_each_stream_counts_its_own():
    counting = new_counting(RETAINED, limit=100, pane_lengths=[0, 0])
    keys = [*ENDS, *hashes(60).tolist()]
    added(counting, keys + keys[:3])
    added(counting, keys[2:4], stream=1)
    assert counts(counting, keys) == [2, 2, 2] + [1] * (len(keys) - 3)
    assert counts(counting, keys, stream=1) == [0, 0, 1, 1] + [0] * (len(keys) - 4)
    added(counting, keys[:1], weight=-1.0)
    assert counts(counting, keys[:1]) == [1]
    assert counts(counting, [4711]) == [0]


def test_a_pane_is_remembered_until_the_next_but_one():
    # panes   0..9  10..19  20..29  30..39
    # a       x             x
    counting = new_counting(PANES, limit=10, pane_lengths=[10, 10])
    seen = []
    for at, comes in [(3, True), (12, False), (19, False), (25, True), (38, False), (59, False)]:
        turn(counting, 0, at)
        if comes:
            added(counting, [7])
        seen += counts(counting, [7])
    assert seen == [1, 1, 1, 1, 1, 0]


def test_panes_turn_for_one_stream_at_a_time():
    counting = new_counting(PANES, limit=10, pane_lengths=[10, 10])
    assert turn(counting, 0, 0)
    assert turn(counting, 1, 0)
    assert not turn(counting, 0, 9)
    added(counting, [7], stream=0)
    added(counting, [7], stream=1)
    turn(counting, 0, 30)
    assert counts(counting, [7]) == [0]
    assert counts(counting, [7], stream=1) == [1]


def test_what_is_forgotten_makes_room():
    counting = new_counting(PANES, limit=64, pane_lengths=[10, 10])
    turn(counting, 0, 0)
    old, new = hashes(60, 1), hashes(60, 2)
    added(counting, old)
    turn(counting, 0, 30)
    added(counting, new[:4])
    assert is_full(counting)
    forget_unseen(counting)
    assert not is_full(counting)
    added(counting, new[4:])
    assert counts(counting, new) == [1] * 60
    assert counts(counting, old) == [0] * 60


def test_a_decayed_count_is_halved_in_each_half_life_however_far_it_goes():
    counting = new_counting(DECAYED, limit=10, pane_lengths=[0, 0])
    half_life, at = 3.0, -(10**15)
    with np.errstate(over="ignore"):
        move(counting, np.int64(at), half_life)
    added(counting, [7], weight=8.0 * fade(counting, at, half_life))
    for times in range(100):
        move(counting, at, half_life)
        now = counts(counting, [7])[0] / fade(counting, at, half_life)
        assert now == pytest.approx(8.0 * 0.5**times)
        at += 3


def skewed(seed):
    dice = np.random.default_rng(seed)
    ranks = np.minimum((1 / (1 - dice.random(20_000))).astype(np.int64), 5000)
    return hashes(5001, seed + 100)[ranks]


def test_a_sketch_counts_too_little_by_no_more_than_its_rounding():
    counting = new_counting(PANES, limit=400, pane_lengths=[0, 0])
    keys, true = np.unique(skewed(1), return_counts=True)
    added(counting, np.repeat(keys[:300], true[:300]))
    counting = to_sketch(counting)
    added(counting, np.repeat(keys[300:], true[300:]))
    # Rounded down to 1, 1.5, 2, 3, 4, 6, ...
    assert (1.5 * np.array(counts(counting, keys)) > true).all()
    assert not is_full(counting)


def test_a_sketch_remembers_the_pane_before():
    counting = to_sketch(new_counting(PANES, limit=400, pane_lengths=[10, 10]))
    turn(counting, 0, 0)
    added(counting, [7])
    turn(counting, 0, 10)
    added(counting, [7])
    assert counts(counting, [7]) == [2]
    turn(counting, 0, 20)
    assert counts(counting, [7]) == [1]
    turn(counting, 0, 40)
    assert counts(counting, [7]) == [0]


def test_a_sketch_errs_no_more_than_one_that_is_well_known():
    ours, theirs = 0.0, 0.0
    for seed in range(SEEDS):
        sample = skewed(seed)
        keys, true = np.unique(sample, return_counts=True)
        counting = to_sketch(new_counting(PANES, limit=200, pane_lengths=[0, 0]))
        added(counting, sample)
        other = datasketches.count_min_sketch(4, len(counting.sketch) // 4, seed)
        for key, times in zip(keys.tolist(), true.tolist(), strict=True):
            other.update(key, times)
        # What is too little is rounding; what is too much are other keys.
        ours += float(np.maximum(np.array(counts(counting, keys)) - true, 0).mean())
        theirs += float(np.mean([other.get_estimate(key) for key in keys.tolist()] - true))
    assert (
        0 < ours < 2 * theirs
    )  # all counters of a key lie on one cache line, which costs a little
