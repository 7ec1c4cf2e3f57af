"""Figures: pictures drawn from panels alone, fit to stand in a page."""

import re
from xml.dom import minidom

import pytest

from penstock.lab.record import Panel, Record, Series
from penstock.policies import ALL
from penstock.report.figures import draw, svg_of
from penstock.report.palette import looks_of

MEMORY = (40.0, 100.0, 600.0)
PANEL = Panel(
    title="Window <400>",
    x_label="memory",
    y_label="matches",
    series=(
        Series("exact", MEMORY, (50_000.0,) * 3),
        Series("random", MEMORY, (2_000.0, 10_000.0, float("nan"))),
        Series("match-probability", MEMORY, (9e3, 2e4, 4e4), (8e3, 1e4, 3e4), (1e4, 3e4, 5e4)),
    ),
)
RECORD = Record("one", "One", "How many?", "by hand", "none", (0,), panels=(PANEL, PANEL))


def test_a_panel_becomes_one_svg_element_and_nothing_else():
    root = minidom.parseString(svg_of(PANEL)).documentElement
    assert root.tagName == "svg"
    assert root.getAttribute("aria-label") == "Window <400>"


def test_a_picture_asks_nothing_of_the_network_or_of_the_page_around_it():
    picture = svg_of(PANEL)
    assert set(re.findall(r"https?://[^\"]+", picture)) <= {
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/2000/svg",
    }
    assert "<style" not in picture


def test_ids_of_two_panels_never_meet_and_every_reference_is_answered():
    other = Panel("Other", "memory", "matches", PANEL.series)
    ids = [set(re.findall(r' id="([^"]+)"', svg_of(panel))) for panel in (PANEL, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert set(re.findall(r'(?:url\(|href=")#([^")]+)', svg_of(PANEL))) == ids[0]


def test_the_same_panel_gives_the_same_text():
    assert svg_of(PANEL) == svg_of(PANEL)


def test_a_record_is_written_as_vector_and_as_raster(tmp_path):
    vector, raster = draw(RECORD, tmp_path / "one")
    assert minidom.parse(str(vector)).documentElement.tagName == "svg"
    assert raster.read_bytes().startswith(b"\x89PNG")


def test_a_record_without_panels_leaves_no_file(tmp_path):
    assert draw(Record("one", "One", "?", "none", "none", ()), tmp_path / "one") == ()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_a_policy_looks_the_same_in_whatever_company(policy):
    alone = looks_of([policy.name])[0]
    crowd = looks_of(["exact", "newcomer", "random", policy.name])[-1]
    assert (alone.color, alone.marker) == (crowd.color, crowd.marker)


@pytest.mark.parametrize(
    "names",
    [
        ["random", "match-probability", "remaining-matches"],
        ["recent", "until-expiry", "age-curve"],
        [
            *("random", "match-probability", "importance"),
            *("expected-importance", "expected-importance-live", "gain-and-loss"),
        ],
    ],
)
def test_policies_that_compete_in_one_figure_differ_in_colour(names):
    assert len({look.color for look in looks_of(names)}) == len(names)


def test_whole_numbers_have_no_ticks_between_them():
    hours = Panel("Hours", "hour", "y", (Series("recent", tuple(range(5, 25)), (1.0,) * 20),))
    assert "2.5" not in re.findall(r"<!-- (.*?) -->", svg_of(hours))
    assert "7.5" not in re.findall(r"<!-- (.*?) -->", svg_of(hours))
