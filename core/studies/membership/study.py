"""The study of membership: who of the training and test records is a training record, by what is released.

Members are the training records, non-members the test records. Everybody is judged: thresholds and shadow models use
nobody's membership, and boosting learns from the other half. A policy may limit the best of the attacks tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...adversaries.released_outputs import MAX_TEACHERS
from ...base.errors import InputError
from ...base.validation import Codes, Floats, Ints, child_generator
from ...stats.estimates import Estimate, certain, count, estimate_columns, percent, strongest
from ..study import (
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    not_run,
    subject_of,
    synthetic_people,
)
from ..subject import Subject
from .attack import TARGET, Train, evidence_of
from .attacks import REGISTRY, attacks_on
from .disparity import COMPLEMENT
from .findings import release_findings
from .result import MembershipResult, MembershipSettings
from .roc import LOW_FPR, most_caught
from .tpr_gaps import GapResult

if TYPE_CHECKING:
    from ...charts.drawing import Drawing

DECLARED = (
    Check(
        name="membership_caught",
        title="Training records identified (TPR at 1% FPR)",
        unit="percent",
        chance=0.01,
        definition="Share of the training records that the best membership attack tried identifies while it flags 1% "
        "of the non-members; ties are broken at random, so that 1% is chance.",
        needs=("scores",),
    ),
    Check(
        name="membership_auc",
        title="Training records distinguished from others (AUC)",
        unit="ratio",
        chance=0.5,
        definition="Chance that the best membership attack tried ranks a training record above a non-member; 0.5 "
        "where nothing leaks.",
    ),
    Check(
        name="membership_advantage",
        title="Membership advantage (TPR − FPR)",
        unit="points",
        definition="Largest TPR − FPR of the best membership attack tried, its threshold chosen on other people "
        "(Yeom et al. 2018); 0 where nothing leaks.",
    ),
    Check(
        name="membership_gap",
        title="Training records identified: difference between groups",
        unit="points",
        definition="Largest absolute difference between a group and the others in TPR at 1% FPR of each group. Of a "
        "group with fewer than 1,000 non-members also in TPR − FPR where 1% of all non-members are flagged.",
        folded=True,
        needs=("scores",),
    ),
)
"""The four checks, in the order of a policy."""


# People and models of which it is known who is remembered. The AUC is tried on real trees, grown until every training
# record is right: the plainest case of overfitting. A TPR at 1% FPR needs scores that tell people apart, and LiRA many
# trainings; there the target is a law: a model that answers about each person by their own record, a little chance,
# and, for those it was trained on, how well it remembers them.

_SIDE = 1000
"""Members, and as many non-members, where a TPR at 1% FPR is read: 1% of these must be ten or more."""

_NOT_EVALUATED = 200
"""Attack records, which no membership attack looks at."""

_REMEMBERED = 4.0
"""How far a law's answers move for those trained on; from training to training their standard deviation is 1."""


def _tied(seed: int, planted: bool) -> tuple[Subject, MembershipSettings]:
    """Return a model that scores a third of label 0 exactly 0; planted, half of the members with label 1 exactly 1."""
    rng = child_generator(seed, f"ties, planted {planted}")
    n = 2 * _SIDE + _NOT_EVALUATED
    labels = rng.integers(0, 2, n).astype(np.uint8)
    scores = rng.binomial(50, np.where(labels == 1, 0.7, 0.3)) / 50
    scores[(labels == 0) & (rng.random(n) < 1 / 3)] = 0.0
    remembered = (labels == 1) & (rng.random(n) < 0.5) & (np.arange(n) < _SIDE)
    scores[remembered & planted] = 1.0
    return _subject(np.zeros((n, 1)), labels, scores, _SIDE, seed=seed), MembershipSettings(
        shadows=0
    )


