"""The study of membership: who of the training and test records is a training record, by what is released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from core.config import AuditConfig
from core.datasets import AuditDataset, Roles
from core.datasets.splits import Splits
from core.errors import InputError
from core.membership.attack import Evidence
from core.membership.attacks import ATTACK_TITLES, attacks_on
from core.membership.checks import DECLARED, FALSE_ALARMS, JudgedMembers, measured
from core.membership.findings import release_findings
from core.membership.inference import cells
from core.membership.judged_people import judging_everybody
from core.membership.settings import MembershipPlan
from core.membership.targets import audited_target
from core.models import GIVEN
from core.study import Finding, Measurement, Report, Row, Study
from core.subject import Progress, Subject, train_model

_SIDE, _NOT_JUDGED = 1000, 200
"""Members, and as many non-members, of a made-up subject: a TPR at 1% FPR needs a thousand; and its attack records."""


class Membership(Study[MembershipPlan, JudgedMembers]):
    """Every attack for which there is evidence, each on everybody in training and test records."""

    name = "membership"
    title = "Membership inference"
    settings = MembershipPlan
    declared = DECLARED

    def steps(self, subject: Subject, settings: MembershipPlan) -> int:
        """Return how many steps `run` reports: one for each shadow model."""
        return settings.shadows if subject.trainable and subject.released_scores is not None else 0

    def run(self, subject: Subject, settings: MembershipPlan, report: Report | None = None) -> Iterator[JudgedMembers]:
        """Yield the result after each attack; shadow models are trained once for all of them.

        InputError if nobody told which records the model was trained on, or there are too few.
        """
        if not subject.sets_known:
            raise InputError(
                "A membership attack is judged on the records the model was trained on; no column tells which they are."
            )
        scores, splits, decimals = subject.released_scores, subject.splits, subject.outputs.decimals
        target = audited_target(subject.config, subject.dataset)
        evidence = Evidence(
            released=scores,
            predicted=subject.model.predictions,
            labels=subject.dataset.labels,
            split=judging_everybody(splits.train, splits.test, aside=splits.known),
            seed=subject.config.seed,
            balance=False,
            # a shadow's scores have the decimals of those that are released
            train=target if decimals is None else lambda rows, seed: np.round(target(rows, seed), decimals),
            shadows=settings.shadows,
            online=True,
            report=report,
        )
        guesses = {}
        trained_again = subject.trainable and settings.shadows > 0
        for attack in attacks_on("labels" if scores is None else "scores", shadows=trained_again):
            guesses[attack.name] = attack.judge(evidence)
            yield JudgedMembers(subject=subject, shadows=settings.shadows, guesses=dict(guesses))

    def findings(self, result: JudgedMembers, settings: MembershipPlan) -> tuple[Finding, ...]:
        """Return whether membership inference succeeds, how many are identified, and the gap between groups."""
        return release_findings(measured(result))

    def checks(self, result: JudgedMembers, settings: MembershipPlan) -> Mapping[str, Measurement]:
        """Return the best attack's numbers."""
        return measured(result)

    def tables(self, result: JudgedMembers, settings: MembershipPlan) -> Mapping[str, tuple[Row, ...]]:
        """Return each attack's AUC, advantage and TPR at 1% FPR, the last of everybody and of each group."""
        rows: list[Row] = []
        for name, curve in result.curves.items():
            rates = {"everybody": curve.tpr_at(FALSE_ALARMS)}
            for gap in result.gaps[name]:
                rates |= zip((gap.group, gap.others), gap.rates, strict=True)
            whole: Row = {
                "attack": ATTACK_TITLES[name],
                "AUC": curve.auc.value,
                "advantage": result.advantages[name].value,
            }
            rows += [{**whole, "people": people, **cells("TPR at 1% FPR", rate)} for people, rate in rates.items()]
        return {"Membership attacks": tuple(rows)}

    def planted(self, seed: int) -> Subject:
        """Return a model that scores half of the members with label 1 exactly 1, and nobody else."""
        return tied_scores(np.random.default_rng(seed), planted=True, seed=seed)

    def harmless(self, seed: int) -> Subject:
        """Return a model whose scores tie alike for members and non-members."""
        return tied_scores(np.random.default_rng(seed), planted=False, seed=seed)


def tied_scores(rng: np.random.Generator, *, planted: bool, seed: int) -> Subject:
    """Return a model that scores a third of label 0 exactly 0; planted, half of the members with label 1 exactly 1."""
    n = 2 * _SIDE + _NOT_JUDGED
    labels = rng.integers(0, 2, n).astype(np.uint8)
    scores = rng.binomial(50, np.where(labels == 1, 0.7, 0.3)) / 50
    scores[(labels == 0) & (rng.random(n) < 1 / 3)] = 0.0
    remembered = (labels == 1) & (rng.random(n) < 0.5) & (np.arange(n) < _SIDE)
    scores[remembered & planted] = 1.0
    roles = Roles(label="label", positive="1", sensitive="group", group=("1",), prediction="prediction", sets="set")
    dataset = AuditDataset(
        title="People of FairLeak's test of itself",
        source="Synthetic.",
        features=np.zeros((n, 1)),
        feature_names=("feature 0",),
        categorical=np.zeros(1, dtype=np.bool_),
        labels=labels,
        sensitive=(np.arange(n) % 2).astype(np.uint8),
        group_names=("group 0", "group 1"),
        roles=roles,
        rows_read=n,
        predictions=(scores >= 0.5).astype(np.uint8),
        scores=scores,
        sets=np.repeat(["train", "attack", "test"], (_SIDE, _NOT_JUDGED, _SIDE)),
    )
    attacked = _SIDE + 7 * _NOT_JUDGED // 10
    train, attack, validation, test = np.split(np.arange(n), [_SIDE, attacked, _SIDE + _NOT_JUDGED])
    splits = Splits(train=train, attack=attack, validation=validation, test=test)
    config = AuditConfig(method=GIVEN, roles=roles, tolerance=0.02, seed=seed)
    model = train_model(config, dataset, splits)
    return Subject(config, dataset, splits, model, Progress(1), trainable=False)


STUDY = Membership()
