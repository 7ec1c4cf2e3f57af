"""Time lines short enough to work by hand: letters are keys, and what leaves is told in letters."""

from typing import NamedTuple

from penstock.arrivals.expectation import LastWindow
from penstock.engine.plan import Plan, Side
from penstock.engine.state import start
from penstock.engine.step import step
from reference import Row
from running import AGES, SCHEMA, query_of, table_of


class Played(NamedTuple):
    shed: str  # letters in the order in which they left, those of the right stream in capitals
    made: str  # the key of each match, in the order of time
    health: object


def line(text, worth=None):
    """A row per letter, a letter per time; "." is no row, digits in `worth` are importance."""
    worth = worth or "1" * len(text)
    return [
        Row(time, ord(key), float(number))
        for time, (key, number) in enumerate(zip(text, worth, strict=True))
        if key != "."
    ]


def at_once(text, worth=None, time=0):
    """All letters at one time."""
    return [row._replace(time=time) for row in line(text, worth)]


def play(
    left,
    right,
    policy,
    *,
    within=(9, 9),
    kind="time",
    memory=1,
    split=(1, 0),
    order="join-first",
    combine="min",
    **more,
):
    """Play two lines; one place on the left and none on the right unless stated."""
    query = query_of(within, kind, memory, split, order, combine)
    settings = {"expectation": LastWindow(), "ages": AGES, "seed": 0, **more}
    plan = Plan(query, [SCHEMA] * 2, policy, side=Side(ghosts=100.0, shed_rows=True), **settings)
    state, shed, made = start(plan), "", ""
    for time in sorted({row.time for row in left + right}):
        sides = [table_of([r for r in side if r.time == time]) for side in (left, right)]
        out = step(state, sides, last=True)
        state = out.state
        shed += "".join(map(chr, out.shed[0]["key"].to_pylist()))
        shed += "".join(map(chr, out.shed[1]["key"].to_pylist())).upper()
        made += "".join(sorted(map(chr, out.matches["key"].to_pylist())))
    return Played(shed, made, state.health())
