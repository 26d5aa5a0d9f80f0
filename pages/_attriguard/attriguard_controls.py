"""AttriGuard's controls, and the study of the defence they choose, attacker by attacker in the background.

Whose private attribute is at stake, what the noise may do, whom it should mislead. Everything is kept in the store of
the people it comes from. A move of the slider weighs guesses that are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.auditing.subprocess_jobs import ReportProgress
from core.base.arrays import Floats
from core.base.errors import InputError
from core.base.fingerprint import fingerprint
from core.base.settings import params
from core.datasets.dataset import AuditDataset
from core.datasets.ratings import Ratings
from core.studies.attriguard import (
    CurveSettings,
    Defense,
    Exposure,
    ExposurePoint,
    GuardSettings,
    TableSettings,
    attackers_fitted,
)
from core.studies.config import AuditConfig
from pages.shell import cached, panels, state
from pages.shell.background import Background, Job, ResultStore, require_result, time_left
from pages.shell.controls import bound, control

if TYPE_CHECKING:
    import pandas

_TITLES = {
    "table": "The audited table",
    "google_play": "Google Play ratings",
    "invented": "Synthetic ratings",
    state.OWN_RATINGS: "My ratings",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedRecords:
    """Who is protected, and from whose data everybody learns: ratings, or the audited table with its settings.

    `data` is what was chosen, `attribute` the private one; `fingerprint` tells these people, and who knows whom, from
    others. `guarded` sets a defence up on them, and in `store` is kept all that follows.
    """

    data: str
    attribute: str
    values: tuple[str, ...]
    store: ResultStore
    fingerprint: tuple[Any, ...]
    guarded: Callable[[Any], Defense] = field(repr=False)
    config: AuditConfig | None = field(default=None, repr=False)
    dataset: AuditDataset | None = field(default=None, repr=False)


def offered() -> list[str]:
    """Return the keys of the data on offer."""
    return [name for name in _TITLES if name != "google_play" or cached.google_play() is not None]


def chosen() -> str:
    """Return the data that are chosen, also before their widget is drawn."""
    name = st.session_state.get("guard_data")
    return str(name) if name in offered() else "table"


def badge() -> str | None:
    """Return the badge of synthetic people."""
    badges = {"table": None, "invented": "synthetic data"}
    return badges.get(chosen(), "")


def _chosen_people() -> ProtectedRecords:
    """Return the people chosen; ends the page while there are none."""
    from core.studies.attriguard import RatingsDefense, table_defense

    name = chosen()
    if name == "table":
        config, table = cached.audited()
        dataset = cached.dataset_of(table, config.roles)
        return ProtectedRecords(
            data=name,
            attribute=dataset.roles.attribute,
            values=dataset.group_names,
            store=cached.store_of(config.dataset),
            fingerprint=(dataset.fingerprint, config.train_share, config.seed),
            guarded=partial(table_defense, dataset, config),
            config=config,
            dataset=dataset,
        )
    ratings = _own_ratings() if name == state.OWN_RATINGS else cached.ratings_of(name)
    return ProtectedRecords(
        data=name,
        attribute=ratings.attribute,
        values=ratings.values,
        store=cached.store_of(name),
        fingerprint=(ratings.fingerprint,),
        guarded=partial(RatingsDefense, ratings),
    )


def _own_ratings() -> Ratings:
    """Return the session's own ratings, with the box to bring them; ends the page while there are none."""
    panels.upload(
        "Your own ratings (CSV, up to 200 MB)",
        "guard_upload",
        _read_ratings,
        doing="Reading your ratings",
        again=cached.uploaded_data(state.OWN_RATINGS) is None,
        help="Kept in this session's memory only: never written to disk, gone when you reload or close the page. The "
        "memory is freed ten minutes later.",
    )
    ratings: Ratings | None = cached.uploaded_data(state.OWN_RATINGS)
    if ratings is None:
        st.caption(
            "A CSV with a row for each rating and the columns person, item, rating and attribute, the sensitive one. A "
            "person without ratings has one row with an empty item and rating. It stays in this session's memory."
        )
        st.stop()
    st.button("Remove your ratings", key="guard_remove", icon=":material/delete:", on_click=_remove_ratings)
    return ratings


