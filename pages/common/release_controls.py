"""The controls of a model card: which models, whose numbers, what is published, how precisely, how many models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.datasets import AuditDataset, Table, prediction_candidates
from core.estimates import count
from core.model_card import STATISTIC_TITLES, STATISTICS, ReleaseSettings
from core.models import GIVEN
from core.release_audit.card_plan import ReleasePlan
from core.settings import params
from pages.common import panels, state
from pages.common.controls import control

COUNTS = (1, 2, 5, 10, 20, 50)
"""Numbers of models the slider offers; a family is trained as a whole."""

_SWEEP = 10
"""Models of a sweep of tolerances, each of which takes seconds to train."""

PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
"""Numbers of people the slider offers, below that of all."""

FIRST = 20
"""Models trained before anybody asks for more."""

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Whose numbers of which models: prediction columns for the family "given", 0 people for all."""

    family: str
    columns: tuple[str, ...]
    people: int
    group: int

    @property
    def most(self) -> int:
        """Most models there can be."""
        return {"audited": 1, GIVEN: len(self.columns), "tolerances": _SWEEP}.get(self.family, COUNTS[-1])

    @property
    def first(self) -> int:
        """Models that are there before anybody asks for more."""
        return self.most if self.family == GIVEN else min(FIRST, self.most)

    @property
    def counts(self) -> tuple[int, ...]:
        """Positions of the slider."""
        return tuple(dict.fromkeys([*(c for c in COUNTS if c < self.most), self.most]))


_PLAN, _SETTINGS = params(ReleasePlan), params(ReleaseSettings)

_FAMILIES = {
    "mixed": "A natural family, mixed",
    "audited": "The audited model alone",
    "seeds": "Family: resampled records",
    "depths": "Family: depths of the tree",
    "features": "Family: feature subsets",
    "tolerances": "Family: fair, tolerance sweep",
    "given": "Prediction columns of the table",
}

_WAYS = {"exact": "Exact", "rounded": "Rounded", "noise": "Noise"}

_SIZES = "sizes"

_SHORT = {
    "sp_gap": "SP gap",
    "tpr_gap": "TPR gap",
    "fpr_gap": "FPR gap",
    "sp_rate": "SP rates",
    "tpr_rate": "TPR rates",
    "fpr_rate": "FPR rates",
    _SIZES: "Group sizes",
}

_FIRST_PEOPLE = 1_000


def models(row: Sequence[Any], table: Table, dataset: AuditDataset, test: int) -> Models:
    """Choose the models, in the row's first place, and which of so many test people their numbers are about."""
    candidates = prediction_candidates(table, dataset.roles) if state.dataset_name() == state.UPLOAD else ()
    brought = dataset.roles.gives_predictions
    offered = {name: title for name, title in _FAMILIES.items() if candidates or name != GIVEN}
    first = "audited" if brought else "mixed"
    family = control(
        _PLAN["models"],
        "release_family_brought" if brought else "release_family",
        place=row[0],
        options=offered,
        value=first,
        help=(
            "The audited model comes first. A natural family is what a developer trains on the way to one model, none "
            "of them told the attribute: other training records, depths, features, or fair models for other tolerances."
        ),
    )
    family = family if family in offered else first
    people = _people(row[1], test)
    columns = _columns(table, dataset, candidates) if family == GIVEN else ()
    group = _group(dataset) if dataset.n_groups > 2 else 1
    return Models(family=family, columns=columns, people=people, group=group)


def _people(place: Any, test: int) -> int:
    """Choose how many test people the numbers are about; 0 is all."""
    offered = [n for n in PEOPLE if n < test] + [test]
    first = _FIRST_PEOPLE if _FIRST_PEOPLE in offered else offered[-1]
    value = control(
        _PLAN["people"],
        f"release_people_{test}",
        "select_slider",
        place=place,
        options=offered,
        value=first,
        format_func=lambda n: f"all {count(n)}" if n == test else count(n),
        help="Test people, whom no model was trained on. Where they are fewer, each counts for more in every number.",
    )
    return 0 if value == test else int(value)


def _group(dataset: AuditDataset) -> int:
    group: int = control(
        _PLAN["group"],
        f"release_group_{dataset.roles.key}_{dataset.n_groups}",
        "selectbox",
        help=None,
        options=dict(enumerate(dataset.group_names)),
        value=1,
    )
    return group


def _columns(table: Table, dataset: AuditDataset, candidates: tuple[str, ...]) -> tuple[str, ...]:
    first = [dataset.roles.prediction] if dataset.roles.prediction in candidates else []
    like = [name for name in candidates if "pred" in name.casefold() and name not in first]
    return tuple(
        control(
            _PLAN["columns"],
            f"release_columns_{table.fingerprint[:16]}",
            persist_state=None,
            options=candidates,
            value=[*first, *like],
            help="Columns of two values, written as the label is or as 0 and 1; none of them is a feature then.",
        )
    )


def precision(row: Sequence[Any], seed: int) -> ReleaseSettings:
    """Choose what is published of each model, and how precisely; of how many is told by their slider."""
    way = panels.pick("How precisely", _WAYS, key="release_way", default="exact", place=row[0])
    decimals, epsilon = _how(row[1], way)
    chosen = st.pills(
        _SETTINGS["statistics"].param.title,
        [*STATISTICS, _SIZES],
        selection_mode="multi",
        default=["sp_gap", "tpr_gap", "fpr_gap", _SIZES],
        key="release_statistics",
        format_func=_SHORT.__getitem__,
        help="; ".join(f"{_SHORT[name]}: {STATISTIC_TITLES[name].lower()}" for name in STATISTICS)
        + ". A gap is the rate of the first group minus that of the others. Group sizes: in all and with either label; "
        "noise comes with them.",
        persist_state="session",
    )
    return ReleaseSettings(
        statistics=tuple(name for name in STATISTICS if name in (chosen or ())),
        sizes=_SIZES in (chosen or ()) or epsilon is not None,
        decimals=decimals,
        epsilon=epsilon,
        seed=seed,
    )


def _how(place: Any, way: str) -> tuple[int | None, float | None]:
    """Choose decimals or a privacy budget, where the way has either."""
    if way == "rounded":
        told: dict[str, Any] = {"help": None, "options": [1, 2, 3, 4, 5, 6], "place": place}
        return int(control(_SETTINGS["decimals"], "release_decimals", "select_slider", **told)), None
    if way == "exact":
        return None, None
    value = control(
        _SETTINGS["epsilon"],
        "release_epsilon",
        "select_slider",
        place=place,
        options=EPSILONS,
        value=10.0,
        format_func="{:g}".format,
        help="Of all its numbers together, group sizes included: one person's attribute, all else being the same, "
        "makes no card more than e to the ε times as likely. Smaller is more private.",
    )
    return None, float(value)


def number_of_models(chosen: Models) -> int:
    """Return the number of models; the slider that sets it stands under its chart."""
    value = int(st.session_state.get(_slider_key(chosen), chosen.first))
    return value if value in chosen.counts else chosen.first


def number_slider(chosen: Models, value: int) -> None:
    """Draw the slider of the number of models."""
    if len(chosen.counts) > 1:
        told = {"help": None, "options": chosen.counts, "value": value}
        control(_SETTINGS["count"], _slider_key(chosen), "select_slider", **told)


def _slider_key(chosen: Models) -> str:
    return f"release_count_{chosen.most}"
