"""Reading event tables from files, by their ending."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq

from penstock.errors import InvalidData

_ENDINGS = (".arrow", ".csv", ".csv.gz", ".feather", ".ipc", ".parquet")


def read_table(path: str) -> pa.Table:
    """Return the rows of a Parquet, CSV or Arrow file."""
    if not path or not Path(path).exists():
        raise InvalidData(f"{path or '(no name)'}: no such file.")
    name = path.lower()
    try:
        if name.endswith(".parquet"):
            return pq.read_table(path)
        if name.endswith((".csv", ".csv.gz")):
            with pa.input_stream(
                path, compression="gzip" if name.endswith(".gz") else None
            ) as file:
                return pyarrow.csv.read_csv(file)
        if name.endswith((".arrow", ".feather", ".ipc")):
            return _read_arrow(path)
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["it is cut short"])[0]
        raise InvalidData(
            f"{path}: not a readable file of its kind: {reason.rstrip('.')}."
        ) from error
    raise InvalidData(f"{path}: unknown ending; Penstock reads {', '.join(_ENDINGS)}.")


def _read_arrow(path: str) -> pa.Table:
    with pa.memory_map(path) as source:
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()
