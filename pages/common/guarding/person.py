"""One person's card: what of her record changes for each value, and how often each noise is drawn for her."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.attriguard import Study
from core.wording import count
from pages.common import panels, shell
from pages.common.guarding.work import Grown, Guarding

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

_SIDE_BY_SIDE = 4
"""Most values whose records fit beside each other."""


def draw(work: Guarding, grown: Grown, budget: float) -> None:
    """Draw the card, with a field to step through the people."""
    st.fragment(_draw)(grown, budget)


def _draw(grown: Grown, budget: float) -> None:
    from core.figures import Drawn, draw_mechanism

    study = grown.study
    left, right = st.columns([3, 2], gap="large")
    with right:
        person = _choose(study)
    used = study.mechanism(budget)[person]
    rows = [
        Drawn(value=value, goal=float(study.target[i]), used=float(used[i]), size=int(study.size[person, i]))
        for i, value in enumerate(study.values)
    ]
    drawn = draw_mechanism(rows, shell.palette(), unit=study.unit)
    table = _card(grown, person)
    with left:
        truth, read = (shell.escape(study.values[row[person]]) for row in (study.truth, study.predicted))
        judged = "rightly" if truth == read else f"but is “{truth}”"
        expected = float(used @ study.size[person])
        shell.whisper(
            f"This person is read as “{read}”, {judged}; on average {expected:.2f} {study.unit} change",
            f"The {study.unit} that some noise changes: as they are, and with the noise for each value",
        )
        if len(study.values) <= _SIDE_BY_SIDE:
            st.dataframe(table, hide_index=True, height="content" if len(table) <= 10 else 390)
        else:
            listed = _by_value(table).map(shell.escape)  # a static table breaks long lines
            st.table(listed, hide_index=True, height="content" if len(listed) <= 10 else 390)
        missing = [value for i, value in enumerate(study.values) if not study.found[person, i]]
        if missing:
            st.caption(f"No noise was found for {shell.escape(', '.join(missing[:5]))}{_more(missing)}.")
    with right:
        st.caption(
            "Dot: how often this noise is drawn; diamond: how often the target wants it (M\\* and p in the paper)."
        )
        panels.chart(drawn, key="person_chart")
    panels.numbers({"Her record": table, "Her noise": drawn.table}, key="guard-person")


def _more(names: list[str]) -> str:
    return f" and {len(names) - 5} others" if len(names) > 5 else ""


def _choose(study: Study) -> int:
    people = study.truth.size
    number = st.number_input(
        f"Person, 1 to {count(people)}",
        min_value=1,
        max_value=people,
        value=1,
        step=1,
        key=f"guard_person_{people}",
        persist_state="session",
    )
    return int(number) - 1


def _card(grown: Grown, person: int) -> pandas.DataFrame:
    """Return her changed entries, one a row: before, and with the noise for each value."""
    study, guard = grown.study, grown.guard
    if study.unit == "columns":
        card = guard.card(person, 0.0)
        table = card.to_frame()
        changed = np.any([version.changed for version in card.versions], axis=0)
        return table[changed].reset_index(drop=True) if changed.any() else table.head(0)
    return _rated(guard, study, person)


def _rated(guard: Any, study: Study, person: int) -> pandas.DataFrame:
    """Return the ratings that some noise changes, a row an item; empty is no rating."""
    import pandas as pd

    m = len(study.values)
    before = guard.ratings.people_test[[person]].toarray()[0]
    after = guard.noise.noisy[person * m : (person + 1) * m].toarray()
    changed = np.flatnonzero((after != before).any(axis=0))
    often = (after != before)[:, changed].sum(axis=0)
    changed = changed[np.argsort(-often, kind="stable")]
    cells = {"item": [guard.ratings.items[j] for j in changed], "now": [_stars(before[j]) for j in changed]}
    for i, value in enumerate(study.values):
        cells[value] = [_stars(after[i, j]) if after[i, j] != before[j] else "" for j in changed]
    return pd.DataFrame(cells)


def _by_value(card: pandas.DataFrame) -> pandas.DataFrame:
    """Return a card of many values with a row a value: what changes for it, and how."""
    import pandas as pd

    entry, now, *values = card.columns
    cells = {value: zip(card[entry], card[now], card[value], strict=True) for value in values}
    told = [
        ", ".join(f"{name}: {before} → {after}" for name, before, after in rows if after not in ("", before))
        for rows in cells.values()
    ]
    named = [str(value).removeprefix("to be read as ") for value in values]
    return pd.DataFrame({"to be read as": named, "what changes": [words or "nothing" for words in told]})


def _stars(rating: float) -> str:
    return f"{rating:g}" if rating else "–"
