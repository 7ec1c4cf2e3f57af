"""Small random streams, on which keys collide and rows expire, and every policy to try on them."""

from hypothesis import strategies as st

from reference import Row

rows = st.lists(
    st.builds(
        Row,
        st.integers(0, 9),
        st.one_of(st.integers(0, 2), st.none()),
        st.sampled_from([1.0, 2.0, 5.0]),
    ),
    max_size=14,
)
cuts = st.lists(st.integers(0, 28), max_size=4)
lengths = st.one_of(st.none(), st.integers(0, 6))
budgets = st.integers(2, 6)
splits = st.sampled_from(["half", "shared", (3, 1)])
orders = st.sampled_from(["join-first", "evict-first"])

POLICIES = [
    ("random", {}),
    ("recent", {}),
    ("until-expiry", {}),
    ("match-probability", {}),
    ("match-probability", {"refresh": "arrival"}),
    ("importance", {}),
    ("expected-importance", {}),
    ("expected-importance-live", {}),
    ("weighted", {"how": "add", "alpha": 2, "beta": 0.5, "delta": 0.25}),
    ("weighted", {"alpha": 1, "beta": 2}),
    ("weighted", {"alpha": 2, "beta": 1, "refresh": "arrival"}),
]
NEED_A_WINDOW = [
    ("remaining-matches", {}),
    ("gain-and-loss", {}),
    ("gain-and-loss", {"how": "subtract", "loss": 0.25, "gain": 0.5}),
    ("age-curve", {}),
    ("weighted", {"alpha": 0.5, "beta": 1, "delta": 2}),
    ("weighted", {"how": "accumulate", "delta": 1, "gain": 0.5, "loss": 0.25}),
]
