"""A membership attack: what it is given, what its file declares, what it says, and what attacks share.

The evidence is who is known and judged, what is released, and shadow models.

Members are trained on, non-members are not. In an audit everybody is judged, and attacks use nobody's membership or
learn from the other half. An attacker who knows some people and judges others has two disjoint sets of rows.

Shadow models are trained as the target was, on random people. What a model says of a person's own label is looked at
on the logit scale, φ = log(p / (1 − p)) (Carlini et al. 2022).

Attacks share a threshold that is set on known people, and boosting, see `core.adversaries.released_outputs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.validation import Codes, Floats, Ints, Mask, child_generator, child_seed
from ...datasets.dataset import AuditDataset
from ...models.model_answers import QueryAccess, fair_access
from ..study import ReportProgress
from ..subject import SETS_UNKNOWN, AuditConfig, Subject, fit_rows, fitted

FEWEST = 10
"""Fewest known, and fewest judged, members and non-members; of fewer no curve is drawn and no advantage measured."""

FEWEST_SHADOWS = 4
"""Two trained with and two without each judged person, if evenly."""

NOBODY: Ints = np.empty(0, dtype=np.int64)


def check_shadows(shadows: int, *, least: str = "") -> None:
    """Refuse a number of shadow models of which one half cannot be trained with a person and one half without."""
    if shadows < FEWEST_SHADOWS or shadows % 2:
        raise InputError(
            f"shadows must be {least}an even number of at least {FEWEST_SHADOWS}, got {shadows!r}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipSplit:
    """Row numbers: members and non-members are disjoint, and so are the known and the judged unless all are both."""

    members: Ints = field(repr=False)
    outsiders: Ints = field(repr=False)
    known_rows: Ints = field(repr=False)
    judged_rows: Ints = field(repr=False)
    """Whom the attacker knows, and whom they judge; members first."""
    aside: Ints = field(default_factory=NOBODY.copy, repr=False)
    """Neither trained on nor judged: non-members the attacker knows beside those of `known_rows`."""

    @property
    def known_records(self) -> tuple[Ints, Codes]:
        """The rows the attacker knows, members first, and whether each is a member."""
        return self.known_rows, self._inside(self.known_rows)

    @property
    def judged_records(self) -> tuple[Ints, Codes]:
        """The rows the attacker judges, members first, and whether each is a member."""
        return self.judged_rows, self._inside(self.judged_rows)

    @property
    def population(self) -> Ints:
        """Non-members the attacker knows, none of whom is judged: whether they are members cannot move a score."""
        rows, member = self.known_records
        candidates = np.concatenate([rows[member == 0], self.aside])
        return candidates[~np.isin(candidates, self.judged_rows)]

    def _inside(self, rows: Ints) -> Codes:
        return np.isin(rows, self.members).astype(np.uint8)


def judging_everybody(members: Ints, outsiders: Ints, *, aside: Ints = NOBODY) -> MembershipSplit:
    """Return the split in which everybody is judged, for attacks that use nobody's membership or set halves apart.

    Those `aside` are neither trained on nor judged. Raises `InputError` if there are fewer than `FEWEST` members or
    non-members.
    """
    inside = np.sort(members)
    outside = np.sort(outsiders)
    for label, rows in (("members", inside), ("non-members", outside)):
        if rows.size < FEWEST:
            raise InputError(
                f"A membership attack needs at least {FEWEST} {label}, got {rows.size}."
            )
    everybody = np.concatenate([inside, outside])
    return MembershipSplit(
        members=inside,
        outsiders=outside,
        known_rows=everybody,
        judged_rows=everybody,
        aside=np.sort(aside),
    )


Train = Callable[[Ints, int], Floats]
"""Trains a model on these rows with this seed and returns P(label = 1) of everybody.

