"""A record on a terminal, or where there is none."""

import io

from rich.console import Console

from penstock.lab.record import Record, Table
from penstock.report.terminal import print_record

TABLE = Table("Kept", ("policy", "matches"), (("match-probability", 177060), ("x", 5)), "A note.")
RECORD = Record("one", "One [b]", "How many?", "by hand", "none", (0,), tables=(TABLE,))


def printed(record, width=100):
    text = io.StringIO()
    print_record(record, Console(file=text, width=width))
    return text.getvalue()


def test_title_question_tables_and_notes_are_printed():
    text = printed(RECORD)
    for part in ("One [b]", "How many?", "Kept", "177,060", "A note."):
        assert part in text


def test_numbers_stand_one_under_the_other():
    lines = printed(RECORD).splitlines()
    (large,) = (line for line in lines if "177,060" in line)
    (small,) = (line for line in lines if line.startswith("x "))
    assert len(large.rstrip()) == len(small.rstrip())


def test_names_are_not_cut_where_there_is_room_for_them():
    assert "match-probability" in printed(RECORD, width=40)


def test_what_does_not_go_to_a_terminal_has_no_colours(capsys):
    print_record(RECORD)
    assert "\x1b" not in capsys.readouterr().out
