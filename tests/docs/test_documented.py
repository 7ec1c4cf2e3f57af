"""What a user can type, name or catch stands in the docs."""

import inspect
import re

import click
import pytest

from pages import PAGES, ROOT, name_of
from penstock import errors
from penstock.cli import penstock
from penstock.policies import ALL

TEXT = {name_of(page): page.read_text() for page in PAGES}
DOCS = "\n".join(TEXT.values())
ERRORS = [name for name, kind in vars(errors).items() if inspect.isclass(kind)]


def commands(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands(penstock))
OPTIONS = [
    (name, option.opts[0])
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command):
    assert re.search(rf"^\$ (\.venv/bin/)?penstock {command}\b", DOCS, re.MULTILINE)


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_every_option_is_named_on_the_page_of_its_command(command, option):
    page = TEXT[f"docs/guides/{command.split()[0]}.md"]
    assert f"`{option}`" in page or f"`{option} " in page


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_every_policy_is_explained(policy):
    assert f"`{policy.name}`" in TEXT["docs/policies.md"]
    assert not policy.paper or policy.paper in TEXT["docs/policies.md"]


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_explained(name):
    assert f"`{name}`" in TEXT["docs/errors.md"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_link_leads_nowhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=name_of)
def test_every_page_is_reached_from_the_index(page):
    index = (ROOT / "docs" / "index.md").read_text()
    assert page.name == "index.md" or f"]({page.relative_to(ROOT / 'docs').as_posix()})" in index


def test_the_readme_fits_on_a_screen():
    assert len(TEXT["README.md"].splitlines()) <= 75
