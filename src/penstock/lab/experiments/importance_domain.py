"""Ojewole et al., figure 10: importance of the result over the number of keys."""

import itertools

from penstock.lab.claims import judged, without_the_optimum
from penstock.lab.contest import (
    ESTIMATORS,
    NOTES,
    attempt,
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
from penstock.lab.sweep import Found, Outcome, Sweep, value_recall

DOMAINS = (50, 100, 200, 500, 1000)
MEMORY = 200
FIGURE = "Ojewole et al. 5.2.3, figure 10"

ABOUT = About(
    name="importance-domain",
    paper=f"{OJEWOLE}, section 5.2.3, figure 10",
    title="Importance over the number of keys",
    question="How does the number of keys change what the policies make?",
)


def importance_over_domain(sweep: Sweep) -> Record:
    """Measure the share of the exact importance over the domain size, M = 200 and w = 400.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 5.2.3, figure 10.
    """
    curves = contest_over(DOMAINS, lambda domain: (domain, MEMORY))
    settings = {domain: importance_setting(domain=domain) for domain in DOMAINS}
    found = sweep(grid_of(settings, *curves.values()))
    frame = Panel(
        "", "keys", "share of the exact importance", (exact_line(DOMAINS),), x_scale="log"
    )
    return ABOUT.record(
        sweep,
        workload="5,600 steps, Zipf 1 and uniform keys, window 400, M = 200",
        panels=contest_panels(found, curves, frame, value_recall),
        claims=_claims(found),
        notes=NOTES,
    )


def exact_value(outcome: Outcome) -> float:
    """Return the importance of the exact result."""
    return outcome.exact_value


def _claims(found: Found) -> list[Claim]:
    any_attempt = attempt("random", MEMORY, "window")
    exact = [found.mean(domain, any_attempt, exact_value) for domain in DOMAINS]
    made = {
        estimator: [standings(found, domain, MEMORY, estimator) for domain in DOMAINS]
        for estimator in ESTIMATORS
    }
    window = made["window"]
    online = ("DGL", "DIMPPROB", "SIMPPROB", "PROB")
    falls = {name: window[0][name] - window[-1][name] for name in online}
    return [
        *(ranked(FIGURE, estimator, made[estimator][2]) for estimator in ESTIMATORS),
        judged(
            FIGURE,
            "The importance of the result varies inversely with the domain.",
            "The exact importance from 50 to 1,000 keys: "
            + " ".join(f"{value:,.0f}" for value in exact)
            + ".",
            all(more > less for more, less in itertools.pairwise(exact)),
        ),
        judged(
            FIGURE,
            "The online algorithms perform worse relative to EXACT as the domain grows.",
            "From 50 to 1,000 keys, by the last window, their share of the exact importance "
            "changes by "
            + ", ".join(f"{-fall:+.3f} ({name})" for name, fall in falls.items())
            + ".",
            *(fall > 0 for fall in falls.values()),
        ),
        without_the_optimum(FIGURE, "OPT very quickly converges upon EXACT."),
    ]
