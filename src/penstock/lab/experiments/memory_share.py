"""Das et al., figures 15 and 16: how two streams divide one memory between them over time."""

import statistics
from collections.abc import Hashable

from penstock.lab.claims import judged
from penstock.lab.experiments.base import DAS, About, line, zipf
from penstock.lab.record import Claim, Panel, Record, Series
from penstock.lab.sweep import Found, Outcome, Setting, Sweep, Try
from penstock.policies import MatchProbability

LOOKS = 56  # one every hundred steps
WARMUP = 800
MEMORIES = (100, 200, 300, 400, 500, 600)
SKEWS = (0.5, 1.0, 1.5, 2.0)
FIGURE_15, FIGURE_16 = "Das et al. 5.2.3, figure 15", "Das et al. 5.2.3, figure 16"

ABOUT = About(
    name="memory-share",
    paper=f"{DAS}, section 5.2.3, figures 15 and 16",
    title="Who gets the memory that both streams share",
    question="How do two streams divide a memory they compete for, and does the more skewed one "
    "get more of it?",
)


def shares_over_time(sweep: Sweep) -> Record:
    """Follow the left stream's share of a memory of 400 rows that both streams share.

    The paper's figures show two pairs of skews at one memory, which it does not name. A
    second panel varies the memory, because which stream is favoured depends on it.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2.3, figures 15 and 16.
    """
    settings = {"alike": zipf()} | {skew: zipf(skews=(skew, 0.0)) for skew in SKEWS}
    at_window = _attempt(400)
    grid: dict[Hashable, tuple[Setting, list[Try]]] = {
        name: (setting, [at_window]) for name, setting in settings.items()
    }
    grid[1.0] = (settings[1.0], [_attempt(memory) for memory in MEMORIES])
    found = sweep(grid)
    over_time = [_over_time(found, "alike", "both Zipf 1")]
    over_time += [_over_time(found, skew, f"Zipf {skew:g} beside uniform") for skew in SKEWS]
    by_memory = [found.all(1.0, _attempt(memory), settled) for memory in MEMORIES]
    panels = (
        Panel("Over time, M = w = 400", "step", "left stream's share", tuple(over_time), y_to=1.0),
        Panel(
            "By memory, Zipf 1 (left) and uniform (right)",
            "memory (rows)",
            "left stream's share",
            (
                Series("half", (MEMORIES[0], MEMORIES[-1]), (0.5, 0.5)),
                line("match-probability, shared memory", MEMORIES, by_memory),
            ),
            y_to=1.0,
        ),
    )
    return ABOUT.record(
        sweep,
        workload="5,600 steps over 50 values, window 400, match-probability on shared memory",
        panels=panels,
        claims=_claims(found),
    )


def _attempt(memory: int) -> Try:
    return Try(MatchProbability(), memory, "shared", looks=LOOKS)


def settled(outcome: Outcome) -> float:
    """Return the mean share of the left stream once the start is over."""
    return statistics.fmean(share for time, share in outcome.shares if time >= WARMUP)


def _over_time(found: Found, name: str | float, label: str) -> Series:
    runs = [outcome.shares for outcome in found.of(name, _attempt(400))]
    times = [time for time, _ in runs[0]]
    shares = [[share for _, share in moment] for moment in zip(*runs, strict=True)]
    return line(label, times, shares, band=False)


def _claims(found: Found) -> list[Claim]:
    def share(name: str | float, memory: int = 400) -> float:
        return found.mean(name, _attempt(memory), settled)

    alike = share("alike")
    by_skew = {skew: share(skew) for skew in SKEWS}
    by_memory = {memory: share(1.0, memory) for memory in MEMORIES}
    most = max(*by_skew.values(), *by_memory.values())
    scarce = by_memory[100]
    return [
        judged(
            FIGURE_15,
            "Two streams of one distribution get about half the memory each.",
            f"The left one holds {alike:.1%} on average (about half: 45 to 55 %).",
            0.45 <= alike <= 0.55,
        ),
        judged(
            FIGURE_16,
            "The stream with the higher skew is allotted more memory.",
            "At M=w the skewed one holds "
            + ", ".join(f"{part:.0%} at Zipf {skew:g}" for skew, part in by_skew.items())
            + f"; at M=w/4 and Zipf 1 it holds {scarce:.0%}: where memory is scarce the less "
            "skewed stream gets more.",
            all(part > 0.5 for part in by_skew.values()),
            scarce > 0.5,
        ),
        judged(
            FIGURE_16,
            "Its share goes up to 85 %.",
            f"The highest mean share we saw is {most:.0%} (80 to 90 %).",
            0.80 <= most <= 0.90,
        ),
    ]
