"""`penstock replay`: how much of a join each policy keeps on a budget, on a trace you have."""

import json
import re
from collections.abc import Callable
from typing import Any, Literal

import click

from penstock.arrivals.expectation import AgeSource, Expectation
from penstock.cli.progress import shown_progress
from penstock.cli.tables import read_table
from penstock.errors import InvalidQuery
from penstock.lab.record import Table
from penstock.lab.traces import Ran, Trace, by_age, facts_of, frequencies, places
from penstock.policies import by_name
from penstock.policies.base import Policy
from penstock.query import Budget, JoinQuery, Window, both, microseconds, pairs_of
from penstock.report.terminal import print_table

_WHOLE = re.compile(r"[+-]?\d+")


@click.command(short_help="Run two files through the join under each policy.")
@click.argument("left", metavar="LEFT")
@click.argument("right", metavar="RIGHT")
@click.option(
    "--on", required=True, help="Key column; several with commas; left=right where names differ."
)
@click.option("--time", required=True, help="Event-time column, or LEFT,RIGHT.")
@click.option(
    "--within",
    help="Window: a duration ('3 hours'), or a whole number in the unit of an integer time column; "
    "LEFT,RIGHT for one per side; 'unbounded' for none.",
)
@click.option("--rows", help="Count window: the last so many rows; or LEFT,RIGHT.")
@click.option(
    "--memory", help="Rows (400), bytes (64MB), or a share of the exact join's peak (25%)."
)
@click.option(
    "--split", default="half", show_default=True, help="half, shared, or two weights (3,1)."
)
@click.option(
    "--keep", default="match-probability", show_default=True, help="Policies, with commas between."
)
@click.option(
    "--importance", help="Importance column, or LEFT,RIGHT; '-' for a side that has none."
)
@click.option(
    "--combine",
    type=click.Choice(["min", "sum", "product", "max", "mean"]),
    default="min",
    show_default=True,
    help="How the importance of a match follows from its rows.",
)
@click.option(
    "--frequencies",
    type=click.Choice(["known", "learned"]),
    default="known",
    show_default=True,
    help="What policies know of keys and ages: the whole trace, or what has passed.",
)
@click.option(
    "--order",
    type=click.Choice(["join-first", "evict-first"]),
    default="join-first",
    show_default=True,
    help="Whether a row meets the memory before it competes for a place, or after.",
)
@click.option(
    "--warmup",
    default="0",
    show_default=True,
    help="Count matches from this long after the first row: as --within is stated.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all chance.")
