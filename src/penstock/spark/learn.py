"""What history tells of two streams: how often keys come, and at which age matches fall."""

from dataclasses import dataclass

from penstock.arrivals.expectation import Known, KnownAges
from penstock.policies.base import Policy


@dataclass(frozen=True)
class Learned:
    """What was found in the history of two streams, and the policy that is to use it."""

    policy: Policy
    frequencies: Known | None = None
    ages: KnownAges | None = None
