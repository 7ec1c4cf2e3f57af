"""How large the benches are, and what is asked of the engine."""

from dataclasses import dataclass

from penstock.lab.bench.steady import Way

EXACT = Way()


@dataclass(frozen=True)
class Sizes:
    """How many rows, keys and repetitions each bench takes.

    Attributes
    ----------
    batch
        Rows of a batch, of both sides together.
    batches, rounds
        A measurement is a median over rounds of so many batches.
    keys, window
        Of the benches of throughput: different keys, and rows of both sides in a full window.
    hot_keys, hot_batches
        Keys of the bench whose rows have many partners, and batches of one of its rounds.
    retained
        Rows of both sides that are held, in the bench of flatness.
    weighed
        Rows of both sides that are held, in the bench of memory.
    trace
        Rows of both sides that are joined side by side with others.
    """

    batch: int = 1 << 14
    batches: int = 10
    rounds: int = 5
    keys: int = 10**6
    window: int = 2 * 10**5
    hot_keys: int = 1000
    hot_batches: int = 2
    retained: tuple[int, ...] = (10**4, 10**5, 10**6, 4 * 10**6)
    weighed: int = 10**6
    trace: int = 5 * 10**5


FULL = Sizes()
QUICK = Sizes(
    batches=4, rounds=3, retained=(10**4, 10**5, 4 * 10**5), weighed=2 * 10**5, trace=2 * 10**5
)

SHEDDING = tuple(
    Way(policy, share)
    for policy in ("match-probability", "random", "recent")
    for share in (0.5, 0.1)
)
ON_HALF = (EXACT, Way("random", 0.5), Way("match-probability", 0.5))
# One policy for each thing that is kept beside a row: nothing but its place in the queue, counters
# of keys, age cursors, an importance.  One whose ranks add up over instants of one row each takes
# minutes to get there.
FAMILIES = (
    EXACT,
    *(Way(policy, 0.5) for policy in ("random", "match-probability", "age-curve", "importance")),
)


@dataclass(frozen=True)
class Target:
    """What a figure should be."""

    limit: float
    at_least: bool
    said: str

    def met(self, figure: float) -> bool:
        """Say whether a figure is as it should be."""
        return figure >= self.limit if self.at_least else figure <= self.limit

    def verdict(self, figure: float) -> str:
        """Return what stands beside a figure."""
        return "met" if self.met(figure) else "missed"


ROWS = Target(1e6, True, "at least 1 M rows/s")
MATCHES = Target(1e7, True, "at least 10 M matches/s")
FLAT = Target(1.3, False, "at most 1.30 times the time of the smallest")
BYTES = Target(150.0, False, "at most 150 bytes")
