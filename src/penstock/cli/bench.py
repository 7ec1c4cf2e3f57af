"""`penstock bench`: how fast the engine is, how large, and what else a user might pick."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from penstock.cli.demo import make_room
from penstock.cli.progress import shown_progress
from penstock.lab.bench import FULL, QUICK
from penstock.lab.bench import bench as measure
from penstock.lab.record import Record
from penstock.report.page import page_of
from penstock.report.terminal import print_record


@click.group(short_help="Measure speed and memory.", invoke_without_command=True)
@click.option("--quick", is_flag=True, help="Fewer rows: figures are rougher.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default="out/bench.html",
    show_default=True,
    help="Where to write the page; the record goes beside it, ending in .json.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def bench(context: click.Context, quick: bool, out: Path, as_json: bool) -> None:
    """Measure the engine on one core: throughput, flatness, memory, and others side by side."""
    if context.invoked_subcommand:
        return
    _bench("penstock bench", partial(measure, QUICK if quick else FULL), quick, out, as_json)


@bench.command(short_help="Measure the join on Spark.")
@click.option("--quick", is_flag=True, help="Fewer rows: figures are rougher.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default="out/bench-spark.html",
    show_default=True,
    help="Where to write the page; the record goes beside it, ending in .json.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def spark(quick: bool, out: Path, as_json: bool) -> None:
    """Measure the join on Spark beside Spark's own, and beside the same pipeline without a join."""
    # Not every use of this command needs Spark, nor has it.
    from penstock.lab import spark_bench

    sizes = spark_bench.QUICK if quick else spark_bench.FULL
    _bench("penstock bench spark", partial(spark_bench.bench, sizes), quick, out, as_json)


def _bench(
    command: str, measured: Callable[..., Record], quick: bool, out: Path, as_json: bool
) -> None:
    make_room(out)
    beside = out.with_suffix(".json")
    make_room(beside)
    with shown_progress(quiet=as_json) as bars:
        record = measured(command=command + " --quick" * quick, bars=bars)
    out.write_text(page_of(record), encoding="utf-8")
    beside.write_text(record.to_json(), encoding="utf-8")
    if as_json:
        click.echo(json.dumps({**record.facts, "report": str(out)}, indent=2))
        return
    print_record(record)
    click.echo(f"\nThe page, with a figure: {out}; the record: {beside}")
