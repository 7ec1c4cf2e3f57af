"""Ranks that add up: a row's note fades in every instant in which the row makes no match.

All notes fade by the same rule, so what is stored is each note as it would have to
be at instant zero; fading then costs nothing per row, and the order of two rows
that neither gain stays what it was.
"""

from penstock.compiled import inner
from penstock.kernels.store import FADES, HELD, NEWER, OLDEST, Store
from penstock.kernels.terms import Terms

NEVER = -1  # the instant in which a row gained that has not gained
# Stored notes grow by what has faded, and are compared in single precision.  Where they fall by
# steps, more of these would leave too few digits for the note itself; where they fall by a
# factor the digits stay, and the range, up to 1e38, is what ends.
_STEPS = 256
_FAINTEST = 1e-15


@inner
def note_value(stored: float, fades: int, terms: Terms) -> float:
    """Return what a stored note is worth after so many instants."""
    return stored * terms.factor**fades - terms.step * fades


@inner
def as_stored(value: float, fades: int, terms: Terms) -> float:
    """Return how to store a note that is worth `value` after so many instants."""
    return (value + terms.step * fades) / terms.factor**fades


@inner
def refit(store: Store, terms: Terms) -> bool:
    """Start the count of instants again before stored notes grow out of range."""
    fades = store.tally[FADES]
    if (terms.step == 0.0 or fades < _STEPS) and terms.factor**fades > _FAINTEST:
        return False
    for stream in range(store.streams.shape[1]):
        slot = store.streams[OLDEST, stream]
        for _ in range(store.streams[HELD, stream]):
            store.worth[slot, terms.note] = note_value(store.worth[slot, terms.note], fades, terms)
            slot = store.links[slot, NEWER]
    store.tally[FADES] = 0
    return True
