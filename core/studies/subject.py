"""What every study is asked about: one model of one table by some settings, and what it releases of each person."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, TypeVar, cast

import numpy as np

from ..adversaries import ImputationAttacker, known_records_with_folds, train_imputation
from ..adversaries.adversary import forest_parameters
from ..adversaries.imputation import Imputed
from ..base.caveats import INTERVAL_TEXT, SETS_UNKNOWN_TEXT, Caveat, CaveatKind
from ..base.errors import Cancelled, InputError, ReportProgress
from ..base.object_files import MEMO
from ..base.serialize import UNSAID, Result, fingerprint
from ..base.settings import Param, Settings, validate
from ..base.validation import LEAST_EPSILON, MOST_DECIMALS, Codes, Floats, Ints, Mask
from ..datasets.dataset import AuditDataset
from ..datasets.roles import Roles
from ..datasets.splits import MAX_ATTACKER_SAMPLE, Splits, attacker_sample, split, split_everybody
from ..models import GIVEN_PREDICTIONS, METHODS, PRIVATE_METHODS, TREE_DEPTH, FairModel, fit_model
from ..models.model_answers import UNKNOWN, QueryAccess, Structure, structure_of
from ..stats.estimates import Estimate, accuracy, majority_share
from ..stats.fairness import (
    METRIC_TITLES,
    METRICS,
    GroupRate,
    difference_of_rates,
    group_rates,
    row_sets,
    unfairness,
    unfairness_estimate,
)

TRAINED_TOLERANCE = 0.005
"""What a model is trained for where nobody says otherwise, on the pages and in plans; `AuditConfig` by itself has the
0.001 of the published experiments."""

MOST_DEPTH = 20
"""Deepest tree that can be asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig(Result):
    """Everything that defines an audit, besides the table itself."""

    dataset: str = "demo"
    """Name of the table."""
    roles: Roles | None = None
    """Roles of its columns; None for the table's own default."""
    method: Annotated[
        str,
        Param(
            "Fair learning method",
            "Fair learning method: {options}.",
            options=METHODS,
            only=("kind", ("train",)),
        ),
    ] = "exponentiated_gradient"
    """Also `core.models.GIVEN_PREDICTIONS`, for the predictions that came with the table.

    Of these the tolerance is disclosed.
    """
    metric: Annotated[
        str, Param("Fairness metric", "Fairness metric: {options}.", options=METRICS)
    ] = "statistical_parity"
    tolerance: Annotated[
        float,
        Param(
            "Tolerance",
            "Tolerance of the fairness constraint, which is disclosed to the attacker.",
            least=0.0,
            most=1.0,
            step=0.001,
        ),
    ] = 0.001
    train_share: Annotated[
        float,
        Param(
            "Training share",
            "Share of the records in the training set; of the rest the attacker knows half.",
            least=0.1,
            most=0.8,
            step=0.01,
        ),
    ] = 0.34
    """The records that do not train are halved between attacker and test. Not used where the table names the sets."""
    seed: Annotated[
        int,
        Param(
            "Seed",
            "Seed of splits, training, predictions and attackers.",
            least=0,
            most=2**32 - 1,
            step=1,
        ),
    ] = 42
    epsilon: Annotated[
        float,
        Param(
            "Privacy budget ε",
            "Privacy budget of training, for the private trees; inf is no noise.",
            least=LEAST_EPSILON,
            infinite=True,
            only=("method", PRIVATE_METHODS),
            flag="--train-epsilon",
        ),
    ] = math.inf
    forest: Annotated[
        tuple[tuple[str, int | float | str | None], ...] | None,
        Param(
            "Forest",
            "Hyper-parameters of the published attack, in place of the published ones.",
            form="table",
        ),
    ] = None
    depth: Annotated[
        int,
        Param(
            "Depth",
            "Depth of the model's trees, at most.",
            least=1,
            most=MOST_DEPTH,
            step=1,
            written=False,
        ),
    ] = field(default=TREE_DEPTH, metadata=UNSAID)

    def __post_init__(self) -> None:
        unchecked: tuple[str, ...] = ()
        if self.method == GIVEN_PREDICTIONS:
            unchecked = ("method",)
        validate(self, but=unchecked)
        if self.forest is not None:
            forest_parameters(dict(self.forest))


T = TypeVar("T")

