"""Shared test settings."""

import os

import pytest
from hypothesis import settings

# The first example of a test may include compiling a kernel, so no time limit per example.
# In CI the examples are the same in every run: a red run is then the fault of the change.
settings.register_profile(
    "penstock", deadline=None, derandomize="CI" in os.environ, max_examples=40
)
# For `make lab`: pytest --hypothesis-profile=thorough
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("penstock")


def shares_the_jvm(nodeid):
    """Whether a test lies where those with a JVM are: in a file or folder named after Spark."""
    return "spark" in nodeid.partition("::")[0]


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("spark") and not shares_the_jvm(item.nodeid):
            raise pytest.UsageError(
                f"{item.nodeid} starts a JVM; move it to a file with `spark` in its name, "
                "so that all such tests share one."
            )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With -n, send all tests that need a JVM to one worker.

    By their place, not by `xdist_group`: pytest 9.2 with pytest-xdist 3.8 ignores that mark
    (pytest-xdist issue 1386).
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneJvm(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "spark" if shares_the_jvm(nodeid) else nodeid

    return OneJvm(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture(scope="session")
def spark():
    """One Spark for all tests; a test that uses it is marked `spark`."""
    from penstock.spark.session import embedded  # only who needs it waits for it

    session = embedded(2)
    yield session
    session.stop()
