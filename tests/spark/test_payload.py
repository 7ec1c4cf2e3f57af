"""Whatever Spark can hand to Python lies in the join memory and comes out unchanged."""

import pyarrow as pa
import pytest

import penstock as ps
from on_spark import MINUTE, UTC, finished, streams

pytestmark = pytest.mark.spark

PAYLOAD = {
    "struct": "named_struct('a', id, 'b', array(named_struct('c', string(id))))",
    "map": "map(string(id), array(id, null), 'none', null)",
    "map_of_times": "map(timestamp_micros(id), date_from_unix_date(id))",
    "array": "if(id % 3 = 0, null, array(double(id), double('NaN'), null))",
    "decimal": "cast(id / 7 as decimal(38, 18))",
    "days": "make_dt_interval(id, 1, 2, 3.5)",
    "variant": "parse_json('{\"a\": [' || id || ', null]}')",
    "in_variant": "array(parse_json(string(id)))",
    "moment": "timestamp_micros(id * 12345678901)",
    "local": "cast('0001-01-01 00:00:00' as timestamp_ntz) + make_dt_interval(id * 1000)",
    "date": "date_from_unix_date(id * 1000 - 700000)",
    "binary": "if(id % 2 = 0, null, cast(string(id) as binary))",
    "nothing": "null",
    "in_nothing": "array(null, null)",
    "no_fields": "named_struct()",
    "text": "repeat('ä', int(id % 5))",
    "collated": "string(id) collate UTF8_LCASE",
    "yes": "if(id % 3 = 0, null, id % 3 = 1)",
    "byte": "tinyint(id % 100)",
    "short": "smallint(id)",
    "float": "if(id = 5, float('NaN'), float(id) / 3)",
}


def with_payload(frame):
    return frame.selectExpr("t", "k", "id", *(f"{sql} as {name}" for name, sql in PAYLOAD.items()))


def text_of(row, ending):
    return [repr(row[f"{name}{ending}"]) for name in PAYLOAD]


@pytest.mark.parametrize("memory", [None, "4MB"])
def test_every_type_comes_out_of_the_memory_as_it_went_in(spark, tmp_path, memory):
    count = 40
    parts = [
        pa.table(
            {
                "t": pa.array([MINUTE * part + i for i in range(count)], UTC),
                "k": [i % 20 for i in range(count)],
                "id": range(count * part, count * (part + 1)),
            }
        )
        for part in range(2)
    ]
    frames = streams(spark, tmp_path, (parts, parts), delays=("1 minute",) * 2)
    found = ps.join(
        *map(with_payload, frames), on="k", time="t", within="1 hour", memory=memory, shards=2
    )
    given = with_payload(spark.createDataFrame(pa.concat_tables(parts)))
    for field in given.schema.fields[3:]:
        for side in ("left", "right"):
            assert found.schema[f"{field.name}_{side}"].dataType == field.dataType
    rows = finished(found, as_rows=True).rows
    assert len(rows) == 20 * 4 * 4
    want = {row["id"]: text_of(row, "") for row in given.collect()}
    for row in rows:
        assert text_of(row, "_left") == want[row["id_left"]]
        assert text_of(row, "_right") == want[row["id_right"]]