def _remove_ratings() -> None:
    st.session_state["guard_upload_removed"] = True
    cached.store_upload(state.OWN_RATINGS)


def _read_ratings(file: Any) -> None:
    from core.datasets import ratings_from_csv

    cached.store_upload(state.OWN_RATINGS, ratings_from_csv(file.getvalue(), file.name))


_ENDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def last_budget(exposure: Exposure) -> float:
    """Return the right end of the budget's axis: from there on, nine of ten people need not save noise any more."""
    reach = float(np.quantile(_unlimited_changes(exposure), 0.9))
    return next((end for end in _ENDS if reach <= end * 1.1), 200.0)


def first_budget(exposure: Exposure) -> float:
    """Return where the slider stands at first: what people need on average, of a table half of the axis."""
    last = last_budget(exposure)
    return (
        min(max(1.0, round(float(_unlimited_changes(exposure).mean()))), last)
        if exposure.unit == "ratings"
        else last / 2
    )


def _unlimited_changes(exposure: Exposure) -> Floats:
    """Return what everybody would change if the budget were no limit."""
    return np.asarray((exposure.mechanism(float(exposure.size.max())) * exposure.size).sum(axis=1))


_RATINGS, _TABLE = params(GuardSettings), params(TableSettings)

_STEPS = 50  # of the slider


def defence() -> DefenceStudy:
    """Choose people and defence in one row; ends the page while there are no people."""
    ratings = chosen() != "table"
    surrogate = _RATINGS["defender"] if ratings else _TABLE["defender"]
    places = st.columns([3, 3, 3, 2] if ratings else [3, 3, 2], vertical_alignment="bottom")
    panels.choose(
        "Records",
        {name: _TITLES[name] for name in offered()},
        key="guard_data",
        help="The settings at the left choose the table and its sensitive attribute; they do not concern ratings.",
        container=places[0],
    )
    below = st.container()
    settings: dict[str, Any] = {}
    if ratings:
        settings["policy"] = control(
            _RATINGS["policy"],
            "guard_policy",
            container=places[1],
            help="Modify_Add, Modify_Exist and Add_New of the paper. Where changing ratings that are there cannot "
            "mislead the classifier, new ones are added all the same.",
        )
    settings["defender"] = control(
        surrogate,
        f"guard_defender_{len(surrogate.param.options or ())}",
        container=places[-2],
        help="The classifier the noise is found against. Attackers may use another one, which it fools less.",
    )
    who = _people(below, places[-1])
    with places[-1].popover("Defence settings", icon=":material/tune:", width="stretch"):
        settings["target"], settings["given"], problem = _target(who)
        settings["margin"] = control(
            _TABLE["margin"],
            "guard_margin",
            "select_slider",
            options=[0.0, 0.5, 1.0, 1.5, 2.0, 3.0],
            help="By how much the target value's score must lead. Noise with a margin is larger and fools other "
            "kinds of attackers more often.",
        )
        balanced = st.toggle(
            "Count each value alike",
            key="guard_balanced",
            help="Balanced accuracy: the mean of the accuracies among the people of each value.",
            persist_state="session",
        )
    if problem:
        with below:
            panels.problem(problem)
    settings["seed"] = who.config.seed if who.config is not None else 42
    return DefenceStudy(
        who, GuardSettings(**settings) if ratings else replace(changes(who), **settings), balanced=balanced
    )


def _people(below: DeltaGenerator, column: DeltaGenerator) -> ProtectedRecords:
    """Return the people chosen; a page that ends here, while they are read, keeps its last control, greyed out."""
    who = None
    try:
        with below:
            who = _chosen_people()
    finally:
        if who is None:
            column.button("Defence settings", icon=":material/tune:", width="stretch", disabled=True)
    return who


