"""How each line of a figure looks: the same colour and marker for a policy wherever it appears."""

from collections.abc import Sequence
from typing import NamedTuple

# The colours of Okabe and Ito, which stay apart under every common colour blindness; yellow
# is left out because it vanishes on white.
_BLUE, _ORANGE, _GREEN, _RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
_SKY, _PINK, _GREY, _BLACK = "#56B4E9", "#CC79A7", "#7A7A7A", "#000000"

_REFERENCE = ("exact", "equation 3", "optimal", "half")
# Policies that compete in one figure differ in colour; the others may share one.
_POLICIES = {
    "random": (_GREY, "o"),
    "recent": (_ORANGE, "s"),
    "until-expiry": (_SKY, "^"),
    "age-curve": (_RED, "D"),
    "match-probability": (_BLUE, "o"),
    "remaining-matches": (_GREEN, "v"),
    "importance": (_SKY, "s"),
    "expected-importance": (_ORANGE, "^"),
    "expected-importance-live": (_RED, "v"),
    "gain-and-loss": (_PINK, "D"),
    "weighted": (_GREEN, "P"),
    "adaptive": (_PINK, "P"),
}
_OTHERS = ((_BLUE, "o"), (_ORANGE, "^"), (_GREEN, "v"), (_RED, "D"), (_PINK, "P"), (_SKY, "s"))
_DASHES = ("-", "--", ":", "-.")


class Look(NamedTuple):
    """How one line is drawn."""

    color: str
    marker: str
    dash: str


def looks_of(names: Sequence[str]) -> list[Look]:
    """Return how to draw the lines of one figure.

    A name is that of a policy, perhaps with a variant after a comma; variants of one policy
    share its colour and differ in their dashes.  A line to compare with is black.

    Examples
    --------
    >>> exact, half, shared = looks_of(["exact", "random", "random, shared memory"])
    >>> exact.color, exact.marker, half.color == shared.color, half.dash, shared.dash
    ('#000000', '', True, '-', '--')
    """
    variants = list(dict.fromkeys(_variant(name) for name in names if not _is_reference(name)))
    references = [name for name in names if _is_reference(name)]
    strangers = list(dict.fromkeys(_kind(n) for n in names if _kind(n) not in _POLICIES))
    looks = []
    for name in names:
        if _is_reference(name):
            looks.append(Look(_BLACK, "", _DASHES[1 + references.index(name) % 3]))
            continue
        kind = _kind(name)
        unknown = _OTHERS[strangers.index(kind) % len(_OTHERS)] if kind in strangers else ("", "")
        color, marker = _POLICIES.get(kind, unknown)
        looks.append(Look(color, marker, _DASHES[variants.index(_variant(name)) % len(_DASHES)]))
    return looks


def _is_reference(name: str) -> bool:
    return _kind(name) in _REFERENCE


def _kind(name: str) -> str:
    return name.partition(",")[0].strip()


def _variant(name: str) -> str:
    return name.partition(",")[2].strip()
