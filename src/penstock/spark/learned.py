"""What history tells of two streams: how often keys come, and at which age matches fall."""

from dataclasses import dataclass

from penstock.arrivals.expectation import Known, KnownAges
from penstock.policies.base import Policy


@dataclass(frozen=True)
class Learned:
    """What was found in the history of two streams, and the policy that is to use it.

    `penstock.learn` makes it, `keep=` of `penstock.join` takes it.

    Parameters
    ----------
    policy
        The one that was named.
    frequencies
        How often each key comes in a window; None where the policy does not ask.
    ages
        At which age rows find their matches; None where the policy does not ask.
    """

    policy: Policy
    frequencies: Known | None = None
    ages: KnownAges | None = None

    def __str__(self) -> str:
        """Say what was found."""
        told = [f"{self.policy.name}, learned from history"]
        if self.frequencies is not None:
            left, right = (len(hashes) for hashes in self.frequencies.hashes)
            told.append(f"frequencies of {left:,} keys on the left and {right:,} on the right")
        if self.ages is not None:
            first, second = (sum(curve) for curve in self.ages.curves)
            told.append(
                f"{first:.2f} later matches of a row on the left, {second:.2f} on the right"
            )
        return "; ".join(told)
