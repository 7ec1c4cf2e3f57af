"""Columns of a DataFrame as Arrow sees them, and what Spark notes beside them."""

from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_type

from penstock.errors import InvalidQuery

_DELAY = "spark.watermarkDelayMs"  # where Spark notes a watermark
_TICKS_PER_MS = 1000


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """Return the columns of a DataFrame in Arrow's types, times in UTC."""
    fields = []
    for field in frame.schema:
        try:
            kind = to_arrow_type(field.dataType, timezone="UTC")
        except PySparkException as error:
            raise InvalidQuery(
                f"column {field.name!r}: Spark cannot hand {field.dataType.simpleString()} to "
                "Python; cast the column to another type, or leave it out."
            ) from error
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def delay_of(frame: DataFrame, time: str) -> int | None:
    """Return by how many ticks a stream's watermark trails its newest row; None: it has none."""
    metadata: dict[str, Any] = frame.schema[time].metadata if time in frame.columns else {}
    delay = metadata.get(_DELAY)
    return None if delay is None else int(delay) * _TICKS_PER_MS


def resolved(name: str, names: list[str]) -> str:
    """Return the column that Spark would take for a name: upper and lower case are one to it.

    >>> resolved("Item", ["ts", "item"]), resolved("price", ["ts", "item"])
    ('item', 'price')
    """
    if name in names:
        return name
    alike = [have for have in names if have.lower() == str(name).lower()]
    return alike[0] if len(alike) == 1 else name
