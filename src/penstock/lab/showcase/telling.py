"""The findings of the showcase in numbers, tables and lines."""

from typing import Any

from penstock.lab.losses import Group, worst_tenth
from penstock.lab.record import Headline, Panel, Series, Table
from penstock.lab.showcase.findings import Findings
from penstock.lab.traces import Ran, facts_of

_Line = tuple[str | float, ...]
_WHICH_HOUR = " of the later departure"
_LONGEST_LIST = 8
_MATCHES_TO_SHOW = 100  # of an hour or a destination: a share of fewer says little


def question_of(findings: Findings) -> str:
    """Return what is asked, and of how many rows."""
    asked = findings.question
    left, right = (table.num_rows for table in findings.trace.tables)
    return (
        f"Two departures, one from {asked.left} ({left:,} in 2013) and one from {asked.right} "
        f"({right:,}), to the same destination within {asked.within}: how many such pairs does "
        f"a join find that may hold {_budget(findings)}, which does it miss, and does it know?"
    )


def headlines(findings: Findings) -> tuple[Headline, ...]:
    """Return the exact join, what each policy kept of it, and how long the last one ran."""
    whole, last = findings.exact.ran, findings.kept[-1]
    held = whole.health.peak_rows
    return (
        Headline(f"{whole.matches:,}", f"matches in the exact join, which holds up to {held} rows"),
        *(
            Headline(
                f"{100 * _recall(kept.outcome.ran, whole):.1f} %",
                f"of them kept by {kept.policy} in {_places(findings)}; its own estimate, made "
                f"without the exact join: {_percent(kept.outcome.ran)}",
            )
            for kept in findings.kept
        ),
        Headline(
            f"{last.replay.ran.seconds:.2f} s",
            f"is what the engine needs for the {findings.trace.rows:,} rows under {last.policy}; "
            f"the query on Spark, of {findings.streams.batches} batches, took "
            f"{last.outcome.ran.seconds:.1f} s",
        ),
    )


def tables(findings: Findings) -> tuple[Table, ...]:
    """Return what was kept, what became of the rows, where matches were lost, and by memory."""
    told = (
        _kept(findings),
        _fates(findings),
        _groups(findings, "destinations", "destination"),
        _groups(findings, "hours", "hour"),
        _by_memory(findings),
    )
    return tuple(table for table in told if table.rows)


def panels(findings: Findings) -> tuple[Panel, ...]:
    """Return recall over memory, and what was kept of each destination and each hour."""
    return (
        _recall_over_memory(findings),
        _error_over_memory(findings),
        _by_frequency(findings),
        _by_hour(findings),
    )


def notes(findings: Findings) -> tuple[str, ...]:
    """Return what a reader must know to read the numbers right."""
    streams = findings.streams
    return (
        f"Each line of the first two tables is a streaming query on {streams.spark}, inside this "
        f"process: {streams.batches} batches of two file streams, joined by penstock.join. "
        "Matches are those that Spark wrote; rows, fates and the estimate are from "
        "penstock.health. Seconds are those of the query, from its start to its end; the first "
        "query starts Spark's Python workers too.",
        _checked(findings),
        "Recall over memory, in the table and in the figures, is that of the engine alone.",
        "Frequencies are learned while running, from the last one to two windows: nothing is "
        "known in advance.",
        "No row is late here, because the flights come in the order of departure.",
        "An interval holds the true recall in about 95 of 100 runs: one in twenty misses it. "
        "It comes from ghosts: keys and times of rows that were shed, one for each place for a "
        "row. Where all ghosts fit, losses are counted and the interval is a point.",
        "Each airport has half of the memory. That is why even 100 % of what the exact join holds "
        "at its peak may lose a few matches: at that moment the halves are not equally full.",
    )


def _checked(findings: Findings) -> str:
    """Say whether DuckDB, Spark and the engine alone agree."""
    matches = len(findings.exact.pairs)
    if findings.streams.confirmed:
        exact = f"DuckDB finds the same {matches:,} matches as the exact join on Spark, one by one."
    else:
        exact = f"DuckDB finds {matches:,} matches, and not those of the exact join on Spark."
    apart = [kept.policy for kept in findings.kept if not kept.replayed]
    replay = "the same rows through the engine without Spark, which made the same matches"
    if apart:
        replay += f", but not under {' and '.join(apart)}"
    return f"{exact} When each row was shed is told by a replay: {replay}."


