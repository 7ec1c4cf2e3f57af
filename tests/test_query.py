"""What the user states is checked when it is stated, and refused in one clear sentence."""

import datetime

import numpy as np
import pytest

from penstock.errors import InfeasibleBudget, InvalidQuery, PenstockError
from penstock.query import Budget, JoinQuery, Window, both, microseconds, pairs_of

HOUR = 3_600_000_000


def query(**stated):
    settings = {"on": (("k", "k"),), "time": ("t", "t"), "windows": (Window.of(1), Window.of(1))}
    return JoinQuery(**{**settings, **stated})


@pytest.mark.parametrize(
    ("words", "length"),
    [
        ("1 hour", HOUR),
        ("90s", 90_000_000),
        ("1.5 h", 3 * HOUR // 2),
        ("1 day 12 hours", 36 * HOUR),
        ("1 day, 12 hours", 36 * HOUR),
        ("2 Weeks", 14 * 24 * HOUR),
        ("250 ms", 250_000),
        ("7us", 7),
        ("0 s", 0),
    ],
)
def test_a_duration_is_read_in_words(words, length):
    assert microseconds(words) == length
    assert Window.of(words) == Window("time", length, in_words=True)


@pytest.mark.parametrize("words", ["", "5", "hour", "5 parsecs", "1 hour 30", "-5 s", "1e6 s"])
def test_what_is_no_duration_is_refused(words):
    with pytest.raises(InvalidQuery, match="write a number and a unit, as in '10 minutes'"):
        microseconds(words)


def test_a_length_may_be_a_timedelta_or_any_whole_number():
    assert Window.of(datetime.timedelta(hours=1)).length == HOUR
    assert Window.of(np.int64(5)) == Window("time", 5)
    assert Window.of(None).kind == "unbounded"


@pytest.mark.parametrize("length", [5.0, True, [5], object()])
def test_another_length_is_refused(length):
    with pytest.raises(InvalidQuery, match="give a duration such as '1 hour', a timedelta, or"):
        Window.of(length)


@pytest.mark.parametrize("length", [-1, datetime.timedelta(seconds=-1)])
def test_a_negative_window_is_refused(length):
    with pytest.raises(InvalidQuery, match="to look the other way, swap the two lengths"):
        Window.of(length)


@pytest.mark.parametrize("length", [2**61 + 1, 2**64, "4000000 weeks"])
def test_an_endless_window_is_refused(length):
    with pytest.raises(InvalidQuery, match="for no window at all give None"):
        Window.of(length)


def test_a_count_window_holds_a_row():
    with pytest.raises(InvalidQuery, match="must hold at least 1 row"):
        Window("rows", 0)


@pytest.mark.parametrize(
    ("memory", "unit", "amount"),
    [
        (400, "rows", 400),
        ("400", "rows", 400),
        (np.int64(7), "rows", 7),
        ("64MB", "bytes", 64_000_000),
        ("1.5 KiB", "bytes", 1536),
        ("1b", "bytes", 1),
        ("25%", "share", 0.25),
        ("150 %", "share", 1.5),
    ],
)
def test_a_budget_is_rows_or_bytes_or_a_share(memory, unit, amount):
    assert Budget.of(memory) == Budget(unit, amount)


@pytest.mark.parametrize("memory", ["", "a lot", "-5", "5 apples", True, "1e3", "%", [4]])
def test_what_is_no_budget_is_refused(memory):
    with pytest.raises(InvalidQuery, match=r"give rows as a number|use B, KB, MB"):
        Budget.of(memory)


@pytest.mark.parametrize("memory", [0, -3, "0", "0 MB", "0.5"])
def test_a_budget_has_room_for_a_row(memory):
    with pytest.raises(InfeasibleBudget, match="leave memory out for an exact join"):
        Budget.of(memory)


def test_a_share_is_above_nought():
    with pytest.raises(InfeasibleBudget, match="give a percentage above 0"):
        Budget.of("0%")


@pytest.mark.parametrize("memory", [2**62, "99999999999 GB"])
def test_a_budget_beyond_all_machines_is_refused(memory):
    with pytest.raises(InvalidQuery, match="leave memory out for an exact join"):
        Budget.of(memory)


def test_each_half_needs_a_place():
    with pytest.raises(InfeasibleBudget, match="give memory=2 or more, or split='shared'"):
        query(memory=Budget.of(1))
    assert query(memory=Budget.of(1), split="shared").split == "shared"


@pytest.mark.parametrize(
    "split", ["thirds", (1, 2, 3), (0, 0), (-1, 2), (float("nan"), 1), ("a", "b"), (), 5, [3, 1]]
)
def test_another_split_is_refused(split):
    with pytest.raises(InvalidQuery, match=r"two weights"):
        query(split=split)


def test_two_kinds_of_windows_are_refused():
    with pytest.raises(InvalidQuery, match="use one kind"):
        query(windows=(Window.of(1), Window("rows", 1)))


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({"on": ()}, "name at least one key column"),
        ({"combine": "median"}, "use one of max, mean, min, product, sum"),
        ({"combine": ["min"]}, "use one of max, mean, min, product, sum"),
        ({"order": "join-last"}, "use 'join-first'"),
    ],
)
def test_an_unknown_setting_is_refused_with_those_there_are(stated, says):
    with pytest.raises(InvalidQuery, match=says):
        query(**stated)


@pytest.mark.parametrize("on", [5, [5], [("a",)], [("a", "b", "c")], [None], {"a": "b"}, None])
def test_keys_are_names_or_pairs_of_names(on):
    with pytest.raises(InvalidQuery, match=r"a list of \(left, right\) pairs"):
        pairs_of(on)


def test_keys_are_read():
    assert pairs_of("a") == (("a", "a"),)
    assert pairs_of(["a", ("b", "c"), ["d", "e"]]) == (("a", "a"), ("b", "c"), ("d", "e"))


@pytest.mark.parametrize("value", [(), ("a",), ("a", "b", "c")])
def test_a_setting_for_each_side_is_a_pair(value):
    with pytest.raises(InvalidQuery, match=r"a pair \(left, right\)"):
        both(value)


def test_every_refusal_can_be_caught_at_once():
    for wrong in (lambda: Window.of(-1), lambda: Budget.of(0)):
        with pytest.raises(PenstockError):
            wrong()
        with pytest.raises(ValueError, match="="):
            wrong()
