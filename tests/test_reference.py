"""The twin itself, on time lines short enough to work by hand, and by the laws of every run."""

import random

import pytest

from reference import (
    POLICIES,
    Policy,
    Row,
    decayed,
    exact_pairs,
    known,
    last_window,
    luck,
    policy,
    retained,
    simulate,
    single,
    splitmix,
)


def line(text, start=0):
    """A row per letter at successive times; "." is no row, "-" a row with a null key."""
    return [
        Row(start + step, None if key == "-" else key)
        for step, key in enumerate(text)
        if key != "."
    ]


# --------------------------------------------------------------------------------- worked by hand


def test_splitmix_and_luck():
    assert splitmix(0) == 0xE220A8397B1DCDAF  # the first number of the published generator from 0
    assert splitmix(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4  # and its second
    drawn = [luck(seed, turn, lane) for seed in (0, 1) for turn in range(1000) for lane in (0, 1)]
    assert len(set(drawn)) == 4000
    assert all(0 <= number < 1 for number in drawn)
    assert abs(sum(drawn) / 4000 - 0.5) < 0.02


def test_figure_3_of_das():
    # time    0 1 2 3 4      w = 3, so W = 2
    # left    1 1 1 3 2      the three 1 meet S(2), the last two of them S(3): 5 pairs
    # right   2 3 1 1 3      the 3 meets S(1) and is met by S(4): 2 pairs
    left, right = line("11132"), line("23113")
    expected = [(0, 2), (1, 2), (1, 3), (2, 2), (2, 3), (3, 1), (3, 4)]
    assert exact_pairs(left, right, (2, 2)) == expected
    exact = simulate(left, right, windows=(2, 2))
    assert sorted(exact.pairs) == expected
    # Rows leave after they could join for the last time: 2w - 2 = 4 places are enough.
    assert exact.held == [(1, 1), (2, 2), (2, 2), (2, 2), (2, 2)]
    assert exact.peak == 4
    assert exact.expired == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]  # at 2, 3 and 4
    # If the join comes last, the rows of t - 2 must be there till then: 2w = 6 places.
    later = simulate(left, right, windows=(2, 2), order="evict-first")
    assert sorted(later.pairs) == expected
    assert later.held == [(1, 1), (2, 2), (3, 3), (3, 3), (3, 3)]
    assert later.peak == 6
    assert later.expired == [(0, 0), (1, 0), (0, 1), (1, 1)]  # at 3 and 4


def test_one_place_each():
    # time   0 1 2 3         one place each, W = 3
    # left   a b . .         recent: b replaces a on the left; a a is lost, b b is made
    # right  . . a b         until-expiry: a stays; a a is made, b b is lost
    left, right = line("ab"), line("..ab")
    options = {"windows": (3, 3), "memory": 2}
    recent = simulate(left, right, policy=policy("recent"), **options)
    assert (recent.pairs, recent.shed, recent.lost) == ([(1, 1)], [(0, 0), (1, 0)], 1)
    keep = simulate(left, right, policy=policy("until-expiry"), **options)
    assert (keep.pairs, keep.shed, keep.lost) == ([(0, 0)], [(0, 1), (1, 1)], 1)
    assert keep.expired == [(0, 0)]  # left a at t = 3; a right row is still held at the end
    assert keep.held == [(1, 0), (1, 0), (1, 1), (0, 1)]


def test_odd_and_shared_memory():
    left, right = line("ab"), line("..ab")
    options = {"windows": (9, 9), "memory": 3}
    assert simulate(left, right, policy=policy("recent"), **options).held[-1] == (1, 2)
    shared = simulate(left, right, split="shared", policy=policy("until-expiry"), **options)
    assert shared.held[-1] == (2, 1)
    assert shared.shed == [(1, 1)]  # right b, the newest, when it had met left b
    assert shared.lost == 0


