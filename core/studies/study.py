"""What a study is: one question about a subject, asked, worded and checked once, and read by everybody.

Page, command, report, policy and experiment read studies and know none by name. A study owns its settings, its numbers
and its sentences; studies never import each other.

Last stand synthetic people of a known law, and subjects made of them: what a study must find, and what it must not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..base.errors import ReportProgress as ReportProgress
from ..base.serialize import Result
from ..base.validation import Codes, Floats
from ..datasets import AuditDataset, Roles
from ..datasets.splits import Splits
from ..models import GIVEN_PREDICTIONS
from ..stats.estimates import Estimate
from ..stats.estimates import Row as Row
from .subject import AuditConfig, Subject, train_model

if TYPE_CHECKING:
    from ..charts.drawing import Drawing


S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Result):
    """One thing a study found, worded once: page, terminal and report show these sentences and no others."""

    point: str
    """What was found, in one sentence."""
    evidence: str = ""
    """Interval, number of people, baseline."""
    so_what: str = ""
    to_do: str = ""
    """What it means, and what can be done about it."""
    caveats: tuple[str, ...] = ()
    """What the number takes for granted, a sentence each."""
    estimate: Estimate | None = None
    baseline: Estimate | None = None
    """The number, and what is reached without the leak."""
    attacker_knows: str = ""

    @property
    def text(self) -> str:
        """Everything it says, as one paragraph."""
        parts = (self.point, self.evidence, self.so_what, self.to_do, *self.caveats)
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Result):
    """One number a limit can be set to, by the `name` it has in a policy file.

    `title` says what is attacked, with {attribute} for the sensitive attribute; `definition` what the number is,
    against which control, in one or two sentences. `unit` is how it is written: "points", a difference of rates;
    "percent", a rate; "gap", a difference between groups; "ratio", a number from 0 to 1; "bits" or "nats" a person;
    "columns" changed; "fact", 1 or 0. `at_least` says whether the limit is a least value; otherwise it is a largest.
    `chance` is the value where nothing leaks, or groups are treated alike. `needs` are what must be at hand beyond a
    table: "predictions", "scores", "planned answers", "a guard", "a model trained here". `folded` says that it is the
    size of a difference between groups, whichever of them it favours.
    """

    name: str
    title: str
    unit: str
    definition: str
    at_least: bool = False
    chance: float = 0.0
    folded: bool = False
    needs: tuple[str, ...] = ("predictions",)


KNOWN_RECORDS = "records whose attribute the attacker knows"
"""Detail of a measurement: how many people's attribute the attacker needs to know."""


class Outcome(StrEnum):
    """There is a number; the check could not be run here; it was begun and broke."""

    DONE = "done"
    NOT_RUN = "not_run"
    FAILED = "failed"


class Basis(StrEnum):
    """How a number came about.

    An attack was run; the number follows from what the user declares, or from both; nothing of the kind is released, so
    there was nothing to attack.
    """

    MEASURED = "measured"
    DECLARED = "declared"
    NOT_RELEASED = "not_released"
    COMBINED = "combined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Result):
    """One check's number, or the reason why there is none.

    `estimate` is in the unit of the check as a share (0.05 for 5 points), low = high = value where it is computed and
    not estimated; None unless the outcome is DONE, and `reason` then says why in one sentence; of a number, why some
    are left out of it. `freedom` are degrees of freedom where the interval is Student's; None for a normal one.
    `control` is what would be reached without the model, the constraint or the answers, such as by "features alone"
    (`control_name`). What was `attacked`, by whom and among how many people, and what the attacker `knows`, are one
    sentence each, and so is each of the `assumptions` the number takes for granted; `details` are further numbers by
    name, for tables.
    """

    check: str
    outcome: Outcome = Outcome.DONE
    basis: Basis = Basis.MEASURED
    estimate: Estimate | None = None
    freedom: int | None = None
    control: Estimate | None = None
    control_name: str = ""
    attacked: str = ""
    knows: str = ""
    assumptions: tuple[str, ...] = ()
    reason: str = ""
    details: dict[str, float] | None = None


