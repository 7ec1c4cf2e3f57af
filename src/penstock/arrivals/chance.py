"""Numbers drawn from a seed and a row's place in the sequence: a replay draws them again."""

import numpy as np

from penstock.compiled import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_R30, _R27, _R31, _R11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)

POLICY, GHOST = 0, 1  # lanes: what is drawn for one purpose says nothing about another


@compiled
def splitmix(x: np.uint64) -> np.uint64:
    """Return the next output of the splitmix64 generator: a bijection that spreads its bits."""
    x = x + _GOLDEN
    x = (x ^ (x >> _R30)) * _FIRST
    x = (x ^ (x >> _R27)) * _SECOND
    return x ^ (x >> _R31)


@compiled
def luck(stream_of_luck: np.uint64, turn: int) -> float:
    """Return the number in [0, 1) of the row with this turn."""
    return float(splitmix(stream_of_luck ^ np.uint64(turn)) >> _R11) * 2.0**-53


def lane(seed: int, purpose: int) -> np.uint64:
    """Return where the numbers of one purpose start.

    >>> with np.errstate(over="ignore"):
    ...     round(luck(lane(0, POLICY), 0), 6), round(luck(lane(0, GHOST), 0), 6)
    (0.138709, 0.580359)
    """
    with np.errstate(over="ignore"):
        start = splitmix(np.uint64(seed % 2**64)) + np.uint64(purpose)
        return np.uint64(splitmix(np.uint64(start)))
