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


@pytest.fixture(scope="module")
def printed(spark, tmp_path_factory):
    """What one run printed for people, and its page."""
    page = tmp_path_factory.mktemp("demo") / "new" / "page.html"
    with redirect_stdout(io.StringIO()) as out:
        assert run(*SMALL, "--keep", "recent", "--seed", "7", "--out", str(page)) == 0
    return out.getvalue(), page


@pytest.fixture(scope="module")
def told(spark, tmp_path_factory):
    """What two runs printed for machines."""
    page = tmp_path_factory.mktemp("demo") / "page.html"
    answers = []
    for _ in range(2):
        with redirect_stdout(io.StringIO()) as out:
            assert run(*SMALL, "--keep", "random", "--seed", "5", "--json", "--out", str(page)) == 0
        answers.append(json.loads(out.getvalue()))
    return answers


def test_it_prints_what_was_kept_and_ends_by_naming_the_report(printed):
    text, page = printed
    for part in ("recent", "random", "95 % interval", "shed", "expired", "late"):
        assert part in " ".join(text.split())
    assert text.splitlines()[-1] == f"The report, with figures: {page}"
    assert page.read_text().startswith("<!doctype html>")


def test_it_says_which_spark_and_which_java_it_ran_on(printed):
    text, page = printed
    assert re.search(r"^It ran on Spark 4\.\S+ on Java \d+\S* in /", text, re.MULTILINE)
    assert "on Java" in page.read_text()


def test_json_is_all_that_is_printed_when_asked_for(told):
    random = told[0]["policies"]["random"]
    assert random["matches"] + random["lost_exactly"] == told[0]["exact"]["matches"]
    assert told[0]["report"].endswith("page.html")
    assert told[0]["spark"].startswith("Spark")


def test_the_page_names_the_command_that_makes_it_again(printed):
    _, page = printed
    text = page.read_text()
    assert "penstock demo" in text
    for part in ("--keep recent", "--within &#x27;20 min&#x27;", "--left LGA", "--seed 7"):
        assert part in text
    assert "--memory" not in text


def test_the_same_seed_gives_the_same_numbers(told):
    one, other = (answer["policies"]["random"]["lost_by_hour"] for answer in told)
    assert one == other