def test_order_inside_an_instant():
    # time   0  1            one place on the left
    # left   a  b            join-first: a a and b b are made, then a leaves
    # right  .  ab           evict-first: a leaves, and a a is lost; b b is made
    left, right = line("ab"), [Row(1, "a"), Row(1, "b")]
    options = {"windows": (5, 5), "memory": 3, "split": (1, 2), "policy": policy("recent")}
    first = simulate(left, right, **options)
    assert (first.pairs, first.shed, first.lost) == ([(0, 0), (1, 1)], [(0, 0)], 0)
    last = simulate(left, right, order="evict-first", **options)
    assert (last.pairs, last.shed, last.lost) == ([(1, 1)], [(0, 0)], 1)
    # Newcomers meet each other even when none is held.
    none = simulate(
        left, right, windows=(5, 5), memory=0, order="evict-first", policy=policy("recent")
    )
    assert (none.pairs, none.lost, none.peak) == ([(1, 1)], 1, 0)


def test_window_of_nought():
    # Rows join in their own instant only. Join-first they never come to a contest.
    left, right = line("ab"), line("aa")
    options = {"windows": (0, 0), "policy": policy("recent")}
    now = simulate(left, right, memory=0, **options)
    assert (now.pairs, now.shed, now.held) == ([(0, 0)], [], [(0, 0), (0, 0)])
    assert now.expired == [(0, 0), (1, 0), (0, 1), (1, 1)]
    later = simulate(left, right, memory=1, order="evict-first", **options)
    assert (later.pairs, later.shed) == ([(0, 0)], [(0, 0), (0, 1)])
    assert later.expired == [(1, 0)]


def test_windows_of_different_length():
    # time   0 1 2 3
    # left   a . . a
    # right  a . a .
    left, right = line("a..a"), line("a.a.")
    assert exact_pairs(left, right, (3, 1)) == [(0, 0), (0, 1), (1, 1)]  # right 0 is 3 too old
    assert exact_pairs(left, right, (1, 3)) == [(0, 0), (1, 0), (1, 1)]  # left 0 is 2 too old
    assert exact_pairs(left, right, (None, 0)) == [(0, 0), (0, 1)]


def test_nulls():
    nan = float("nan")
    keys = [None, nan, ("x", (None,)), ("x", nan)]
    left = [Row(0, key) for key in [*keys, -0.0, "a"]]
    right = [Row(0, key) for key in [*keys, 0.0, "a"]]
    outcome = simulate(left, right, windows=(1, 1), memory=1, policy=policy("random"), seed=5)
    assert outcome.pairs == [(4, 4), (5, 5)]
    assert exact_pairs(left, right, (1, 1)) == [(4, 4), (5, 5)]
    assert outcome.unmatchable == (4, 4)
    # Nulls draw no luck: turns 0 and 1 are on the left (no place), 2 and 3 on the right (one).
    unlucky_left = 4 if luck(5, 0) < luck(5, 1) else 5
    unlucky_right = 4 if luck(5, 2) < luck(5, 3) else 5
    assert outcome.shed == [(0, unlucky_left), (0, 9 - unlucky_left), (1, unlucky_right)]


def test_count_window_counts_nulls():
    # n = 2 on the left: a is cut when b comes, for the last two rows are the null and b.
    left, right = line("a-b."), line("aaaa")
    assert exact_pairs(left, right, (2, 9), "count") == [(0, 0), (0, 1)]
    outcome = simulate(left, right, windows=(2, 9), kind="count")
    assert outcome.pairs == [(0, 0), (0, 1)]
    assert outcome.expired == [(0, 0)]


def test_count_window_cuts_before_the_pairs_are_made():
    left, right = [Row(0, "a")] * 3, [Row(0, "a")]
    assert exact_pairs(left, right, (2, 2), "count") == [(1, 0), (2, 0)]
    outcome = simulate(left, right, windows=(2, 2), kind="count")
    assert outcome.pairs == [(1, 0), (2, 0)]
    assert outcome.expired == [(0, 0)]
    assert outcome.held == [(2, 1)]


def test_count_window_waits_for_the_other_stream():
    outcome = simulate(line("a"), line(".a"), windows=(1, 1), kind="count")
    assert outcome.pairs == [(0, 0)]
    assert outcome.held == [(1, 0), (1, 1)]


def test_indexes_are_those_of_the_lists_given():
    left = [Row(2, "a"), Row(0, "a"), Row(1, "b")]
    right = [Row(1, "a")]
    assert exact_pairs(left, right, (5, 5)) == [(0, 0), (1, 0)]
    outcome = simulate(left, right, windows=(5, 5), memory=2, policy=policy("recent"))
    assert outcome.pairs == [(1, 0), (0, 0)]
    assert outcome.shed == [(0, 1), (0, 2)]


