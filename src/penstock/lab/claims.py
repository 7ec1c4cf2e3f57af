"""What a paper says, judged by numbers."""

from penstock.lab.record import Claim


def judged(where: str, says: str, ours: str, *checks: bool) -> Claim:
    """Return a claim with the verdict that its checks give.

    All of them hold: reproduced.  None does: refuted.  Else partly.

    Parameters
    ----------
    where, says, ours
        As in `Claim`.
    checks
        What would have to be true of the measured numbers, threshold included.

    Examples
    --------
    >>> judged("Someone 1.2", "It doubles.", "It grows 1.9-fold.", 1.9 > 1.8).verdict
    'reproduced'
    >>> judged("Someone 1.2", "It doubles, always.", "1.9, 1.1.", 1.9 > 1.8, 1.1 > 1.8).verdict
    'partly'
    """
    if not checks:
        raise ValueError("checks: none given; a verdict needs at least one.")
    held = sum(map(bool, checks))
    verdict = "reproduced" if held == len(checks) else "partly" if held else "refuted"
    return Claim(where, says, ours, verdict)  # type: ignore[arg-type]


def against_the_optimum(
    where: str, says: str, ours: str, *, at_least: float, measured: float
) -> Claim:
    """Judge a claim about a share of the optimum by the share of the exact result.

    The optimum is never more than the exact result, so a share of the exact one bounds
    the share of the optimum from below.  Where the bound falls short nothing follows.
    """
    if measured >= at_least:
        return Claim(where, says, ours, "reproduced")
    return Claim(where, says, f"{ours} The optimum itself is not computed here.", "not comparable")


def without_the_optimum(where: str, says: str) -> Claim:
    """Return a claim that only the optimum, which is not computed here, could judge."""
    return Claim(where, says, "The optimum is not computed here.", "not comparable")
