"""The join on a budget, written a second time from docs/semantics.md: slow, plain, independent.

`exact_pairs` looks at every pair of rows; `simulate` walks through the instants in the steps of
that page. They share no code but Row and the test for null keys. Not covered: late rows and
watermarks (the input is sorted first), and scarce ghosts (here every shed row leaves one).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count, groupby, takewhile
from typing import NamedTuple

LEFT, RIGHT = 0, 1
MASK = (1 << 64) - 1
Windows = tuple[int | None, int | None]  # left, right; None is unbounded
Expectation = Callable[["Entry", "Join"], float]  # how many partners a row may expect


class Row(NamedTuple):
    time: int
    key: object
    importance: float = 1.0


def matches_nothing(key: object) -> bool:
    """A key with a null or a NaN in it, at any depth."""
    if isinstance(key, tuple | list | frozenset):
        return any(matches_nothing(part) for part in key)
    return key is None or key != key


def splitmix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def luck(seed: int, turn: int, lane: int = 0) -> float:
    """A number in [0, 1). Lane 0 is for policies, lane 1 for ghosts."""
    return (splitmix(splitmix((splitmix(seed & MASK) + lane) & MASK) ^ turn) >> 11) * 2**-53


def single(number: float) -> float:
    """The nearest number of single precision."""
    return struct.unpack("f", struct.pack("f", number))[0]


# ------------------------------------------------------------------------------ the exact result


def exact_pairs(
    left: Sequence[Row], right: Sequence[Row], windows: Windows, kind: str = "time"
) -> list[tuple[int, int]]:
    """All matches, as (index in left, index in right), sorted; found by looking at every pair."""
    inside_left = window_test(left, windows[LEFT], kind)
    inside_right = window_test(right, windows[RIGHT], kind)
    pairs = []
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            if a.key != b.key or matches_nothing(a.key):
                continue
            # Made when the newer row comes, with both in their windows. A time window concerns the
            # older row only; a count window may have cut the newer too (over n rows at once).
            t = max(a.time, b.time)
            if inside_left(i, t) and inside_right(j, t):
                pairs.append((i, j))
    return pairs


def window_test(rows: Sequence[Row], window: int | None, kind: str) -> Callable[[int, int], bool]:
    """The test (index, t): is this row in its window when the instant t has entered?"""
    if window is None:
        return lambda index, t: True
    if kind == "time":
        return lambda index, t: t - rows[index].time <= window
    order = sorted(range(len(rows)), key=lambda index: rows[index].time)
    times = [rows[index].time for index in order]
    ordinal = {index: place for place, index in enumerate(order)}  # unmatchable rows included
    return lambda index, t: ordinal[index] >= bisect_right(times, t) - window


# ------------------------------------------------------------------------- the join on a budget


@dataclass
class Outcome:
    pairs: list[tuple[int, int]] = field(default_factory=list)  # (left, right) index, as produced
    shed: list[tuple[int, int]] = field(default_factory=list)  # (stream, index), as they left
    expired: list[tuple[int, int]] = field(default_factory=list)  # the same; in a step, by turn
    unmatchable: tuple[int, int] = (0, 0)  # left, right
    lost: int = 0  # matches lost because the older row had been shed when the newer one joined
    held: list[tuple[int, int]] = field(default_factory=list)  # (left, right), after each instant
    peak: int = 0  # the largest total held after an instant


@dataclass(eq=False)  # two entries are equal only if they are the same row
class Entry:
    """A row with a usable key, inside the join."""

    stream: int
    index: int  # in the list it was given in
    time: int
    key: object
    importance: float
    ordinal: int  # place in its own stream, from 0, unmatchable rows included
    turn: int  # place among the usable rows of both streams
    luck: float
    note: float  # for gain-and-loss
    last_match: int | None = None  # the latest instant in which it made a match
    kept_rank: float | None = None  # for policies asked at arrival


class Join:
    """The state of the join, and what a policy or an expectation may see of it."""

    def __init__(self, windows: Windows, kind: str, expectation: Expectation):
        self.windows = tuple(windows)
        self.counted = kind == "count" and self.windows != (None, None)
        self.matches = lambda row: single(expectation(row, self))
        self.time = 0  # of the instant being worked on
        self.come = [0, 0]  # rows come per stream: unmatchable ones too, and the whole instant
        self.held: tuple[list[Entry], list[Entry]] = ([], [])  # per stream, by turn
        self.held_keys: tuple[Counter, Counter] = (Counter(), Counter())
        self.arrivals: tuple[dict, dict] = ({}, {})  # the statistics: key -> rows so far, by turn

    def leave(self, row: Entry) -> None:
        self.held[row.stream].remove(row)
        self.held_keys[row.stream][row.key] -= 1

    def passed(self, row: Entry, time: int) -> bool:
        """The row's window has passed: it may not join at this time."""
        window = self.windows[row.stream]
        if window is None:
            return False
        if self.counted:  # whatever the time: of later rows nothing is known
            return row.ordinal < self.come[row.stream] - window
        return row.time + window < time

    def age(self, row: Entry) -> int:
        # Under a count window, rows of its own instant that come after it count too.
        return self.come[row.stream] - 1 - row.ordinal if self.counted else self.time - row.time

    def life(self, row: Entry) -> int:
        window = self.windows[row.stream]
        assert window is not None, "the specification gives a row without a window no life"
        return (window - 1 if self.counted else window) - self.age(row)


