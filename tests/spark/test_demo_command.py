"""`penstock demo`: what it prints, and what it writes."""

import io
import json
import re
from contextlib import redirect_stdout

import pytest

from penstock.cli import main

pytestmark = pytest.mark.spark

SMALL = ("--left", "LGA", "--within", "20 min")  # few matches, so it is over soon


def run(*arguments):
    try:
        main(["demo", *arguments])
    except SystemExit as ended:
        return ended.code
    return 0


def printed_by(*arguments):
    with redirect_stdout(io.StringIO()) as out:
        assert run(*SMALL, *arguments) == 0
    return out.getvalue()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "new" / "page.html"


@pytest.fixture(scope="module")
def printed(spark, page):
    """What a run prints for people; it writes the page."""
    return printed_by("--keep", "random", "--seed", "7", "--out", str(page))


@pytest.fixture(scope="module")
def told(spark, tmp_path_factory):
    """What the same run prints for machines."""
    other = tmp_path_factory.mktemp("demo") / "other.html"
    return json.loads(printed_by("--keep", "random", "--seed", "7", "--json", "--out", str(other)))


def test_it_prints_what_was_kept_and_ends_by_naming_the_report(printed, page):
    for part in ("random", "95 % interval", "shed", "expired", "late"):
        assert part in " ".join(printed.split())
    assert printed.splitlines()[-1] == f"The report, with figures: {page}"
    assert page.read_text().startswith("<!doctype html>")


def test_it_says_which_spark_and_which_java_it_ran_on(printed, page):
    assert re.search(r"^It ran on Spark 4\.\S+ on Java \d+\S* in /", printed, re.MULTILINE)
    assert "on Java" in page.read_text()


def test_json_is_all_that_is_printed_when_asked_for(told):
    random = told["policies"]["random"]
    assert random["matches"] + random["lost_exactly"] == told["exact"]["matches"]
    assert told["report"].endswith("other.html")
    assert told["spark"].startswith("Spark")


def test_the_page_names_the_command_that_makes_it_again(printed, page):
    text = page.read_text()
    assert "penstock demo" in text
    for part in ("--keep random", "--within &#x27;20 min&#x27;", "--left LGA", "--seed 7"):
        assert part in text
    assert "--memory" not in text


def test_the_same_seed_gives_the_same_numbers(printed, told):
    random = told["policies"]["random"]
    assert f" {random['matches']:,} " in printed
    assert f" {random['shed']:,} " in printed