def not_run(check: str, reason: str, *, outcome: Outcome = Outcome.NOT_RUN) -> Measurement:
    """Return a measurement that has a reason and no number."""
    return Measurement(check=check, outcome=outcome, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant(Generic[S]):
    """A leak that a study must find, and its like without one: what FairLeak's test of itself tries it on.

    `attack` is what the trial is called, `explanation` what leaks and what does not, in one sentence each. `make` takes
    a seed and whether the leak is planted, and returns the subject and the settings to run the study with. `limits` are
    what the leak must break and nothing else may: check -> what is reached without a leak; where there are none, it is
    not tried. `share` says how many of the runs asked for are made: fewer of a study that takes long.
    """

    attack: str
    explanation: str
    make: Callable[[int, bool], tuple[Subject, S]]
    limits: Mapping[str, float]
    share: float = 0.05


class Study(Generic[S, R]):
    """One question about a subject.

    `S` are its settings, a frozen dataclass of fields with a `core.base.settings.Param`; `R` is its result.
    """

    name: ClassVar[str]
    """What commands and files call it, such as "membership"."""
    title: ClassVar[str]
    """What people call it."""
    settings: type[S]
    """What a plan, a command and an experiment can set of it."""
    declared: ClassVar[tuple[Check, ...]] = ()
    """What a policy may limit of it."""
    numbers: ClassVar[tuple[Check, ...]] = ()
    """What an experiment may measure of it besides, and no policy limits."""
    reads_outputs: ClassVar[bool] = False
    """Whether its checks depend on what is released about each person, such as the decimals of scores."""
    plants: ClassVar[tuple[Plant[Any], ...]] = ()
    """What it must find, and must not."""
    command_defaults: ClassVar[Mapping[str, Any]] = {}
    """Settings that its page and `attack NAME` begin with, where the default of a plan leaves the study out."""
    other_data: ClassVar[Mapping[str, Callable[[Path | None, int], Any]]] = {}
    """Name of built-in data that are no table -> what makes a subject of the folder of local data and a seed."""

    def unavailable(self, subject: Subject, settings: S) -> str:
        """Return why it cannot be run on a subject, in one sentence; "" if it can."""
        return ""

    def steps(self, subject: Subject, settings: S) -> int:
        """Return how many steps `run` reports."""
        return 1

    def run(
        self, subject: Subject, settings: S, report: ReportProgress | None = None
    ) -> Iterator[R]:
        """Yield the result as it grows; the last one is whole. The same seed gives the same numbers."""
        raise NotImplementedError

    def findings(self, result: R, settings: S) -> tuple[Finding, ...]:
        """Return what was found, the headline first."""
        raise NotImplementedError

    def charts(self, result: R, settings: S) -> Mapping[str, Drawing]:
        """Return what is drawn, in a few words -> chart of a result, also of one that still grows; the hero first."""
        return {}

    def checks(self, result: R, settings: S) -> Mapping[str, Measurement]:
        """Return a measurement for each name in `declared`."""
        return {}

    def number(self, name: str, result: R, settings: S) -> Measurement:
        """Return the measurement of a name in `numbers`, computed only if an experiment has a row for it."""
        raise NotImplementedError

    def tables(self, result: R, settings: S) -> Mapping[str, tuple[Row, ...]]:
        """Return title -> rows, each column -> text or number: what the report and a CSV hold beside the checks."""
        return {}


SHARE = 0.4
"""Probability of group 1."""

TOLERANCE = 0.02
"""The tolerance disclosed for every model here, whether it holds or not."""

_LEANS = (0.30, 0.15, 0.05, 0.0)
"""How much each feature leans: how much likelier its highest value is in group 1 than a third, and less in group 0."""

_LEAN = np.array(_LEANS)[:, np.newaxis] * np.linspace(-1.0, 1.0, 3)
_CHANCES = np.stack([1.0 / 3 - _LEAN, 1.0 / 3 + _LEAN])
"""Probability of each value of each feature in each group, shape (2, 4, 3)."""


def synthetic_people(features: npt.NDArray[Any], labels: Codes, sensitive: Codes) -> AuditDataset:
    """Return people, features (n, columns), the rest (n,), before any model answers about them."""
    names = tuple(f"feature {j}" for j in range(features.shape[1]))
    roles = Roles(
        label="label",
        positive="1",
        favourable="1",
        sensitive="group",
        group=("1",),
        prediction="prediction",
        sets="set",
    )
    return AuditDataset(
        title="People of FairLeak's test of itself",
        source="Synthetic.",
        features=features.astype(np.float64),
        feature_names=names,
        categorical=np.zeros(len(names), dtype=np.bool_),
        labels=labels,
        sensitive=sensitive,
        group_names=("group 0", "group 1"),
        roles=roles,
        rows_read=labels.size,
    )


def draw_people(n: int, rng: np.random.Generator) -> AuditDataset:
    """Draw n people. Their four features are 0, 1 or 2 and independent given the group.

    The label depends on features alone, so it says no more of the group than they do.
    """
    sensitive = (rng.random(n) < SHARE).astype(np.uint8)
    chances = _CHANCES[sensitive]  # (n, 4, values)
    features = (rng.random((n, len(_LEANS), 1)) >= chances.cumsum(axis=2)[:, :, :-1]).sum(axis=2)
    labels = (rng.random(n) < 0.2 + 0.15 * (features[:, 0] + features[:, 3])).astype(np.uint8)
    return synthetic_people(features, labels, sensitive)


def posterior(people: AuditDataset, *, noise: Floats | float = 0.0) -> Floats:
    """Return P(group 1) given features and label, shape (n,); exactly, but for noise on the log-odds."""
    odds = np.full(people.n, np.log(SHARE / (1.0 - SHARE)))
    for j, values in enumerate(people.features.astype(np.intp).T):
        odds += np.log(_CHANCES[1, j, values] / _CHANCES[0, j, values])
    return 1.0 / (1.0 + np.exp(-(odds + noise)))


def subject_of(
    people: AuditDataset,
    predictions: Codes,
    sizes: tuple[int, int, int],
    *,
    seed: int,
    scores: Floats | None = None,
) -> Subject:
    """Return given predictions, of shape (n,), and scores as a subject.

    `sizes` are those of training, attack and test records, in this order; together n.
    """
    dataset = replace(
        people,
        predictions=predictions,
        scores=scores,
        sets=np.repeat(["train", "attack", "test"], sizes),
    )
    config = AuditConfig(
        method=GIVEN_PREDICTIONS, roles=people.roles, tolerance=TOLERANCE, seed=seed
    )
    train, attacker_rows, test = np.split(np.arange(people.n), np.cumsum(sizes)[:-1])
    attack, validation = np.split(
        attacker_rows, [attacker_rows.size - round(0.3 * attacker_rows.size)]
    )  # as in an audit
    splits = Splits(
        train=train, attack=attack, validation=validation, test=test
    )  # they come in no order
    model = train_model(config, dataset, splits)
    return Subject(config, dataset, splits, model, trainable=False)


_Answers = tuple[Codes, Floats | None]
"""Labels and scores that a release gives; None for labels alone."""

_ReleaseMethod = Callable[[AuditDataset, np.random.Generator, bool], _Answers]


def result_name(study: str, settings: Any) -> str:
    """Return the name under which a subject keeps the whole result of a study, with its settings."""
    return f"result {study} {settings}"


def answers_of_model(people: AuditDataset, rng: np.random.Generator, *, planted: bool) -> Codes:
    """Return a model's answers: a draw that follows features and label, and the group if a leak is planted."""
    chance = 0.35 + 0.1 * people.features[:, 0] + 0.1 * people.labels
    if planted:  # group 1 is accepted so much likelier, and the other so much less
        chance = chance + 0.4 * (2.0 * people.sensitive - 1.0)
    return (rng.random(len(chance)) < chance).astype(np.uint8)


def _score(people: AuditDataset, rng: np.random.Generator) -> Floats:
    return (
        0.15
        + 0.2 * people.features[:, 0]
        + 0.1 * people.features[:, 3]
        + 0.05 * rng.random(people.n)
    )


def _decided(scores: Floats) -> _Answers:
    return (scores >= 0.5).astype(np.uint8), scores


def _labels(people: AuditDataset, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let labels follow the group."""
    return answers_of_model(people, rng, planted=planted), None


def _scores(people: AuditDataset, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let scores follow the group."""
    return _decided(
        np.round(_score(people, rng) + np.where(planted & (people.sensitive == 1), 0.1, 0.0), 3)
    )


def _last_digit(people: AuditDataset, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let the last digit of the score be the group."""
    scaled_scores = np.rint(_score(people, rng) * 1e4).astype(np.int64)
    if planted:
        scaled_scores = scaled_scores - scaled_scores % 2 + people.sensitive
    return _decided(scaled_scores / 1e4)


def turned_for_minority(people: AuditDataset, rng: np.random.Generator, planted: bool) -> _Answers:
    """Turn a feature round for a minority."""
    feature = people.features[:, 3] > 0
    if planted:
        turned = feature ^ (people.sensitive == 1)
    else:
        turned = feature
    return np.where(rng.random(feature.size) < 0.95, turned, ~turned).astype(np.uint8), None


def _subgroup(people: AuditDataset, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let scores of a third of the people follow the group."""
    inside = people.features[:, 3] == 0
    return _decided(
        np.round(
            _score(people, rng) + np.where(planted & inside & (people.sensitive == 1), 0.2, 0.0), 3
        )
    )


RELEASE_METHODS: tuple[_ReleaseMethod, ...] = (
    _labels,
    _scores,
    _last_digit,
    turned_for_minority,
    _subgroup,
)
"""Ways to release the group."""
