"""Shards lie evenly over any number of partitions, and keys evenly over shards."""

import numpy as np
import pytest
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from penstock.spark.shards import label_of, shard_of

MOST = 4096


@pytest.mark.spark
def test_shards_lie_in_one_partition_after_the_other(spark):
    labels = spark.createDataFrame([(label_of(shard),) for shard in range(MOST)], "label int")
    hashes = [row[0] for row in labels.select(F.hash("label")).collect()]
    assert hashes == list(range(MOST))  # and Spark takes the hash modulo the partitions


@pytest.mark.parametrize("shards", [1, 2, 3, 8, 100, MOST])
@pytest.mark.parametrize(
    "hashes",
    [
        np.arange(200_000),
        np.arange(200_000) << 40,
        np.random.default_rng(1).integers(-(2**63), 2**63 - 1, 200_000),
    ],
    ids=["low bits", "high bits", "random"],
)
def test_keys_lie_evenly_over_shards(hashes, shards):
    expected = len(hashes) / shards
    found = np.bincount(shard_of(hashes.astype(np.int64), shards), minlength=shards)
    assert len(found) == shards
    # Six standard deviations of a fair draw.
    assert np.abs(found - expected).max() <= 6 * np.sqrt(expected)


def test_the_shard_of_a_key_never_changes():
    # A checkpoint rests on these.
    hashes = np.array([0, 1, -1, 2**63 - 1, -(2**63), 12345], np.int64)
    assert shard_of(hashes, 8).tolist() == [5, 6, 6, 0, 5, 6]
    assert [label_of(shard) for shard in range(4)] == [
        -1693959553,
        -1910889132,
        -1382833682,
        -876271479,
    ]
