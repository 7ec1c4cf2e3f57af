"""What a held row takes: by the engine's own count, and by what the system gave the process.

The latter is measured in a process of its own that does nothing else.
"""

import json
import re
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from penstock.errors import PenstockError
from penstock.lab.bench.sizes import FAMILIES, Sizes
from penstock.lab.bench.steady import Progress, Steady, Way
from penstock.lab.bench.workload import Stream

_BATCH = 1 << 14  # rows; what a batch takes beside what is held is part of the peak
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Weight:
    """Bytes of a held row."""

    held: int
    counted: float  # by the engine
    resident: float  # by the growth of the process, at its peak


def weigh(sizes: Sizes, progress: Progress) -> dict[Way, Weight]:
    """Return what a row takes in an exact join, and under a policy of each family."""
    weights = {}
    for done, way in enumerate(FAMILIES):
        progress(done, len(FAMILIES))
        weights[way] = _weighed_apart(way, sizes.weighed)
    progress(len(FAMILIES), len(FAMILIES))
    return weights


def _weighed_apart(way: Way, rows: int) -> Weight:
    asked = json.dumps({"policy": way.policy, "share": way.share, "rows": rows})
    code = "from penstock.lab.bench.memory import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, asked], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise PenstockError(f"memory of {way.name}: the process that measures it ended: {last}")
    return Weight(**json.loads(ran.stdout))


def main() -> None:
    """Fill a join and print what a row of it takes."""
    asked = json.loads(sys.argv[1])
    pa.set_cpu_count(1)
    way = Way(asked["policy"], asked["share"])
    # What is loaded once, and would be the same for two rows, is loaded before the count begins.
    Steady(way, Stream(keys=500, window=4000), batch=500, filling=500).run(20)
    before = _resident()
    window = int(asked["rows"] / way.share)
    join = Steady(way, Stream(keys=window // 2, window=window), batch=_BATCH, filling=_BATCH)
    join.run(8)
    health = join.state.health()
    held = sum(health.held)
    weight = Weight(held, health.bytes / held, max(0, _peak() - before) / held)
    print(json.dumps(asdict(weight)))


def _resident() -> int:
    """Return what the process has of memory now; where that is not known, the most it ever had."""
    return _status("VmRSS") or _peak()


def _peak() -> int:
    # What getrusage says includes, on Linux, what the parent had when it made this process.
    rusage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _status("VmHWM") or (rusage if sys.platform == "darwin" else rusage * 1024)


def _status(name: str) -> int:
    if not _STATUS.exists():
        return 0
    found = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
