"""`penstock bench`: measures, judges by its targets, and writes what it says it writes."""

import json
from dataclasses import replace

import pytest

from penstock.cli import bench as command
from penstock.cli import main
from penstock.lab.bench.rivals import side_by_side
from penstock.lab.bench.sizes import FULL, QUICK, ROWS, Sizes, Target
from penstock.lab.bench.steady import Steady, Way
from penstock.lab.bench.workload import Stream
from penstock.lab.record import Record

TINY = Sizes(
    batch=200,
    batches=2,
    rounds=2,
    keys=500,
    window=400,
    hot_keys=10,
    hot_batches=1,
    retained=(100, 400),
    weighed=400,
    trace=2000,
)


def call(*arguments):
    """Run a command; return its exit code."""
    try:
        main(list(map(str, arguments)))
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture
def small(monkeypatch):
    """Benches of a few hundred rows, one process to weigh."""
    monkeypatch.setattr(command, "FULL", TINY)
    monkeypatch.setattr(command, "QUICK", replace(TINY, trace=1000))
    monkeypatch.setattr("penstock.lab.bench.memory.FAMILIES", (Way(),))


def test_every_figure_stands_beside_its_target(small, tmp_path, capsys):
    assert call("bench", "--out", tmp_path / "page.html") == 0
    printed = capsys.readouterr().out
    for part in ("Throughput", "Many partners", "Flatness", "Memory", "Side by side", "DuckDB"):
        assert part in printed
    assert "1 M" in printed
    assert "missed" in printed or "met" in printed
    record = Record.from_json((tmp_path / "page.json").read_text())
    assert record.command == "penstock bench"
    assert "<svg" in (tmp_path / "page.html").read_text()


def test_machines_get_every_figure_and_nothing_else(small, tmp_path, capsys):
    assert call("bench", "--quick", "--json", "--out", tmp_path / "page.html") == 0
    captured = capsys.readouterr()
    facts = json.loads(captured.out)
    assert captured.err == ""
    assert set(facts["throughput"]) >= {"exact", "random, 50%", "match-probability, 10%"}
    for way in facts["throughput"].values():
        assert way["met"] == (way["rows_per_second"] >= way["target"])
    assert facts["flatness"]["exact"]["ratios"][0] == 1.0
    assert facts["memory"]["exact"]["bytes_by_count"] > 24
    assert facts["report"] == str(tmp_path / "page.html")


def test_a_page_that_cannot_be_written_ends_in_one_sentence(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert call("bench", "--out", tmp_path / "taken" / "page.html") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_all_find_the_same_matches():
    done, _ = side_by_side(TINY, lambda done, total: None)
    assert len(done) >= 3
    assert len({rival.matches for rival in done}) == 1
    assert done[0].matches > 100


def test_a_full_window_holds_what_it_should():
    stream = Stream(keys=100, window=300)
    exact = Steady(Way(), stream, batch=100)
    shedding = Steady(Way("random", 0.5), stream, batch=100)
    pace = exact.run(20)
    assert sum(exact.state.health().held) == pytest.approx(300, abs=1)
    assert sum(shedding.state.health().held) == pytest.approx(150, abs=1)
    assert pace.matches / pace.rows == pytest.approx(stream.matches_per_row, rel=0.2)


@pytest.mark.parametrize(
    ("target", "figure", "met"),
    [
        (ROWS, 1e6, True),
        (ROWS, 0.99e6, False),
        (Target(150.0, False, ""), 150.0, True),
        (Target(150.0, False, ""), 151.0, False),
    ],
)
def test_a_target_is_met_up_to_its_limit(target, figure, met):
    assert target.met(figure) is met
    assert target.verdict(figure) == ("met" if met else "missed")


def test_quick_is_smaller():
    assert QUICK.weighed < FULL.weighed
    assert QUICK.retained[-1] < FULL.retained[-1]
