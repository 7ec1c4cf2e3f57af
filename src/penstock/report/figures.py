"""The panels of a record as pictures."""

import io
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import MissingData
from penstock.lab.record import Panel, Record
from penstock.report.palette import looks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_WIDE, _HIGH = 5.6, 4.2  # inches of one panel
_ACROSS = 3  # panels beside each other
_LONG_NAME = 18  # letters; three such names do not fit beside each other
_THOUSANDS = 10_000  # from here on a number is easier to read with a comma in it
_STROKES = "stroke-linejoin: round; stroke-linecap: butt"
_STYLE: dict[str, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.handlelength": 3,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "svg.fonttype": "path",  # the picture looks alike wherever it is opened
}


def svg_of(panel: Panel) -> str:
    """Return one panel as the text of an `<svg>` element that needs nothing else.

    It can stand in a page as it is; several of them do not get in each other's way.
    """
    return _svg((panel,), panel.title, heading="")


def draw(record: Record, stem: Path) -> tuple[Path, ...]:
    """Write all panels of a record to `stem.svg` and `stem.png`, and name the files.

    A record without panels leaves no file.
    """
    if not record.panels:
        return ()
    vector, raster = Path(f"{stem}.svg"), Path(f"{stem}.png")
    title = record.title
    vector.write_text(_svg(record.panels, title, heading=title), encoding="utf-8")
    with _styled():
        _figure(record.panels, title).savefig(raster, format="png", dpi=110)
    return vector, raster


def check_installed() -> None:
    """Say at once if nothing can be drawn, rather than after a long run."""
    if find_spec("matplotlib") is None:
        raise MissingData("matplotlib is not installed; `pip install 'penstock[lab]'` brings it.")


def _svg(panels: tuple[Panel, ...], title: str, *, heading: str) -> str:
    # The same panel gives the same text, and two panels on one page have different ids.
    salt = f"{zlib.crc32(repr(panels).encode()):08x}"
    text = io.StringIO()
    with _styled({"svg.hashsalt": salt}):
        figure = _figure(panels, heading)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return _alone(text.getvalue(), salt, title)


def _alone(picture: str, salt: str, title: str) -> str:
    """Return a drawing as one element whose ids and styles stay its own wherever it is put."""
    picture = picture[picture.index("<svg") :].rstrip()
    picture = re.sub(r"\s*<(metadata|style)\b.*?</\1>", "", picture, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', picture))
    picture = re.sub(
        r' id="([^"]*)"',
        lambda found: f' id="{salt}-{found[1]}"' if found[1] in used else "",
        picture,
    )
    picture = re.sub(r'(url\(|href=")#', rf"\g<1>#{salt}-", picture)
    head = f'<svg role="img" aria-label="{escape(title)}" style="{_STROKES}" '
    return picture.replace("<svg ", head, 1)


def _styled(more: dict[str, Any] | None = None) -> Any:
    check_installed()
    import matplotlib as mpl

    settings: Any = {**_STYLE, **(more or {})}
    return mpl.rc_context(settings)


def _figure(panels: tuple[Panel, ...], heading: str) -> "Figure":
    from matplotlib.figure import Figure

    across = 2 if len(panels) == 4 else min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(_WIDE * across, _HIGH * down), layout="constrained")
    if heading:
        figure.suptitle(heading, x=0.01, ha="left", weight="bold", size=13)
    parts = figure.subfigures(down, across, squeeze=False).flat
    rows = max(-(-len(panel.series) // _columns(panel)) for panel in panels)
    for panel, part in zip(panels, parts, strict=False):
        _draw(panel, part)
        _explain(panel, part, rows)
    return figure


def _columns(panel: Panel) -> int:
    longest = max((len(line.name) for line in panel.series), default=0)
    return 2 if longest > _LONG_NAME else 3


def _explain(panel: Panel, part: "SubFigure", rows: int) -> None:
    """Put the legend below, as high in every panel, so that the charts are as high too."""
    from matplotlib.lines import Line2D

    lines, names = part.axes[0].get_legend_handles_labels()
    if len(lines) < 2 and rows < 2:
        return
    if len(lines) < 2:
        lines, names = [], []
    columns = _columns(panel)
    blanks = rows * columns - len(lines)
    lines = [*lines, *(Line2D([], [], alpha=0.0) for _ in range(blanks))]
    part.legend(lines, [*names, *[" "] * blanks], loc="outside lower center", ncols=columns)


def _draw(panel: Panel, part: "SubFigure") -> None:
    axes = part.add_subplot()
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    looks = looks_of([line.name for line in panel.series])
    for line, look in zip(panel.series, looks, strict=True):
        crowded = len(line.x) > 25  # then markers would hide the line
        axes.plot(
            line.x,
            line.y,
            label=line.name,
            color=look.color,
            linestyle=look.dash,
            marker="" if crowded else look.marker,
            markerfacecolor=look.color if look.dash == "-" else "white",
            zorder=3 if look.marker else 4,  # what to compare with stays visible
        )
        if line.low and line.high:
            axes.fill_between(line.x, line.low, line.high, color=look.color, alpha=0.15, lw=0)
    _scale(axes, panel)


def _scale(axes: "Axes", panel: Panel) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xscale(panel.x_scale)
    if panel.x_scale == "log":
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}"))
    if panel.y_from_zero:
        axes.set_ylim(bottom=0)
    whole = all(float(x).is_integer() for line in panel.series for x in line.x)
    if whole and panel.x_scale == "linear":
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=(1, 2, 5, 10)))
    if panel.y_to is not None:
        axes.set_ylim(top=panel.y_to)
    if _largest(line.y for line in panel.series) >= _THOUSANDS:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    if _largest(line.x for line in panel.series) >= _THOUSANDS:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))


def _largest(lines: Iterable[Sequence[float]]) -> float:
    return max((value for line in lines for value in line if math.isfinite(value)), default=0.0)
