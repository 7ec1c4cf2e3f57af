"""A record as one page that stands alone: no script, and nothing fetched from elsewhere."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from penstock.lab.record import Claim, Headline, Record, Table
from penstock.report.figures import svg_of
from penstock.report.numbers import is_numeric, written

# Whatever a record may hold, the page may only use what is in it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page_of(record: Record) -> str:
    """Return the page of a record as the text of an HTML file.

    It needs nothing but the record, so a record read back from its JSON gives the same page.

    Parameters
    ----------
    record
        What to show; a part that is empty is left out.
    """
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    figures = [f'<figure class="card">{svg_of(panel)}</figure>' for panel in record.panels]
    parts = [
        _head(record),
        _section("In figures", "figures", figures),
        _section("In numbers", "tables", map(_table, record.tables)),
        _section("Held against the papers", "claims", map(_claim, record.claims)),
        _notes(record),
        _made(record),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(record.title)} - Penstock</title>\n<style>\n{style}</style>\n"
        f"</head>\n<body>\n<main>\n{''.join(parts)}</main>\n</body>\n</html>\n"
    )


def _head(record: Record) -> str:
    tiles = "".join(map(_tile, record.headlines))
    return (
        f'<header>\n<div class="brand">Penstock</div>\n<h1>{escape(record.title)}</h1>\n'
        f'<p class="question">{escape(record.question)}</p>\n</header>\n'
        + (f'<div class="tiles">\n{tiles}</div>\n' if tiles else "")
    )


def _tile(line: Headline) -> str:
    return (
        f'<div class="card tile"><strong>{escape(line.number)}</strong>'
        f"<span>{escape(line.meaning)}</span></div>\n"
    )


def _section(title: str, kind: str, cards: Iterable[str]) -> str:
    inside = "\n".join(cards)
    if not inside:
        return ""
    return f'<section>\n<h2>{title}</h2>\n<div class="{kind}">\n{inside}\n</div>\n</section>\n'


def _table(table: Table) -> str:
    rows = [[written(cell) for cell in row] for row in table.rows]
    right = [at > 0 and is_numeric([row[at] for row in rows]) for at in range(len(table.columns))]
    marks = [' class="right"' if flush else "" for flush in right]
    head = "".join(
        f'<th scope="col"{mark}>{escape(name)}</th>'
        for name, mark in zip(table.columns, marks, strict=True)
    )
    body = "".join(_line(row, marks) for row in rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="card"><h3>{escape(table.title)}</h3>{note}'
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></div>"
    )


def _line(row: list[str], marks: list[str]) -> str:
    cells = [f'<th scope="row">{escape(row[0])}</th>'] if row else []
    cells += [
        f"<td{mark}>{escape(text)}</td>" for text, mark in zip(row[1:], marks[1:], strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _claim(claim: Claim) -> str:
    kind = claim.verdict.replace(" ", "-")
    return (
        f'<div class="card"><span class="verdict {escape(kind)}">{escape(claim.verdict)}</span>'
        f"<h3>{escape(claim.says)}</h3><p>{escape(claim.ours)}</p>"
        f'<p class="where">{escape(claim.where)}</p></div>'
    )


def _notes(record: Record) -> str:
    if not record.notes:
        return ""
    lines = "".join(f"<li>{escape(note)}</li>\n" for note in record.notes)
    return f'<section>\n<h2>To read it right</h2>\n<ul class="notes">\n{lines}</ul>\n</section>\n'


def _made(record: Record) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in sorted(record.made_with.items()))
    facts = [
        ("after", escape(record.paper)),
        ("rows", escape(record.workload)),
        ("command", f"<code>{escape(record.command)}</code>"),
        ("seeds", escape(", ".join(str(seed) for seed in record.seeds))),
        ("made with", escape(versions)),
        ("took", f"{record.seconds:,.1f} s"),
    ]
    lines = "".join(f"<dt>{name}</dt><dd>{value}</dd>\n" for name, value in facts if value)
    return (
        '<section>\n<h2>How it was made</h2>\n<div class="card">'
        f"<dl>\n{lines}</dl></div>\n</section>\n"
    )