SETS_UNKNOWN = "A membership attack is judged on the records the model was trained on; no column says which they are."
"""Why there is no membership attack where `Subject.has_true_sets` is false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFindings(Result):
    """How accurate and how fair the audited model is."""

    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate
    """Accuracy on training and test records; of the more frequent label for everybody."""
    unfairness_train: float
    """Largest deviation of a group's rate from the overall rate on the training records: a fact about them."""
    unfairness_test: Estimate
    """The same on the test records, as an estimate for unseen people."""
    rates_train: tuple[GroupRate, ...]
    rates_test: tuple[GroupRate, ...]
    """The rates behind these distances."""
    needs_sensitive: bool = False
    randomised: bool = False
    """See `core.models.FairModel`; False where it is not known because the predictions were given."""
    predictions: Codes
    """Shape (n,), uint8. The predictions, drawn once, for all records of the dataset, or those given."""
    scores: Floats
    """Shape (n,), in [0, 1]. The model's own if `has_scores`; else labels alone were given, and stand for them."""
    has_scores: bool = True
    structure: Structure = UNKNOWN
    """What it is made of, where it was trained here."""

    @property
    def difference_train(self) -> float:
        """Difference between groups on the training records: a fact about them."""
        return difference_of_rates(self.rates_train).value

    @property
    def difference_test(self) -> Estimate:
        """The same on the test records, as an estimate for unseen people."""
        return difference_of_rates(self.rates_test)

    def constant(self, splits: Splits) -> bool:
        """Whether it gives everybody of the training and test records the same answer."""
        return _is_constant(self.predictions, splits)

    def constant_scores(self, splits: Splits) -> bool:
        """Whether nothing else tells people apart: they all have the same score, or no score was given."""
        return not self.has_scores or _is_constant(self.scores, splits)


def _is_constant(values: Codes | Floats, splits: Splits) -> bool:
    attacked_values = values[np.concatenate((splits.train, splits.test))]
    return bool((attacked_values == attacked_values[:1]).all())


