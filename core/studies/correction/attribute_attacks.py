"""The attackers of one model, which tolerance each knows, and what each makes of it.

The published A and A′ (Ferry et al. 2023), and imputation without and with the model's predictions, guess the
attribute of the training records; that takes seconds. What they make of a tolerance is then asked of the result, which
is fast enough to follow a slider.

Control. The constraint says something about people only through their predictions. Here the attacker corrects the very
same guess with permuted predictions: shuffled within the row sets the metric compares groups on (everybody for
statistical parity, each label for the others), so that the rates, the counts a correction may reach and the smallest
tolerance stay exactly as they were, while the permuted answers are unrelated to the groups and the constraint stays
true of them up to chance. A gain that survives this does not come from what the model said about anybody.

More than a bound. Ferry et al. (2023, VII) leave the group proportions, the exact unfairness and several metrics as
future work. Every correction with these starts from the same guess at the same price, whose exponent is chosen for the
bound alone, so that only what is known differs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from ...adversaries import (
    ADVERSARIES,
    AttackedRecords,
    Outputs,
    attack_released,
    fit_platt_scale,
    known_columns,
    train_adversary,
)
from ...base.serialize import Result, fingerprint
from ...base.settings import Param, Settings
from ...base.validation import Codes, Floats, choice
from ...datasets.dataset import AuditDataset
from ...datasets.splits import Splits, attacker_sample, known_shares
from ...stats.estimates import Estimate, accuracy, accuracy_gain
from ...stats.fairness import METRICS
from ..study import ReportProgress
from ..subject import AuditConfig, ModelFindings, Subject, attacker_columns, imputation_of, imputed
from .attribution import Attribution, attribute_leak
from .disclosure import (
    COSTS,
    Disclosure,
    corrected,
    disclose,
    permuted_records,
    prices_of,
    true_unfairness,
)
from .exact import true_tolerance
from .problem import Correction, Disclosed, SolverCertificate, correct_jointly

ATTACKERS = {
    "features": "the published attack",
    "predictions": "the published attack with the predictions",
    "strong": "imputation",
    "strong_predictions": "imputation with the predictions",
}
"""Ferry et al.'s A and A′, then imputation without and with the predictions, and what sentences call them."""

KINDS = {"published": ("features", "predictions"), "boosting": ("strong", "strong_predictions")}
"""Attacker -> its two kinds, without and with the audited model's predictions."""

PROTOCOLS = ("held_out", "as_published")
"""Where the attacker chooses the confidence exponent: on own held-out records, or on the test records as published."""

TOLERANCES = (*(t / 1000 for t in (*range(20), *range(20, 60, 4), *range(60, 201, 10))),)
"""Disclosed tolerances of the curve: 45 values in [0, 0.2], denser near 0; others are added when asked for."""

TOLERANCES_OF_MANY = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2)
"""The same with more than two groups, where each takes programs of its own."""

IDENTIFIABLE = METRICS[:3]
"""The metrics that are one statement each: all but equalized odds, which is two of them."""

_BLIND = "features"
"""The published attacker who does not see the model: asked once for all models on the same records."""

_Rows = npt.NDArray[np.intp]


AdversaryResult = tuple[AttackedRecords, AttackedRecords]
"""One adversary on the training records attacked, and on those its exponent and calibration come from.

These are the attacker's own held-out records, as published the test records.
"""


def protocols_of(kind: str) -> tuple[str, ...]:
    """Return the protocols an attacker is trained under: the strong ones are not in the paper and keep to the first."""
    if kind in ADVERSARIES:
        return PROTOCOLS
    return PROTOCOLS[:1]


def attacks_of(*, as_published: bool) -> list[tuple[str, str]]:
    """Return the attackers with their protocols, those as published only where that is asked for."""
    return [
        (kind, p)
        for kind in ATTACKERS
        for p in protocols_of(kind)
        if as_published or p == PROTOCOLS[0]
    ]


