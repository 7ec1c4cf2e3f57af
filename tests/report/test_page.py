"""The page: all of a record, and nothing from anywhere else."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from penstock.lab.record import Claim, Headline, Panel, Record, Series, Table
from penstock.report.page import page_of

NASTY = "<script>alert('x')</script> & \"more\""
RECORD = Record(
    name="one",
    title="Title here",
    question="Question here?",
    workload="Rows here.",
    command="penstock one",
    seeds=(3, 5),
    panels=(Panel("Panel here", "x", "y", (Series("recent", (1.0, 2.0), (3.0, 4.0)),)),),
    tables=(
        Table("Table here", ("policy", "matches"), (("recent", 1234567),), "Note of a table."),
    ),
    claims=(Claim("Paper 1.2", "Claim here", "Ours here", "partly"),),
    notes=("Note here.",),
    seconds=1.25,
    made_with={"numpy": "2.0"},
    headlines=(Headline("42 %", "meaning here"),),
)
VOID = {"meta", "br", "path", "use", "image", "rect"}


class Reader(HTMLParser):
    """Follows which elements are open, and collects what the page shows and asks for."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(record):
    reader = Reader()
    reader.feed(page_of(record))
    assert reader.open == []
    return reader


@pytest.mark.parametrize(
    "shown",
    [
        *("Title here", "Question here?", "Rows here.", "penstock one", "3, 5", "Table here"),
        *("1,234,567", "Note of a table.", "Paper 1.2", "Claim here", "Ours here", "partly"),
        *("Note here.", "numpy 2.0", "42 %", "meaning here", "1.2 s"),
    ],
)
def test_everything_a_record_says_is_on_the_page(shown):
    assert shown in " ".join(read(RECORD).text)


def test_a_panel_is_drawn_in_the_page_itself():
    assert read(RECORD).tags.count("svg") == 1


def test_the_page_runs_nothing_and_fetches_nothing():
    page = read(RECORD)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert all(link.startswith("#") for link in page.links)
    outside = re.findall(r"(?:https?:)?//[\w.]+", page_of(RECORD))
    assert {address.removeprefix("http:") for address in outside} <= {"//www.w3.org"}
    assert "url(http" not in page_of(RECORD)


def test_text_of_a_record_cannot_become_part_of_the_page():
    nasty = replace(
        RECORD,
        title=NASTY,
        question=NASTY,
        workload=NASTY,
        command=NASTY,
        panels=(replace(RECORD.panels[0], title=NASTY, x_label=NASTY),),
        tables=(Table(NASTY, (NASTY, NASTY), ((NASTY, NASTY),), NASTY),),
        claims=(Claim(NASTY, NASTY, NASTY, "partly"),),
        notes=(NASTY,),
        made_with={NASTY: NASTY},
        headlines=(Headline(NASTY, NASTY),),
    )
    assert "script" not in read(nasty).tags


def test_a_record_read_back_gives_the_same_page():
    assert page_of(Record.from_json(RECORD.to_json())) == page_of(RECORD)


def test_what_a_record_has_not_is_left_out():
    bare = Record("one", "One", "How many?", "by hand", "none", (0,))
    page = read(bare)
    assert not {"svg", "table", "ul"} & set(page.tags)
    assert "In figures" not in " ".join(page.text)


def test_a_table_without_rows_does_no_harm():
    assert "th" in read(replace(RECORD, tables=(Table("Empty", ("a", "b"), ()),))).tags


def test_numbers_stand_flush_right_and_names_do_not():
    page = page_of(RECORD)
    assert '<td class="right">1,234,567</td>' in page
    assert '<th scope="row">recent</th>' in page