# --------------------------------------------------------------------------------------- policies


def shed_letters(left, right, **options):
    outcome = simulate(left, right, **options)
    return "".join((left, right)[stream][index].key for stream, index in outcome.shed)


def test_until_expiry_among_rows_of_one_instant():
    # Time: equal ranks, so the older leaves. Count: the rank is the turn, so the newer leaves.
    options = {"windows": (9, 9), "memory": 1, "split": (1, 0), "policy": policy("until-expiry")}
    left = [Row(0, "a"), Row(0, "b")]
    assert shed_letters(left, [], **options) == "a"
    assert shed_letters(left, [], kind="count", **options) == "b"


def test_match_probability_always_and_at_arrival():
    # time   0 1 2 3         two places on the left, none on the right
    # left   a b . c         at arrival: a 0, b 0, c 1, so a leaves at t = 3
    # right  . . a c         at t = 3: a 1, b 0, c 1, so b leaves
    left, right = line("ab.c"), line("..ac")
    options = {"windows": (9, 9), "memory": 2, "split": (2, 0)}
    live, early = policy("match-probability"), policy("match-probability", refresh="arrival")
    assert shed_letters(left, right, policy=live, **options) == "abc"  # right a, left b, right c
    assert shed_letters(left, right, policy=early, **options) == "aac"


def test_known_looks_at_the_other_streams_table():
    left, right = line("ab"), line("ab")
    tables = known({"a": 1, "b": 9}, {"a": 5})  # left rows: a 5, b 0; right rows: a 1, b 9
    options = {"windows": (9, 9), "memory": 2, "expectation": tables}
    outcome = simulate(left, right, policy=policy("match-probability"), **options)
    assert outcome.shed == [(0, 1), (1, 0)]


def test_remaining_matches():
    # At t = 3, W = 4, a has life 1 and matches 3, which makes 3; b has 4 and 1, which makes 4.
    left = line("a..b")
    tables = known({}, {"a": 3, "b": 1})
    options = {"windows": (4, 4), "memory": 1, "split": (1, 0), "expectation": tables}
    rule = policy("remaining-matches")
    assert shed_letters(left, [], policy=rule, **options) == "a"
    # Under a count window of 4, a has life 2, which makes 6; b has 3, which makes 3.
    assert shed_letters(left, [], kind="count", policy=rule, **options) == "b"
    options["expectation"] = known({}, {"a": 7, "b": 5})  # 14 and 15
    assert shed_letters(left, [], kind="count", policy=rule, **options) == "a"


def test_importance_and_expected_importance():
    left = [Row(0, "a", 3.0), Row(1, "b", 2.0), Row(2, "c", 5.0)]
    options = {"windows": (9, 9), "memory": 1, "split": (1, 0)}
    options["expectation"] = known({}, {"a": 1, "b": 2})
    assert shed_letters(left, [], policy=policy("importance"), **options) == "ba"
    assert shed_letters(left, [], policy=policy("expected-importance"), **options) == "ac"
    # All ranks 0: the less important leaves; with no second rank, the older.
    options["expectation"] = known({}, {})
    assert shed_letters(left, [], policy=policy("expected-importance"), **options) == "ba"
    assert shed_letters(left, [], policy=policy("match-probability"), **options) == "ab"


def test_expected_importance_live():
    # The time line of match probability, b twice and c three times as important as a.
    left = [Row(0, "a", 1.0), Row(1, "b", 2.0), Row(3, "c", 3.0)]
    right = line("..ac")
    options = {"windows": (9, 9), "memory": 2, "split": (2, 0)}
    live, early = policy("expected-importance-live"), policy("expected-importance")
    assert shed_letters(left, right, policy=live, **options) == "abc"
    assert shed_letters(left, right, policy=early, **options) == "aac"  # 0, 0, 3, and a below b