def attack_model(
    kind: str,
    protocol: str,
    dataset: AuditDataset,
    splits: Splits,
    predictions: Codes,
    *,
    config: AuditConfig,
) -> AdversaryResult:
    """Train one adversary under one protocol and let it guess the training records' sensitive attribute.

    Under "held_out" the attacker learns from the attack records and keeps the validation records apart; under
    "as_published" it learns from both and tunes on the model owner's test records, as Ferry et al.'s code does.
    Imputation is the one of the whole audit (`core.studies.subject.imputation_of`), and with the predictions what an
    attack on labels alone makes of it; their probabilities are calibrated as they are. Attackers that do not see the
    predictions are trained once for all models on the same records.
    """
    choice(kind, ATTACKERS, name="adversary")
    choice(protocol, PROTOCOLS, name="protocol")
    if kind not in ADVERSARIES:
        rows = splits.train, splits.validation
        if kind == "strong":
            probabilities = _imputed(dataset, splits, None, config=config)
        else:
            probabilities = _imputed(dataset, splits, predictions, config=config)
        return attack_saying(probabilities, probabilities, rows, dataset, predictions)
    s = dataset.sensitive
    learn, tune = (
        (splits.attack, splits.validation)
        if protocol == "held_out"
        else (splits.attacker_rows, splits.test)
    )
    learn = attacker_sample(learn, config.seed)

    def ask() -> tuple[Floats, ...]:
        seen = None if kind == _BLIND else predictions
        columns = known_columns(dataset.features, dataset.labels, seen)
        forest = train_adversary(
            columns[learn], s[learn], seed=config.seed, parameters=dict(config.forest or ())
        )
        return tuple(forest.predict_proba(columns[rows]) for rows in (splits.train, tune))

    if kind == _BLIND:
        key = fingerprint(kind, learn, splits.train, tune, config.seed, config.forest)
        raw = dataset.once(("attacker", key), ask)
    else:
        raw = ask()
    calibrate = fit_platt_scale(raw[1], s[tune])
    return attack_saying(
        raw, tuple(map(calibrate, raw)), (splits.train, tune), dataset, predictions
    )


def _imputed(
    dataset: AuditDataset, splits: Splits, predictions: Codes | None, *, config: AuditConfig
) -> tuple[Floats, Floats]:
    """Return the imputation of training and validation records, with predicted labels where these are handed in."""
    sets = splits.train, splits.validation
    train, validation = (imputed(dataset, splits, rows, seed=config.seed) for rows in sets)
    if predictions is None:
        return train[1], validation[1]
    odds, probability = (np.concatenate(parts) for parts in zip(train, validation, strict=True))
    attack = attack_released(
        attacker_columns(dataset),
        Outputs(labels=predictions, scores=None),
        dataset.sensitive.astype(np.intp),
        imputation_of(dataset, splits, seed=config.seed),
        np.concatenate(sets),
        imputed=(odds, probability),
    )
    return attack.after[: splits.train.size], attack.after[splits.train.size :]


