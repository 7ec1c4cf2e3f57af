"""`penstock demo`: what it prints, what it writes, and how it declines."""

import json

import pytest

from penstock.cli import main

SMALL = ("--left", "LGA", "--within", "20 min")  # few matches, so it is over soon


def run(*arguments):
    try:
        main(["demo", *arguments])
    except SystemExit as ended:
        return ended.code
    return 0


def test_it_prints_what_was_kept_and_ends_by_naming_the_report(tmp_path, capsys):
    page = tmp_path / "new" / "page.html"
    assert run(*SMALL, "--out", str(page)) == 0
    printed = capsys.readouterr().out
    for part in ("recent", "match-probability", "95 % interval", "shed", "expired", "late"):
        assert part in printed
    assert printed.splitlines()[-1] == f"The report, with figures: {page}"
    assert page.read_text().startswith("<!doctype html>")


def test_json_is_all_that_is_printed_when_asked_for(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run(*SMALL, "--keep", "recent", "--json", "--out", str(page)) == 0
    told = json.loads(capsys.readouterr().out)
    recent = told["policies"]["recent"]
    assert recent["matches"] + recent["lost_exactly"] == told["exact"]["matches"]
    assert told["report"] == str(page)


def test_the_page_names_the_command_that_makes_it_again(tmp_path):
    page = tmp_path / "page.html"
    run(*SMALL, "--keep", "recent", "--seed", "7", "--out", str(page))
    told = page.read_text()
    assert "penstock demo" in told
    for part in ("--keep recent", "--within &#x27;20 min&#x27;", "--left LGA", "--seed 7"):
        assert part in told
    assert "--memory" not in told


def test_the_same_seed_gives_the_same_numbers(tmp_path, capsys):
    counts = []
    for _ in range(2):
        run(*SMALL, "--keep", "random", "--seed", "5", "--json", "--out", str(tmp_path / "x.html"))
        counts.append(json.loads(capsys.readouterr().out)["policies"]["random"]["lost_by_hour"])
    assert counts[0] == counts[1]


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
def test_bad_input_gets_one_sentence_and_exit_code_2(arguments, told, tmp_path, capsys):
    at = () if "--out" in arguments else ("--out", str(tmp_path / "page.html"))
    assert run(*SMALL, *arguments, *at) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert len(printed.err.strip().splitlines()) == 1