@click.option(
    "--ghosts", type=float, help="Ghosts per place for a row; by default fewer in a large memory."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(left: str, right: str, **options: Any) -> None:
    """Run the rows of LEFT and RIGHT through the join, exactly and under each policy."""
    query, memory, policies = _read_query(options)
    options["warmup"] = _warmup(options["warmup"])
    trace = Trace(read_table(left), read_table(right), query)
    if memory is not None:
        for policy in policies:
            trace.refuse(policy, memory)
    with shown_progress(quiet=options["as_json"]) as bar:
        exact = trace.exact(warmup=options["warmup"], progress=bar("exact"))
        report: dict[str, Any] = {
            "exact": {
                "matches": exact.matches,
                "value": exact.health.value,
                "peak_rows": exact.health.peak_rows,
                "seconds": exact.seconds,
            },
            "policies": {},
        }
        if memory is not None:
            budget = places(memory, exact.health.peak_rows)
            report["budget"] = {"unit": budget.unit, "amount": int(budget.amount)}
            expectation, ages = frequencies(trace, options["frequencies"])
            for policy in policies:
                ran = _run(trace, policy, budget, expectation, ages, options, bar(policy.name))
                report["policies"][policy.name] = facts_of(ran, exact)
    if options["as_json"]:
        click.echo(json.dumps(report, indent=2))
    else:
        _print(report, memory)


def _run(
    trace: Trace,
    policy: Policy,
    budget: Budget,
    expectation: Expectation,
    ages: AgeSource | None,
    options: dict[str, Any],
    progress: Callable[[int, int], None],
) -> Ran:
    if "ages" in policy.needs and ages is None:
        ages = trace.known_ages()
        trace = by_age(trace, ages, budget)
    return trace.run(
        policy,
        memory=budget,
        expectation=expectation,
        ages=ages,
        warmup=options["warmup"],
        seed=options["seed"],
        ghosts=options["ghosts"],
        progress=progress,
    )


def _read_query(options: dict[str, Any]) -> tuple[JoinQuery, Budget | None, list[Policy]]:
    on = pairs_of([_pair(part, "=") for part in options["on"].split(",")])
    importance: tuple[str | None, str | None] = (None, None)
    if options["importance"]:
        one, other = _sides("importance", options["importance"])
        importance = (None if one == "-" else one, None if other == "-" else other)
    query = JoinQuery(
        on=on,
        time=_sides("time", options["time"]),
        windows=_windows(options["within"], options["rows"]),
        split=_split(options["split"]),
        importance=importance,
        combine=options["combine"],
        order=options["order"],
    )
    policies = [by_name(name.strip()) for name in options["keep"].split(",") if name.strip()]
    if not policies:
        raise InvalidQuery(
            f"keep={options['keep']!r}: name at least one policy, such as random or prob."
        )
    return query, Budget.of(options["memory"]), policies


def _pair(text: str, separator: str) -> str | tuple[str, str]:
    one, found, other = text.partition(separator)
    return (one.strip(), other.strip()) if found else one.strip()


def _split(text: str) -> Literal["half", "shared"] | tuple[float, float]:
    if text in ("half", "shared"):
        return text  # type: ignore[return-value]
    try:
        left, right = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidQuery(
            f"split={text!r}: use half, shared, or two weights such as 3,1."
        ) from None
    return left, right


def _windows(within: str | None, rows: str | None) -> tuple[Window, Window]:
    if (within is None) == (rows is None):
        raise InvalidQuery("within, rows: give one of the two; --within unbounded is no window.")
    if rows is not None:
        one, other = (_number("rows", part) for part in _sides("rows", rows))
        return Window("rows", one), Window("rows", other)
    left, right = (_window(part) for part in _sides("within", within or ""))
    return left, right


def _sides(name: str, text: str) -> tuple[str, str]:
    """Read a setting for both sides, or LEFT,RIGHT."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 2:
        raise InvalidQuery(f"{name}={text!r}: give one for both sides, or LEFT,RIGHT.")
    return both(parts[0] if len(parts) == 1 else (parts[0], parts[1]), name=name)


def _number(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise InvalidQuery(f"{name}={text!r}: give a whole number.")
    return int(text)


def _window(text: str) -> Window:
    if text == "unbounded":
        return Window("unbounded")
    return Window.of(int(text) if _WHOLE.fullmatch(text) else text)


def _warmup(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        return microseconds(text, name="warmup")
    warmup = int(text)
    if not 0 <= warmup < 2**61:
        raise InvalidQuery(f"warmup={text}: give a time of 0 or longer, below 2**61.")
    return warmup


def _print(report: dict[str, Any], memory: Budget | None) -> None:
    exact = report["exact"]
    click.echo(f"exact: {exact['matches']:,} matches, at most {exact['peak_rows']:,} rows held")
    if memory is None:
        return
    budget = report["budget"]
    columns = ("policy", "matches", "recall", "estimate", "95 % interval", "rows", "seconds")
    rows = tuple(_line(name, policy) for name, policy in report["policies"].items())
    title = f"On a budget of {budget['amount']:,} {budget['unit']}"
    print_table(Table(title, columns, rows))


def _line(name: str, policy: dict[str, Any]) -> tuple[str | float, ...]:
    known = policy["recall_estimate"] is not None
    return (
        name,
        policy["matches"],
        f"{policy['recall']:.3f}",
        f"{policy['recall_estimate']:.3f}" if known else "-",
        f"{policy['recall_low']:.3f}-{policy['recall_high']:.3f}" if known else "-",
        policy["peak_rows"],
        f"{policy['seconds']:.2f}",
    )