def facts(findings: Findings) -> dict[str, Any]:
    """Return the answers for machines, named as `penstock replay --json` names them."""
    whole = findings.exact.ran
    return {
        "exact": {
            "matches": whole.matches,
            "peak_rows": whole.health.peak_rows,
            "seconds": whole.seconds,
            "confirmed": findings.streams.confirmed,
        },
        "budget": {"unit": findings.memory.unit, "amount": int(findings.memory.amount)},
        "policies": {
            kept.policy: {
                **facts_of(kept.outcome.ran, whole),
                "lost_exactly": len(kept.losses.pairs.left),
                "lost_by_shedding": kept.losses.by_shedding,
                "lost_by_lateness": kept.losses.by_lateness,
                "engine_seconds": kept.replay.ran.seconds,
                "replayed": kept.replayed,
                "lost_by_destination": {group.value: group.lost for group in kept.destinations},
                "lost_by_hour": {f"{group.value:02}": group.lost for group in kept.hours},
            }
            for kept in findings.kept
        },
        "by_memory": {
            policy: [
                {"share": point.share, "rows": point.rows, **facts_of(point.ran, whole)}
                for point in curve
            ]
            for policy, curve in findings.curves.items()
        },
        "compile_seconds": findings.compiling,
        "spark": findings.streams.spark,
        "batches": findings.streams.batches,
    }


def _kept(findings: Findings) -> Table:
    whole = findings.exact.ran
    lines: list[_Line] = [
        (
            "exact join",
            whole.matches,
            "1.000",
            "",
            "",
            whole.health.peak_rows,
            f"{whole.seconds:.2f}",
        )
    ]
    for kept in findings.kept:
        ran = kept.outcome.ran
        lines.append(
            (
                kept.policy,
                ran.matches,
                _share(_recall(ran, whole)),
                _share(ran.recall.estimate),
                _interval(ran),
                ran.health.peak_rows,
                f"{ran.seconds:.2f}",
            )
        )
    columns = ("", "matches", "recall", "estimate", "95 % interval", "peak rows", "seconds")
    return Table(
        f"What was kept in {_places(findings)}",
        columns,
        tuple(lines),
        "Recall is the share of the exact join's matches. The estimate beside it is what the join "
        "says of itself while it runs. Each line is a streaming query on Spark.",
    )


def _fates(findings: Findings) -> Table:
    lines: list[_Line] = []
    for kept in findings.kept:
        health = kept.outcome.ran.health
        rows = (health.arrived, health.shed, health.expired, health.late, health.held)
        lost = (kept.losses.by_shedding, kept.losses.by_lateness)
        lines.append((kept.policy, *(sum(count) for count in rows), *lost))
    columns = ("", "arrived", "shed", "expired", "late", "held")
    return Table(
        "What became of the rows, and how many matches that cost",
        (*columns, "lost by shedding", "lost by lateness"),
        tuple(lines),
        "Shed: given up by the policy. Expired: past its window. Late: behind the watermark. No "
        "match is lost to expiry: a row past its window has no partner left in the exact join "
        "either.",
    )


def _groups(findings: Findings, which: str, column: str) -> Table:
    last = findings.kept[-1]
    groups: dict[str, tuple[Group, ...]] = {
        kept.policy: getattr(kept, which) for kept in findings.kept
    }
    by_value = {policy: {group.value: group for group in found} for policy, found in groups.items()}
    lines: list[_Line] = []
    for group in groups[last.policy][:_LONGEST_LIST]:
        if not group.lost:
            break
        shares = [by_value[kept.policy][group.value] for kept in findings.kept]
        cells = [cell for one in shares for cell in (one.lost, _share(one.kept))]
        name = f"{group.value:02}:00" if which == "hours" else group.value
        lines.append((name, group.exact, *cells))
    heads = [head for kept in findings.kept for head in (f"{kept.policy}: lost", "recall")]
    return Table(
        f"The {which}{_WHICH_HOUR if which == 'hours' else ''} where {last.policy} lost most",
        (column, "exact join", *heads),
        tuple(lines),
        _tenths(findings, which),
    )


def _tenths(findings: Findings, which: str) -> str:
    told = []
    for kept in findings.kept:
        groups = getattr(kept, which)
        count, share = worst_tenth(groups)
        told.append(f"{100 * share:.0f} % of what {kept.policy} lost")
    tenth = f"a tenth of the {which}, {count} of {len(groups)}"
    return f"Those that lost most ({tenth}) bear {' and '.join(told)}."


