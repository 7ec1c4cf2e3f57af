"""`penstock demo`: real flights joined on a budget on Spark, and a report of what that costs."""

import json
from pathlib import Path
from typing import Any

import click

from penstock.cli.progress import shown_progress
from penstock.errors import InvalidData
from penstock.lab.showcase import Question, showcase
from penstock.lab.workloads.flights import AIRPORTS
from penstock.report.page import page_of
from penstock.report.terminal import print_record


@click.command(short_help="Join real flights on a budget, and write a report.")
@click.option(
    "--memory",
    default="25%",
    show_default=True,
    help="Rows (40), bytes (64MB), or a share of the exact join's peak (25%).",
)
@click.option(
    "--keep",
    default="recent,match-probability",
    show_default=True,
    help="Policies, with commas between; the one in question last.",
)
@click.option("--within", default="3 hours", show_default=True, help="How far apart, in words.")
@click.option("--left", type=click.Choice(AIRPORTS), default="EWR", show_default=True)
@click.option("--right", type=click.Choice(AIRPORTS), default="JFK", show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all chance.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default="out/demo.html",
    show_default=True,
    help="Where to write the report.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def demo(context: click.Context, /, out: Path, as_json: bool, **options: Any) -> None:
    """Join flights of two airports to the same destination, exactly and on a budget.

    It runs streaming queries on a Spark of its own, which needs Java 17 or newer.
    """
    question = Question(
        left=options["left"],
        right=options["right"],
        within=options["within"],
        memory=options["memory"],
        keep=tuple(name.strip() for name in options["keep"].split(",") if name.strip()),
        seed=options["seed"],
    )
    make_room(out)
    with shown_progress(quiet=as_json) as bar:
        record = showcase(question, command=_command(context), bars=bar)
    out.write_text(page_of(record), encoding="utf-8")
    if as_json:
        click.echo(json.dumps({**record.facts, "report": str(out)}, indent=2))
        return
    print_record(record)
    click.echo(f"\nIt ran on {record.facts['spark']}")
    click.echo(f"The report, with figures: {out}")


def _command(context: click.Context) -> str:
    """Return the command as it would be typed: with the options that are not as usual."""
    usual = {option.name: option.default for option in context.command.params}
    told = [
        f"--{name} {value!r}" if " " in str(value) else f"--{name} {value}"
        for name, value in context.params.items()
        if name not in ("out", "as_json") and value != usual[name]
    ]
    return " ".join(["penstock demo", *told])


def make_room(path: Path) -> None:
    """See to it that the report can be written, before anything takes time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise InvalidData(
            f"out={str(path)!r}: no report can be written there ({error.strerror}); name another "
            "file."
        ) from error
