"""A generated trace in place of the one captured over a wide area network."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.lab.workloads.base import Workload

SECOND = 1_000_000  # of the time column: microseconds
APART = 60 * SECOND  # how much later a partner was stamped
CELL = SECOND // 5  # 0.2 s, the width of the band from 59.9 to 60.1 s


@dataclass(frozen=True)
class Link:
    """What a row meets between the distant clock that stamps it and the server, in seconds.

    With these values a row makes most of its matches at an age of 63 s and the matches per
    time held, C(k)/k, peak at 68.8 s: the two figures the paper prints of its trace.
    """

    clock_skew: float = 1.9  # how far the distant clock is behind the server's
    propagation: float = 0.1  # the least latency
    queueing: float = 1.8  # median of the rest of the latency, which is log-normal
    scatter: float = 0.7  # standard deviation of its logarithm
    persistence: float = 1.0  # how long congestion lasts: the time constant of its memory


def wan_pair(*, minutes: int = 40, rate: int = 50, link: Link = Link(), seed: int = 0) -> Workload:
    """Make up what a server sees of a near and of a distant source, stamped by their own clocks.

    This is a stand-in: the trace of the paper was captured and is not to be had.  Both
    sources stamp a row every `1 / rate` s.  The near one shares the server's clock and
    machine.  Rows of the distant one come late, by a clock that is behind and by a latency
    with a long tail, and overtake each other as UDP lets them.

    The paper joins where `right stamp - left stamp` lies in [59.9, 60.1] s.  A join on
    equality cannot say that, so `key` is the cell of 0.2 s that a stamp lies in, for right
    rows the cell of the stamp less 60 s.  Each right row then meets the left rows of one
    cell, 10 at 50 rows a second, as it does on average in the band; stamps are 60 s apart
    to within 0.2 s instead of 0.1, which moves no age by more than 0.1 s.  For the band
    itself, the stamps are in column `source`.

    Columns: `time`, arrival at the server, and `source`, the stamp, both in microseconds of
    the clock that took them; `key`.  The paper's window on the left is 120 s; on the right
    none is needed, since partners always arrive later there.

    Parameters
    ----------
    minutes
        How long the sources run; 40 in the paper.
    rate
        Rows per second of each source; 50 in the paper.
    link
        Clock skew and latency of the distant source.
    seed
        Decides every draw.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins.
    VLDB 2004, section 6.1, figures 5 and 6.

    Examples
    --------
    >>> pair = wan_pair(minutes=2)
    >>> pair.left.num_rows, pair.right.num_rows
    (6000, 6000)
    >>> late = (np.asarray(pair.right["time"]) - np.asarray(pair.right["source"])) / SECOND
    >>> bool(late.min() > 2.0), bool(3.5 < np.median(late) < 4.1)
    (True, True)
    """
    near_draws, far_draws = np.random.default_rng(seed).spawn(2)
    sent = np.arange(minutes * 60 * rate) * SECOND // rate
    near = near_draws.exponential(0.001, sent.size)  # a millisecond within one machine
    phase = far_draws.integers(SECOND // rate)  # the sources do not tick together
    far = link.propagation + _queueing(link, sent.size, rate, far_draws)
    source = sent + phase - round(link.clock_skew * SECOND)
    return Workload(
        name="wan",
        left=_arrivals(sent, sent + _ticks(near), sent // CELL),
        right=_arrivals(source, sent + phase + _ticks(far), (source - APART) // CELL),
        note=(
            f"A generated stand-in for the captured trace: {minutes} minutes at {rate} rows a "
            f"second and source, joined by cells of 0.2 s, seed {seed}."
        ),
    )


def _queueing(link: Link, rows: int, rate: int, draws: np.random.Generator) -> NDArray[np.float64]:
    """Draw log-normal waits that rise and fall with a congestion that has a memory.

    The waits are drawn independently and then given to the rows by the rank of the
    congestion each meets.  So their distribution is that of independent draws, however
    long congestion lasts, and even a short trace has the age curve it should have.
    """
    memory = max(1, round(link.persistence * rate))
    kernel = np.exp(-np.arange(8 * memory) / memory)
    noise = draws.standard_normal(rows + kernel.size - 1)
    rank = np.argsort(np.argsort(np.convolve(noise, kernel, mode="valid")))
    waits = draws.lognormal(np.log(link.queueing), link.scatter, rows)
    return np.sort(waits)[rank]


def _ticks(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(seconds * SECOND).astype(np.int64)


def _arrivals(
    source: NDArray[np.int64], time: NDArray[np.int64], key: NDArray[np.int64]
) -> pa.Table:
    order = np.argsort(time, kind="stable")
    return pa.table({"time": time[order], "key": key[order], "source": source[order]})
