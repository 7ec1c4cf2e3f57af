"""Ojewole et al., figure 8: importance of the result over the lifetime of a row."""

from penstock.lab.claims import judged
from penstock.lab.contest import (
    ESTIMATORS,
    NOTES,
    PRINTED,
    attempt,
    importance_setting,
    in_order,
    ranked,
    ranking,
    standings,
)
from penstock.lab.experiments.base import (
    OJEWOLE,
    About,
    contest_over,
    contest_panels,
    grid_of,
    line,
)
from penstock.lab.record import Claim, Panel, Record
from penstock.lab.sweep import Found, Outcome, Sweep

WINDOWS = (200, 400, 600, 800)
MEMORY = 200
FIGURE = "Ojewole et al. 5.2.1, figure 8"

ABOUT = About(
    name="row-lifetime",
    paper=f"{OJEWOLE}, section 5.2.1, figure 8",
    title="Importance over the lifetime of a row",
    question="Which policy makes the most valuable result on 200 rows as windows grow?",
)


def value(outcome: Outcome) -> float:
    """Return the importance of the result in thousands."""
    return outcome.value / 1000


def importance_over_lifetime(sweep: Sweep) -> Record:
    """Measure the importance of the result over the window, on a memory of 200 rows.

    Matches count from step 1,600 on for every window, twice the largest, so that what is
    counted is the same for all.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 5.2.1, figure 8.
    """
    settings = {window: importance_setting(window, warmup=2 * max(WINDOWS)) for window in WINDOWS}
    curves = contest_over(WINDOWS, lambda window: (window, MEMORY))
    found = sweep(grid_of(settings, *curves.values()))
    exact = [
        [each.exact_value / 1000 for each in found.of(w, attempt("random", MEMORY, "window"))]
        for w in WINDOWS
    ]
    frame = Panel(
        "",
        "window (steps)",
        "importance of the result (thousands)",
        (line("exact", WINDOWS, exact, band=False),),
    )
    return ABOUT.record(
        sweep,
        workload="5,600 steps, Zipf 1 and uniform keys over 100 values, M = 200",
        panels=contest_panels(found, curves, frame, value),
        claims=_claims(found),
        notes=NOTES,
    )


def _claims(found: Found) -> list[Claim]:
    made = {
        estimator: {w: standings(found, w, MEMORY, estimator, value) for w in WINDOWS}
        for estimator in ESTIMATORS
    }
    by_window = made["window"]
    lot = [by_window[w]["RAND"] for w in WINDOWS]
    growth = {name: by_window[800][name] / by_window[200][name] for name in PRINTED}
    orders = {
        label: {tuple(in_order(made[estimator][w])) for w in WINDOWS}
        for estimator, label in ESTIMATORS.items()
    }
    return [
        *(ranked(FIGURE, e, standings(found, 400, MEMORY, e)) for e in ESTIMATORS),
        judged(
            FIGURE,
            "The relative efficacy is unaffected by the lifetime.",
            "Which neighbours of the printed ranking are in order changes over the windows: "
            + "; ".join(f"{label} {'no' if len(o) == 1 else 'yes'}" for label, o in orders.items())
            + ".",
            *(len(order) == 1 for order in orders.values()),
        ),
        judged(
            FIGURE,
            "RAND is constant over the lifetime and the poorest of all.",
            f"Its importance varies by a factor of {max(lot) / min(lot):.2f} (constant: 1.1).",
            max(lot) / min(lot) <= 1.1,
            all(min(by_window[w], key=by_window[w].__getitem__) == "RAND" for w in WINDOWS),
        ),
        judged(
            FIGURE,
            "SIMP improves little as rows live longer, DGL the most.",
            "From w=200 to 800, by the last window, importance grows by a factor of "
            + ranking(growth)
            + " (little: up to 1.5).",
            growth["SIMP"] <= 1.5,
            growth["DGL"] >= max(growth.values()),
        ),
    ]