So an attack with shadow models trains the target again. The attacker does not know the seed of its noise.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an attack is given of n people."""

    labels: Codes = field(repr=False)
    split: MembershipSplit
    """Whom the attacker knows, and whom to judge."""
    released: Floats | None = field(default=None, repr=False)
    """The target's P(label = 1), in [0, 1], as it is released; None where labels alone are."""
    features: npt.NDArray[Any] | None = field(default=None, repr=False)
    """(n, d): everybody's record, as numbers and codes."""
    predictions: Codes | None = field(default=None, repr=False)
    """What it predicts of them, 0 or 1, where that does not follow from `released`."""
    access: QueryAccess | None = None
    """The target itself; None where it cannot be asked."""
    seed: int = 0
    train: Train | None = None
    """Trains a model as the target was trained; None where that cannot be done."""
    shadows: int = 64
    report: ReportProgress | None = None
    """Called after each shadow."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What attacks share, such as shadow models."""

    @property
    def probability(self) -> Floats:
        """The target's P(label = 1) where it is released."""
        assert self.released is not None
        return self.released

    @property
    def predicted(self) -> Codes:
        """What the target predicts; a probability of exactly one half predicts label 0, as the trees do."""
        if self.predictions is None:
            return (self.probability > 0.5).astype(np.uint8)
        return self.predictions

    @property
    def label_probability(self) -> Floats:
        """The probability the target gives to each person's own label."""
        return true_label_probability(self.probability, self.labels)

    @property
    def records(self) -> npt.NDArray[Any]:
        """Everybody's record, where the attacker knows them."""
        assert self.features is not None
        return self.features

    @property
    def shadow_models(self) -> Shadows:
        """The shadow models, trained by the first attack that needs them."""
        if "shadows" not in self.memo:
            self.memo["shadows"] = _trained_shadows(self)
        shadows: Shadows = self.memo["shadows"]
        return shadows


def true_label_probability(probability: Floats, labels: Codes) -> Floats:
    """Return the probability the model gave to each person's own label."""
    return np.where(labels == 1, probability, 1.0 - probability)


_LEAST = 0.01
"""A probability counts as no closer to 0 or 1 than this: trees say 0 and 1 of small leaves.

From 1e-6 to 0.05 the choice moves the area on Adult by 0.002.
"""

