"""How far a long run is, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    """Give each part of a run a bar on the terminal: call it with the part's name."""
    if quiet or not sys.stderr.isatty():
        yield lambda name: lambda done, total: None
        return
    with Progress(console=Console(stderr=True), transient=True) as shown:

        def start(name: str) -> Callable[[int, int], None]:
            task = shown.add_task(name, total=None)
            return lambda done, total: shown.update(task, completed=done, total=total)

        yield start