def _target(who: ProtectedRecords) -> tuple[str, tuple[float, ...], str]:
    """Choose the target distribution; with what is wrong with shares that cannot be used."""
    table = who.config is not None
    target: str = control(
        _TABLE["target"] if table else _RATINGS["target"],
        f"guard_target_{'table' if table else 'ratings'}",
        label="Target distribution p",
        help=f"What attackers should infer as {who.attribute}.",
    )
    if target != "given":
        return target, (), ""
    key = f"{who.data}_{who.attribute}_{len(who.values)}"
    most = len(who.values) - 1
    share = round(100 / (most + 1), 1)
    even = [*[share] * most, round(100 - share * most, 1)]  # percent that add up to 100
    start = "\n".join(f"{value}: {share:g}" for value, share in zip(who.values, even, strict=True))
    written = st.text_area(
        "Shares in percent, a line for each value",
        start,
        key=f"guard_given_{key}",
        height=min(34 + 26 * len(who.values), 240),
        persist_state="session",
    )
    valid_key, problem = f"guard_valid_{key}", ""
    try:
        st.session_state[valid_key] = _shares(written, who.values)
    except InputError as error:
        problem = f"{str(error).removesuffix('.')}; until then the last valid shares count."
    return target, st.session_state.get(valid_key) or _shares(start, who.values), problem


def _shares(written: str, values: tuple[str, ...]) -> tuple[float, ...]:
    """Read the shares, a line a value."""
    shares: dict[str, float] = {}
    for line in filter(str.strip, written.splitlines()):
        name, _, number = line.rpartition(":")
        try:
            share = shares[name.strip()] = float(number.strip().removesuffix("%"))
        except ValueError:
            share = math.nan
        if not 0 <= share <= 100:
            rule = "Each line of the shares must read “value: percent”, the percent from 0 to 100"
            raise InputError(f"{rule}, got “{line.strip()}”.")
    if set(shares) != set(values):
        missing = [v for v in values if v not in shares] or [name for name in shares if name not in values]
        raise InputError(f"The shares must name each value once, as it is written; look at “{missing[0]}”.")
    total = sum(shares.values())
    if abs(total - 100) > 0.05:
        raise InputError(f"The shares must add up to 100, got {total:g} in all.")
    return tuple(shares[value] / total for value in values)


def changes(who: ProtectedRecords) -> TableSettings:
    """Return what may change in the table's records, as the section of that name was left."""
    return st.session_state.get(f"guard_changes_{who.fingerprint[0]}", TableSettings())  # type: ignore[no-any-return]


def change(who: ProtectedRecords, chosen: TableSettings) -> None:
    """Note what may change from now on."""
    st.session_state[f"guard_changes_{who.fingerprint[0]}"] = chosen


def budget(exposure: Exposure) -> float:
    """Return the budget; the slider that sets it stands under its chart."""
    return state.slider_position(_slider_key(exposure), first_budget(exposure), most=last_budget(exposure))


def budget_slider(exposure: Exposure) -> None:
    """Draw the slider of the budget, as wide as the curves above it."""
    last = last_budget(exposure)
    with st.container(key="guard_budget"):
        bound(
            params(CurveSettings)["budgets"],
            _slider_key(exposure),
            "slider",
            label=f"Noise budget β (mean {exposure.unit} changed per person)",
            help="0 = records unchanged. Larger hides more and distorts more.",
            max_value=last,
            value=float(first_budget(exposure)),
            step=last / _STEPS,
            format="%.1f" if last >= 5 else "%.2f",
        )


def _slider_key(exposure: Exposure) -> str:
    return f"guard_budget_{round(10 * last_budget(exposure))}"


def follow(value: float) -> None:
    """Draw the section below again if the slider, which draws the charts only, has left the budget it stands at."""
    if st.session_state.get("guard_below") not in (None, value):
        st.rerun()


def stand(value: float | None) -> None:
    """Note the budget at which the section below is drawn; None if it does not depend on it."""
    st.session_state["guard_below"] = value