def contests_of(memory: int | None, split: str | tuple) -> list[tuple[tuple[int, ...], int]]:
    """Who contends with whom, for how many places."""
    if memory is None:
        return []
    if split == "shared":
        return [((LEFT, RIGHT), memory)]
    parts = (memory // 2, memory - memory // 2) if split == "half" else split
    assert sum(parts) == memory, (split, memory)
    return [((LEFT,), parts[LEFT]), ((RIGHT,), parts[RIGHT])]


def simulate(
    left: Sequence[Row], right: Sequence[Row], *, windows: Windows, kind="time", memory=None,
    split="half", order="join-first", policy=None, expectation=None, seed=0,
) -> Outcome:  # fmt: skip
    """Walk through the instants. Memory None is the exact join, where no policy is asked."""
    assert kind in ("time", "count"), kind
    assert order in ("join-first", "evict-first"), order
    join = Join(windows, kind, expectation or last_window())
    rule = POLICIES["random"]() if memory is None else policy
    turns = count()
    ghosts: tuple[dict, dict] = ({}, {})  # per stream: key -> rows that were shed
    nulls = [sum(matches_nothing(row.key) for row in rows) for rows in (left, right)]
    outcome = Outcome(unmatchable=(nulls[LEFT], nulls[RIGHT]))

    def expire(time: int) -> None:
        for row in sorted(join.held[LEFT] + join.held[RIGHT], key=lambda row: row.turn):
            if join.passed(row, time):
                join.leave(row)
                outcome.expired.append((row.stream, row.index))

    def meet(newcomers: list[Entry]) -> None:
        """Step 2. Each newcomer meets the older rows held, then the newcomers before it."""
        for new in newcomers:
            other = 1 - new.stream
            older = [row for row in join.held[other] if row.time < join.time]
            before = [row for row in newcomers if row.stream == other and row.turn < new.turn]
            for partner in older + before:  # those before it whether they are held or not
                if partner.key == new.key:
                    partner.last_match = new.last_match = join.time
                    a, b = (new, partner) if new.stream == LEFT else (partner, new)
                    outcome.pairs.append((a.index, b.index))
            for ghost in ghosts[other].get(new.key, []):  # those of this instant are in `before`
                outcome.lost += ghost.time < join.time and not join.passed(ghost, join.time)

    def standing(row: Entry) -> tuple:
        """The lowest leaves: by rank, then by second rank, then the older row."""
        rank = rule.rank(row, join) if rule.always else row.kept_rank
        return rank, rule.second_rank(row), (0 if join.counted else row.time), row.turn

    sequence = [(row.time, LEFT, index, row) for index, row in enumerate(left)]
    sequence += [(row.time, RIGHT, index, row) for index, row in enumerate(right)]
    sequence.sort(key=lambda item: item[:3])  # (time, stream, arrival)
    for time, instant in groupby(sequence, key=lambda item: item[0]):
        join.time, arrived = time, []
        for _, stream, index, given in instant:
            if not matches_nothing(given.key):  # else it takes an ordinal, but no turn
                place, turn, note = join.come[stream], next(turns), given.importance
                arrived.append(Entry(stream, index, *given, place, turn, luck(seed, turn), note))
            join.come[stream] += 1

        # Step 1. Under a count window the whole instant has entered by now, so the cut may fall on
        # newcomers (over n rows at once): they leave without a match and without a contest.
        expire(time)
        newcomers = [row for row in arrived if not join.passed(row, time)]
        outcome.expired += [(row.stream, row.index) for row in arrived if join.passed(row, time)]
        if order == "join-first":
            meet(newcomers)  # step 2
        # Step 3. All rows of the instant count, those too that left in step 1. The newcomers are
        # held from here on: only `retained` can tell this from step 5, and it is to include them.
        for row in arrived:
            join.arrivals[row.stream].setdefault(row.key, []).append(row)
        for row in newcomers:
            join.held[row.stream].append(row)
            join.held_keys[row.stream][row.key] += 1
        if order == "join-first":
            rule.after_matches(join)  # between steps 3 and 4
            expire(time + 1)  # step 4: time + W <= t is time + W < t + 1, for integers
        # Step 4, evict-first: rows with time + W < t leave, but step 1 has left none.
        # Step 5. All newcomers are ranked before any contest; the left contest is the first.
        for row in newcomers:
            row.kept_rank = None if rule.always else rule.rank(row, join)
        for streams, places in contests_of(memory, split):
            while sum(len(join.held[stream]) for stream in streams) > places:
                # Each eviction may change the ranks that are asked always (under `retained`).
                loser = min((row for one in streams for row in join.held[one]), key=standing)
                join.leave(loser)
                outcome.shed.append((loser.stream, loser.index))
                ghosts[loser.stream].setdefault(loser.key, []).append(loser)
        if order == "evict-first":
            meet(newcomers)  # step 2
            rule.after_matches(join)  # not "between steps 3 and 4": its matches are known now
        outcome.held.append((len(join.held[LEFT]), len(join.held[RIGHT])))
        outcome.peak = max(outcome.peak, sum(outcome.held[-1]))
    return outcome


# ------------------- expectations: how often a row's key is among the rows of the *other* stream


def known(left_table: Mapping, right_table: Mapping) -> Expectation:
    """The tables say how many rows of the left and of the right stream have a key."""
    return lambda row, join: (left_table, right_table)[1 - row.stream].get(row.key, 0)


def last_window() -> Expectation:
    """Arrivals in the current and the previous pane."""

    def matches(row, join):
        other = 1 - row.stream
        arrivals = join.arrivals[other].get(row.key, [])
        if join.counted:  # a stream's pane is its own n rows
            length, now = join.windows[other], join.come[other] - 1
        else:  # the longer of the windows; if one is unbounded, that one
            length, now = None if None in join.windows else max(1, *join.windows), join.time
        if length is None:
            return len(arrivals)
        begin = (now // length - 1) * length  # of the previous pane
        places = (one.ordinal if join.counted else one.time for one in reversed(arrivals))
        return len(list(takewhile(lambda place: place >= begin, places)))

    return matches


def retained() -> Expectation:
    return lambda row, join: join.held_keys[1 - row.stream][row.key]


def decayed(half_life: float) -> Expectation:  # by event time, under a count window too
    def matches(row, join):
        arrivals = join.arrivals[1 - row.stream].get(row.key, [])
        return sum(2 ** (-(join.time - arrival.time) / half_life) for arrival in arrivals)

    return matches


# --------------------------------------------------------------------------------------- policies


@dataclass(frozen=True)
class Policy:
    rank: Callable[[Entry, Join], float]
    always: bool = False  # asked at every contest; else once, in step 5 of the row's own instant
    second_rank: Callable[[Entry], float] = lambda row: 0.0
    after_matches: Callable[[Join], None] = lambda join: None  # called once in every instant


def gain_and_loss(gain=0.01, loss=0.05, step=1, how="multiply") -> Policy:
    assert how in ("multiply", "subtract"), how

    def update(join):
        for row in join.held[LEFT] + join.held[RIGHT]:
            if row.time == join.time:
                pass  # what a newcomer makes in its own instant is no gain, nor is it a loss
            elif row.last_match == join.time:
                row.note += gain * row.importance * join.matches(row) * join.life(row) / step
            else:
                row.note = row.note * (1 - loss) if how == "multiply" else row.note - loss

    return Policy(lambda row, join: single(row.note), always=True, after_matches=update)


def weighted(
    how="multiply", alpha=1, beta=1, delta=0, refresh="always", gain=0.01, loss=0.05
) -> Policy:
    def product(row, join):
        life = max(float(join.life(row)), 0.0) ** delta if delta else 1.0
        return max(row.importance, 0.0) ** alpha * join.matches(row) ** beta * life

    def total(row, join):
        time = row.turn if join.counted else row.time
        return alpha * row.importance + beta * join.matches(row) + delta * time

    def update(join):
        for row in join.held[LEFT] + join.held[RIGHT]:
            if row.time < join.time and row.last_match == join.time:
                row.note += gain * product(row, join)
            elif row.time < join.time:
                row.note *= 1 - loss

    if how == "accumulate":
        return Policy(lambda row, join: single(row.note), always=True, after_matches=update)
    return Policy({"add": total, "multiply": product}[how], always=refresh == "always")


def age_curve(curves: Sequence[tuple[Sequence[float], int]]) -> Policy:
    """`curves`: for left and right (p, unit), p[j] being the matches expected in age bucket j."""

    def rank(row, join):
        p, unit = curves[row.stream]
        i, m = int(join.age(row) // unit), len(p)
        if i >= m:  # a row older than the curve has no slopes
            return 0.0
        gained = list(accumulate(p[i:]))  # gained[k - 1] = C(i + k) - C(i)
        slopes = [matches / k for k, matches in enumerate(gained, 1)]
        best = slopes.index(max(slopes)) + 1
        if best == 1:
            return slopes[0] / unit
        passed = join.age(row) / unit - i  # of its bucket, the part it has behind it
        return (gained[best - 1] - p[i] * passed) / (best - passed) / unit

    return Policy(rank, always=True)


def match_probability(refresh="always") -> Policy:
    return Policy(lambda row, join: join.matches(row), {"always": True, "arrival": False}[refresh])


def expected_importance(always: bool) -> Policy:
    def rank(row, join):
        return row.importance * join.matches(row)

    return Policy(rank, always, second_rank=lambda row: row.importance)


POLICIES = {
    "random": lambda: Policy(lambda row, join: row.luck),
    "recent": lambda: Policy(lambda row, join: row.turn if join.counted else row.time),
    "until-expiry": lambda: Policy(lambda row, join: -row.turn if join.counted else -row.time),
    "match-probability": match_probability,
    "remaining-matches": lambda: Policy(lambda row, join: join.life(row) * join.matches(row), True),
    "importance": lambda: Policy(lambda row, join: row.importance),
    "expected-importance": lambda: expected_importance(always=False),
    "expected-importance-live": lambda: expected_importance(always=True),
    "gain-and-loss": gain_and_loss,
    "age-curve": age_curve,
    "weighted": weighted,
}


def policy(name: str, **parameters) -> Policy:
    return POLICIES[name](**parameters)
