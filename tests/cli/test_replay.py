"""`penstock replay`, from two files to JSON; what is wrong ends in one sentence and exit code 2."""

import gzip
import json
import math
import random

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from penstock.cli import main

ROWS = 60
ONE_EACH = ["--on", "k", "--time", "t", "--within", "5", "--memory", "8"]


def stream(seed, rows=ROWS):
    dice = random.Random(seed)
    return pa.table(
        {
            "t": sorted(dice.choices(range(40), k=rows)),
            "k": dice.choices([1, 1, 1, 2, 3], k=rows),
            "w": dice.choices([1.0, 2.0, 9.0], k=rows),
            "s": dice.choices("abc", k=rows),
        }
    )


LEFT, RIGHT = stream(1), stream(2)


def write(table, path):
    path = str(path)
    if path.endswith(".parquet"):
        pyarrow.parquet.write_table(table, path)
    elif path.endswith(".csv"):
        pyarrow.csv.write_csv(table, path)
    elif path.lower().endswith(".csv.gz"):
        text = pa.BufferOutputStream()
        pyarrow.csv.write_csv(table, text)
        with gzip.open(path, "wb") as file:
            file.write(text.getvalue())
    elif path.endswith(".feather"):
        pyarrow.feather.write_feather(table, path)
    else:
        kind = pa.ipc.new_stream if "stream" in path else pa.ipc.new_file
        with kind(path, table.schema) as file:
            file.write_table(table)
    return path


@pytest.fixture
def files(tmp_path):
    return write(LEFT, tmp_path / "left.parquet"), write(RIGHT, tmp_path / "right.parquet")


@pytest.fixture
def replay(capsys):
    """Run the command; give what it printed as JSON, without the seconds."""

    def run(left, right, *options):
        main(["replay", left, right, *options, "--json"])
        out, err = capsys.readouterr()
        assert err == ""
        report = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        for ran in (report["exact"], *report["policies"].values()):
            assert ran.pop("seconds") >= 0
        return report

    return run