def by_value(card: pandas.DataFrame) -> pandas.DataFrame:
    """Return a card of many values with a row a value: what changes for it, and how."""
    entry, now, *values = card.columns
    cells = {value: zip(card[entry], card[now], card[value], strict=True) for value in values}
    descriptions = (
        ", ".join(f"{name}: {was} → {after}" for name, was, after in rows if after) for rows in cells.values()
    )
    rows = zip(values, descriptions, strict=True)
    return panels.frame(
        {"target value": value, "what changes": description or "nothing"} for value, description in rows
    )


_POINTS = 25  # steps of a curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A study as far as it has come."""

    exposure: Exposure
    curves: Mapping[str, tuple[ExposurePoint, ...]]  # by attacker
    guard: Any  # a `core.studies.attriguard.Defense`, of ratings or of a table
    learning: str  # an attacker who is there but not trained at all budgets yet; empty if there is none
    steps: int  # so many have been made


class DefenceStudy(Background):
    """The study of one defence of some people."""

    def __init__(self, who: ProtectedRecords, settings: Any, *, balanced: bool) -> None:
        self.who, self.settings, self.balanced = who, settings, balanced
        key = fingerprint("attriguard", *who.fingerprint, settings)
        super().__init__(
            "guard", who.store, key, self._collect, lane="questions", total=self._total(), widget="attackers"
        )

    def _collect(self, job: Job) -> Grown:
        """Return the whole study; the steps that an earlier job has shown are made again, and not shown."""
        who, earlier_steps = self.who, job.partial[-1].steps if job.partial else 0
        grow = partial(_grown, who.guarded, self.settings)
        for grown in job.each_in_subprocess(grow, about=who.dataset):
            if grown.steps > earlier_steps:
                job.partial[:] = [grown]
            job.report(grown.steps, self.total)
        return job.partial[-1]  # type: ignore[no-any-return]

    def wait_for_first(self) -> Grown:
        """Return what is there; ends the page, with progress, a problem or an offer to go on, while nothing is."""
        return self.first(self.show_progress)  # type: ignore[no-any-return]

    def show_progress(self) -> None:
        """Show how far the study is, with a button that stops it, or that lets it go on."""
        self.show(self._doing, f"Stopped after {self._attackers()}. Go on", again="Try again")

    def _doing(self, job: Job) -> str:
        doing = f"{self._attackers()} drawn" if job.partial else "Looking for the noise"
        return f"{doing}, {'stopping after this attacker' if job.stopping else time_left(job)}"

    def need(self, name: str, label: str, make: Callable[[Callable[[int, int], None]], Any]) -> Any:
        """Return something else about these people, made by a function that reports; waits while it is computed."""
        key = fingerprint(name, self.key, repr(self.who.config))
        return require_result(self.store, key, label, lambda job: job.in_subprocess(make))

    def _attackers(self) -> str:
        """Say how many attackers are drawn; one trained at several budgets is one."""
        attackers = self.partial[-1].exposure.attackers if self.partial else ()
        return f"{len(attackers)} of {self._total(budgets=1)} attackers"

    def _total(self, budgets: int | None = None) -> int:
        """Return the number of steps, if attackers are trained at so many budgets only."""
        return attackers_fitted(self.settings, budgets)


def _grown(guarded: Callable[[Any], Defense], settings: Any, report: ReportProgress) -> Iterator[Grown]:
    """Yield the study after each attacker, with the curves."""
    curves, guard = dict[str, tuple[ExposurePoint, ...]](), guarded(settings)
    for steps, exposure in enumerate(guard.expose()):
        if not exposure.guesses:
            continue
        newest = exposure.guesses[-1].attacker
        budgets = np.linspace(0.0, last_budget(exposure), _POINTS + 1).tolist()
        guesses = tuple(guess for guess in exposure.guesses if guess.attacker == newest)
        curves[newest] = replace(exposure, guesses=guesses).curves(budgets)[newest]
        budgets_left = {guess.trained_at for guess in guesses} != set(guard.trained_at)
        learning = newest if guesses[0].trained_at is not None and budgets_left else ""
        yield Grown(exposure=exposure, curves=dict(curves), guard=guard, learning=learning, steps=steps)
