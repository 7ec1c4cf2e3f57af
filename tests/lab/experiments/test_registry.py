"""EXPERIMENTS: every file is listed, and every listed experiment keeps its promises."""

import ast
from pathlib import Path

import pytest

from penstock.errors import InvalidQuery
from penstock.lab import experiments
from penstock.lab.experiments import EXPERIMENTS, by_name

FOLDER = Path(experiments.__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in {"__init__", "base"})
every_experiment = pytest.mark.parametrize("name", sorted(EXPERIMENTS))


@pytest.mark.parametrize("stem", FILES)
def test_an_experiment_file_is_listed_under_its_name(stem):
    assert stem.replace("_", "-") in EXPERIMENTS, f"{stem}.py: list its experiment."


@every_experiment
def test_an_experiment_lives_in_the_file_of_its_name(name):
    module = EXPERIMENTS[name].answer.__module__
    assert module == f"penstock.lab.experiments.{name.replace('-', '_')}"


@every_experiment
def test_an_experiment_cites_its_paper_and_asks_a_question(name):
    experiment = EXPERIMENTS[name]
    assert "References" in (experiment.answer.__doc__ or "")
    assert experiment.about.question.endswith("?")
    assert "section" in experiment.about.paper


@every_experiment
def test_no_verdict_is_typed_in(name):
    path = FOLDER / f"{name.replace('-', '_')}.py"
    words = {
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert not words & {"reproduced", "partly", "refuted", "not comparable"}
    assert "Claim(" not in path.read_text()


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(InvalidQuery, match="did you mean 'skew'"):
        by_name("skw")


def test_names_are_forgiving_about_case_and_underscores():
    assert by_name(" Window_Size ").about.name == "window-size"
