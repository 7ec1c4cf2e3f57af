"""The command line: one file per command."""

import sys
from collections.abc import Sequence

import click

from penstock.cli import bench, demo, lab, replay
from penstock.errors import PenstockError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="penstock")
def penstock() -> None:
    """Join streams over sliding windows on a fixed budget of memory."""


for command in (bench.bench, demo.demo, lab.lab, replay.replay):
    penstock.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; bad input ends it with one sentence and exit code 2."""
    try:
        penstock.main(args=arguments, prog_name="penstock", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        click.echo(f"penstock: {error.format_message()}", err=True)
        sys.exit(2)
    except PenstockError as error:
        click.echo(f"penstock: {error}", err=True)
        sys.exit(2)
    except click.Abort:
        sys.exit(130)