def _grown(seed: int, planted: bool) -> tuple[Subject, MembershipSettings]:
    """Return a tree that knows every training record; or one that was trained on none of those judged."""
    from sklearn.tree import DecisionTreeClassifier

    rng = child_generator(seed, f"grown tree, planted {planted}")
    side = 300
    features = rng.random((3 * side, 3))
    labels = (rng.random(len(features)) < 0.2 + 0.6 * features[:, 0]).astype(np.uint8)
    trained = slice(0, side) if planted else slice(side, 2 * side)
    tree = DecisionTreeClassifier(random_state=0).fit(features[trained], labels[trained])
    scores = tree.predict_proba(features)[:, 1]
    return _subject(features, labels, scores, side, seed=seed, aside=side), MembershipSettings(
        shadows=0
    )


def _remembering(seed: int, planted: bool) -> tuple[Subject, MembershipSettings]:
    """Return a law that remembers whom it was trained on, or nobody, and that can be trained again."""
    if planted:
        remembered = (_REMEMBERED,) * 2
    else:
        remembered = (0.0, 0.0)
    subject, again = _lawful(seed, f"remembered, planted {planted}", _SIDE, remembered)
    subject.trainable = True
    subject.once_for_model(TARGET, lambda: again)
    return subject, MembershipSettings(shadows=4)


def _remembering_one_group(seed: int, planted: bool) -> tuple[Subject, MembershipSettings]:
    """Return a law that remembers one of two groups, or both alike."""
    if planted:
        remembered = (0.0, _REMEMBERED)
    else:
        remembered = (_REMEMBERED / 2,) * 2
    return _lawful(seed, f"groups remembered, planted {planted}", 2 * _SIDE, remembered)[
        0
    ], MembershipSettings(shadows=0)


def _lawful(
    seed: int, name: str, side: int, remembered: tuple[float, float]
) -> tuple[Subject, Train]:
    """Return answers of a law by how well it remembers group 0 and group 1, and the law as an attacker thinks it is."""
    rng = child_generator(seed, name)
    n = 2 * side + _NOT_EVALUATED
    labels = rng.integers(0, 2, n).astype(np.uint8)
    level = rng.standard_normal(n)
    memory = np.where(np.arange(n) % 2 == 1, remembered[1], remembered[0])
    scores = _law(level, memory, labels)(np.arange(side), seed)
    subject = _subject(np.zeros((n, 1)), labels, scores, side, seed=seed)
    return subject, _law(level, np.full(n, _REMEMBERED / 2), labels)


def _law(level: Floats, remembered: Floats, labels: Codes) -> Train:
    """Return a target made of chance: everybody's level, a draw, and what is remembered of those trained on."""

    def train(rows: Ints, seed: int) -> Floats:
        logits = level + np.random.default_rng(seed).standard_normal(level.size)
        logits[rows] += remembered[rows]
        return 1.0 / (1.0 + np.exp(np.where(labels == 1, -logits, logits)))

    return train


def _subject(
    features: Floats,
    labels: Codes,
    scores: Floats,
    side: int,
    *,
    seed: int,
    aside: int = _NOT_EVALUATED,
) -> Subject:
    """Return scores of so many members and non-members, every other one of group 1."""
    people = synthetic_people(features, labels, (np.arange(labels.size) % 2).astype(np.uint8))
    return subject_of(
        people, (scores >= 0.5).astype(np.uint8), (side, aside, side), seed=seed, scores=scores
    )


PLANTED = (
    Plant(
        attack="Members identified by ties of score and label (TPR at 1% FPR)",
        explanation="Null: scores that tie alike for members and others. Planted: half of the members with label 1 "
        "score 1.",
        make=_tied,
        limits={"membership_caught": 0.01},
        share=0.5,
    ),
    Plant(
        attack="Members distinguished from non-members (AUC)",
        explanation="Null: a tree trained on none of those judged. Planted: one grown until it knows every training "
        "record.",
        make=_grown,
        limits={"membership_auc": 0.5, "membership_advantage": 0.0},
        share=0.5,
    ),
    Plant(
        attack="Members identified (TPR at 1% FPR)",
        explanation="Null: a model that remembers nobody. Planted: one that remembers whom it was trained on.",
        make=_remembering,
        limits={"membership_caught": 0.01},
    ),
    Plant(
        attack="Gap between groups in members identified (TPR at 1% FPR)",
        explanation="Null: a model that remembers both groups alike. Planted: one that remembers one of them.",
        make=_remembering_one_group,
        limits={"membership_gap": 0.0},
        share=0.5,
    ),
)
"""What the study is tried on."""


