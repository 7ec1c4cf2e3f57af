"""The shape we promised ourselves."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "penstock"
FILES = sorted(PACKAGE.rglob("*.py"))
POLICIES = sorted(
    path.stem for path in PACKAGE.glob("policies/*.py") if path.stem not in {"__init__", "base"}
)

LONGEST_FILE = 400
LONGEST_BODY = 60
LONGEST_KERNEL = 120  # a compiled loop loses its meaning, and its speed, when cut in pieces

VAGUE = {"utils", "misc", "common", "helpers", "core"}
DOORS = {"numba": "compiled", "pyspark": "spark", "matplotlib": "report"}
UNCITED = {"adaptive"}  # policies that come from no paper

every_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
every_policy_file = pytest.mark.parametrize("stem", POLICIES)


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def functions(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_length(function):
    statements = function.body[ast.get_docstring(function) is not None :]
    return function.end_lineno - statements[0].lineno + 1 if statements else 0


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def listed():
    return {
        policy.name: policy if isinstance(policy, type) else type(policy)
        for policy in importlib.import_module("penstock.policies").ALL
    }


@every_file
def test_a_file_holds_one_concept(path):
    lines = path.read_text().count("\n")
    assert lines <= LONGEST_FILE, f"{path} has {lines} lines and outgrew one concept; split it."


@every_file
def test_a_function_fits_on_one_screen(path):
    longest = LONGEST_KERNEL if room(path) == "kernels" else LONGEST_BODY
    too_long = [
        f"{path}:{function.lineno} {function.name}: {body_length(function)} lines"
        for function in functions(path)
        if body_length(function) > longest
    ]
    assert not too_long, f"the body of a function here may have {longest} lines."


@every_file
def test_each_outside_door_has_one_room(path):
    strangers = {door for door in imported(path) if room(path) != DOORS.get(door, room(path))}
    assert not strangers, f"{path}: only {[DOORS[door] for door in sorted(strangers)]} may do so."


@pytest.mark.parametrize("module", ["penstock", "penstock.cli", "penstock.spark.java"])
def test_spark_is_not_loaded_before_it_is_asked_for(module):
    asked = f"import sys, {module}; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked]).returncode == 0


@every_file
def test_a_name_says_what_is_inside(path):
    parts = {part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts}
    assert not parts & VAGUE, f"{path} could hold anything; name it after what it holds."


@every_policy_file
def test_a_policy_file_is_listed_under_its_name(stem):
    assert stem.replace("_", "-") in listed(), f"{stem}.py: add its policy to policies.ALL."


@every_policy_file
def test_a_policy_says_where_it_comes_from(stem):
    kept_here = {
        name: policy
        for name, policy in listed().items()
        if policy.__module__ == f"penstock.policies.{stem}"
    }
    assert kept_here, f"{stem}.py holds no listed policy."
    for name, policy in kept_here.items():
        assert name in UNCITED or "References" in (policy.__doc__ or ""), f"{name} cites nothing."


@pytest.mark.skipif(not POLICIES, reason="there are no policies yet")
def test_a_listed_policy_lives_in_a_policy_file():
    homes = {f"penstock.policies.{stem}" for stem in POLICIES}
    strays = {name for name, policy in listed().items() if policy.__module__ not in homes}
    assert not strays, f"each policy has a file of its own; these have none: {sorted(strays)}"
