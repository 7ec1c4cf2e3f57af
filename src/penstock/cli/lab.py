"""`penstock lab`: the papers' experiments, run again, with a verdict on each of their claims."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid

from penstock.cli.progress import shown_progress
from penstock.errors import InvalidData
from penstock.lab.experiments import EXPERIMENTS, Experiment, by_name, perform
from penstock.lab.record import Record
from penstock.lab.sweep import Sweep, spread_over
from penstock.report import claims as claims_page
from penstock.report import figures
from penstock.report.page import page_of
from penstock.report.terminal import print_record

_OUT = Path("out/lab")


@click.group(short_help="Run the papers' experiments.")
def lab() -> None:
    """Run the experiments of the papers and judge what they say by what we measure."""


@lab.command("list", short_help="List the experiments.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the experiments with their paper and their question."""
    abouts = [experiment.about for experiment in EXPERIMENTS.values()]
    if as_json:
        rows = [
            {"name": a.name, "paper": a.paper, "title": a.title, "question": a.question}
            for a in abouts
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, share in (("name", None), ("paper", 1), ("question", 2)):
        grid.add_column(column, no_wrap=share is None, ratio=share)
    for about in abouts:
        grid.add_row(about.name, about.paper, about.question)
    Console().print(grid)


@lab.command(short_help="Run experiments by name, or all.")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="First seed."
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How many seeds; what is shown are means over them.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=_OUT,
    show_default=True,
    help="Folder for records, pages and figures.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON.")
def run(names: Sequence[str], seed: int, seeds: int, jobs: int, out: Path, as_json: bool) -> None:
    """Run experiments, judge the papers' claims, and write a record, page and figure of each."""
    experiments = _chosen(names)
    figures.check_installed()
    _make(out)
    printed = []
    with spread_over(jobs) as spread:
        for experiment in experiments:
            with shown_progress(quiet=as_json) as bar:
                progress = bar(experiment.about.name)
                sweep = Sweep(tuple(range(seed, seed + seeds)), spread, progress)
                record = perform(experiment, sweep)
            wrote = _write(record, out)
            printed.append({**json.loads(record.to_json()), "wrote": [str(p) for p in wrote]})
            if not as_json:
                print_record(record, points=True)
                click.echo(f"\nwrote {', '.join(map(str, wrote))} in {record.seconds:g} s\n")
    if as_json:
        click.echo(json.dumps(printed, indent=1))


@lab.command(short_help="Write the claims of records into a page.")
@click.argument("page", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--records",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=_OUT,
    show_default=True,
    help="Folder that `penstock lab run all` wrote.",
)
def claims(page: Path, folder: Path) -> None:
    """Rewrite the claims in PAGE, between its marks, from the records of all experiments."""
    records = [_read(folder / f"{name}.json") for name in EXPERIMENTS]
    if not page.exists():
        raise InvalidData(f"{page}: no such file.")
    old = page.read_text(encoding="utf-8")
    page.write_text(claims_page.rewritten(old, records), encoding="utf-8")
    click.echo(f"wrote {sum(len(record.claims) for record in records)} claims into {page}")


def _chosen(names: Sequence[str]) -> list[Experiment]:
    if "all" in names:
        return list(EXPERIMENTS.values())
    return list({name: by_name(name) for name in names}.values())


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidData(f"out={str(folder)!r}: cannot be made a folder: {error}.") from error


def _write(record: Record, folder: Path) -> tuple[Path, ...]:
    path = folder / f"{record.name}.json"
    path.write_text(record.to_json(), encoding="utf-8")
    page = folder / f"{record.name}.html"
    page.write_text(page_of(record), encoding="utf-8")
    return (path, page, *figures.draw(record, folder / record.name))


def _read(path: Path) -> Record:
    if not path.exists():
        raise InvalidData(f"{path}: no such record; run `penstock lab run {path.stem}` first.")
    try:
        return Record.from_json(path.read_text(encoding="utf-8"))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidData(f"{path}: not a record; run `penstock lab run {path.stem}`.") from error
