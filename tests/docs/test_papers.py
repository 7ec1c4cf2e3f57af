"""docs/papers.md: every file it names is there, and every experiment's claims are in it."""

import re
from pathlib import Path

import pytest

from penstock.lab.experiments import EXPERIMENTS
from penstock.policies import ALL
from penstock.report.claims import END, START

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text()
NAMED = sorted(set(re.findall(r"`((?:src|docs)/[\w/.]+)`", PAGE)))
CLAIMS = PAGE.partition(START)[2].partition(END)[0]


@pytest.mark.parametrize("path", NAMED)
def test_a_named_file_is_there(path):
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_the_file_of_every_policy_is_named(policy):
    path = "src/" + type(policy).__module__.replace(".", "/") + ".py"
    assert path in NAMED


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_the_claims_of_every_experiment_are_there(name):
    assert f"| `{name}` |" in CLAIMS


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_the_file_of_every_experiment_is_named(name):
    assert f"src/penstock/lab/experiments/{name.replace('-', '_')}.py" in NAMED
