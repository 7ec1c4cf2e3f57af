"""Ojewole et al. 5.2: what the ranking of the policies owes to the law of importance."""

from penstock.lab.claims import judged
from penstock.lab.contest import (
    DGL_NOTE,
    ESTIMATOR_NOTE,
    ESTIMATORS,
    importance_setting,
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
from penstock.lab.workloads import ImportanceLaw

CONTRASTS = (3, 10, 30, 100, 300, 1000)
MEMORY = 100
NORMAL = 10.0

ABOUT = About(
    name="importance-law",
    paper=f"{OJEWOLE}, section 5.2",
    title="Importance over its own contrast",
    question="How much more important must the special rows be for the paper's ranking to come "
    "out?",
)


def importance_over_contrast(sweep: Sweep) -> Record:
    """Measure the share of the exact importance over how much special rows stand out.

    The paper says that special rows are rare and important, but not how much.  So one in
    twenty is made 3 to 1,000 times as important as the others, at the least memory of
    figure 9, where the paper's policies are furthest apart.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, sections 5 and 5.2.2.
    """
    settings = {
        contrast: importance_setting(law=ImportanceLaw(NORMAL, NORMAL * contrast))
        for contrast in CONTRASTS
    }
    curves = contest_over(CONTRASTS, lambda contrast: (contrast, MEMORY))
    found = sweep(grid_of(settings, *curves.values()))
    frame = Panel(
        "",
        "importance of a special row, normal = 1",
        "share of the exact importance",
        (exact_line(CONTRASTS),),
        x_scale="log",
    )
    return ABOUT.record(
        sweep,
        workload="5,600 steps, Zipf 1 and uniform keys over 100 values, window 400, M = 100",
        panels=contest_panels(found, curves, frame, value_recall),
        claims=[_claim(found, estimator) for estimator in ESTIMATORS],
        notes=("A match is worth its lesser row.", DGL_NOTE, ESTIMATOR_NOTE),
    )


def _claim(found: Found, estimator: Frequencies) -> Claim:
    best = {}
    for contrast in CONTRASTS:
        made = standings(found, contrast, MEMORY, estimator)
        best[contrast] = max(made, key=made.__getitem__)
    return judged(
        "Ojewole et al. 5.3",
        "The data do not inherently favour a policy; on uncorrelated streams DGL is best.",
        f"Matches counted from the {ESTIMATORS[estimator]}, the best policy where special rows "
        "are so many times as important: "
        + ", ".join(f"{contrast} {name}" for contrast, name in best.items())
        + ".",
        *(name == "DGL" for name in best.values()),
    )
