"""Running the examples of a page, and holding what they print against what it says."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

from pages import PAGES, name_of, pieces

BIN = Path(sys.executable).parent
COMPARE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LANGUAGES = {"python", "console"}
# What starts a JVM: such pages are run where all tests that need one are.
SPARK = re.compile(r"penstock demo|penstock\.spark")
RUNNABLE = [page for page in PAGES if LANGUAGES & {p.language for p in pieces(page)}]
ON_SPARK = [
    page
    for page in RUNNABLE
    if any(p.language in LANGUAGES and SPARK.search(p.text) for p in pieces(page))
]


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


def run_page(page, folder):
    names = {"__name__": "__main__"}
    for piece in pieces(page):
        if piece.language == "python":
            run_python(piece, names, name_of(page))
        elif piece.language == "console":
            run_console(piece, folder, name_of(page))
