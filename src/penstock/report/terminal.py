"""A record as text for a terminal, or for whatever reads instead of one."""

import re
import sys
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from penstock.lab.record import Record, Table
from penstock.report.numbers import is_numeric, written

_WIDTH = 80  # of prose, where nobody says how wide the page is
_ANY_WIDTH = 1000  # of a table: it is as wide as it must be


def print_record(record: Record, console: Console | None = None) -> None:
    """Print a record's question, tables and notes: all that needs no picture."""
    out = console or _console()
    out.print()
    out.print(Text(record.title, style="bold"))
    out.print(Text(record.question))
    for table in record.tables:
        print_table(table, out)
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
