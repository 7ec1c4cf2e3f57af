"""Das et al., figure 9: matches over memory where all keys are as frequent as each other."""

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

WINDOW = 400
MEMORIES = (40, 100, 200, 400, 600)
KNOWING = (RandomDrop(), RemainingMatches(), MatchProbability())
FIGURE = "Das et al. 5.2.2, figure 9"

ABOUT = About(
    name="uniform",
    paper=f"{DAS}, section 5.2.2, figure 9",
    title="Matches over memory, uniform keys",
    question="Is there anything to be gained when all keys are equally frequent?",
)


def matches_of_uniform_keys(sweep: Sweep) -> Record:
    """Measure recall over memory on two uniform streams over 50 values.

    Beside the paper's curves, which read frequencies off the whole input, stands a policy
    that counts only what has passed: what it says of online algorithms is about that one.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2.2, figure 9.
    """
    curves: Curves = {
        policy.name: {memory: ("uniform", Try(policy, memory)) for memory in MEMORIES}
        for policy in KNOWING
    } | {
        "match-probability, learned": {
            memory: ("uniform", _learning(memory)) for memory in MEMORIES
        }
    }
    found = sweep(grid_of({"uniform": zipf(WINDOW, skews=(0.0, 0.0))}, curves))
    panel = Panel(
        "Window of 400 steps, uniform keys",
        "memory (rows)",
        "share of the exact matches",
        (exact_line(MEMORIES), *lines(found, curves)),
    )
    return ABOUT.record(
        sweep,
        workload="5,600 steps, two uniform streams over 50 values",
        panels=(panel,),
        claims=_claims(found),
        notes=(NO_OPTIMUM, "Learned frequencies are those of the current and the last window."),
    )


def _learning(memory: int) -> Try:
    return Try(MatchProbability(), memory, frequencies="window")


def _claims(found: Found) -> list[Claim]:
    def recall(attempt: Try) -> float:
        return found.mean("uniform", attempt)

    def lot(memory: int = WINDOW) -> float:
        return recall(Try(RandomDrop(), memory))

    known = recall(Try(MatchProbability(), WINDOW)) / lot()
    learned = max(abs(recall(_learning(memory)) - lot(memory)) for memory in MEMORIES)
    life = recall(Try(RemainingMatches(), WINDOW)) / lot()
    return [
        judged(
            FIGURE,
            "All online algorithms make about the same number of matches as RAND.",
            f"At M=w PROB makes {known:.3f} times the matches of RAND with frequencies read off "
            f"the whole input, the future included (the same: up to 1.05); with learned ones its "
            f"recall is within {learned:.3f} of RAND's at every memory (the same: 0.02).",
            known <= 1.05,
            learned <= 0.02,
        ),
        judged(
            FIGURE,
            "LIFE does only marginally better than RAND.",
            f"At M=w LIFE makes {life:.3f} times the matches of RAND (marginally: up to 1.1).",
            0.99 <= life <= 1.1,
        ),
        without_the_optimum(
            FIGURE, "Even knowing the future (OPT) does not result in a major improvement."
        ),
    ]