class MembershipStudy(Study[MembershipSettings, MembershipResult]):
    """Every attack for which there is evidence, each on everybody in training and test records."""

    name = "membership"
    title = "Membership inference"
    settings = MembershipSettings
    declared = DECLARED
    plants = PLANTED
    reads_outputs = True

    def steps(self, subject: Subject, settings: MembershipSettings) -> int:
        """Return how many steps `run` reports: one for each shadow model."""
        if subject.trainable and subject.released_scores is not None:
            return settings.shadows
        return 0

    def run(
        self, subject: Subject, settings: MembershipSettings, report: ReportProgress | None = None
    ) -> Iterator[MembershipResult]:
        """Yield the result after each attack; shadow models are trained once for all of them.

        InputError if it is unknown which records the model was trained on, or there are too few.
        """
        evidence = evidence_of(subject, settings.shadows, report)
        guesses = {}
        released = "labels" if evidence.released is None else "scores"
        trained_again = subject.trainable and settings.shadows > 0
        at_hand = {"shadows": trained_again, "queries": evidence.access is not None}
        attacks = attacks_on(released, names=settings.attacks, **at_hand)
        if not attacks:
            names = ", ".join(settings.attacks)
            raise InputError(
                f"attacks must name one that can be run on this model's {released}, got {names}."
            )
        for attack in attacks:
            guesses[attack.name] = attack.scores(evidence)
            yield MembershipResult(subject=subject, shadows=settings.shadows, guesses=dict(guesses))

    def findings(
        self, result: MembershipResult, settings: MembershipSettings
    ) -> tuple[Finding, ...]:
        """Return whether membership inference succeeds, how many are identified, and the gap between groups."""
        return release_findings(measured(result), result.identifying)

    def charts(
        self, result: MembershipResult, settings: MembershipSettings
    ) -> Mapping[str, Drawing]:
        """Return the gaps between groups, and the ROC curve, of the strongest attack."""
        from .charts import draw_differences, draw_roc

        return {
            "Group differences in membership inference": draw_differences(result),
            "ROC curve": draw_roc(result),
        }

    def checks(
        self, result: MembershipResult, settings: MembershipSettings
    ) -> Mapping[str, Measurement]:
        """Return the best attack's numbers."""
        return measured(result)

    def tables(
        self, result: MembershipResult, settings: MembershipSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return each attack's AUC, advantage and TPR at 1% FPR, the last of everybody and of each group."""
        rows: list[Row] = []
        for name, curve in result.curves.items():
            rates = {"everybody": curve.tpr_at(LOW_FPR)}
            for gap in result.gaps[name]:
                rates[gap.group] = gap.rates[0]
                if (
                    gap.reference != COMPLEMENT
                ):  # of more than two groups the others differ from group to group
                    rates[gap.reference] = gap.rates[1]
            common: Row = {
                "attack": REGISTRY[name].title,
                "AUC": curve.auc.value,
                "advantage": result.advantages[name].value,
            }
            for people, rate in rates.items():
                rows.append({**common, "people": people, **estimate_columns("TPR at 1% FPR", rate)})
        return {"Membership attacks": tuple(rows)}


STUDY = MembershipStudy()


_AVERAGE = (
    "1% FPR is an average over people; for some non-members the chance of being "
    "classified as a member is far higher."
)
"""What a rate pooled over people does not say (Jälkö et al. 2026)."""


def _assumptions(result: MembershipResult) -> tuple[str, ...]:
    """Return what the numbers take for granted."""
    subject = result.subject
    tried = [REGISTRY[name].phrase for name in result.guesses]
    sentences = [
        "The interval is over members and non-members; the model and its training are taken as they are.",
        "Training and test records are taken to be drawn alike: any other difference between them counts as a leak.",
        f"The interval holds for the attacks tried together: {', '.join(tried)}.",
    ]
    decimals = subject.outputs.decimals
    if subject.released_scores is None:
        sentences.append("The attacker sees labels; where scores are released, more is found.")
    elif decimals is None:
        sentences.append(
            "The attacker sees scores; where only decisions are published, less is found."
        )
    else:
        sentences.append(
            f"The attacker sees scores (decimals: {decimals}); more decimals may tell more."
        )
    if subject.splits.train.size + subject.splits.test.size > 2 * MAX_TEACHERS:
        sentences.append(
            f"Boosting learns from {count(MAX_TEACHERS)} people of each half, drawn at random, and judges all."
        )
    if subject.released_scores is None and "boundary" not in result.guesses:
        sentences.append(
            "The boundary attack needs a model that can be asked again; only predictions are given."
        )
    untried = [
        attack for attack in attacks_on("scores", shadows=True) if attack.name not in result.guesses
    ]
    if untried:
        why = "left out by the plan, may find more"
        if subject.released_scores is None:
            why = "scores are needed"
        elif not subject.trainable:
            why = "only predictions are given, a model that can be trained again is needed"
        sentences.append(f"Not tried ({why}): {', '.join(attack.phrase for attack in untried)}.")
    return tuple(sentences)


def measured(result: MembershipResult) -> dict[str, Measurement]:
    """Return a measurement for each check; of labels alone that a model with scores releases, ties broken at random."""
    if not result.subject.has_scores:
        why = "Scores are needed; only predicted labels are given."
        caught = not_run("membership_caught", why)
        caught_gap = not_run("membership_gap", why)
    else:
        caught = membership_caught(result)
        caught_gap = membership_gap(result)
    return {
        "membership_caught": caught,
        "membership_auc": _best(
            "membership_auc", result, {k: c.auc for k, c in result.curves.items()}, chance=0.5
        ),
        "membership_advantage": _best(
            "membership_advantage", result, result.advantages, chance=0.0, least=-1.0
        ),
        "membership_gap": caught_gap,
    }


def _knows(result: MembershipResult, name: str) -> str:
    """Return what the attacker knows who uses this attack."""
    return REGISTRY[name].knows(
        scores=result.subject.released_scores is not None, shadows=result.shadows
    )


def membership_caught(result: MembershipResult) -> Measurement:
    """Return the share of members that the best attack tried identifies at 1% FPR, of released scores."""
    curves = result.curves
    config = result.subject.config
    reasons = {key: curve.resolution_reason(LOW_FPR) for key, curve in curves.items()}
    if all(reasons.values()):
        return not_run(
            "membership_caught",
            f"TPR at 1% FPR {next(iter(reasons.values())).removeprefix('n/a, ')}.",
        )
    rates = {key: curve.tpr_at(LOW_FPR) for key, curve in curves.items() if not reasons[key]}
    details = {f"{REGISTRY[key].phrase}, AUC": curve.auc.value for key, curve in curves.items()}
    details |= {
        f"{REGISTRY[key].phrase}, advantage": estimate.value
        for key, estimate in result.advantages.items()
    }
    details |= {f"{REGISTRY[key].phrase}, TPR at 1% FPR": rate.value for key, rate in rates.items()}
    if config.method == "dp_id3":
        details["guaranteed at most"] = most_caught(LOW_FPR, config.epsilon)
    best = _best(
        "membership_caught", result, rates, chance=LOW_FPR, n=result.subject.splits.test.size
    )
    return replace(best, assumptions=(*best.assumptions, _AVERAGE), details=details)


def _best(
    check: str,
    result: MembershipResult,
    estimates: dict[str, Estimate],
    *,
    chance: float,
    least: float = 0.0,
    n: int = 0,
) -> Measurement:
    """Return the best attack's number beside chance, which is over `n` people, the number's own if it is 0."""
    name, estimate = strongest(estimates, within=(least, 1.0))
    inside = result.subject.splits.train.size
    outside = result.subject.splits.test.size
    return Measurement(
        check=check,
        estimate=estimate,
        control=certain(chance, n or estimate.n),
        control_name="random guessing",
        attacked=(
            f"Who of {inside + outside:,} people is among the {inside:,} the model was trained on, by "
            f"{REGISTRY[name].phrase}, the best of {len(result.guesses)} attacks tried."
        ),
        knows=_knows(result, name),
        assumptions=_assumptions(result),
        details={REGISTRY[key].phrase: rate.value for key, rate in estimates.items()},
    )


def membership_gap(result: MembershipResult) -> Measurement:
    """Return the largest difference between a group and the others in who is identified, by released scores.

    Each group has its own threshold with 1% FPR; of small groups one threshold for everybody is tried besides. The
    first gap of a group with too few people may be as large as 1, and so the interval then ends there: the others, and
    the second gap, can break a limit, and do not keep it for all.
    """
    every = {(name, gap.group): gap for name, gaps in result.gaps.items() for gap in gaps}
    gaps: dict[str, tuple[str, GapResult]] = {}
    for (name, group), gap in every.items():
        if not gap.reason:
            gaps[f"{REGISTRY[name].phrase}, {group}"] = (name, gap)
    for name, small_groups in result.net_gaps.items():
        for net_gap in small_groups:
            gaps[f"{REGISTRY[name].phrase}, one threshold, {net_gap.group}"] = (name, net_gap)
    small = [gap for gap in every.values() if gap.reason]
    if small:
        reason = f"TPR at 1% FPR {small[0].reason.removeprefix('n/a, ')}."
    else:
        reason = ""
    if not gaps:
        return not_run("membership_gap", reason)
    key, estimate = strongest(
        {key: gap.estimate.folded() for key, (_, gap) in gaps.items()}, within=(0.0, 1.0)
    )
    assumptions = (*_assumptions(result), _AVERAGE, "Each group has a threshold of its own.")
    if any(result.net_gaps.values()):
        assumptions += (
            "Groups with fewer than 1,000 non-members are also compared at one threshold for everybody.",
        )
    if small:
        estimate = replace(estimate, high=1.0)
        names = ", ".join(dict.fromkeys(f"“{gap.group}”" for gap in small))
        assumptions += (
            f"The interval ends at 100 points, because differences are unknown: {names}. {reason}",
        )
    name, largest = gaps[key]
    splits = result.subject.splits
    return Measurement(
        check="membership_gap",
        estimate=estimate,
        control=certain(0.0, largest.estimate.n),
        control_name="no difference",
        attacked=(
            f"Who of {splits.train.size + splits.test.size:,} people was in the training data, by "
            f"{REGISTRY[name].phrase}: {_rates_text(largest)}."
        ),
        knows=_knows(result, name),
        assumptions=assumptions,
        reason=reason,
        details={
            f"{title}, minus {gap.reference}": gap.estimate.value
            for title, (_, gap) in gaps.items()
        },
    )


def _rates_text(gap: GapResult) -> str:
    """Return the rates behind a gap: "TPR at 1% FPR 9.0% among women and 1.2% among men"."""
    if gap.false_positives is None:
        first, second = (percent(rate.value) for rate in gap.rates)
        return f"TPR at 1% FPR {first} among {gap.group} and {second} among {gap.reference}"
    sides = [
        f"TPR {percent(tpr.value)} and FPR {percent(fpr.value)} among {side}"
        for side, tpr, fpr in zip(
            (gap.group, gap.reference), gap.rates, gap.false_positives, strict=True
        )
    ]
    return f"where 1% of all non-members are flagged, {' and '.join(sides)}"
