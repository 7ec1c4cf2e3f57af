"""The shelf: a state is gone on with from where another process left it, or not at all."""

import numpy as np
import pyarrow as pa
import pytest

from penstock import policies
from penstock.engine.parked import park, unpark
from penstock.engine.plan import Plan
from penstock.engine.saved import save
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.kernels import pages
from penstock.query import Budget, JoinQuery, Window, pairs_of
from penstock.spark import shelf as shelves
from penstock.spark.shelf import Shelf

ROWS, BATCHES = 2400, 8


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    return tmp_path


@pytest.fixture(params=["in files", "copied"])
def sizes(request, monkeypatch):
    """Let even small arrays lie in files of their own, or none."""
    size = 1 if request.param == "in files" else 1 << 40
    monkeypatch.setattr(pages, "_WORTH_IT", size)
    monkeypatch.setattr(pages, "_GAP", size)


def tables(*, text):
    rng = np.random.default_rng(7)
    columns = lambda: {  # noqa: E731
        "key": rng.integers(0, 40, ROWS),
        "time": np.sort(rng.integers(0, 1500, ROWS)),
        "worth": rng.random(ROWS),
    }
    found = [pa.table(columns()), pa.table(columns())]
    if text:
        found[0] = found[0].append_column("text", pa.array([f"row {i}" for i in range(ROWS)]))
    return found


def plan_of(sides, policy):
    query = JoinQuery(
        pairs_of("key"),
        ("time", "time"),
        (Window.of(200), Window.of(150)),
        Budget.of(300) if policy else None,
        importance=("worth", "worth"),
    )
    schemas = [side.schema for side in sides]
    return Plan(query, schemas, policy or policies.by_name("random"))


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
@pytest.mark.parametrize(
    "policy", [None, *policies.ALL], ids=lambda policy: policy.name if policy else "exact"
)
def test_a_state_that_waited_goes_on_as_if_it_had_not(policy, text, sizes):
    sides = tables(text=text)
    plan = plan_of(sides, policy)
    undisturbed, waited, shelf = start(plan), start(plan), Shelf.new("shard")
    for number in range(BATCHES):
        first, count = number * ROWS // BATCHES, ROWS // BATCHES
        batch = [side.slice(first, count) for side in sides]
        expected = step(undisturbed, batch)
        with pages.provided_by(shelf.map):
            found = step(waited, batch)
        assert found.matches.equals(expected.matches)
        assert save(found.state) == save(expected.state)
        undisturbed = expected.state
        assert shelf.put(park(found.state), f"{number}")
        shelf = Shelf.of("shard", shelf.name)
        waited = unpark(plan, shelf.take(f"{number}"))


def left(state=None):
    sides = tables(text=True)
    plan = plan_of(sides, None)
    shelf = Shelf.new("shard")
    with pages.provided_by(shelf.map):
        done = step(start(plan), sides)
    assert shelf.put(park(done.state), "token")
    return shelf


def test_it_can_be_taken_once_and_with_its_token_only():
    shelf = left()
    assert Shelf.of("shard", shelf.name).take("another") is None
    assert Shelf.of("shard", shelf.name).take("token") is not None
    assert Shelf.of("shard", shelf.name).take("token") is None


def test_what_is_damaged_is_not_taken():
    shelf = left()
    file = shelf.folder / "state-token"
    body = bytearray(file.read_bytes())
    body[-4096:] = bytes(4096)
    file.write_bytes(bytes(body))
    assert Shelf.of("shard", shelf.name).take("token") is None


def test_what_was_left_before_the_machine_was_last_started_is_not_taken(monkeypatch):
    shelf = left()
    monkeypatch.setattr(shelves, "_boot", lambda: "another start")
    assert Shelf.of("shard", shelf.name).take("token") is None


def test_a_new_shelf_throws_away_what_there_was_of_its_shard():
    old = left()
    Shelf.new("shard")
    assert not old.folder.exists()


def test_on_a_full_disk_memory_lies_in_no_file(monkeypatch):
    monkeypatch.setattr(shelves, "_FREE", 1 << 62)
    shelf = Shelf.new("shard")
    words = np.frombuffer(shelf.map(1 << 20), np.int64)
    assert not words.any()
    assert not list(shelf.folder.glob("*"))
