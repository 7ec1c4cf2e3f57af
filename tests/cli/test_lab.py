"""`penstock lab`: lists, runs, writes what it says it writes, and fails in one sentence."""

import json
from xml.dom import minidom

import pytest

from penstock.cli import main
from penstock.lab.experiments import EXPERIMENTS
from penstock.lab.record import Record
from penstock.report.claims import END, START


def call(*arguments):
    """Run a command; return its exit code."""
    try:
        main(list(map(str, arguments)))
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the record of one experiment, and under its name those of all others."""
    out = tmp_path_factory.mktemp("lab")
    assert call("lab", "run", "uniform", "--seeds", 1, "--out", out) == 0
    return out


def test_the_list_names_every_experiment(capsys):
    assert call("lab", "list") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in EXPERIMENTS)


def test_the_list_is_there_for_machines_too(capsys):
    assert call("lab", "list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(EXPERIMENTS)
    assert all(row["question"] and row["paper"] for row in rows)


def test_a_run_writes_a_record_and_a_figure(folder):
    record = Record.from_json((folder / "uniform.json").read_text())
    assert (record.name, record.seeds) == ("uniform", (0,))
    assert record.claims
    assert record.seconds > 0
    assert record.made_with["penstock"]
    assert minidom.parse(str(folder / "uniform.svg")).documentElement.tagName == "svg"
    assert (folder / "uniform.png").stat().st_size > 1000


def test_a_run_shows_numbers_claims_and_what_it_wrote(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert call("lab", "run", "uniform", "--seeds", 1, "--out", tmp_path) == 0
    printed = capsys.readouterr().out
    for part in ("probability", "verdict", "not comparable", "uniform.json", "uniform.svg"):
        assert part in printed


def test_a_run_for_machines_prints_nothing_but_json(tmp_path, capsys):
    assert (
        call("lab", "run", "uniform", "--seeds", 1, "--seed", 7, "--out", tmp_path, "--json") == 0
    )
    captured = capsys.readouterr()
    (record,) = json.loads(captured.out)
    assert record["seeds"] == [7]
    assert record["command"] == "penstock lab run uniform --seed 7 --seeds 1"
    assert captured.err == ""


def test_the_same_seeds_make_the_same_numbers(folder, tmp_path):
    assert call("lab", "run", "uniform", "--seeds", 1, "--out", tmp_path) == 0
    first, again = (
        Record.from_json((place / "uniform.json").read_text()) for place in (folder, tmp_path)
    )
    assert first.panels == again.panels
    assert first.claims == again.claims


def test_an_unknown_experiment_ends_in_one_sentence(capsys):
    assert call("lab", "run", "skw") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "did you mean 'skew'" in error


@pytest.mark.parametrize("option", ["--seeds", "--jobs"])
def test_nothing_can_be_done_with_no_seeds_or_no_processes(option, capsys):
    assert call("lab", "run", "uniform", option, 0) == 2
    assert option in capsys.readouterr().err


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert call("lab", "run", "uniform", "--out", tmp_path / "taken") == 2
    assert "taken" in capsys.readouterr().err


@pytest.fixture
def all_records(folder, tmp_path):
    """Records under the names of all experiments, each that of the one that has run."""
    text = (folder / "uniform.json").read_text()
    for name in EXPERIMENTS:
        (tmp_path / f"{name}.json").write_text(text)
    return tmp_path


def test_claims_are_written_between_the_marks_and_nowhere_else(all_records, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{START}\nold\n{END}\nafter\n")
    assert call("lab", "claims", page, "--records", all_records) == 0
    text = page.read_text()
    assert text.startswith(f"before\n{START}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "| 5.2.2, figure 9 |" in text
    assert call("lab", "claims", page, "--records", all_records) == 0
    assert page.read_text() == text


def test_claims_need_a_page_with_marks(all_records, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("nothing here")
    assert call("lab", "claims", page, "--records", all_records) == 2
    assert "no place for claims" in capsys.readouterr().err
    assert page.read_text() == "nothing here"


def test_claims_need_the_records_of_all_experiments(tmp_path, capsys):
    (tmp_path / "page.md").write_text(f"{START}\n{END}")
    assert call("lab", "claims", tmp_path / "page.md", "--records", tmp_path) == 2
    assert "penstock lab run window-size" in capsys.readouterr().err
