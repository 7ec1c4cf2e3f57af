"""A driver that is started, watched through its checkpoints, and killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from killing import job

PATIENCE = 240.0  # seconds that a machine with other work may take for anything at all
_GLANCE = 0.001
_STARVED = "Python worker failed to connect back"


def awaited(condition, what, patience=PATIENCE):
    """Look until the condition holds, and return what it found."""
    end = time.monotonic() + patience
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {patience:g} s for {what}")
        time.sleep(_GLANCE)
    return found


def newest(folder):
    """Return the number of the last batch that a log of Spark names; -1 before the first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return -1
    numbers = [name.removesuffix(".compact") for name in names]
    return max((int(number) for number in numbers if number.isdecimal()), default=-1)


class Progress:
    """How far a query has come, as its checkpoint and its sink tell."""

    def __init__(self, folder, name):
        self.checkpoint = job.checkpoint(folder, name)
        self.log = job.sink(folder, name) / "_spark_metadata"

    @property
    def planned(self):
        return newest(self.checkpoint / "offsets")

    @property
    def committed(self):
        return newest(self.checkpoint / "commits")

    @property
    def joined(self):
        """The last batch of which some partition has put its state away."""
        versions = [
            int(path.name.partition(".")[0].partition("_")[0])
            for path in self.checkpoint.glob("state/0/*/*")
            if path.suffix in (".changelog", ".zip") and path.name[0].isdecimal()
        ]
        return max(versions, default=0) - 1

    @property
    def told(self):
        """The last batch whose rows can be read in the sink."""
        return newest(self.log)

    @property
    def phase(self):
        """What a query that has just died was about to do."""
        batch = self.planned
        if batch == self.committed:
            return "plan"
        if self.told == batch:
            return "commit"
        return "tell" if self.joined >= batch else "join"


class Driver:
    """The program of `job`, in a session of its own."""

    def __init__(self, files, folder, names, *, settings=None):
        self.folder, self.names = Path(folder), names
        self.folder.mkdir(parents=True, exist_ok=True)
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        runs = len(list(self.folder.glob("words-*.txt")))
        self.words = self.folder / f"words-{runs}.txt"
        command = [sys.executable, job.__file__, str(files), str(folder)]
        with self.words.open("w") as words:
            self.process = subprocess.Popen(
                [*command, json.dumps(settings or {}), *names],
                stdout=words,
                stderr=words,
                env=os.environ | {"TMPDIR": str(scratch)},
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        awaited(lambda: not members(self.process.pid), "the workers of a driver to end", 60)

    @property
    def ended(self):
        return self.process.poll() is not None

    @property
    def starved(self):
        """Whether Spark gave up because a Python process did not start within its ten seconds."""
        return self.process.poll() and _STARVED in self.words.read_text()

    def kill(self):
        """Kill the program and its JVM; workers find themselves alone."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()

    def finish(self):
        """Wait until all is read, and fail if it failed."""
        code = self.process.wait(PATIENCE)
        assert code == 0, self.words.read_text()


def members(session):
    """Return the processes of a session that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, *rest = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(rest[2]) == session and state != "Z":
            found.append(int(path.parent.name))
    return found
