"""A record as text for a terminal."""

import math

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from penstock.lab.record import Panel, Record, Table

_STYLES = {"reproduced": "green", "partly": "yellow", "refuted": "red", "not comparable": "dim"}
_MOST_ROWS = 20  # a line of more points is for the figure, not for reading


def show(record: Record, console: Console) -> None:
    """Print a record's numbers and its claims with their verdicts."""
    console.rule(Text(record.name, style="bold"))
    console.print(Text(record.question, style="bold"))
    console.print(Text(f"{record.paper}. {record.workload}; seeds {_seeds(record)}.", style="dim"))
    for panel in record.panels:
        table = _of_panel(panel)
        if table is not None:
            console.print(table)
    for numbers in record.tables:
        console.print(_of_table(numbers))
    if record.claims:
        console.print(_of_claims(record))
    for note in record.notes:
        console.print(Text(note, style="dim"))


def _seeds(record: Record) -> str:
    if len(record.seeds) < 2:
        return ", ".join(map(str, record.seeds))
    return f"{record.seeds[0]} to {record.seeds[-1]}"


def _of_panel(panel: Panel) -> Shown | None:
    xs = sorted({x for line in panel.series for x in line.x})
    if len(xs) > _MOST_ROWS:
        return None
    table = _titled(panel.title)
    table.add_column(Text(panel.x_label), justify="right")
    for line in panel.series:
        table.add_column(Text(line.name), justify="right", overflow="fold")
    columns = [dict(zip(line.x, line.y, strict=True)) for line in panel.series]
    for x in xs:
        table.add_row(f"{x:,g}", *(_number(column.get(x)) for column in columns))
    table.caption = panel.y_label
    return table


def _of_table(numbers: Table) -> Shown:
    table = _titled(numbers.title)
    for place, name in enumerate(numbers.columns):
        table.add_column(Text(name), justify="right" if place else "left")
    for row in numbers.rows:
        table.add_row(*(Text(c) if isinstance(c, str) else _number(c) for c in row))
    return table


def _of_claims(record: Record) -> Shown:
    table = _titled("What the paper says, and what we measured")
    table.show_lines = True
    for name, share in (("where", 2), ("the paper", 4), ("ours", 5), ("verdict", 1)):
        table.add_column(name, ratio=share, min_width=14 if name == "verdict" else None)
    for claim in record.claims:
        verdict = Text(claim.verdict, style=_STYLES[claim.verdict])
        table.add_row(Text(claim.where), Text(claim.says), Text(claim.ours), verdict)
    return table


def _titled(title: str) -> Shown:
    return Shown(title=Text(title, style="bold"), title_justify="left", caption_justify="left")


def _number(value: float | None) -> Text:
    if value is None or not math.isfinite(value):
        return Text("-")
    return Text(f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}")
