"""Workloads: pairs of streams to run a join on, generated or real."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from penstock.lab.workloads.ages import age_curve, aged_pair
from penstock.lab.workloads.base import Workload
from penstock.lab.workloads.flights import aircraft, departures, destinations
from penstock.lab.workloads.importance import ImportanceLaw, importance_pair
from penstock.lab.workloads.wan import wan_pair
from penstock.lab.workloads.weather import weather_pair
from penstock.lab.workloads.zipf import zipf_pair, zipf_shares

WORKLOADS: Mapping[str, Callable[..., Workload]] = MappingProxyType(
    {
        "ages": aged_pair,
        "aircraft": aircraft,
        "destinations": destinations,
        "importance": importance_pair,
        "wan": wan_pair,
        "weather": weather_pair,
        "zipf": zipf_pair,
    }
)

__all__ = [
    "WORKLOADS",
    "ImportanceLaw",
    "Workload",
    "age_curve",
    "aged_pair",
    "aircraft",
    "departures",
    "destinations",
    "importance_pair",
    "wan_pair",
    "weather_pair",
    "zipf_pair",
    "zipf_shares",
]
