"""A record as text for a terminal, or for whatever reads instead of one."""

import sys
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from penstock.lab.record import Record, Table
from penstock.report.numbers import is_numeric, written

_WIDTH = 100  # of prose, where nobody says how wide the page is
_ANY_WIDTH = 1000  # of a table that no terminal cuts


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
    """Print a table under its title, with its note below."""
    out = console or _console()
    out.print()
    out.print(Text(table.title, style="bold"))
    wide = out if out.is_terminal else Console(file=out.file, width=_ANY_WIDTH)
    wide.print(_grid(table))
    if table.note:
        out.print(Text(table.note, style="dim"))


def _console() -> Console:
    return Console() if sys.stdout.isatty() else Console(width=_WIDTH)


def _grid(table: Table) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    rows = [[written(cell) for cell in row] for row in table.rows]
    for at, name in enumerate(table.columns):
        right = at > 0 and is_numeric([row[at] for row in rows])
        justify: Literal["left", "right"] = "right" if right else "left"
        grid.add_column(Text(name), justify=justify, no_wrap=at == 0)
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid
