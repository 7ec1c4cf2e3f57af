"""`penstock demo` declines what it cannot run before it starts a Spark."""

import sys

import pytest

from penstock.cli import main


def run(*arguments):
    try:
        main(["demo", *arguments])
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture
def no_spark(monkeypatch):
    monkeypatch.setitem(sys.modules, "penstock.spark.session", None)  # importing it would fail


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--memory", "lots"), "memory='lots'"),
        (("--memory", "0%"), "memory=0%"),
        (("--keep", "nothing-known"), "no such policy"),
        (("--keep", "importance"), "keep='importance'"),
        (("--keep", ","), "name at least one policy"),
        (("--within", "3"), "not a duration"),
        (("--left", "JFK"), "both are JFK"),
        (("--left", "LHR"), "LHR"),
        (("--out", "/dev/null/page.html"), "/dev/null/page.html"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(arguments, told, tmp_path, capsys, no_spark):
    at = () if "--out" in arguments else ("--out", str(tmp_path / "page.html"))
    assert run(*arguments, *at) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert len(printed.err.strip().splitlines()) == 1