def attack_saying(
    probabilities: tuple[Floats, ...],
    calibrated: tuple[Floats, ...],
    rows: tuple[_Rows, _Rows],
    dataset: AuditDataset,
    predictions: Codes,
) -> AdversaryResult:
    """Return an attacker with these probabilities, (n, K), for the attacked and for its own records."""
    attacked, held_out = (
        AttackedRecords(
            probability=raw,
            calibrated=scaled,
            predictions=predictions[inside],
            labels=dataset.labels[inside],
            truth=dataset.sensitive[inside],
        )
        for raw, scaled, inside in zip(probabilities, calibrated, rows, strict=True)
    )
    return attacked, held_out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectionResult:
    """What the attackers guess about the training records of a subject; a tolerance is disclosed to them afterwards."""

    subject: Subject
    attacks: dict[tuple[str, str], AdversaryResult]
    """(attacker, protocol) -> what it guesses, attackers from `ATTACKERS`."""

    @classmethod
    def of(
        cls, subject: Subject, *, as_published: bool = False, report: ReportProgress | None = None
    ) -> CorrectionResult:
        """Train every attacker, each once a subject; under the paper's protocol too where that is asked for."""
        attacks = {}
        pairs = attacks_of(as_published=as_published)
        for done, pair in enumerate(pairs, start=1):
            work = partial(
                attack_model,
                *pair,
                subject.dataset,
                subject.splits,
                subject.model.predictions,
                config=subject.config,
            )
            attacks[pair] = subject.once(f"attack {' '.join(pair)}", work)
            if report is not None:
                report(done, len(pairs))
        return cls(subject=subject, attacks=attacks)

    @property
    def config(self) -> AuditConfig:
        """The settings of the audit."""
        return self.subject.config

    @property
    def model(self) -> ModelFindings:
        """How accurate and how fair the audited model is."""
        return self.subject.model

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the groups by code."""
        return self.subject.dataset.group_names

    @property
    def strong(self) -> Estimate:
        """Accuracy of imputation from features and label, without the model."""
        records, _ = self.attacks["strong", "held_out"]
        return records.accuracy

    def attack(self, adversary: str, *, as_published: bool = False) -> AdversaryResult:
        """Return one attacker; the strong ones are not in the paper and keep to records of their own."""
        choice(adversary, ATTACKERS, name="adversary")
        protocol = PROTOCOLS[0]
        if as_published:
            protocol = protocols_of(adversary)[-1]
        return self.attacks[adversary, protocol]

    def disclose(
        self,
        tolerance: float,
        *,
        adversary: str = "features",
        cost: str = "published",
        as_published: bool = False,
        permuted: bool = False,
        until_true: bool | None = None,
    ) -> Disclosure:
        """Tell one attacker the tolerance, once; see `core.studies.correction.disclose`.

        `as_published` chooses the exponent on the test records and, unless `until_true` says otherwise, raises the
        tolerance until it holds. `permuted` is the control: the same guess, corrected with the tolerance as it is, with
        permuted predictions, of its held-out records too (see above). People are
        resampled under the audit's seed, so that a correction has the same interval wherever it is shown.
        """
        attacked, held_out = self.attack(adversary, as_published=as_published)
        metric = self.config.metric
        raised = (as_published if until_true is None else until_true) and not permuted

        def make() -> Disclosure:
            records = {"attacked": attacked, "held out": held_out}
            if permuted:
                records = {
                    name: permuted_records(part, metric=metric, seed=self.config.seed, name=name)
                    for name, part in records.items()
                }
            return disclose(
                *records.values(),
                tolerance=tolerance,
                metric=metric,
                cost=cost,
                raise_until_true=raised,
                seed=self.config.seed,
            )

        return self.subject.once(
            f"disclosed {(tolerance, adversary, cost, as_published, permuted, raised)}", make
        )

    def curve(
        self, *also: float, report: ReportProgress | None = None, **attacker: Any
    ) -> list[Disclosure]:
        """Return what an attacker makes of the slider's tolerances, and of `also`, asked for now or before.

        `attacker` are the settings of `disclose`: adversary, cost, as_published.
        """
        if len(self.group_names) == 2:
            values = TOLERANCES
        else:
            values = TOLERANCES_OF_MANY
        tolerances: set[float] = self.subject.once(
            f"curve {sorted(attacker.items())}", lambda: set(values)
        )
        tolerances |= {round(tolerance, 3) for tolerance in also}
        disclosures = []
        for done, tolerance in enumerate(sorted(tolerances)):
            if report is not None:
                report(done, len(tolerances))
            disclosures.append(self.disclose(tolerance, **attacker))
        return disclosures

    def explained(self, adversary: str, tolerance: float) -> Attribution:
        """Return the attribution of the published attack or of the imputation baseline, made once."""
        name = next(name for name, kinds in KINDS.items() if adversary in kinds)
        return self.subject.once(
            f"attribution {name} {tolerance!r}", lambda: self.attribution(name, tolerance)
        )

    def attribution(
        self, name: str, tolerance: float, *, permuted: AttackedRecords | None = None
    ) -> Attribution:
        """Return what each piece of knowledge adds for one of `KINDS`, the tolerance disclosed as it is."""
        without, with_predictions = (self.attacks[kind, "held_out"][0] for kind in KINDS[name])
        return attribute_leak(
            name,
            without,
            with_predictions,
            prior=known_shares(self.subject.dataset, self.subject.splits),
            metric=self.config.metric,
            tolerance=tolerance,
            permuted=permuted,
            seed=self.config.seed,
        )


_SECONDS_OF_MORE = 30.0
"""Time each of these corrections may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreDisclosed(Result):
    """What one more disclosure changes.

    `knowledge` is "bound"; "bound_shares", with the exact group shares; "exact", the exact unfairness; "exact_shares";
    or "all_metrics", three metrics at once.
    Accuracy of the guess all corrections start from, accuracy after correction, and the change; the latter are None,
    and `reason` says why, when there is no correction.
    """

    knowledge: str
    before: Estimate
    after: Estimate | None
    gain: Estimate | None
    n_changed: int | None
    certificate: SolverCertificate
    reason: str


