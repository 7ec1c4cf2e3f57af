"""Every example in README and docs does what the page says.

In a `python` block, lines after `>>>` are run and their output compared; a block without them is
run as it stands.  In a `console` block, lines after `$` are run by the shell.  All blocks of a
page share their names and one empty folder.  `...` stands for anything, and what a clock says
may differ.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages import PAGES, ROOT, name_of, pieces

BIN = Path(sys.executable).parent
COMPARE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUNNABLE = [page for page in PAGES if {"python", "console"} & {p.language for p in pieces(page)}]


def told_by_no_clock(text):
    """Take out seconds (the only numbers with two decimals) and rates, with what lies around."""
    return re.sub(r" *\b\d+\.\d\d\b| *\b\d+\.\d M\b", " #", text)


def run_python(piece, names, page):
    if ">>>" not in piece.text:
        exec(compile(piece.text, f"<{page}>", "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(piece.text, names, page, page, piece.line)
    told = []
    doctest.DocTestRunner(optionflags=COMPARE).run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not told, "".join(told)


def run_console(piece, folder, page):
    for part in re.split(r"^\$ ", piece.text, flags=re.MULTILINE)[1:]:
        command, _, wanted = re.sub(r"\\\n\s*(?:> )?", "", part).partition("\n")
        found = subprocess.run(
            command.replace(".venv/bin/", ""),
            shell=True,
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        )
        printed = found.stdout + found.stderr
        alike = doctest.OutputChecker().check_output(
            told_by_no_clock(wanted), told_by_no_clock(printed), COMPARE
        )
        assert alike, f"{page}:{piece.line}: `{command}` printed\n{printed}\nnot\n{wanted}"


@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for piece in pieces(page):
        if piece.language == "python":
            run_python(piece, names, name_of(page))
        elif piece.language == "console":
            run_console(piece, tmp_path, name_of(page))


def test_pages_are_found():
    assert ROOT / "README.md" in RUNNABLE
    assert ROOT / "docs" / "semantics.md" in PAGES
