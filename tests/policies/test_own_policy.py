"""A policy of one's own: refused where it cannot run, compiled anew when it changes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from penstock.compiled import compiled, fingerprint_of
from penstock.errors import InvalidQuery
from penstock.policies.base import Policy
from running import plan_of, query_of


@compiled
def by_importance(held, settings):
    return held.importance


def made_of(function, numbers=(0.0,)):
    @dataclass(frozen=True)
    class Mine(Policy):
        name: ClassVar[str] = "mine"
        rank = staticmethod(function)
        settings = numbers

    return Mine()


def ranks_by(sign):
    """A rank that calls another function, which differs from call to call of this one."""

    @compiled
    def turned(number):
        return sign * number

    @compiled
    def rank(held, settings):
        return turned(held.importance)

    return rank


def test_functions_differ_by_what_they_call():
    assert fingerprint_of(ranks_by(1.0)) != fingerprint_of(ranks_by(-1.0))
    assert fingerprint_of(ranks_by(1.0)) == fingerprint_of(ranks_by(1.0))


def test_functions_differ_by_the_globals_they_read():
    source = "def rank(held, settings):\n    return SIGN * held.importance\n"
    kinds = []
    for sign in (1.0, -1.0):
        scope = {"SIGN": sign}
        exec(source, scope)
        kinds.append(fingerprint_of(scope["rank"]))
    assert kinds[0] != kinds[1]


def test_functions_differ_by_every_number_of_a_table_they_read():
    def reads(table):
        return lambda held, settings: table[held.age]

    one, other = np.zeros(5000), np.zeros(5000)
    other[2500] = 1.0  # where the words for a long table leave numbers out
    for wrapped in (lambda table: table, lambda table: (1.0, table)):
        assert fingerprint_of(reads(wrapped(one))) != fingerprint_of(reads(wrapped(other)))
        assert fingerprint_of(reads(wrapped(one))) == fingerprint_of(reads(wrapped(one.copy())))


def test_plans_of_two_rules_of_one_name_do_not_share_states():
    query = query_of((5, 5), memory=4)
    one, other = (plan_of(query, made_of(ranks_by(sign))) for sign in (1.0, -1.0))
    assert one.fingerprint != other.fingerprint


def test_a_rank_that_cannot_be_compiled_is_refused():
    def by_name(held, settings):
        return {"importance": held.importance}[str(settings)]

    with pytest.raises(InvalidQuery, match="mark it @compiled, let it take"):
        plan_of(query_of((5, 5), memory=4), made_of(by_name))


def test_more_settings_than_a_rank_reads_are_refused():
    with pytest.raises(InvalidQuery, match="5 settings, and a rank reads 4 at most"):
        plan_of(query_of((5, 5), memory=4), made_of(by_importance, (1.0,) * 5))