LEAST_DEVIATION = 1e-3
"""Of φ over trainings; trees can say the same each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadows:
    """What shadow models say of the m judged people, and of k others whom the attacker knows."""

    n_targets: int
    label_probability: Floats
    """(shadows, m + k): probability of each person's own label, the judged first."""
    trained: Mask
    """(shadows, m + k): whether the shadow was trained on the person."""

    @property
    def inside(self) -> Mask:
        """(shadows, m): whether the shadow was trained on the judged person."""
        return self.trained[:, : self.n_targets]

    def sums(self, used: Mask) -> tuple[Ints, Floats, Floats]:
        """Return of each judged person's φ over their used shadows, (shadows, m), number, mean and squares around it.

        Somebody without such a shadow gets the mean of all people.
        """
        logits = logit(self.label_probability[:, : self.n_targets])
        count = used.sum(axis=0)
        total = np.where(used, logits, 0.0).sum(axis=0)
        mean = np.where(count > 0, total / np.maximum(count, 1), total.sum() / max(count.sum(), 1))
        return count, mean, (np.where(used, logits - mean, 0.0) ** 2).sum(axis=0)

    def normal(self, used: Mask, per_person: bool) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each judged person's φ over their used shadows, (shadows, m).

        Somebody without such a shadow gets the mean of all people; the shared deviation is the one around own means.
        """
        count, mean, squares = self.sums(used)
        return mean, deviations(count, squares, per_person)


def deviations(count: Ints, squares: Floats, per_person: bool) -> Floats:
    """Return standard deviations by numbers of values and sums of squares around their means, (m,).

    One per person, or one shared by all; somebody with fewer than two values has the shared one.
    """
    freedom = np.maximum(count - 1, 0)
    shared = squares.sum() / max(int(freedom.sum()), 1)
    variance = np.full(count.size, shared)
    if per_person:
        variance = np.where(count > 1, squares / np.maximum(freedom, 1), shared)
    return np.sqrt(np.maximum(variance, LEAST_DEVIATION**2))


def logit(p: Floats) -> Floats:
    """Return φ of probabilities."""
    cut = np.clip(p, _LEAST, 1.0 - _LEAST)
    return np.log(cut) - np.log1p(-cut)


def _trained_shadows(evidence: Evidence) -> Shadows:
    """Train an even number of shadow models, at least 4, on as many random people each as the target has members.

    They are drawn from members and non-members in pairs that share as few people as can be, so that with as many
    non-members as members everybody is in half of them; with more or fewer, as after deletions or with a split of other
    shares, in about members / (members + non-members) of them. Nobody's membership is used.
    """
    shadows = evidence.shadows
    split = evidence.split
    check_shadows(shadows)
    assert evidence.train is not None
    looked_at = np.concatenate([split.judged_rows, split.population])
    drawn = _draws(evidence)
    label_probability = np.empty((shadows, looked_at.size))
    for i, chosen in enumerate(drawn):
        p = evidence.train(chosen, child_seed(evidence.seed, f"membership shadow {i}"))
        label_probability[i] = true_label_probability(p[looked_at], evidence.labels[looked_at])
        if evidence.report is not None:
            evidence.report(i + 1, shadows)
    trained = np.stack([np.isin(looked_at, chosen) for chosen in drawn])
    return Shadows(
        n_targets=split.judged_rows.size, label_probability=label_probability, trained=trained
    )


def _draws(evidence: Evidence) -> list[Ints]:
    """Return whom each shadow is trained on."""
    split = evidence.split
    rng = child_generator(evidence.seed, "membership shadows")
    everybody = np.concatenate([split.members, split.outsiders])
    size = split.members.size
    orders = [rng.permutation(everybody) for _ in range(evidence.shadows // 2)]
    return [np.sort(part) for order in orders for part in (order[:size], order[-size:])]


# The audited model as what is attacked: trained again on other records, and asked about changed ones.


def audited_target(config: AuditConfig, dataset: AuditDataset) -> Train:
    """Return the audit's learning method as a target; it answers with `core.models.FairModel.scores`.

    Its members are the audit's training rows and its non-members the test rows. The first training, of the target
    itself, takes the audit's seed.
    """
    return lambda rows, seed: fit_rows(config, dataset, rows, seed=seed).scores(
        dataset.features, dataset.sensitive
    )


def audited_access(subject: Subject) -> QueryAccess | None:
    """Return query access to the audited model, trained here or in a file; None where only predictions are given."""
    if not subject.trainable:
        return subject.access
    config = subject.config
    dataset = subject.dataset
    return fair_access(
        lambda: fitted(config, dataset, subject.splits),
        dataset.features,
        dataset.sensitive,
        seed=config.seed,
    )


TARGET = "membership target"
"""Under which a subject keeps what its model can be trained again with."""


_MOST_REMEMBERED = 64
"""Trainings whose scores are kept: the shadow models of a usual audit."""


def remembering(train: Train) -> Train:
    """Return the same training, which keeps its first scores: a narrower release asks for the same shadow models."""
    scores_by_training: dict[tuple[bytes, int], Floats] = {}

    def again(rows: Ints, seed: int) -> Floats:
        key = (rows.tobytes(), seed)
        scores = scores_by_training.get(key)
        if scores is None:
            scores = train(rows, seed)
            if len(scores_by_training) < _MOST_REMEMBERED:
                scores_by_training[key] = scores
        return scores

    return again


def evidence_of(subject: Subject, shadows: int, report: ReportProgress | None = None) -> Evidence:
    """Return what attackers are given of a subject's training and test records, all of whom are judged.

    InputError if it is unknown which records the model was trained on, or there are too few.
    """
    if not subject.has_true_sets:
        raise InputError(SETS_UNKNOWN)
    splits = subject.splits
    decimals = subject.outputs.decimals
    target = subject.once_for_model(
        TARGET, lambda: remembering(audited_target(subject.config, subject.dataset))
    )
    train = target
    if decimals is not None:  # a shadow's scores have the decimals of those that are released

        def train(rows: Ints, seed: int) -> Floats:
            return np.round(target(rows, seed), decimals)

    return Evidence(
        released=subject.released_scores,
        features=subject.dataset.features,
        predictions=subject.model.predictions,
        access=audited_access(subject),
        labels=subject.dataset.labels,
        split=judging_everybody(splits.train, splits.test, aside=splits.attacker_rows),
        seed=subject.config.seed,
        train=train,
        shadows=shadows,
        report=report,
    )


AttackOutput = tuple[Floats, Codes | Mask | None]
"""Of the m judged, members first: a finite score, higher for members, and who is called one, if the attack decides."""

NEEDS = {
    "labels": "true and predicted labels",
    "scores": "released scores",
    "shadows": "shadow models, trained as the model was on others of these people",
    "queries": "query access, to ask the model about changed records",
    "records": "everybody's features",
    "population": "people the model was not trained on, beside those judged",
    "halves": "who is a member of half of those judged, to judge the other half",
}
"""What an attack may need -> what that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack, as its file in `core.studies.membership.attacks` declares it: all that its readers need."""

    name: str = ""
    """That of its file."""
    title: str
    phrase: str
    """What it is called inside a sentence, such as "the loss threshold"."""
    paper: str = ""
    """Authors and year; empty where it is not published."""
    glossary: str
    """What it does, in one sentence."""
    needs: frozenset[str]
    """Keys of `NEEDS`."""
    uses: frozenset[str]
    """Where it is run without being named: "scores" is an audit of released scores, "labels" one of labels."""
    turn: int
    """Its place among the attacks, the quickest first."""
    scores: Callable[[Evidence], AttackOutput]
    """Says of the judged how much speaks for each being a member."""

    @property
    def described(self) -> str:
        """What it does, and where it is published."""
        if self.paper:
            return f"{self.glossary[:-1]} ({self.paper})."
        return self.glossary

    @property
    def learns(self) -> bool:
        """Whether two halves of the judged teach each other."""
        return "halves" in self.needs

    def knows(self, *, scores: bool, shadows: int) -> str:
        """Return what the attacker knows who uses it on a model that is handed out with scores or without."""
        knowledge = "Every person's true and predicted label"
        if scores:
            knowledge += ", and score"
        if "shadows" in self.needs:
            knowledge += ", features, how the model is trained, "
            knowledge += f"and {shadows} models trained alike on others of these people"
        elif "records" in self.needs:
            knowledge += ", and features"
        if "queries" in self.needs:
            knowledge += ", and what the model answers about changed records"
        if "population" in self.needs:
            knowledge += "; also other people, whom the model was not trained on"
        if self.learns:
            knowledge += "; of half of the people also who is a member, to judge the other half"
        return f"{knowledge}."


def above_threshold(score: Floats, evidence: Evidence) -> AttackOutput:
    """Call those of the judged members whose score, (n,), reaches the threshold that is best for the known."""
    known_rows, member = evidence.split.known_records
    rows = evidence.split.judged_rows
    return score[rows], score[rows] >= best_threshold(score[known_rows], member)


def best_threshold(score: Floats, member: Codes) -> float:
    """Return the score from which up people are classified as members for the best balanced accuracy.

    Of several as good the highest; infinity, which classifies nobody as a member, if no threshold is better than
    chance. There is at least one member and one non-member.
    """
    levels, level_index = np.unique(score, return_inverse=True)
    members = np.bincount(level_index, weights=member, minlength=levels.size)
    outsiders = np.bincount(level_index, weights=1 - member.astype(np.int64), minlength=levels.size)
    caught = np.cumsum(members[::-1])[::-1]
    alarms = np.cumsum(outsiders[::-1])[::-1]
    # whole numbers, so that equal gains tie exactly
    gain = caught * alarms[0] - alarms * caught[0]
    if gain.max() <= 0:
        return float("inf")
    return float(levels[np.flatnonzero(gain == gain.max())[-1]])
