"""Keep the rows whose key is frequent on the other stream."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.compiled import compiled
from penstock.policies.base import Held, Need, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.matches)


@dataclass(frozen=True)
class MatchProbability(Policy):
    name: ClassVar[str] = "match-probability"
    paper: ClassVar[str] = "PROB"
    rank = staticmethod(_rank)
    needs: ClassVar[frozenset[Need]] = frozenset({"matches"})
    changes = "rising"
