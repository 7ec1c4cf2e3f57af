"""Python workers, executors and whole machines that are killed while a batch runs."""

import pytest

from killing import files, job
from killing.cluster import Cluster, executors, python_workers
from killing.harm import Harm
from killing.rows import written
from killing.shelves import shelves

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NAMES = ("exact-4", "match-probability-1")


@pytest.fixture(scope="module")
def undisturbed(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    read = files.write(folder / "files", batches=16)
    job.run(spark, read, folder / "run", NAMES)
    return read, {name: written(spark, folder / "run", name) for name in NAMES}


def same_rows(spark, folder, rows):
    return all(written(spark, folder, name) == rows[name] for name in NAMES)


def test_five_killed_python_workers_change_no_row(undisturbed, spark, tmp_path):
    read, rows = undisturbed
    deeds = 5 * [lambda driver: python_workers(driver.process.pid)]
    run = Harm(read, tmp_path, NAMES, deeds, seed=1, settings={"spark.master": "local[2,4]"})
    print("within a batch:", run.within_a_batch)
    assert same_rows(spark, tmp_path, rows)


def test_killed_executors_and_a_killed_machine_change_no_row(undisturbed, spark, tmp_path):
    read, rows = undisturbed
    with Cluster(tmp_path / "cluster", workers=2) as cluster:
        both = [worker.process.pid for worker in cluster.workers]

        def some_executor(_):
            found = [process for worker in both for process in executors(worker)]
            return found if len(found) == len(both) else []

        deeds = [some_executor] * 4 + [lambda _: cluster.workers]
        run = Harm(read, tmp_path / "run", NAMES, deeds, seed=2, settings=cluster.settings)
    print("within a batch:", run.within_a_batch)
    assert same_rows(spark, tmp_path / "run", rows)


def test_what_lies_on_this_machine_can_vanish_in_the_middle_of_a_batch(
    undisturbed, spark, tmp_path
):
    read, rows = undisturbed
    run = Harm(read, tmp_path, NAMES, [shelves] * 7, seed=3, settings={})
    print("within a batch:", run.within_a_batch)
    assert same_rows(spark, tmp_path, rows)
