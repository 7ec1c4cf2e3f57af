"""How numbers are written for people, on a page and on a terminal alike."""

import math

_FRACTIONS = ((1.0, 3), (100.0, 2), (math.inf, 0))  # below this size, so many decimals


def written(cell: str | float) -> str:
    """Return the cell of a table as text.

    Examples
    --------
    >>> [written(cell) for cell in ("EWR", 279800, 0.63281, 12.5, 2300.4, float("nan"))]
    ['EWR', '279,800', '0.633', '12.50', '2,300', '-']
    """
    if isinstance(cell, str):
        return cell
    if cell is None or math.isnan(cell):
        return "-"
    if isinstance(cell, int) or math.isinf(cell):
        return f"{cell:,}"
    decimals = next(digits for size, digits in _FRACTIONS if abs(cell) < size)
    return f"{cell:,.{decimals}f}"


def is_numeric(cells: list[str]) -> bool:
    """Return whether a column of such texts reads best flush right.

    Examples
    --------
    >>> is_numeric(["0.403 - 0.407", "", "12 %"]), is_numeric(["EWR", "7"])
    (True, False)
    """
    return all(text.lstrip("+-<> ")[:1].isdigit() or text in ("", "-") for text in cells)
