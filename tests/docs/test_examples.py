"""Every example in README and docs does what the page says.

In a `python` block, lines after `>>>` are run and their output compared; a block without them is
run as it stands.  In a `console` block, lines after `$` are run by the shell.  All blocks of a
page share their names and one empty folder.  `...` stands for anything, and what a clock says
may differ.
"""

import pytest

from examples import ON_SPARK, RUNNABLE, run_page
from pages import PAGES, ROOT, name_of

HERE = [page for page in RUNNABLE if page not in ON_SPARK]


@pytest.mark.parametrize("page", HERE, ids=name_of)
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path)


def test_pages_are_found():
    assert ROOT / "README.md" in ON_SPARK
    assert ROOT / "docs" / "guides" / "replay.md" in HERE
    assert ROOT / "docs" / "semantics.md" in PAGES