def _by_memory(findings: Findings) -> Table:
    whole = findings.exact.ran
    lines: list[_Line] = []
    for at, point in enumerate(next(iter(findings.curves.values()))):
        cells = []
        for curve in findings.curves.values():
            ran = curve[at].ran
            cells += [_share(_recall(ran, whole)), _interval(ran)]
        lines.append((f"{100 * point.share:.0f} %", point.rows, *cells))
    heads = [head for policy in findings.curves for head in (policy, "interval")]
    return Table(
        "Recall over memory, and the 95 % interval that the join itself gives",
        ("memory", "rows", *heads),
        tuple(lines),
        "Memory as a share of what the exact join holds at its peak. The engine alone, without "
        "Spark.",
    )


def _recall_over_memory(findings: Findings) -> Panel:
    whole, lines = findings.exact.ran, []
    for policy, curve in findings.curves.items():
        x = tuple(100 * point.share for point in curve)
        lines.append(Series(policy, x, tuple(_recall(point.ran, whole) for point in curve)))
        shares = [point.ran.recall for point in curve]
        lines.append(
            Series(
                f"{policy}, estimated",
                x,
                tuple(share.estimate for share in shares),
                tuple(share.low for share in shares),
                tuple(share.high for share in shares),
            )
        )
    return Panel(
        "Recall over memory",
        "memory, % of what the exact join holds at its peak",
        "recall",
        tuple(lines),
    )


def _error_over_memory(findings: Findings) -> Panel:
    whole, last = findings.exact.ran, findings.kept[-1].policy
    curve = findings.curves[last]
    true = [_recall(point.ran, whole) for point in curve]
    shares = [point.ran.recall for point in curve]
    x = tuple(100 * point.share for point in curve)
    error = Series(
        last,
        x,
        tuple(share.estimate - recall for share, recall in zip(shares, true, strict=True)),
        tuple(share.low - recall for share, recall in zip(shares, true, strict=True)),
        tuple(share.high - recall for share, recall in zip(shares, true, strict=True)),
    )
    return Panel(
        f"What {last} says of itself, less the truth",
        "memory, % of what the exact join holds at its peak",
        "estimated less true recall, and interval",
        (error, Series("exact", x, (0.0,) * len(x))),
        y_from_zero=False,
    )


def _by_frequency(findings: Findings) -> Panel:
    return Panel(
        "Recall by destination",
        "destinations, the one with the most matches first",
        "recall",
        tuple(
            Series(
                kept.policy,
                tuple(float(place + 1) for place in range(len(found))),
                tuple(group.kept for group in found),
            )
            for kept in findings.kept
            for found in [_large(kept.destinations)]
        ),
    )


def _by_hour(findings: Findings) -> Panel:
    lines = []
    for kept in findings.kept:
        # The day begins at 4, when nothing departs; so the flights after midnight end it.
        hours = sorted(_large(kept.hours), key=lambda group: (group.value - 4) % 24)
        x = tuple(float((group.value - 4) % 24 + 4) for group in hours)
        lines.append(Series(kept.policy, x, tuple(group.kept for group in hours)))
    label = "hour of the later departure; 24 is midnight"
    return Panel("Recall by hour", label, "recall", tuple(lines))


def _large(groups: tuple[Group, ...]) -> list[Group]:
    """Return the groups that are large enough to have a share, the largest first."""
    large = [group for group in groups if group.exact >= _MATCHES_TO_SHOW]
    return sorted(large, key=lambda group: -group.exact)


def _share(value: float) -> str:
    """Return a share as text; one that is short of 1 never reads as 1."""
    for decimals in range(3, 9):
        text = f"{value:.{decimals}f}"
        if value >= 1 or not text.startswith("1"):
            break
    return text


def _recall(ran: Ran, exact: Ran) -> float:
    return ran.matches / exact.matches if exact.matches else 1.0


def _interval(ran: Ran) -> str:
    low, high = _share(ran.recall.low), _share(ran.recall.high)
    return low if low == high else f"{low}-{high}"


def _percent(ran: Ran) -> str:
    low, high = 100 * ran.recall.low, 100 * ran.recall.high
    return f"{100 * ran.recall.estimate:.1f} % ({low:.1f} to {high:.1f})"


def _places(findings: Findings) -> str:
    return f"{int(findings.memory.amount):,} {findings.memory.unit}"


def _budget(findings: Findings) -> str:
    if not findings.question.memory.strip().endswith("%"):
        return _places(findings)
    share = findings.question.memory.strip().removesuffix("%").strip()
    peak = findings.exact.ran.health.peak_rows
    return f"{_places(findings)}, {share} % of the {peak:,} that the exact join holds at its peak"
