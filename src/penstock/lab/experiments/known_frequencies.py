"""Ojewole et al. 5.2 against Das et al. 5.2: frequencies of the whole input, or learned ones."""

from penstock.lab.claims import judged
from penstock.lab.experiments.base import (
    DAS,
    OJEWOLE,
    About,
    Curves,
    exact_line,
    grid_of,
    lines,
    zipf,
)
from penstock.lab.record import Claim, Panel, Record
from penstock.lab.sweep import Found, Frequencies, Sweep, Try
from penstock.policies import MatchProbability, RandomDrop

MEMORIES = (40, 100, 200, 400, 600)
CASES = ("uncorrelated", "correlated")
_SOURCES: dict[Frequencies, str] = {
    "known": "",
    "window": ", last window",
    "memory": ", rows held",
}

ABOUT = About(
    name="known-frequencies",
    paper=f"{DAS}, section 5.2, and {OJEWOLE}, section 5.2",
    title="Frequencies known beforehand, or learned",
    question="How much of the result of match-probability is owed to knowing the whole input?",
)


def matches_with_learned_frequencies(sweep: Sweep) -> Record:
    """Measure recall over memory with three sources of frequencies.

    Das et al. take them from the whole input. Ojewole et al. object that no online policy
    can have them and estimate "solely from the sliding windows", which may mean all that
    arrived in the last window or what is still held of it.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2.

    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 5.2.
    """
    curves = {case: _curves(case) for case in CASES}
    found = sweep(grid_of({case: zipf(correlation=case) for case in CASES}, *curves.values()))
    panels = [
        Panel(
            f"Zipf 1 streams, {case}, window 400",
            "memory (rows)",
            "share of the exact matches",
            (exact_line(MEMORIES), *lines(found, curves[case])),
        )
        for case in CASES
    ]
    return ABOUT.record(
        sweep,
        workload="5,600 steps, two Zipf 1 streams over 50 values",
        panels=panels,
        claims=_claims(found),
        notes=("The last window stands for the current and the previous stretch of one window.",),
    )


def _curves(case: str) -> Curves:
    lot: Curves = {"random": {memory: (case, Try(RandomDrop(), memory)) for memory in MEMORIES}}
    return {**lot} | {
        f"match-probability{suffix}": {
            memory: (case, Try(MatchProbability(), memory, frequencies=source))
            for memory in MEMORIES
        }
        for source, suffix in _SOURCES.items()
    }


def _claims(found: Found) -> list[Claim]:
    def part(case: str, source: Frequencies) -> float:
        known, learned = (
            found.mean(case, Try(MatchProbability(), 400, frequencies=each))
            for each in ("known", source)
        )
        return learned / known

    window = {case: part(case, "window") for case in CASES}
    held = {case: part(case, "memory") for case in CASES}
    return [
        judged(
            "Ojewole et al. 5.2",
            "No online policy can know the whole input; match probabilities are to be estimated "
            "from the sliding windows alone.",
            "At M=w PROB makes, of the matches it makes with known frequencies, "
            + " and ".join(f"{share:.3f} ({case})" for case, share in window.items())
            + " with those of the last window, "
            + " and ".join(f"{share:.3f} ({case})" for case, share in held.items())
            + " counting only the rows held (good enough: 0.94).",
            *(share >= 0.94 for share in (*window.values(), *held.values())),
        ),
    ]