@pytest.mark.parametrize("order", ["join-first", "evict-first"])
def test_gain_and_loss(order):
    # time   0 1  2          W = 8, step 2, loss 0.25 to subtract; two places on the left
    # left   a b  c          a meets two rows at 1: one gain, of 2 matches and a life of 7
    # right  . aa .          at 2 nobody makes a match: a and b lose, c is new
    notes = {}
    rule = policy("gain-and-loss", how="subtract", loss=0.25, step=2)

    def note(row, join):
        notes[join.time, row.stream, row.key] = row.note
        return row.note

    spy = Policy(note, always=True, after_matches=rule.after_matches)
    options = {"windows": (8, 8), "memory": 2, "split": (2, 0), "order": order}
    outcome = simulate(line("abc"), [Row(1, "a")] * 2, policy=spy, **options)
    assert outcome.shed == [(1, 0), (1, 1), (0, 1)]
    # If the join comes last, the contest at 2 does not know of the losses at 2.
    loss = 0.25 if order == "join-first" else 0
    assert notes[2, 0, "a"] == 1 + 0.01 * 1.0 * 2 * 7 / 2 - loss
    assert notes[2, 0, "b"] == 1 - loss
    assert notes[2, 0, "c"] == 1


def test_age_curve():
    # C = 0 0 4 5. From bucket 0: 0/1, 4/2, 5/3, so 2; from 1: 4/1, 5/2, so 4; from 2: 1.
    # With unit 2: age 0 ranks 4/2/2 = 1.0, age 1 4/1.5/2 = 1.33, 2 and 3 2.0, 4 and 5 0.5, older 0.
    curve = ([0, 4, 1], 2)
    options = {"windows": (9, 9), "memory": 1, "split": (1, 0)}
    options["policy"] = policy("age-curve", curves=[curve, curve])
    # At 2, a has 2.0 and b 1.0. At 6, a is beyond the curve.
    assert shed_letters(line("a.b...c"), [], **options) == "ba"
    # At 4, a has 0.5 and b 1.0.
    assert shed_letters(line("a...b"), [], **options) == "a"
    # Under a count window ages count rows: at b, a has 1.33 and b 1.0; at c, a has 2.0.
    assert shed_letters(line("a.b...c"), [], kind="count", **options) == "bc"
    # Different curves in a shared memory: a has max(1, 4/2) / 1 = 2, b has max(3, 3.2/2) / 2 = 1.5.
    options = {"windows": (9, 9), "memory": 1, "split": "shared"}
    options["policy"] = policy("age-curve", curves=[([1, 3], 1), ([3, 0.2], 2)])
    assert shed_letters(line("a"), line("b"), **options) == "b"


# ----------------------------------------------------------------------------------- expectations


def asked(expectation, left, right, windows, kind="time"):
    """What the first row of each instant expects in it (it is asked, for there is no place)."""
    seen = {}
    spy = Policy(lambda row, join: seen.setdefault(join.time, join.matches(row)), always=True)
    options = {"windows": windows, "kind": kind, "policy": spy, "expectation": expectation}
    simulate(left, right, memory=0, **options)
    return seen


def test_panes_of_time_windows():
    # The longer window is 3: panes 0..2, 3..5, 6..8, 9..11. Right a at 0, 2, 3, 7.
    left, right = line("aaaaaaaaaa"), line("a.aa...a")
    seen = asked(last_window(), left, right, (2, 3))
    assert [seen[t] for t in range(10)] == [1, 1, 2, 3, 3, 3, 1, 2, 2, 1]
    assert asked(last_window(), left, right, (None, None))[9] == 4
    # Right a at -1, in the pane -3..-1.
    seen = asked(last_window(), line("aaaaaaa", -3), line("a", -1), (2, 3))
    assert [seen[t] for t in range(-3, 4)] == [0, 0, 1, 1, 1, 1, 0]


def test_panes_of_count_windows():
    # The right stream's own n = 2 counts, nulls included: panes (a -) (a a) (b).
    left, right = line("aaaaaaa"), line("a-aa-b")
    seen = asked(last_window(), left, right, (5, 2), "count")
    assert [seen[t] for t in range(7)] == [1, 1, 2, 3, 2, 2, 2]
    # Rows cut in the instant in which they came were arrivals all the same: panes (a a) (a).
    assert asked(last_window(), line("a"), [Row(0, "a")] * 3, (2, 2), "count") == {0: 3}


def test_decayed():
    seen = asked(decayed(2), line("a..a.a"), line("a.a"), (9, 9))
    assert seen[0] == 1
    assert seen[3] == single(2**-1.5 + 2**-0.5)
    assert seen[5] == single(2**-2.5 + 2**-1.5)


