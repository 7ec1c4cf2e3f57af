"""Shared test settings."""

import os

from hypothesis import settings

# The first example of a test may include compiling a kernel, so no time limit per example.
# In CI the examples are the same in every run: a red run is then the fault of the change.
settings.register_profile(
    "penstock", deadline=None, derandomize="CI" in os.environ, max_examples=40
)
# For `make lab`: pytest --hypothesis-profile=thorough
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("penstock")
