"""Das et al., figures 17 to 19: matches over memory for few, some and many keys."""

from penstock.lab.claims import judged, without_the_optimum
from penstock.lab.experiments.base import (
    DAS,
    NO_OPTIMUM,
    About,
    Curves,
    exact_line,
    grid_of,
    lines,
    zipf,
)
from penstock.lab.record import Claim, Panel, Record
from penstock.lab.sweep import Found, Sweep, Try
from penstock.policies import MatchProbability, Policy, RandomDrop

DOMAINS = (10, 50, 200)
MEMORIES = (40, 100, 200, 400, 600)
CASES = ("uncorrelated", "correlated")
FIGURES = "Das et al. 5.2.4, figures 17 to 19"

ABOUT = About(
    name="domain-size",
    paper=f"{DAS}, section 5.2.4, figures 17 to 19",
    title="Matches over memory, 10, 50 and 200 keys",
    question="What does it change when the keys are fewer or more?",
)


def matches_over_domain(sweep: Sweep) -> Record:
    """Measure recall over memory for three domain sizes, two Zipf 1 streams.

    Uncorrelated streams draw anew, with each seed, which keys of the one meet which of the
    other, and with ten keys that draw decides more than their number does.  So correlated
    streams stand beside them.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2.4, figures 17, 18 and 19.
    """
    settings = {
        (case, domain): zipf(domain=domain, correlation=case)
        for case in CASES
        for domain in DOMAINS
    }
    curves = {place: _curves(place) for place in settings}
    found = sweep(grid_of(settings, *curves.values()))
    panels = [
        Panel(
            f"{domain} keys, {case}",
            "memory (rows)",
            "share of the exact matches",
            (exact_line(MEMORIES), *lines(found, curves[case, domain])),
        )
        for case, domain in settings
    ]
    return ABOUT.record(
        sweep,
        workload="5,600 steps, two Zipf 1 streams, window 400",
        panels=panels,
        claims=_claims(found),
        notes=(NO_OPTIMUM,),
    )


def _curves(place: tuple[str, int]) -> Curves:
    return {
        policy.name: {memory: (place, Try(policy, memory)) for memory in MEMORIES}
        for policy in (RandomDrop(), MatchProbability())
    }


def _claims(found: Found) -> list[Claim]:
    def mean(policy: Policy, case: str, domain: int) -> float:
        return found.mean((case, domain), Try(policy, 400))

    prob = {case: [mean(MatchProbability(), case, d) for d in DOMAINS] for case in CASES}
    gain = {
        case: [p / mean(RandomDrop(), case, d) for p, d in zip(prob[case], DOMAINS, strict=True)]
        for case in CASES
    }
    return [
        judged(
            FIGURES,
            "A larger domain is less skewed, which brings all algorithms closer to RAND.",
            "PROB over RAND at M=w with 10, 50 and 200 keys: "
            + "; ".join(f"{case} " + " ".join(f"{g:.2f}" for g in gain[case]) for case in CASES)
            + ". PROB's share of the exact matches: "
            + "; ".join(f"{case} " + " ".join(f"{r:.3f}" for r in prob[case]) for case in CASES)
            + ".",
            *(few > some > many for few, some, many in gain.values()),
        ),
        without_the_optimum(
            FIGURES, "As the domain grows, PROB gets worse compared to OPT, and OPT nears EXACT."
        ),
        without_the_optimum(
            "Das et al. 5.2.4, figure 19", "With 200 keys OPT makes the exact result at M = w."
        ),
    ]
