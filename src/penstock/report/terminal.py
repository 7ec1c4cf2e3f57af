"""A record as text for a terminal, or for whatever reads instead of one."""

import math
import re
import sys
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from penstock.lab.record import Panel, Record, Table
from penstock.report.numbers import is_numeric, written

_WIDTH = 80  # of prose, where nobody says how wide the page is
_ANY_WIDTH = 1000  # of a table: it is as wide as it must be
_MOST_POINTS = 20  # a line of more is for the figure, not for reading
_STYLES = {"reproduced": "green", "partly": "yellow", "refuted": "red", "not comparable": "dim"}


def print_record(record: Record, console: Console | None = None, *, points: bool = False) -> None:
    """Print a record's question, tables, claims and notes: all that needs no picture.

    With `points`, the lines of its charts too, as tables.
    """
    out = console or _console()
    out.print()
    out.print(Text(record.title, style="bold"))
    out.print(Text(record.question))
    for panel in record.panels if points else ():
        if len({x for line in panel.series for x in line.x}) <= _MOST_POINTS:
            print_table(_points(panel), out)
    for table in record.tables:
        print_table(table, out)
    if record.claims:
        out.print()
        out.print(Text("What the paper says, and what we measured", style="bold"))
        out.print(_claims(record))
    if record.notes:
        out.print()
    for note in record.notes:
        out.print(Text(f"- {note}", style="dim"))


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table under its title, with its note below; no cell is cut or broken."""
    out = console or _console()
    wide = Console(file=out.file, width=_ANY_WIDTH, force_terminal=out.is_terminal)
    out.print()
    out.print(Text(table.title, style="bold"))
    wide.print(_grid(table))
    if table.note:
        out.print(Text(table.note, style="dim"))


def _points(panel: Panel) -> Table:
    xs = sorted({x for line in panel.series for x in line.x})
    lines = [dict(zip(line.x, line.y, strict=True)) for line in panel.series]
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (f"{x:,g}", *(line.get(x, math.nan) for line in lines)) for x in xs
    )
    names = tuple(line.name for line in panel.series)
    return Table(panel.title, (panel.x_label, *names), rows, note=panel.y_label)


def _claims(record: Record) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, padding=(0, 1, 1, 0), pad_edge=False, show_edge=False)
    for name, share in (("where", 2), ("the paper", 4), ("measured", 5)):
        grid.add_column(name, ratio=share)
    grid.add_column("verdict", min_width=len("not comparable"))
    for claim in record.claims:
        verdict = Text(claim.verdict, style=_STYLES[claim.verdict])
        grid.add_row(Text(claim.where), Text(claim.says), Text(claim.ours), verdict)
    return grid


def _console() -> Console:
    return Console() if sys.stdout.isatty() else Console(width=_WIDTH)


def _grid(table: Table) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    rows = [[written(cell) for cell in row] for row in table.rows]
    for at, name in enumerate(table.columns):
        cells = [row[at] for row in rows]
        right = at > 0 and is_numeric(cells)
        justify: Literal["left", "right"] = "right" if right else "left"
        grid.add_column(Text(_broken(name, cells)), justify=justify, no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid


def _broken(name: str, cells: list[str]) -> str:
    """Break the head of a column after spaces and hyphens, so that it is no wider than it must be.

    >>> _broken("95 % interval", ["0.403-0.407"]).splitlines()
    ['95 %', 'interval']
    """
    parts = re.findall(r"[^ -]+-?|-", name)
    width = max(map(len, (*parts, *cells)))
    lines: list[str] = []
    for part in parts:
        joint = "" if lines and lines[-1].endswith("-") else " "
        if lines and len(lines[-1] + joint + part) <= width:
            lines[-1] += joint + part
        else:
            lines.append(part)
    return "\n".join(lines)
