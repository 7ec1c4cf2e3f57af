"""The pages for readers, cut into the pieces that can be run."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Piece(NamedTuple):
    language: str
    text: str
    line: int


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def pieces(page):
    text = page.read_text()
    return [
        Piece(found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]