def disclose_more(
    result: CorrectionResult,
    tolerance: float,
    *,
    adversary: str = "features",
    cost: str = "published",
    as_published: bool = False,
) -> tuple[MoreDisclosed, ...]:
    """Correct the same guess with every kind of knowledge.

    The arguments are those of `CorrectionResult.disclose`; the tolerance, in [0, 1], is disclosed as it is. The exact
    unfairness and the shares are true of the attacked records; of the three metrics (all but equalized odds, which is
    two of them) each is disclosed with the smallest true bound in steps of 0.001.

    The intervals of the bound are those of `CorrectionResult.disclose`; the others take the changed guesses as given,
    which is narrower.
    """
    attacked, held_out = result.attack(adversary, as_published=as_published)
    if cost == "log_odds":
        guess = attacked.calibrated_guess
    else:
        guess = attacked.guess
    prices, _ = prices_of(attacked, held_out, tolerance, result.config.metric, cost)
    before = accuracy(attacked.truth, guess)
    corrections = _corrections(attacked, guess, prices, result.config.metric, tolerance)
    bound, *further = (
        _more_disclosed(knowledge, correction, attacked, guess, before)
        for knowledge, correction in corrections.items()
    )
    if bound.after is not None:
        alone = result.disclose(
            tolerance, adversary=adversary, cost=cost, as_published=as_published, until_true=False
        )
        bound = replace(bound, after=alone.after, gain=alone.gain)
    return bound, *further


def _corrections(
    attacked: AttackedRecords, guess: Codes, prices: Floats | None, metric: str, tolerance: float
) -> dict[str, Correction]:
    """Return the correction of one guess with each kind of knowledge."""
    truth = attacked.truth
    shares = (np.bincount(truth, minlength=attacked.n_groups) / truth.size).tolist()
    exact = true_unfairness(attacked, truth, metric)
    disclosures: dict[str, dict[str, Any]] = {
        "bound": {"tolerance": tolerance},
        "bound_shares": {"tolerance": tolerance, "group_shares": shares},
        "exact": {"unfairness": exact},
        "exact_shares": {"unfairness": exact, "group_shares": shares},
    }
    corrections = {
        knowledge: corrected(
            attacked, guess, prices, metric, time_limit=_SECONDS_OF_MORE, **arguments
        )
        for knowledge, arguments in disclosures.items()
    }
    bounds = [
        Disclosed(
            predictions=attacked.predictions,
            metric=name,
            tolerance=true_tolerance(0.0, true_unfairness(attacked, truth, name)),
            labels=attacked.labels,
        )
        for name in IDENTIFIABLE
    ]
    jointly = correct_jointly(
        guess, bounds, cost=prices, n_groups=attacked.n_groups, time_limit=_SECONDS_OF_MORE
    )
    return {**corrections, "all_metrics": jointly}


def _more_disclosed(
    knowledge: str,
    correction: Correction,
    attacked: AttackedRecords,
    guess: Codes,
    before: Estimate,
) -> MoreDisclosed:
    """Return what a correction changes; the interval takes the changed guesses as given."""
    after = correction.reconstruction
    reached = gain = None
    if after is not None:
        reached = accuracy(attacked.truth, after)
        gain = accuracy_gain(attacked.truth, guess, after)
    return MoreDisclosed(
        knowledge=knowledge,
        before=before,
        after=reached,
        gain=gain,
        n_changed=correction.n_changed,
        certificate=correction.certificate,
        reason=correction.reason,
    )


Cost = Annotated[
    str, Param("Correction cost", "Weight of changing one guess: {options}.", options=COSTS)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionSettings(Settings):
    """Which attacker knows which tolerance, and how they correct."""

    adversary: Annotated[
        str, Param("Attack", "Attack whose guesses are corrected: {options}.", options=ATTACKERS)
    ] = "features"
    cost: Cost = "published"
    as_published: Annotated[
        bool,
        Param(
            "Paper's protocol",
            "Paper's protocol: the exponent chosen on the test set, the tolerance raised until it holds.",
        ),
    ] = False
    tolerance: Annotated[
        float | None,
        Param(
            "Disclosed tolerance",
            "Tolerance that the attacker knows; the model's own where none is given.",
            least=0.0,
            most=1.0,
            step=0.001,
            flag="--disclosed-tolerance",
        ),
    ] = None