@pytest.fixture
def refused(capsys):
    """Run the command, which must end in one sentence; give that sentence."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["replay", *arguments])
        out, err = capsys.readouterr()
        assert ended.value.code == 2
        assert out == ""
        assert err.startswith("penstock: ")
        assert err.count("\n") == 1
        assert err.endswith(".\n")
        return err.removeprefix("penstock: ").strip()

    return run


# ------------------------------------------------------------------------------------ the report


def test_the_report_has_the_keys_that_readers_rely_on(files, replay):
    report = replay(*files, *ONE_EACH, "--keep", "match-probability,random")
    assert {"matches", "value"} <= report["exact"].keys()
    assert list(report["policies"]) == ["match-probability", "random"]
    for ran in report["policies"].values():
        assert ran.keys() >= {
            *("matches", "value", "recall", "peak_rows"),
            *("recall_estimate", "recall_low", "recall_high"),
        }
        assert ran["recall"] == ran["matches"] / report["exact"]["matches"]
        assert 0 <= ran["recall_low"] <= ran["recall_estimate"] <= ran["recall_high"] <= 1
        assert ran["peak_rows"] <= 8
        fates = ("held", "shed", "expired", "late", "unmatchable")
        assert ran["arrived"] == 2 * ROWS == sum(ran[fate] for fate in fates)


def test_the_exact_join_is_that_of_all_pairs(files, replay):
    report = replay(*files, *ONE_EACH, "--importance", "w", "--combine", "product")
    rows = [side.to_pylist() for side in (LEFT, RIGHT)]
    pairs = [
        (a, b) for a in rows[0] for b in rows[1] if a["k"] == b["k"] and abs(a["t"] - b["t"]) <= 5
    ]
    assert report["exact"]["matches"] == len(pairs)
    assert report["exact"]["value"] == sum(a["w"] * b["w"] for a, b in pairs)


def test_without_importance_a_match_is_worth_one(files, replay):
    report = replay(*files, *ONE_EACH)
    assert report["exact"]["value"] == report["exact"]["matches"]


def test_all_of_the_memory_is_the_exact_join(files, replay):
    report = replay(*files, *ONE_EACH[:-1], "100%", "--split", "shared", "--keep", "random,recent")
    for ran in report["policies"].values():
        assert ran["matches"] == report["exact"]["matches"]
        assert ran["recall"] == ran["recall_estimate"] == 1


def test_without_a_budget_only_the_exact_join_runs(files, replay):
    assert replay(*files, *ONE_EACH[:-2])["policies"] == {}


def test_a_table_for_people(files, capsys):
    main(["replay", *files, *ONE_EACH, "--keep", "random", "--ghosts", "0"])
    out = capsys.readouterr().out
    assert "exact: " in out
    assert "On a budget of 8 rows" in out
    assert "random" in out


# ------------------------------------------------------------------------------------- the files


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.csv.gz", "A.CSV.GZ", "a.feather", "a.arrow", "a.ipc", "stream.arrow"],
)
def test_any_kind_of_file_gives_the_same_report(files, replay, tmp_path, name):
    other = write(LEFT, tmp_path / name)
    assert replay(other, files[1], *ONE_EACH) == replay(*files, *ONE_EACH)


def test_the_order_of_rows_with_different_times_does_not_matter(tmp_path, replay):
    steady = [side.set_column(0, "t", [range(ROWS)]) for side in (LEFT, RIGHT)]
    mixed = [side.take(random.Random(3).sample(range(ROWS), k=ROWS)) for side in steady]
    names = [
        [write(side, tmp_path / f"{i}-{j}.parquet") for j, side in enumerate(sides)]
        for i, sides in enumerate((steady, mixed))
    ]
    keep = ["--keep", "prob,life,rand,age,dgl,recent"]
    assert replay(*names[0], *ONE_EACH, *keep) == replay(*names[1], *ONE_EACH, *keep)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_stream_of_hardly_any_rows(files, replay, tmp_path, rows):
    short = write(LEFT.slice(0, rows), tmp_path / "short.parquet")
    for pair in [(short, files[1]), (files[0], short), (short, short)]:
        report = replay(*pair, *ONE_EACH[:-1], "50%", "--keep", "prob,life,age,random")
        for ran in report["policies"].values():
            assert ran["matches"] <= report["exact"]["matches"]
            assert ran["recall_estimate"] is not None


def test_rows_without_a_time_are_counted(files, replay, tmp_path):
    times = pa.array([None, *LEFT["t"].to_pylist()[1:]], pa.int64())
    left = write(LEFT.set_column(0, "t", times), tmp_path / "nulls.parquet")
    ran = replay(left, files[1], *ONE_EACH)["policies"]["match-probability"]
    assert ran["arrived"] == 2 * ROWS
    assert ran["unmatchable"] == 1


def test_a_file_without_any_time_has_no_matches(files, replay, tmp_path):
    left = write(LEFT.set_column(0, "t", pa.nulls(ROWS, pa.int64())), tmp_path / "nulls.parquet")
    for pair in [(left, files[1]), (left, left)]:
        assert replay(*pair, *ONE_EACH, "--keep", "prob,age")["exact"]["matches"] == 0


def test_other_names_on_the_other_side(files, replay, tmp_path):
    renamed = RIGHT.rename_columns(["when", "item", "w", "s"])
    other = write(renamed, tmp_path / "renamed.parquet")
    options = ["--within", "5", "--memory", "8"]
    report = replay(files[0], other, "--on", "k=item", "--time", "t,when", *options)
    assert report == replay(*files, *ONE_EACH)
    both = ["--on", "k = item, s", "--time", "t, when"]
    assert replay(files[0], other, *both, *options) == replay(
        *files, "--on", "s,k", "--time", "t", *options
    )


def test_times_in_words(files, replay, tmp_path):
    clock = [
        write(
            side.set_column(0, "t", pa.array(side["t"].to_pylist(), pa.timestamp("s"))),
            tmp_path / f"{i}.parquet",
        )
        for i, side in enumerate((LEFT, RIGHT))
    ]
    in_words = ["--within", "5 s, 0.1 min", "--warmup", "10 s", *ONE_EACH[:4], *ONE_EACH[-2:]]
    in_numbers = ["--within", "5,6", "--warmup", "10", *ONE_EACH[:4], *ONE_EACH[-2:]]
    keep = ["--keep", "prob,life,random"]
    ran = [replay(*clock, *in_words, *keep), replay(*files, *in_numbers, *keep)]
    matches = [{n: p["matches"] for n, p in report["policies"].items()} for report in ran]
    assert matches[0] == matches[1]
    assert ran[0]["exact"] == ran[1]["exact"]


# ----------------------------------------------------------------------------------- the settings


@pytest.mark.parametrize(
    "names",
    [
        "PROB,LIFE,rand",
        "Match_Probability,remaining-matches,RANDOM",
        " prob , life ,Rand,",
        "largest,LIFE,rand",
    ],
)
def test_policies_go_by_their_papers_names_in_any_case(files, replay, names):
    report = replay(*files, *ONE_EACH, "--keep", names)
    assert list(report["policies"]) == ["match-probability", "remaining-matches", "random"]


def test_every_policy_runs(files, replay):
    names = "prob,life,rand,recent,until-expiry,age,simp,simpprob,dimpprob,dgl,weighted"
    report = replay(*files, *ONE_EACH, "--importance", "w", "--keep", names, "--ghosts", "99")
    assert len(report["policies"]) == 11
    for ran in report["policies"].values():
        assert 0 < ran["matches"] < report["exact"]["matches"]
        assert ran["lost"] == report["exact"]["matches"] - ran["matches"]
        assert ran["recall"] == pytest.approx(ran["recall_estimate"])
        assert ran["value_recall"] == pytest.approx(ran["value_recall_estimate"])


@pytest.mark.parametrize(
    ("memory", "unit", "amount"),
    [("8", "rows", 8), ("30KB", "bytes", 30_000), ("1 MiB", "bytes", 2**20), ("50%", "rows", None)],
)
def test_memory_is_rows_or_bytes_or_a_share(files, replay, memory, unit, amount):
    report = replay(*files, *ONE_EACH[:-1], memory)
    half = round(report["exact"]["peak_rows"] / 2)
    assert report["budget"] == {"unit": unit, "amount": amount or half}
    ran = report["policies"]["match-probability"]
    if unit == "rows":
        assert ran["peak_rows"] <= report["budget"]["amount"]
    else:
        assert ran["bytes"] <= report["budget"]["amount"]


def test_a_split_decides_who_has_the_places(files, replay):
    made = {
        split: replay(*files, *ONE_EACH, "--split", split, "--keep", "recent")["policies"]["recent"]
        for split in ("half", "1,1", "shared", "3,1", "1,0")
    }
    assert made["half"] == made["1,1"]
    for other in ("shared", "3,1", "1,0"):
        assert made[other]["matches"] != made["half"]["matches"]


def test_count_windows(files, replay):
    report = replay(*files, *ONE_EACH[:4], "--rows", "3", "--memory", "4")
    assert report == replay(*files, *ONE_EACH[:4], "--rows", "3,3", "--memory", "4")
    wide = replay(*files, *ONE_EACH[:4], "--rows", "3, 9", "--memory", "4")
    assert wide["exact"]["matches"] > report["exact"]["matches"]


def test_no_window(files, replay):
    counts = [RIGHT["k"].to_pylist().count(k) for k in LEFT["k"].to_pylist()]
    report = replay(*files, *ONE_EACH[:4], "--within", "unbounded", "--memory", "4")
    assert report["exact"]["matches"] == sum(counts)


def test_matches_before_the_warmup_are_not_counted(files, replay):
    all_of_them, late, none = (
        replay(*files, *ONE_EACH, "--warmup", warmup)["exact"]["matches"]
        for warmup in ("0", "20", "1000")
    )
    assert all_of_them > late > none == 0


def test_the_seed_decides_chance_and_nothing_else(files, replay):
    keep = ["--keep", "random,recent", "--seed"]
    one, again, other = (replay(*files, *ONE_EACH, *keep, seed) for seed in ("1", "1", "-2"))
    assert one == again
    assert one["policies"]["random"] != other["policies"]["random"]
    matches = [report["policies"]["recent"]["matches"] for report in (one, other)]
    assert matches[0] == matches[1]


def test_frequencies_are_known_or_learned(files, replay):
    known, learned, default = (
        replay(*files, *ONE_EACH, "--keep", "prob,age", *options)["policies"]
        for options in (["--frequencies", "known"], ["--frequencies", "learned"], [])
    )
    assert known == default
    assert known["match-probability"] != learned["match-probability"]
    assert known["age-curve"] != learned["age-curve"]


def test_importance_may_be_that_of_one_side(files, replay):
    for names, of_both in [("w", True), ("w,w", True), ("w,-", False), ("-, w", False)]:
        options = ["--importance", names, "--combine", "sum", "--keep", "simp"]
        report = replay(*files, *ONE_EACH, *options)
        same = report == replay(
            *files, *ONE_EACH, "--importance", "w", "--combine", "sum", "--keep", "simp"
        )
        assert same == of_both


def test_without_ghosts_nothing_is_said_of_losses(files, replay):
    ran = replay(*files, *ONE_EACH, "--ghosts", "0")["policies"]["match-probability"]
    assert ran["recall_estimate"] is ran["recall_low"] is ran["recall_high"] is None
    assert not math.isnan(ran["recall"])


def test_the_order_within_an_instant_matters(files, replay):
    first, last = (
        replay(*files, *ONE_EACH, "--keep", "recent", "--order", order)["policies"]["recent"]
        for order in ("join-first", "evict-first")
    )
    assert first["matches"] > last["matches"]


# ----------------------------------------------------------------------------- one clear sentence


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--keep", "imprtance"], "did you mean 'importance'? Known: age-curve, expected-"),
        (["--keep", "everything"], "no such policy. Known: age-curve, expected-"),
        (["--keep", ","], "name at least one policy, such as random or prob"),
        (["--keep", "UNIFORM"], "policies that sample are not here yet"),
        (["--keep", "random,SIMP"], "add importance='<column>' to the join"),
        (["--keep", "LIFE", "--within", "unbounded"], "give both sides a window"),
        (["--on", "x"], "the left side has no such column; it has k, s, t, w"),
        (["--on", "k=x"], "the right side has no such column"),
        (["--on", "k="], "column '': the right side has no such column"),
        (["--on", "s=k"], "string and int64 cannot be compared; cast one side"),
        (["--time", "x"], "the left side has no such column"),
        (["--time", "t,x"], "the right side has no such column"),
        (["--time", "s"], "string is not an event time; use a timestamp, a date or an integer"),
        (["--time", "w"], "double is not an event time"),
        (["--time", "t,t,t"], "give one for both sides, or LEFT,RIGHT"),
        (["--within", "1,2,3"], "give one for both sides, or LEFT,RIGHT"),
        (["--within", "-1"], "a time window must last 0 or longer"),
        (["--within", "soon"], "write a number and a unit, as in '10 minutes'"),
        (["--within", ""], "write a number and a unit"),
        (["--within", "5 s"], "give the window as a whole number in the column's own unit"),
        (["--within", "9" * 30], "for no window at all give None"),
        (["--rows", "5"], "give one of the two"),
        (["--memory", "0"], "a join needs room for at least one row"),
        (["--memory", "1"], "give memory=2 or more, or split='shared'"),
        (["--memory", "-5"], "give rows as a number, bytes as '64MB', or a share"),
        (["--memory", "5 apples"], "use B, KB, MB, GB, KiB, MiB or GiB"),
        (["--memory", "20B"], "bytes; raise the budget"),
        (["--memory", "0%"], "give a percentage above 0"),
        (["--memory", "9" * 30], "leave memory out for an exact join"),
        (["--split", "thirds"], "use half, shared, or two weights such as 3,1"),
        (["--split", "1,2,3"], "use half, shared, or two weights such as 3,1"),
        (["--split", "0,0"], "give two weights of 0 or more"),
        (["--split", "nan,1"], "give two weights of 0 or more"),
        (["--importance", "x"], "the left side has no such column"),
        (["--importance", "s"], "importance must be a number"),
        (["--importance", "w,w,w"], "give one for both sides, or LEFT,RIGHT"),
        (["--combine", "median"], "is not one of 'min', 'sum', 'product', 'max', 'mean'"),
        (["--frequencies", "guessed"], "is not one of 'known', 'learned'"),
        (["--order", "join-last"], "is not one of 'join-first', 'evict-first'"),
        (["--warmup", "-1"], "give a time of 0 or longer"),
        (["--warmup", "9" * 30], "below 2**61"),
        (["--warmup", "later"], "write a number and a unit"),
        (["--seed", "x"], "is not a valid integer"),
        (["--ghosts", "-1"], "give 0 for none, or 1 for one per place"),
        (["--ghosts", "nan"], "give 0 for none, or 1 for one per place"),
        (["--faster"], "No such option '--faster'"),
    ],
    ids=" ".join,
)
def test_a_bad_option_is_refused(files, refused, options, says):
    assert says in refused(*files, *ONE_EACH, *options)


@pytest.mark.parametrize("options", [[], ["--rows", "3", "--within", "3"]], ids=str)
def test_one_kind_of_window_is_asked_for(files, refused, options):
    said = refused(*files, "--on", "k", "--time", "t", *options)
    assert "--within unbounded is no window" in said


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("0", "at least 1 row"),
        ("-3", "at least 1 row"),
        ("few", "give a whole number"),
        ("1,2,3", "give one for both sides"),
    ],
)
def test_a_bad_count_window_is_refused(files, refused, rows, says):
    assert says in refused(*files, "--on", "k", "--time", "t", "--rows", rows)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("gone.parquet", None, "no such file"),
        ("notes.txt", b"t,k", "Penstock reads .arrow, .csv, .csv.gz, .feather, .ipc, .parquet"),
        ("torn.parquet", b"PAR1", "not a readable file of its kind"),
        ("torn.arrow", b"ARROW1", "not a readable file of its kind"),
        ("torn.csv.gz", b"t,k\n1,2\n", "not a readable file of its kind"),
        ("ragged.csv", b"t,k\n1,2\n3\n", "Expected 2 columns, got 1"),
        ("empty.csv", b"", "not a readable file of its kind"),
        ("empty.parquet", b"", "not a readable file of its kind"),
        ("empty.arrow", b"", "not a readable file of its kind"),
        ("words.csv", b"t,k\nnoon,1\n", "string is not an event time"),
        ("no-columns.csv", b"x\n1\n", "no such column; it has x"),
        ("far.csv", b"t,k\n9000000000000000000,1\n", "between -2**61 and 2**61"),
        ("header.csv", b"t,k\n", "null is not an event time"),
    ],
)
def test_a_bad_file_is_refused(files, refused, tmp_path, name, content, says):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    for pair in [(str(path), files[1]), (files[0], str(path))]:
        assert says in refused(*pair, *ONE_EACH)


def test_a_folder_is_no_table(files, refused, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert "not a readable file" in refused(str(tmp_path / "folder.csv"), files[1], *ONE_EACH)
    (tmp_path / "folder.parquet").mkdir()
    assert "it has none at all" in refused(str(tmp_path / "folder.parquet"), files[1], *ONE_EACH)


def test_a_missing_argument_is_named(files, refused):
    assert "Missing argument 'RIGHT'" in refused(files[0], *ONE_EACH)
    assert "Missing option '--on'" in refused(*files, *ONE_EACH[2:])