def train_model(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> ModelFindings:
    """Train the audited model and draw its predictions once, or take those that were given, and measure it.

    Raises `InputError` if the method is `core.models.GIVEN_PREDICTIONS` and the data hold no predictions, or the
    data break a rule of the metric or the method.
    """
    check_cells(config.metric, dataset, splits)
    if config.method == GIVEN_PREDICTIONS:
        return _given_predictions(config, dataset, splits)
    x = dataset.features
    s = dataset.sensitive
    if config.method == "threshold_optimizer":
        check_labels(dataset, splits)
    model = fitted(config, dataset, splits)
    return _measured(
        config,
        dataset,
        splits,
        model.predict(x, s, seed=config.seed),
        scores=model.scores(x, s),
        structure=structure_of(model.estimator, rows=splits.train.size),
        needs_sensitive=model.needs_sensitive,
        randomised=model.randomised,
    )


def fitted(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> FairModel:
    """Return the audited model; a dataset keeps the last one, so that it can be asked without being trained again."""
    key = (
        replace(config, forest=None, roles=None),
        fingerprint(splits.train),
    )  # the attacker's forest trains nothing
    last, model = dataset.cached_results().get("audited model", (None, None))
    if last != key:
        model = fit_rows(config, dataset, splits.train, seed=config.seed)
        dataset.keep({"audited model": (key, model)})
    return cast("FairModel", model)


def fit_rows(config: AuditConfig, dataset: AuditDataset, rows: Ints, *, seed: int) -> FairModel:
    """Return the audit's model trained on some of the records."""
    return fit_model(
        config.method,
        dataset.features[rows],
        dataset.labels[rows],
        dataset.sensitive[rows],
        metric=config.metric,
        tolerance=config.tolerance,
        seed=seed,
        epsilon=config.epsilon,
        domains=dataset.domains,
        depth=config.depth,
        n_groups=dataset.n_groups,
    )


def _given_predictions(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> ModelFindings:
    """Return the answers that came with the table, measured."""
    labels = dataset.predictions
    if labels is None:
        raise InputError(
            "An audit of given predictions needs a column with the model's predictions or scores, the table's roles "
            "name none."
        )
    if dataset.scores is None:
        return _measured(
            config, dataset, splits, labels, scores=labels.astype(np.float64), has_scores=False
        )
    return _measured(config, dataset, splits, labels, scores=dataset.scores)


def _measured(
    config: AuditConfig,
    dataset: AuditDataset,
    splits: Splits,
    drawn: Codes,
    **answers: Any,
) -> ModelFindings:
    """Return how accurate and fair some predictions are; `answers` are the fields of `ModelFindings` beside them."""
    y = dataset.labels
    s = dataset.sensitive
    train = splits.train
    test = splits.test
    return ModelFindings(
        accuracy_train=accuracy(y[train], drawn[train]),
        accuracy_test=accuracy(y[test], drawn[test]),
        majority_test=majority_share(y[test]),
        unfairness_train=unfairness(drawn[train], s[train], metric=config.metric, labels=y[train]),
        unfairness_test=unfairness_estimate(
            drawn[test], s[test], metric=config.metric, labels=y[test]
        ),
        rates_train=group_rates(drawn[train], s[train], metric=config.metric, labels=y[train]),
        rates_test=group_rates(drawn[test], s[test], metric=config.metric, labels=y[test]),
        predictions=drawn,
        **answers,
    )


def check_labels(dataset: AuditDataset, splits: Splits) -> None:
    """Refuse training records of a group with one label only: a threshold of its own cannot be set for it."""
    for code, name in enumerate(dataset.group_names):
        labels = dataset.labels[splits.train][dataset.sensitive[splits.train] == code]
        if np.unique(labels).size < 2:
            raise InputError(
                "The threshold optimizer needs people with both labels in every group of the training records, got "
                f"only label {int(labels[0])} among {labels.size} of {name}; choose another method, other groups or "
                "another seed."
            )


def check_cells(metric: str, dataset: AuditDataset, splits: Splits) -> None:
    """Refuse data in which a set of records lacks a group among the labels the metric compares."""
    for name in ("train", "validation", "test"):
        rows = getattr(splits, name)
        for part, mask in row_sets(metric, dataset.labels[rows], rows.size):
            if mask is None:
                inside = dataset.sensitive[rows]
            else:
                inside = dataset.sensitive[rows][mask]
            counts = np.bincount(inside, minlength=dataset.n_groups)
            if counts.min() < 3:
                group = dataset.group_names[int(counts.argmin())]
                within, instead = (
                    ("", "") if mask is None else (f" with {part}", "statistical parity, ")
                )
                raise InputError(
                    f"{METRIC_TITLES[metric]} needs at least 3 people of each group{within} among the {name} records, "
                    f"got {int(counts.min())} of {group}; choose {instead}other groups or another seed."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputsPlan(Settings):
    """What the model hands out about each person, and so what attacks may use."""

    released: Annotated[
        str,
        Param(
            "What is released about each person",
            'What is handed out about each person: "scores" (with the labels), or "labels" alone. Attacks use '
            "all of it. Scores are released as they are, or with decimals = 3 beside this line rounded so.",
            options={"scores": "Scores and labels", "labels": "Labels alone"},
        ),
    ] = "scores"
    decimals: Annotated[
        int | None,
        Param(
            "Decimals",
            "Decimals the scores are released with.",
            least=0,
            most=MOST_DECIMALS,
            only=("released", ("scores",)),
        ),
    ] = None

    @property
    def text(self) -> str:
        """What is released: "predicted labels and scores with 3 decimals"."""
        if self.released == "labels":
            return "predicted labels"
        decimals = {None: "", 1: " with 1 decimal"}.get(
            self.decimals, f" with {self.decimals} decimals"
        )
        return f"predicted labels and scores{decimals}"


def _made_once(cache: dict[str, Any], name: str, make: Callable[[], T]) -> T:
    if name not in cache:
        try:
            cache[name] = make()
        except Cancelled:
            raise
        except Exception as error:
            cache[name] = error
    result: T = cache[name]
    if isinstance(result, Exception):
        raise result
    return result


_MOST_LEARNERS = round(0.7 * MAX_ATTACKER_SAMPLE)


def imputation_of(dataset: AuditDataset, splits: Splits, *, seed: int) -> ImputationAttacker:
    """Return the attacker without the release, who knows features and label; trained once a dataset.

    They learn from the attack records and choose by the validation records, of many from a seeded
    sample. There is one for everything that starts from imputation or is compared with it.
    """
    learners, validation = _records_of_imputation(splits, seed)

    def make() -> ImputationAttacker:
        records = known_records_with_folds(
            learners, validation, dataset.sensitive, seed=seed, known_rows=splits.attacker_rows
        )
        return train_imputation(
            attacker_columns(dataset),
            dataset.sensitive.astype(np.intp),
            records,
            n_groups=dataset.n_groups,
            categorical=np.append(dataset.categorical, False),
            seed=seed,
        )

    return dataset.once(
        ("imputation", fingerprint(splits.attacker_rows, learners, validation, seed)), make
    )


def _records_of_imputation(splits: Splits, seed: int) -> tuple[Ints, Ints]:
    """Return the records that imputation learns from, and those it chooses by."""
    learners = attacker_sample(splits.attack, seed, most=_MOST_LEARNERS)
    validation = attacker_sample(splits.validation, seed, most=MAX_ATTACKER_SAMPLE - _MOST_LEARNERS)
    return learners, validation


def imputed(dataset: AuditDataset, splits: Splits, rows: Ints, *, seed: int) -> Imputed:
    """Return what `imputation_of` says of some rows that it did not learn from; asked once a dataset."""
    learners, validation = _records_of_imputation(splits, seed)
    key = fingerprint(learners, validation, rows, seed)

    def ask() -> Imputed:
        return imputation_of(dataset, splits, seed=seed).about(attacker_columns(dataset)[rows])

    return dataset.once(("imputed", key), ask)


def attacker_columns(dataset: AuditDataset) -> Floats:
    """Return everybody's features and label, which every attacker knows, as one matrix (n, d + 1)."""
    return np.column_stack([dataset.features, dataset.labels])


def prior_of(dataset: AuditDataset, splits: Splits, rows: Ints, *, seed: int) -> Floats:
    """Return P(group), (rows, K), by the best attacker without the release, who knows features and label.

    See `imputation_of`. Raises `InputError` if any of the rows is among the known ones.
    """
    if shared := np.intersect1d(rows, splits.attacker_rows).size:
        raise InputError(
            f"The attacker must not learn from released records, got {shared} that are in both."
        )
    _, probability = imputed(dataset, splits, rows, seed=seed)
    return probability


class Progress:
    """Counts steps and reports them as (done, total); `report` may raise `core.base.errors.Cancelled` to stop."""

    def __init__(self, total: int, report: ReportProgress | None = None) -> None:
        self.total = total
        self.done = 0
        self._report = report
        self._tell()

    def tick(self) -> None:
        """Count one step."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """Count up to this step; steps are never taken back."""
        self.done = max(self.done, min(done, self.total))
        self._tell()

    @contextmanager
    def part(self, steps: int) -> Iterator[ReportProgress]:
        """Yield what reports the progress of a part, whose steps the total counts; all are done when it ends.

        A part that finds out that it has other than these steps reports the total that it has.
        """
        begun = self.done
        later = max(self.total - begun - steps, 0)

        def report(done: int, total: int) -> None:
            self.total = begun + total + later
            self.reach(begun + done)

        try:
            yield report
        finally:
            self.reach(self.total - later)

    def _tell(self) -> None:
        if self._report is not None:
            self._report(self.done, self.total)


@dataclass(eq=False)
class Subject:
    """One model of one table, trained or given, with its splits.

    `splits` are the sets of the people with an answer of the model, `everyone` also of the others. `outputs` is
    what is released about each person, all of which an attack uses; `trainable` says whether the model can be trained
    again on other people; `access` asks a model file about other records. What several studies need is made once, see
    `once`.
    """

    config: AuditConfig
    dataset: AuditDataset
    splits: Splits
    model: ModelFindings
    outputs: OutputsPlan = field(default_factory=lambda: OutputsPlan(), kw_only=True)
    trainable: bool = field(default=True, kw_only=True)
    access: QueryAccess | None = field(default=None, kw_only=True)
    with_unanswered: Splits | None = field(default=None, kw_only=True)
    """The sets with the people without an answer of the model, where there are some."""
    _cache: dict[str, Any] = field(default_factory=dict, init=False, metadata=MEMO)
    _model_cache: dict[str, Any] = field(default_factory=dict, init=False, metadata=MEMO)
    """What is made of the model, whatever is released of it."""

    @property
    def everyone(self) -> Splits:
        """The sets of all people, also of those without an answer of the model."""
        if self.with_unanswered is None:
            return self.splits
        return self.with_unanswered

    def part(self, rows: Mask) -> Self:
        """Return the same model with those training and test records that are in `rows`, of shape (n,)."""
        splits = _attacked_part(self.splits, rows)
        if self.with_unanswered is None:
            with_unanswered = None
        else:
            with_unanswered = _attacked_part(self.with_unanswered, rows)
        model = self.model
        check_cells(self.config.metric, self.dataset, splits)
        measured = _measured(
            self.config,
            self.dataset,
            splits,
            model.predictions,
            scores=model.scores,
            has_scores=model.has_scores,
            needs_sensitive=model.needs_sensitive,
            randomised=model.randomised,
        )
        return replace(
            self,
            splits=splits,
            with_unanswered=with_unanswered,
            model=measured,
        )

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, made once under this name; what broke once breaks again at once."""
        return _made_once(self._cache, name, make)

    def once_for_model(self, name: str, make: Callable[[], T]) -> T:
        """Return the same of what depends on the model alone, and not on what is released of it."""
        return _made_once(self._model_cache, name, make)

    @property
    def has_scores(self) -> bool:
        """Whether the model gives scores, and not only labels."""
        return self.model.has_scores

    @property
    def released_scores(self) -> Floats | None:
        """Everybody's score with the decimals it is released with; None where labels alone are released."""
        return self.scores_of(self.outputs)

    def scores_of(self, outputs: OutputsPlan) -> Floats | None:
        """Return everybody's score as a release would give it; None where it gives labels alone."""
        if not self.has_scores or outputs.released != "scores":
            return None
        if outputs.decimals is None:
            return self.model.scores
        return np.round(self.model.scores, outputs.decimals)

    @property
    def released_text(self) -> str:
        """What is released: "predicted labels and scores with 3 decimals"."""
        if self.released_scores is None:
            return OutputsPlan(released="labels").text
        return self.outputs.text

    def releasing(self, outputs: OutputsPlan) -> Subject:
        """Return the same model with another release; what is made of the model, both keep."""
        changed = replace(self, outputs=outputs)
        changed._model_cache = self._model_cache
        return changed

    @property
    def has_true_sets(self) -> bool:
        """Whether the training records are those the model was trained on."""
        return self.trainable or self.dataset.sets is not None

    @property
    def attribute(self) -> str:
        """What the sensitive attribute is called."""
        return self.dataset.roles.attribute

    @property
    def trained_on(self) -> str:
        """What to call the training records: "4,080 people the model was trained on"."""
        n = self.splits.train.size
        if self.has_true_sets:
            return f"{n:,} people the model was trained on"
        return f"{n:,} people drawn from the table"

    @property
    def over_people(self) -> tuple[str, ...]:
        """Return what every interval over people takes for granted, a sentence each."""
        return tuple(caveat.text for caveat in self.caveats)

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """What every interval over people takes for granted."""
        caveats = [Caveat(CaveatKind.INTERVAL_OVER_PEOPLE, INTERVAL_TEXT)]
        n_known_people = int(self.splits.attacker_rows.size)
        if n_known_people > MAX_ATTACKER_SAMPLE:
            text = f"The attackers learn from a seeded sample of {MAX_ATTACKER_SAMPLE:,} of the people they know."
            caveats.append(
                Caveat(
                    CaveatKind.ATTACKER_SAMPLE,
                    text,
                    count=MAX_ATTACKER_SAMPLE,
                    total=n_known_people,
                )
            )
        if not self.has_true_sets:
            caveats.append(Caveat(CaveatKind.SETS_UNKNOWN, SETS_UNKNOWN_TEXT))
        return tuple(caveats)


def _attacked_part(splits: Splits, rows: Mask) -> Splits:
    """Return the sets with those training and test records that are in `rows`; attack records stay."""
    return replace(
        splits, train=splits.train[rows[splits.train]], test=splits.test[rows[splits.test]]
    )


def splits_with_unanswered(config: AuditConfig, dataset: AuditDataset) -> Splits | None:
    """Return the sets of all people, where the model gives some of them no answer; else None."""
    if dataset.answered is None:
        return None
    return split_everybody(dataset, train_share=config.train_share, seed=config.seed)


def subject_of(config: AuditConfig, dataset: AuditDataset) -> Subject:
    """Return a dataset's subject: its records divided, its model trained. Raises as `train_model` does."""
    config = replace(config, roles=dataset.roles)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    model = train_model(config, dataset, splits)
    return Subject(
        config,
        dataset,
        splits,
        model,
        trainable=config.method != GIVEN_PREDICTIONS,
        with_unanswered=splits_with_unanswered(config, dataset),
    )
