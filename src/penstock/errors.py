"""Everything penstock raises on purpose."""


class PenstockError(Exception):
    """Base of every error raised on purpose; catch this to catch them all."""


class InvalidQuery(PenstockError, ValueError):
    """The query, a window, a budget or a policy cannot be run as stated."""


class InvalidData(PenstockError, ValueError):
    """The rows are not what the query says they are."""


class InfeasibleBudget(PenstockError, ValueError):
    """The budget is too small to hold anything."""


class StateMoved(PenstockError, RuntimeError):
    """A state was used again after a step had taken it over."""


class UnreadableState(PenstockError, ValueError):
    """A saved state is damaged, of another version, or of another query."""


class MissingData(PenstockError, ModuleNotFoundError):
    """A data set that an experiment or the demo reads is not installed."""


class MissingJava(PenstockError, FileNotFoundError):
    """Spark was asked for, and no Java that it can run on was found."""
