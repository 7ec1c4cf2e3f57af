"""Das et al., figures 7 and 8: matches over memory, for two sizes of the window."""

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
from penstock.policies import MatchProbability, RandomDrop, RemainingMatches

WINDOWS = (400, 800)
LONGER = 56_000  # steps, ten times the paper's
SHARES = (0.1, 0.25, 0.5, 1.0, 1.5)  # of the window, as in the paper
POLICIES = (RandomDrop(), RemainingMatches(), MatchProbability())
FIGURES = "Das et al. 5.2.1, figures 7 and 8"

ABOUT = About(
    name="window-size",
    paper=f"{DAS}, section 5.2.1, figures 7 and 8",
    title="Matches over memory, windows of 400 and 800",
    question="How many matches does each policy make on how much memory, and does the size of "
    "the window matter?",
)


def matches_over_memory(sweep: Sweep) -> Record:
    """Measure recall over memory for windows of 400 and 800 steps.

    Two uncorrelated Zipf 1 streams over 50 values; memory is half and half; `PROB` and
    `LIFE` know the frequencies of the whole input, as in the paper.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2.1, figures 7 and 8.
    """
    settings = {window: zipf(window) for window in WINDOWS} | {LONGER: zipf(steps=LONGER)}
    curves = {window: _curves(window) for window in WINDOWS}
    enough = {window: Try(RandomDrop(), 2 * window - 2) for window in WINDOWS}
    bound: Curves = {str(window): {1.0: (window, attempt)} for window, attempt in enough.items()}
    longer: Curves = {policy.name: {1.0: (LONGER, Try(policy, WINDOWS[0]))} for policy in POLICIES}
    found = sweep(grid_of(settings, *curves.values(), bound, longer))
    panels = [
        Panel(
            f"Window of {window} steps",
            "memory (rows)",
            "share of the exact matches",
            (exact_line([share * window for share in SHARES]), *lines(found, curves[window])),
        )
        for window in WINDOWS
    ]
    exact = min(found.mean(window, attempt) for window, attempt in enough.items())
    return ABOUT.record(
        sweep,
        workload="5,600 steps, two uncorrelated Zipf 1 streams over 50 values",
        panels=panels,
        claims=_claims(found, exact),
        notes=(NO_OPTIMUM,),
    )


def _curves(window: int) -> Curves:
    memories = [round(share * window) for share in SHARES]
    return {
        policy.name: {memory: (window, Try(policy, memory)) for memory in memories}
        for policy in POLICIES
    }


def _claims(found: Found, exact: float) -> list[Claim]:
    def recall(policy: object, share: float, window: int = 400) -> float:
        memory = round(share * window)
        return found.mean(window, Try(policy, memory))  # type: ignore[arg-type]

    lot, life, prob = POLICIES
    apart = max(
        abs(recall(policy, share) - recall(policy, share, 800))
        for policy in POLICIES
        for share in SHARES
    )
    length = max(
        abs(found.mean(LONGER, Try(policy, 400)) - recall(policy, 1.0)) for policy in POLICIES
    )
    off = max(abs(recall(lot, share, window) - share / 2) for share in SHARES for window in WINDOWS)
    prob_lot = min(recall(prob, share) / recall(lot, share) for share in SHARES[:-1])
    prob_life = recall(prob, 1.0) / recall(life, 1.0)
    life_lot = recall(life, 1.0) / recall(lot, 1.0)
    return [
        judged(
            FIGURES,
            "The behaviour of the algorithms is similar for both window sizes.",
            f"No recall differs by more than {apart:.3f} between w=400 and w=800.",
            apart <= 0.05,
        ),
        judged(
            FIGURES,
            "The matches of RAND grow linearly with memory.",
            f"Its recall is M/2w to within {off:.3f} at every memory.",
            off <= 0.02,
        ),
        judged(
            FIGURES,
            "PROB by far outperforms RAND and LIFE.",
            f"Up to M=w PROB makes at least {prob_lot:.2f} times the matches of RAND; at M=w it "
            f"makes {prob_life:.2f} times those of LIFE (by far: 1.25).",
            prob_lot >= 1.25,
            prob_life >= 1.25,
        ),
        judged(
            "Das et al. 5.2.2 on figures 7 and 8",
            "LIFE does only marginally better than RAND.",
            f"At M=w LIFE makes {life_lot:.2f} times the matches of RAND (marginally: up to 1.1).",
            life_lot <= 1.1,
        ),
        judged(
            "Das et al. 5.2.1, footnote 1",
            "M = 2w - 2 is enough for the exact result.",
            f"There the recall is {exact:.4f}.",
            exact == 1.0,
        ),
        judged(
            "Das et al. 5.2",
            "A larger input does not affect the conclusions.",
            f"On {LONGER:,} steps recall at M=w=400 differs by at most {length:.3f} (0.03).",
            length <= 0.03,
        ),
        without_the_optimum(FIGURES, "PROB is very close to OPT."),
    ]
