"""The papers' experiments: one question per file, listed here by name."""

import difflib
import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from penstock.errors import InvalidQuery
from penstock.lab.experiments import (
    age_shapes,
    domain_size,
    importance_domain,
    importance_law,
    importance_memory,
    importance_scale,
    importance_skew,
    known_frequencies,
    memory_share,
    network_ages,
    recall_estimate,
    row_lifetime,
    shared_memory,
    skew,
    uniform,
    weather,
    window_size,
)
from penstock.lab.experiments.base import About, Experiment
from penstock.lab.record import Record, made_with
from penstock.lab.sweep import Sweep

_LISTED = (  # by paper, in the order of its figures
    Experiment(window_size.ABOUT, window_size.matches_over_memory),
    Experiment(uniform.ABOUT, uniform.matches_of_uniform_keys),
    Experiment(skew.ABOUT, skew.matches_over_skew),
    Experiment(weather.ABOUT, weather.matches_of_weather),
    Experiment(shared_memory.ABOUT, shared_memory.matches_of_shared_memory),
    Experiment(memory_share.ABOUT, memory_share.shares_over_time),
    Experiment(domain_size.ABOUT, domain_size.matches_over_domain),
    Experiment(known_frequencies.ABOUT, known_frequencies.matches_with_learned_frequencies),
    Experiment(row_lifetime.ABOUT, row_lifetime.importance_over_lifetime),
    Experiment(importance_memory.ABOUT, importance_memory.importance_over_memory),
    Experiment(importance_domain.ABOUT, importance_domain.importance_over_domain),
    Experiment(importance_skew.ABOUT, importance_skew.importance_over_skew),
    Experiment(importance_scale.ABOUT, importance_scale.importance_at_scale),
    Experiment(importance_law.ABOUT, importance_law.importance_over_contrast),
    Experiment(network_ages.ABOUT, network_ages.matches_of_late_partners),
    Experiment(age_shapes.ABOUT, age_shapes.matches_over_shape),
    Experiment(recall_estimate.ABOUT, recall_estimate.error_and_coverage),
)
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {experiment.about.name: experiment for experiment in _LISTED}
)

__all__ = ["EXPERIMENTS", "About", "Experiment", "by_name", "perform"]


def by_name(name: str) -> Experiment:
    """Return the experiment of a name.

    >>> by_name("skew").about.paper
    'Das, Gehrke, Riedewald (SIGMOD 2003), section 5.2.2, figures 10 and 11'
    """
    wanted = name.strip().lower().replace("_", "-")
    if wanted in EXPERIMENTS:
        return EXPERIMENTS[wanted]
    close = difflib.get_close_matches(wanted, EXPERIMENTS, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else "."
    raise InvalidQuery(
        f"experiment={name!r}: no such experiment{meant} Known: {', '.join(sorted(EXPERIMENTS))}."
    )


def perform(experiment: Experiment, sweep: Sweep) -> Record:
    """Run an experiment, and note how long it took and with which versions."""
    began = time.perf_counter()
    record = experiment.answer(sweep)
    seconds = round(time.perf_counter() - began, 1)
    return replace(record, seconds=seconds, made_with=made_with())