def test_retained_is_counted_again_after_each_eviction():
    # One instant. Ranks: left c 2, left a 1 each, right c 1 each, right a 3. The left a leave (1,
    # the lowest turns), and right a falls from 3 to 0: it goes next. With the ranks of the start
    # it would be a right c.
    left = line("c") + [Row(0, "a")] * 3
    right = [Row(0, "c"), Row(0, "c"), Row(0, "a")]
    options = {"windows": (9, 9), "memory": 3, "split": "shared", "expectation": retained()}
    outcome = simulate(left, right, policy=policy("match-probability"), **options)
    assert outcome.shed == [(0, 1), (0, 2), (0, 3), (1, 2)]


# ------------------------------------------------------------------------------------------- laws

CURVES = [([0.5, 2, 0.1, 1], 2), ([1, 0.2], 1)]
RULES = {
    name: policy(name, **({"curves": CURVES} if name == "age-curve" else {})) for name in POLICIES
}
RULES["match-probability-at-arrival"] = policy("match-probability", refresh="arrival")
RULES["gain-and-loss-subtract"] = policy("gain-and-loss", how="subtract")
EXPECTATIONS = [last_window(), retained(), decayed(3), known({0: 2, 1: 1}, {0: 1, 2: 5})]

each_kind = pytest.mark.parametrize("kind", ["time", "count"])
each_order = pytest.mark.parametrize("order", ["join-first", "evict-first"])


def random_rows(dice):
    keys = dice.choice([[0, 1], [0, 1, 2, 3], [0, 1, 2, None, float("nan")], list(range(12))])
    times = range(-3, dice.choice([4, 12, 30]))
    return [
        Row(dice.choice(times), dice.choice(keys), dice.choice([1.0, 2.5]))
        for _ in range(dice.randrange(25))
    ]


def random_windows(dice, kind, unbounded=True):
    sizes = [1, 2, 3, 5, 9, 40] + [0] * (kind == "time") + [None] * unbounded
    size = dice.choice(sizes)
    return dice.choice([(size, size), (size, dice.choice(sizes))])


@each_kind
@each_order
def test_without_a_budget_the_join_is_exact(kind, order):
    dice = random.Random(f"{kind} {order}")
    for _ in range(600):
        left, right = random_rows(dice), random_rows(dice)
        options = {"windows": random_windows(dice, kind), "kind": kind, "order": order}
        free = simulate(left, right, **options)
        assert sorted(free.pairs) == exact_pairs(left, right, options["windows"], kind)
        assert free.shed == []
        assert free.lost == 0
        assert simulate(left, right, memory=100, policy=RULES["random"], **options) == free


@each_kind
@each_order
@pytest.mark.parametrize("name", RULES)
def test_laws(kind, order, name):
    dice = random.Random(f"{kind} {order} {name}")
    needs_life = name == "remaining-matches" or name.startswith("gain-and-loss")
    for _ in range(60):
        left, right, memory = random_rows(dice), random_rows(dice), dice.randrange(9)
        windows = random_windows(dice, kind, unbounded=not needs_life)
        split = dice.choice(["half", "shared", (memory // 3, memory - memory // 3)])
        outcome = simulate(
            left,
            right,
            windows=windows,
            kind=kind,
            memory=memory,
            split=split,
            order=order,
            policy=RULES[name],
            expectation=dice.choice(EXPECTATIONS),
            seed=dice.randrange(9),
        )
        exact = exact_pairs(left, right, windows, kind)
        assert len(set(outcome.pairs)) == len(outcome.pairs)
        assert set(outcome.pairs) <= set(exact)
        assert len(outcome.pairs) + outcome.lost == len(exact)

        half = (memory // 2, memory - memory // 2)
        places = {"half": half, "shared": (memory, memory)}.get(split, split)
        assert len(outcome.held) == len({row.time for row in left + right})
        for held in outcome.held:
            assert sum(held) <= memory
            assert held[0] <= places[0]
            assert held[1] <= places[1]

        gone = outcome.shed + outcome.expired
        assert len(set(gone)) == len(gone)
        still_held = outcome.held[-1] if outcome.held else (0, 0)
        for stream, rows in enumerate((left, right)):
            left_it = sum(one == stream for one, _ in gone)
            assert left_it + still_held[stream] + outcome.unmatchable[stream] == len(rows)
