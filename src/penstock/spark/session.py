"""A Spark inside this process, for the demo, the lab and the tests."""

import atexit
import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyspark
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from penstock.spark import java

STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

# The second compiler of the JVM pays after minutes, and takes the processors from the start.
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"

# What goes wrong still reaches the terminal; advice to whoever runs a cluster does not.
LOGGING = """\
rootLogger.level = error
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
rootLogger.appenderRef.terminal.ref = terminal
appender.terminal.type = Console
appender.terminal.name = terminal
appender.terminal.target = SYSTEM_ERR
appender.terminal.layout.type = PatternLayout
appender.terminal.layout.pattern = Spark: %m%n%ex{3}
"""

# When a stateful query starts, Spark lets a Python tell it which state there will be; what that
# one prints while it works well reaches the terminal. What goes wrong Spark raises itself.
TALKER = "pyspark.sql.streaming.transform_with_state_driver_worker"

# Becomes the Python of this process, and lets that one print nowhere.
PYTHON = """\
#!/bin/sh
case " $* " in *" -m {talker} "*) exec {python} "$@" >/dev/null ;; esac
exec {python} "$@"
"""

# Settings of the user for another Spark, which would be read while this one starts.
FOREIGN = (
    "HADOOP_CONF_DIR",
    "MASTER",
    "PYSPARK_DRIVER_PYTHON",
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_API_MODE",
    "SPARK_CONNECT_MODE_ENABLED",
    "SPARK_DIST_CLASSPATH",
    "SPARK_REMOTE",
    "YARN_CONF_DIR",
)


def embedded(
    cores: int | None = None, *, name: str = "penstock", conf: Mapping[str, str] | None = None
) -> SparkSession:
    """Start a Spark in this process, or take the one that runs.

    It is made for short runs on one machine: no web page, no log, no progress bars, nothing
    written into the working directory. The environment is as before once it has started.

    Parameters
    ----------
    cores
        How many tasks run at once; as many as there are processors unless stated.
    name
        What the application is called.
    conf
        Settings of Spark that take the place of ours or come on top. They have no effect on
        a session that runs already.

    Raises
    ------
    MissingJava
        If there is no Java to run it.
    """
    with contextlib.suppress(PySparkRuntimeError):
        return SparkSession.active()
    cores = cores or os.cpu_count() or 1
    home = java.home_for_spark(java.find())
    scratch = _scratch()
    settings = _settings(cores, scratch) | dict(conf or {})
    with _environment(_variables(home, scratch)):
        builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
        for key, value in settings.items():
            builder.config(key, value)
        session = builder.getOrCreate()
    atexit.register(_stop, session)  # before the folder goes: the last registered comes first
    return session


def described(session: SparkSession) -> str:
    """Say in a few words which Spark a session is, and on which Java it runs."""
    jvm: Any = session.sparkContext._jvm
    version, home = (jvm.System.getProperty(f"java.{name}") for name in ("version", "home"))
    return f"Spark {session.version} on Java {version} in {home}"


def _stop(session: SparkSession) -> None:
    """Stop the session and, before it, its queries, if they still run and the JVM lives."""
    with contextlib.suppress(Exception):
        for query in session.streams.active:
            query.stop()
        session.stop()


def _scratch() -> Path:
    """Make the folder of this process for what Spark reads and writes; it goes when we do."""
    scratch = Path(tempfile.mkdtemp(prefix="penstock-spark-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    (scratch / "log4j2.properties").write_text(LOGGING)
    python = scratch / "python"
    python.write_text(PYTHON.format(talker=TALKER, python=shlex.quote(sys.executable)))
    python.chmod(0o700)
    return scratch


def _settings(cores: int, scratch: Path) -> dict[str, str]:
    """Say how this Spark differs from one on a cluster."""
    return {
        "spark.api.mode": "classic",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.defaultJavaOptions": f"{JVM} -Djava.io.tmpdir={scratch}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(scratch),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _variables(home: Path, scratch: Path) -> dict[str, str | None]:
    """Give the environment that Spark starts in; what is None is left out of it."""
    packaged = Path(pyspark.__file__).parent
    inside = (packaged / "jars").is_dir()
    quiet = scratch / "python"
    return dict.fromkeys(FOREIGN) | {
        "JAVA_HOME": str(home),
        # Where nothing may be run from the scratch folder, the lines are printed after all.
        "PYSPARK_PYTHON": str(quiet) if os.access(quiet, os.X_OK) else sys.executable,
        "SPARK_CONF_DIR": str(scratch),
        # The Java part of the wheel itself; another version would not understand this one.
        "SPARK_HOME": str(packaged) if inside else os.environ.get("SPARK_HOME"),
        # A short-lived Java that only puts together a command line.
        "SPARK_LAUNCHER_OPTS": JVM,
        "SPARK_LOCAL_DIRS": None,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


@contextlib.contextmanager
def _environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Set these variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    try:
        _set(variables)
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    """Set each variable to its value, or remove it where there is none."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
