"""Ojewole et al., figure 9: importance of the result over memory."""

from collections.abc import Mapping

from penstock.lab.claims import judged
from penstock.lab.contest import (
    ESTIMATORS,
    NOTES,
    importance_setting,
    ranked,
    standings,
)
from penstock.lab.experiments.base import (
    OJEWOLE,
    About,
    contest_over,
    contest_panels,
    exact_line,
    grid_of,
)
from penstock.lab.record import Claim, Panel, Record
from penstock.lab.sweep import Found, Frequencies, Sweep, value_recall

MEMORIES = (100, 200, 400, 600, 800)
WINDOW = 400
FIGURE = "Ojewole et al. 5.2.2, figure 9"
LEADS = {"DIMPPROB": 0.032, "SIMPPROB": 0.206, "PROB": 0.476, "SIMP": 0.529, "RAND": 0.778}

ABOUT = About(
    name="importance-memory",
    paper=f"{OJEWOLE}, section 5.2.2, figure 9",
    title="Importance over memory",
    question="Which policy makes the most valuable result on how much memory?",
)


def importance_over_memory(sweep: Sweep) -> Record:
    """Measure the share of the exact importance over memory, window 400.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 5.2.2, figure 9.
    """
    curves = contest_over(MEMORIES, lambda memory: (WINDOW, memory))
    found = sweep(grid_of({WINDOW: importance_setting(WINDOW)}, *curves.values()))
    frame = Panel("", "memory (rows)", "share of the exact importance", (exact_line(MEMORIES),))
    return ABOUT.record(
        sweep,
        workload="5,600 steps, Zipf 1 and uniform keys over 100 values, window 400",
        panels=contest_panels(found, curves, frame, value_recall),
        claims=_claims(found),
        notes=NOTES,
    )


def _claims(found: Found) -> list[Claim]:
    least = {estimator: standings(found, WINDOW, 100, estimator) for estimator in ESTIMATORS}
    window = {memory: standings(found, WINDOW, memory, "window") for memory in MEMORIES}
    off = max(abs(window[m]["RAND"] - m / (2 * WINDOW)) for m in MEMORIES)
    behind = {m: window[m]["SIMPPROB"] - window[m]["SIMP"] for m in (100, 600)}
    return [
        *(ranked(FIGURE, estimator, least[estimator]) for estimator in ESTIMATORS),
        _best(least),
        *(_lead(label, least[estimator]) for estimator, label in ESTIMATORS.items()),
        judged(
            FIGURE,
            "RAND scales linearly with memory.",
            f"Its share of the exact importance is M/2w to within {off:.3f} (within 0.03).",
            off <= 0.03,
        ),
        judged(
            FIGURE,
            "SIMP performs well only when memory is close to the exact amount.",
            f"By the last window it is {behind[100]:.3f} behind SIMPPROB at M=100 and "
            f"{behind[600]:.3f} at M=600.",
            behind[100] > 0.1,
            behind[600] < behind[100],
        ),
    ]


def _best(made: Mapping[Frequencies, Mapping[str, float]]) -> Claim:
    best = {e: max(made[e], key=made[e].__getitem__) for e in ESTIMATORS}
    return judged(
        FIGURE,
        "DGL produces the best approximations.",
        "At M=100 the best is "
        + ", ".join(f"{best[e]} ({label})" for e, label in ESTIMATORS.items())
        + "; the experiment importance-law shows under which laws it is DGL.",
        *(name == "DGL" for name in best.values()),
    )


def _lead(label: str, made: dict[str, float]) -> Claim:
    leads = {name: made["DGL"] / made[name] - 1 for name in LEADS}
    return judged(
        FIGURE,
        "At M=100 DGL is ahead of "
        + ", ".join(f"{name} by {lead:.1%}" for name, lead in LEADS.items())
        + ".",
        f"Matches counted from the {label}: "
        + ", ".join(f"{name} {lead:+.1%}" for name, lead in leads.items())
        + " (ahead at all is what is asked).",
        *(lead > 0 for lead in leads.values()),
    )
