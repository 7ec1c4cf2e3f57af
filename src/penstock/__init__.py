"""Sliding-window stream joins on a fixed budget of memory and processor time."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.health import health
    from penstock.spark.join import join
    from penstock.spark.learn import learn

__all__ = ["health", "join", "learn"]

_WHERE = {name: f"penstock.spark.{name}" for name in __all__}


def __getattr__(name: str) -> Any:
    """Bring what needs Spark only when it is asked for."""
    if name not in _WHERE:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
