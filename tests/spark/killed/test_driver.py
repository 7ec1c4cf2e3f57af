"""A driver that is killed at any moment: nothing is lost, nothing comes twice."""

import pytest

from killing import files, job
from killing.ordeal import MOMENTS, Ordeal
from killing.rows import all_pairs, pairs_of, written

pytestmark = pytest.mark.spark

FEW = ("exact-4", "random-1")


@pytest.fixture(scope="module")
def few(spark, tmp_path_factory):
    return undisturbed(spark, tmp_path_factory.mktemp("few"), FEW, batches=5)


def undisturbed(spark, folder, names, *, batches):
    """Write the streams, and run the queries over them without a kill."""
    read = files.write(folder / "files", batches=batches)
    job.run(spark, read, folder / "undisturbed", names)
    return read, {name: written(spark, folder / "undisturbed", name) for name in names}


def test_the_undisturbed_run_is_worth_comparing_with(few):
    read, rows = few
    assert pairs_of(rows["exact-4"]) == all_pairs(read)
    bounded = set(pairs_of(rows["random-1"]))
    assert len(bounded) == len(rows["random-1"])
    assert 0.2 < len(bounded) / len(rows["exact-4"]) < 0.8
    assert bounded < set(all_pairs(read))


def test_three_kills_change_no_row(few, spark, tmp_path):
    read, rows = few
    ordeal = Ordeal(read, tmp_path / "killed", FEW, ("plan", "join", "commit"), seed=1)
    assert ordeal.hit.total() == 3 * len(FEW)
    for name in FEW:
        assert written(spark, tmp_path / "killed", name) == rows[name]


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 4])
def test_ten_kills_change_no_row_of_three_queries(spark, tmp_path, shards):
    names = [name for name in job.QUERIES if name.endswith(f"-{shards}")]
    moments = 2 * [*MOMENTS, "any"]
    read, rows = undisturbed(spark, tmp_path, names, batches=16)
    ordeal = Ordeal(read, tmp_path / "killed", names, moments, seed=shards)
    print("hit:", ordeal.hit)
    assert set(ordeal.hit) == set(MOMENTS)
    for name in names:
        assert written(spark, tmp_path / "killed", name) == rows[name]
