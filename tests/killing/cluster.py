"""A cluster on this machine: a master and workers of Spark's own, each in a session of its own."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pyspark

from killing.driver import awaited, members
from penstock.spark import java

_DAEMON = "org.apache.spark.deploy."
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def command_of(process):
    """Return the words of a process's command line; none if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def parent_of(process):
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def python_workers(session):
    """Return the Python processes that work for Spark; their own parent is not one of them."""
    daemons = {p for p in members(session) if "pyspark.daemon" in command_of(p)}
    return sorted(p for p in daemons if parent_of(p) in daemons)


def executors(session):
    """Return the JVMs that run tasks."""
    names = {p: command_of(p) for p in members(session)}
    return [p for p, words in names.items() if any("ExecutorBackend" in w for w in words)]


def kill(process):
    """Kill a process; tell whether it was there."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Part:
    """A master or a worker."""

    def __init__(self, folder, name, *words):
        self.folder = folder / name
        (self.folder / "conf").mkdir(parents=True)
        (self.folder / "tmp").mkdir()
        self._log = self.folder / "log.txt"
        home = Path(pyspark.__file__).parent
        environment = {
            "JAVA_HOME": str(java.home_for_spark(java.find())),
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_DIRS": str(self.folder / "tmp"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _QUICK,
            "TMPDIR": str(self.folder / "tmp"),
        }
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [home / "bin" / "spark-class", *words],
                stdout=log,
                stderr=log,
                env=os.environ | environment,
                start_new_session=True,
            )

    def said(self, pattern):
        """Wait until the log says something, and return what was found."""

        def found():
            assert self.process.poll() is None, self._log.read_text()
            return re.search(pattern, self._log.read_text())

        return awaited(found, f"{self.folder.name} to say {pattern}")

    def kill(self):
        """Kill it with all that it started."""
        awaited(lambda: not [p for p in members(self.process.pid) if kill(p)], "its end", 60)
        self.process.wait()


class Cluster:
    """A master and its workers, each with one core."""

    def __init__(self, folder, *, workers):
        self._parts = []
        self._folder = folder
        try:
            master = self._start(
                "master", f"{_DAEMON}master.Master", "--port", "0", "--webui-port", "0"
            )
            self.url = master.said(r"Starting Spark master at (spark://\S+)")[1]
            self.workers = [self.add_worker() for _ in range(workers)]
        except BaseException:
            self.stop()
            raise

    def add_worker(self):
        words = ["--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        name = f"worker-{len(self._parts)}"
        place = ["--work-dir", str(self._folder / name / "work")]
        worker = self._start(name, f"{_DAEMON}worker.Worker", *words, *place, self.url)
        worker.said("Successfully registered with master")
        return worker

    def _start(self, name, program, *words):
        part = Part(self._folder, name, program, "--host", "127.0.0.1", *words)
        self._parts.append(part)
        return part

    @property
    def settings(self):
        """What a driver has to be told."""
        return {
            "spark.master": self.url,
            "spark.executor.memory": "1g",
            "spark.executor.defaultJavaOptions": _QUICK,
            "spark.cores.max": "2",
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for part in reversed(self._parts):
            part.kill()
