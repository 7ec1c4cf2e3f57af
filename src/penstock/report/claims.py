"""The claims of many records as a table in a page, written between two marks."""

import re
from collections.abc import Sequence

from penstock.errors import InvalidData
from penstock.lab.record import Claim, Record

START = "<!-- claims: written by `penstock lab claims`; do not edit by hand -->"
END = "<!-- end of claims -->"


def claims_in_markdown(records: Sequence[Record]) -> str:
    """Return a table per paper: what it says, what we measured, the verdict.

    Examples
    --------
    >>> from penstock.lab.record import Claim
    >>> claim = Claim("Someone 1.2, figure 3", "x | y", "1.0", "reproduced")
    >>> record = Record("one", "One", "?", "by hand", "none", (0,), claims=(claim,))
    >>> print(claims_in_markdown([record]).replace(chr(92), "/"))
    ### Someone
    <BLANKLINE>
    | where | the paper says | measured | verdict | experiment |
    | --- | --- | --- | --- | --- |
    | 1.2, figure 3 | x /| y | 1.0 | reproduced | `one` |
    """
    rows: dict[str, list[str]] = {}
    for record in records:
        for claim in record.claims:
            paper = _authors(claim)
            where = claim.where.removeprefix(paper).strip()
            cells = (where, claim.says, claim.ours, claim.verdict, f"`{record.name}`")
            rows.setdefault(paper, []).append(f"| {' | '.join(map(_cell, cells))} |")
    head = "| where | the paper says | measured | verdict | experiment |"
    rule = "| --- | --- | --- | --- | --- |"
    return "\n\n".join(
        "\n".join([f"### {paper}", "", head, rule, *lines]) for paper, lines in rows.items()
    )


def rewritten(page: str, records: Sequence[Record]) -> str:
    """Return a page with the claims of the records between its marks, and how they were made."""
    if START not in page or END not in page.partition(START)[2]:
        raise InvalidData(
            f"the page has no place for claims; put the lines {START!r} and {END!r} in it."
        )
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    made = sorted({_made(record) for record in records})
    body = "\n\n".join([*made, claims_in_markdown(records)])
    return f"{before}{START}\n\n{body}\n\n{END}{after}"


def _made(record: Record) -> str:
    seeds = f"seeds {record.seeds[0]} to {record.seeds[-1]}"
    versions = ", ".join(
        f"{name} {record.made_with[name]}"
        for name in ("penstock", "numba", "numpy", "python")
        if name in record.made_with
    )
    return f"Measured with {versions}; {seeds}."


def _authors(claim: Claim) -> str:
    """Return what stands before the first number: a claim names its paper, then the place."""
    return re.split(r"(?=\d)", claim.where, maxsplit=1)[0].strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
