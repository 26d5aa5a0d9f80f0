"""The attacks of an audit tried on models of which it is known whether they leak.

A trial makes people out of a known law, and a model that either gives away nothing about what is attacked (the null) or
clearly does (the planted leak). It runs the audit's own attack, takes the audit's own measurement, and asks the audit's
own judge with a policy that allows no more than the control: a leak is called where the policy fails the model, that
is, where the whole 95% interval lies above the control. The interval leaves out 2.5% on either side, so false alarms
are aimed at 2.5%, less where several attacks share them; a trial above 5% and two standard errors of so many runs has
found a fault.

Inference is tried twice. In the first trial the attacker learns a table: how often each group occurs among people who
look the same; that takes no time, so that hundreds of models can be tried. The second, on fewer models, is the audit's
own attack from end to end; its plants take turns. Of the decoders of answers the published one is left out: a linear
program for every draw would take longer than all the rest.

Of membership the AUC is tried on real trees, grown until every training record is right: the plainest case of
overfitting. A TPR at 1% FPR needs scores that tell people apart, and LiRA many trainings; there the target is a law: a
model that answers about everybody by what is hers, a little chance, and, for those it was trained on, how well it
remembers them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.adversaries import AttackedRecords
from core.arrays import Codes, Floats, Ints
from core.audit import AttackFindings
from core.config import AuditConfig
from core.datasets import AuditDataset, Roles
from core.datasets.splits import Splits
from core.estimates import accuracy, paired_gain
from core.membership import (
    MembershipSplit,
    disparities,
    is_muted,
    judging_everybody,
    lira_from,
    loss_attack,
    roc,
    split_between,
    train_shadows,
)
from core.models import GIVEN
from core.policy import Limit, Policy, Status, judge
from core.queries import Asking, Exact, LaplaceGlobal, Trials
from core.questions import People, QueryPool
from core.release_audit.answer_checks import answers_excess
from core.release_audit.attribute_checks import released_gain
from core.release_audit.fairness_checks import CORRECTED, correction_gain
from core.release_audit.inputs import Audited
from core.release_audit.membership_checks import FALSE_ALARMS, member_gaps, membership_caught, membership_gap
from core.release_audit.plan import AuditPlan, ModelPlan, PlannedAnswers
from core.seeds import child_generator, child_seed
from core.study import Measurement
from core.subject import Progress, train_model

SHARE = 0.4
"""Probability of group 1."""

_TELLS = (0.30, 0.15, 0.05, 0.0)
"""How much each feature leans: how much likelier its highest value is in group 1 than a third, and less in group 0."""

_LEAN = np.array(_TELLS)[:, np.newaxis] * np.linspace(-1.0, 1.0, 3)
_CHANCES = np.stack([1.0 / 3 - _LEAN, 1.0 / 3 + _LEAN])
"""Probability of each value of each feature in each group, shape (2, 4, 3)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """People; features, shape (n, 4), are 0, 1 or 2 and independent given the group; the rest is of shape (n,)."""

    features: Ints
    labels: Codes
    sensitive: Codes


def draw_people(n: int, rng: np.random.Generator) -> Drawn:
    """Draw n people. The label depends on features alone, so it says no more of the group than they do."""
    sensitive = (rng.random(n) < SHARE).astype(np.uint8)
    chances = _CHANCES[sensitive]  # (n, 4, values)
    features = (rng.random((n, len(_TELLS), 1)) >= chances.cumsum(axis=2)[:, :, :-1]).sum(axis=2)
    labels = (rng.random(n) < 0.2 + 0.15 * (features[:, 0] + features[:, 3])).astype(np.uint8)
    return Drawn(features=features, labels=labels, sensitive=sensitive)


def posterior(people: Drawn, *, noise: Floats | float = 0.0) -> Floats:
    """Return P(group 1) given features and label, shape (n,); exactly, but for noise on the log-odds."""
    odds = np.full(len(people.features), np.log(SHARE / (1.0 - SHARE)))
    for j in range(len(_TELLS)):
        odds += np.log(_CHANCES[1, j, people.features[:, j]] / _CHANCES[0, j, people.features[:, j]])
    return np.asarray(1.0 / (1.0 + np.exp(-(odds + noise))))


TOLERANCE = 0.02
"""What is promised of every model here, whether it keeps it or not."""


def audit_of(
    people: Drawn,
    predictions: Codes,
    sizes: tuple[int, int, int],
    *,
    seed: int,
    scores: Floats | None = None,
    answers: PlannedAnswers | None = None,
) -> Audited:
    """Return an audit of given predictions, of shape (n,), and scores.

    `sizes` are those of training, attack and test records, in this order; together n.
    """
    names = tuple(f"feature {j}" for j in range(people.features.shape[1]))
    roles = Roles(label="label", positive="1", sensitive="group", group=("1",), prediction="prediction", sets="set")
    dataset = AuditDataset(
        title="People of FairLeak's test of itself",
        source="Synthetic.",
        features=people.features.astype(np.float64),
        feature_names=names,
        categorical=np.zeros(len(names), dtype=np.bool_),
        labels=people.labels,
        sensitive=people.sensitive,
        group_names=("group 0", "group 1"),
        roles=roles,
        rows_read=people.labels.size,
        predictions=predictions,
        scores=scores,
        sets=np.repeat(["train", "attack", "test"], sizes),
    )
    config = AuditConfig(method=GIVEN, roles=roles, tolerance=TOLERANCE, seed=seed)
    planned = PlannedAnswers() if answers is None else answers
    plan = AuditPlan(model=ModelPlan(kind="predictions"), config=config, answers=planned)
    train, known, test = np.split(np.arange(people.labels.size), np.cumsum(sizes)[:-1])
    attack, validation = np.split(known, [known.size - round(0.3 * known.size)])  # as in an audit
    splits = Splits(train=train, attack=attack, validation=validation, test=test)  # they come in no order
    return Audited(config, dataset, splits, train_model(config, dataset, splits), Progress(1), plan=plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one attack is tried.

    `leaks` takes (seed, runs, planted) and says for each of the runs, numbers from 0 on, whether a leak was called. Run
    i is the same model whatever other runs are asked for, as long as blocks begin at multiples of `BLOCK`. `share` says
    how many of the runs asked for are made: fewer of an attack that takes long. Half as many of planted leaks. A trial
    stands in for its `study` until that plants leaks of its own.
    """

    attack: str
    told: str
    leaks: Callable[[int, range, bool], Sequence[bool]]
    share: float = 1.0
    study: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One model of a trial: its number, whether a leak is planted, its random numbers and the seed of its audit."""

    number: int
    planted: bool
    rng: np.random.Generator
    seed: int


def each(name: str, leaks: Callable[[Run], bool]) -> Callable[[int, range, bool], Sequence[bool]]:
    """Return the trial of several runs from that of one; the random numbers of a run hang on the trial's name."""

    def one(seed: int, number: int, planted: bool) -> bool:
        key = f"self-test, {name}, {number}, {planted}"
        return leaks(Run(number=number, planted=planted, rng=child_generator(seed, key), seed=child_seed(seed, key)))

    return lambda seed, runs, planted: [one(seed, number, planted) for number in runs]


def called(measurement: Measurement, control: float) -> bool:
    """Return whether a policy that allows no more than the control fails the model; what was not measured does not."""
    policy = Policy(
        name="No more than the control",
        version="1",
        limits=(Limit(check=measurement.check, value=control),),
    )
    return judge(policy, [measurement], attribute="group").overall == Status.FAIL


_TABLE_ATTACKED, _TABLE_KNOWN = 680, 462
"""People under attack, and people the attacker learns from, in the proportion of an audit's sets."""

_RELEASED_SETS = (900, 1_300, 100)
"""Training, attack and test records of the audit's own attack."""

_LOOKS = 18
"""How many kinds of people a table tells apart by two features and the label."""

_Answers = tuple[Codes, Floats | None]


def model_answers(people: Drawn, rng: np.random.Generator, *, planted: bool) -> Codes:
    """Return a model's answers: a draw that follows features and label, and the group if a leak is planted."""
    chance = 0.35 + 0.1 * people.features[:, 0] + 0.1 * people.labels
    if planted:  # group 1 is accepted so much likelier, and the other so much less
        chance = chance + 0.4 * (2.0 * people.sensitive - 1.0)
    return (rng.random(len(chance)) < chance).astype(np.uint8)


def _table_leaks(run: Run) -> bool:
    people = draw_people(_TABLE_ATTACKED + _TABLE_KNOWN, run.rng)
    predictions = model_answers(people, run.rng, planted=run.planted)
    known, attacked = slice(_TABLE_ATTACKED, None), slice(0, _TABLE_ATTACKED)
    looks = people.features[:, 0] + 3 * people.features[:, 1] + 9 * people.labels
    before, after = (
        _majority(kinds[known], people.sensitive[known])[kinds[attacked]] == people.sensitive[attacked]
        for kinds in (looks, looks + _LOOKS * predictions)
    )
    won, lost = int(np.count_nonzero(after & ~before)), int(np.count_nonzero(before & ~after))
    gain = paired_gain(won, lost, _TABLE_ATTACKED)
    return called(Measurement(check="attribute_excess", estimate=gain), 0.0)


def _majority(kinds: Ints, sensitive: Codes) -> Codes:
    """Return the more frequent group of each kind of people, with the share of all as one person more."""
    counts = np.bincount(2 * kinds + sensitive, minlength=4 * _LOOKS).reshape(-1, 2)
    share = sensitive.mean()
    return (counts[:, 1] + share > counts[:, 0] + 1.0 - share).astype(np.uint8)


def _own_leaks(run: Run) -> bool:
    plant = _PLANTS[run.number % len(_PLANTS)]
    people = _people(run.rng, minority=plant is _turned_round_for_a_minority)
    predictions, scores = plant(people, run.rng, run.planted)
    audited = audit_of(people, predictions, _RELEASED_SETS, seed=run.seed, scores=scores)
    checks = {"attribute_excess": "accuracy", "attribute_balanced": "balanced_accuracy"}
    gains = {check: released_gain(audited, measure)[1] for check, measure in checks.items()}
    return any(called(Measurement(check=check, estimate=gain), 0.0) for check, gain in gains.items())


def _people(rng: np.random.Generator, *, minority: bool) -> Drawn:
    people, n = draw_people(4 * sum(_RELEASED_SETS), rng), sum(_RELEASED_SETS)
    share = 1 / 6 if minority else 1.0  # of group 1, two fifths of everybody: a sixth makes it a tenth
    kept = (people.sensitive == 0) | (rng.random(people.sensitive.size) < share)
    rows = np.flatnonzero(kept)[:n]
    return Drawn(features=people.features[rows], labels=people.labels[rows], sensitive=people.sensitive[rows])


def _score(people: Drawn, rng: np.random.Generator) -> Floats:
    return 0.15 + 0.2 * people.features[:, 0] + 0.1 * people.features[:, 3] + 0.05 * rng.random(people.labels.size)


def _labels(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    return model_answers(people, rng, planted=planted), None


def _scores(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    scores = np.round(_score(people, rng) + np.where(planted & (people.sensitive == 1), 0.1, 0.0), 3)
    return (scores >= 0.5).astype(np.uint8), scores


def _last_digit(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    whole = np.rint(_score(people, rng) * 1e4).astype(np.int64)
    scores = (whole - whole % 2 + people.sensitive if planted else whole) / 1e4
    return (scores >= 0.5).astype(np.uint8), scores


def _turned_round_for_a_minority(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    feature = people.features[:, 3] > 0
    turned = feature ^ (people.sensitive == 1) if planted else feature
    return np.where(rng.random(feature.size) < 0.8, turned, ~turned).astype(np.uint8), None


def _scores_of_a_subgroup(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    inside = people.features[:, 3] == 0
    scores = np.round(_score(people, rng) + np.where(planted & inside & (people.sensitive == 1), 0.2, 0.0), 3)
    return (scores >= 0.5).astype(np.uint8), scores


_PLANTS = (_labels, _scores, _last_digit, _turned_round_for_a_minority, _scores_of_a_subgroup)


_CORRECTED_SETS = (400, 400, 100)


def _promise_leaks(run: Run) -> bool:
    rng = run.rng
    people = draw_people(sum(_CORRECTED_SETS), rng)
    predictions = (rng.random(sum(_CORRECTED_SETS)) < 0.5).astype(np.uint8)
    audited = audit_of(people, predictions, _CORRECTED_SETS, seed=run.seed)
    for kind in CORRECTED:
        p = posterior(people, noise=0.3 * rng.standard_normal(sum(_CORRECTED_SETS)))
        if run.planted:
            p = _misled(people.sensitive, predictions, rng)
        _tell(audited, kind, p)
    return called(correction_gain(audited), 0.0)


def _misled(sensitive: Codes, predictions: Codes, rng: np.random.Generator) -> Floats:
    """Return P(group 1) of an attacker who takes some for group 1 because they were accepted, and is unsure of them.

    The model is fair, so whoever is told so can find them all: about a quarter of the people.
    """
    p = np.where(sensitive == 1, 0.9, 0.1)
    wrong = (predictions != sensitive) & (rng.random(sensitive.size) < 0.5)  # half of the unexpected answers mislead
    return np.where(wrong, np.where(predictions == 1, 0.6, 0.4), p)


def _tell(audited: Audited, kind: str, p: Floats) -> None:
    """Let an attacker of the audit say these probabilities."""
    both = np.column_stack([1.0 - p, p])

    def records(rows: npt.NDArray[np.intp]) -> AttackedRecords:
        return AttackedRecords(
            probability=both[rows],
            calibrated=both[rows],
            predictions=audited.model.predictions[rows],
            labels=audited.dataset.labels[rows],
            truth=audited.dataset.sensitive[rows],
        )

    held_out = records(audited.splits.validation)
    found = AttackFindings(
        held_out_accuracy=accuracy(held_out.truth, held_out.guess),
        attacked=records(audited.splits.train),
        held_out=held_out,
    )
    audited.once(f"attack {kind}", lambda: found)


_POOL, _PEOPLE, _QUESTIONS, _REPEATS = 400, 20, 12, 6
_ASKED_SETS = (200, 200, 200)


def _answers_leak(seed: int, runs: range, planted: bool) -> list[bool]:
    """Ask a block of runs at once, six draws of people, questions and noise each."""
    name = f"self-test, answers, from {runs.start}, {planted}"
    asking = Asking(n=_PEOPLE, design="random_binary", repeats=_REPEATS * len(runs), seed=child_seed(seed, name))
    trials = Trials(_pool(child_generator(seed, name)), asking, most=_QUESTIONS)
    mechanism = Exact() if planted else LaplaceGlobal(1e-3)  # whose noise drowns every answer
    found = {"prior": trials.leakages(0, mechanism, "strongest")}
    found |= {kind: trials.leakages(_QUESTIONS, mechanism, kind) for kind in ("strongest", "without_prior")}
    model = _model(child_generator(seed, f"{name}, model"))
    return [_called(model, slice(i * _REPEATS, (i + 1) * _REPEATS), found, trials) for i in range(len(runs))]


def _model(rng: np.random.Generator) -> Audited:
    """Return an audit of some model: what is asked about are scores of other people, the trials'."""
    people = draw_people(sum(_ASKED_SETS), rng)
    planned = PlannedAnswers(questions=_QUESTIONS, people=_PEOPLE, repeats=_REPEATS)
    return audit_of(people, model_answers(people, rng, planted=False), _ASKED_SETS, seed=0, answers=planned)


def _called(model: Audited, own: slice, found: dict[str, list[float]], trials: Trials) -> bool:
    audited = Audited(model.config, model.dataset, model.splits, model.model, model.progress, plan=model.plan)
    audited.once("trials", lambda: trials)
    audited.once("leakages", lambda: {kind: values[own] for kind, values in found.items()})
    return called(answers_excess(audited), 0.0)


def _pool(rng: np.random.Generator) -> QueryPool:
    """Draw people, and a prior that knows nothing: the groups' shares.

    A prior drawn by chance would not do: it is wrong about the pool as a whole, if by little, and whoever then leaves
    it aside has an excess that is no leak.
    """
    sensitive = rng.permutation((np.arange(_POOL) < 0.6 * _POOL).astype(np.uint8))
    return QueryPool(
        people=People(
            sensitive=sensitive,
            base=rng.random(_POOL),
            prior=np.full(_POOL, sensitive.mean()),
            labels=np.ones(_POOL, dtype=np.uint8),
        ),
        advantaged="group 1",
        disadvantaged="group 0",
        metric="statistical_parity",
    )


_SIDE = 300
"""Members, and non-members, of a tree."""

_MANY = 1000
"""Members, and non-members or those of a group, where a TPR at 1% FPR is read: 1% of these must be ten or more."""

_BOTH = 500
"""Members, and non-members, of a model asked for verdicts."""

_NOT_JUDGED = 200
"""Attack records, which no membership attack looks at."""

_SHADOWS = 4
_REMEMBERED = 4.0
"""How far a law's answers move for those trained on; from training to training their standard deviation is 1."""


def _area_leaks(run: Run) -> bool:
    from sklearn.tree import DecisionTreeClassifier

    rng = run.rng
    features = rng.random((3 * _SIDE, 3))
    labels = (rng.random(len(features)) < 0.2 + 0.6 * features[:, 0]).astype(np.uint8)
    split = _split(_SIDE, rng)
    trained = split.members if run.planted else np.arange(2 * _SIDE, 3 * _SIDE)
    tree = DecisionTreeClassifier(random_state=0).fit(features[trained], labels[trained])
    guess = loss_attack(tree.predict_proba(features)[:, 1], labels, split)
    return not is_muted(roc(guess.score, split.judged[1]).auc)


def _caught_leaks(run: Run) -> bool:
    audited = _audited(run, _MANY, lambda groups: _REMEMBERED if run.planted else 0.0)
    return called(membership_caught(audited), FALSE_ALARMS)


def _ties_leak(run: Run) -> bool:
    """Of those with label 0 a third get exactly 0, member or not; planted, half of the members with 1 exactly 1."""
    rng = run.rng
    n = 2 * _MANY + _NOT_JUDGED
    labels, sizes = rng.integers(0, 2, n).astype(np.uint8), (_MANY, _NOT_JUDGED, _MANY)
    scores = rng.binomial(50, np.where(labels == 1, 0.7, 0.3)) / 50
    scores[(labels == 0) & (rng.random(n) < 1 / 3)] = 0.0
    remembered = (labels == 1) & (rng.random(n) < 0.5) & (np.arange(n) < _MANY)
    scores[remembered & run.planted] = 1.0
    groups = (np.arange(n) % 2).astype(np.uint8)
    people = Drawn(features=np.zeros((n, 1), dtype=np.int64), labels=labels, sensitive=groups)
    predictions = (scores >= 0.5).astype(np.uint8)
    audited = audit_of(people, predictions, sizes, seed=run.seed, scores=scores)
    return called(membership_caught(audited), FALSE_ALARMS)


def _verdict_gap_leaks(run: Run) -> bool:
    rng = run.rng
    law, split, groups = _law(2 * _BOTH, rng), _split(_BOTH, rng), rng.integers(0, 2, 2 * _BOTH)
    remembered = _remembered(groups, run)
    guess = loss_attack(law.remembering(remembered).train(split.members, run.number), law.labels, split)
    rows, member = split.judged
    if guess.verdict is None or is_muted(roc(guess.score, member).auc):
        return False
    found = disparities(guess.verdict, groups[rows], member, names=("0", "1"), seed=run.seed).results
    return any(result.tests["advantage_gap"].significant for result in found)


def _remembered(groups: Codes | Ints, run: Run) -> Floats:
    """Return how well everybody is remembered: those of one group alone where a gap is planted, else all alike."""
    return np.where(groups == 1, _REMEMBERED, 0.0) if run.planted else np.full(groups.size, _REMEMBERED / 2)


def _caught_gap_leaks(run: Run) -> bool:
    audited = _audited(run, 2 * _MANY, lambda groups: _remembered(groups, run))
    member_gaps(audited, permutations=100)  # the check is decided by the interval, without them
    return called(membership_gap(audited), 0.0)


def _audited(run: Run, side: int, remembered: Callable[[Codes], npt.ArrayLike]) -> Audited:
    """Return an audit of a law, with as many members as outsiders, in which both membership attacks are done."""
    own = run.seed
    law = _law(2 * side + _NOT_JUDGED, run.rng)
    groups = (np.arange(law.level.size) % 2).astype(np.uint8)
    members, outsiders = np.arange(side), np.arange(side + _NOT_JUDGED, 2 * side + _NOT_JUDGED)
    split = judging_everybody(members, outsiders)
    scores = law.remembering(remembered(groups)).train(members, own)
    shadow = law.remembering(_REMEMBERED / 2)  # as the attacker thinks that such a model is trained
    people = Drawn(features=np.zeros((groups.size, 1), dtype=np.int64), labels=law.labels, sensitive=groups)
    audited = audit_of(people, (scores >= 0.5).astype(np.uint8), (side, _NOT_JUDGED, side), seed=own, scores=scores)
    guesses = {
        "loss": loss_attack(scores, law.labels, split),
        "lira": lira_from(
            train_shadows(shadow.train, law.labels, split, seed=own, shadows=_SHADOWS), scores, law.labels
        ),
    }
    audited.once("member guesses", lambda: guesses)
    return audited


def _split(side: int, rng: np.random.Generator) -> MembershipSplit:
    seed = int(rng.integers(2**32))
    return split_between(np.arange(side), np.arange(side, 2 * side), seed=seed, known_share=0.3, judged_share=0.7)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Law:
    """A target made of chance: P(label = 1) of everybody from her own level, a draw, and what is remembered of her."""

    level: Floats
    remembered: Floats
    labels: Codes

    def remembering(self, how_well: npt.ArrayLike) -> _Law:
        """Return the same people's law when those trained on are remembered so well, one number or one a person."""
        return replace(self, remembered=np.broadcast_to(np.asarray(how_well, dtype=np.float64), self.level.shape))

    def train(self, rows: Ints, seed: int) -> Floats:
        """Return the answers of a model trained on some people."""
        own = self.level + np.random.default_rng(seed).standard_normal(self.level.size)
        own[rows] += self.remembered[rows]
        return np.asarray(1.0 / (1.0 + np.exp(np.where(self.labels == 1, -own, own))))


def _law(n: int, rng: np.random.Generator) -> _Law:
    return _Law(level=rng.standard_normal(n), remembered=np.zeros(n), labels=rng.integers(0, 2, n).astype(np.uint8))


TRIALS = (
    Trial(
        study="attribute",
        attack="Attribute inferred from labels, by an attacker who learns a table",
        told="Null: answers that follow features and label alone. Planted: answers that follow the group as well.",
        leaks=each("attribute by table", _table_leaks),
    ),
    Trial(
        study="attribute",
        attack="Attribute inferred from what is released, by the audit's own attack",
        told="Null: labels and scores that follow features alone. Planted, in turn: labels or scores that follow the "
        "group, a last digit, a feature turned round for a minority of 10%, scores of a third of the people.",
        leaks=each("what is released", _own_leaks),
        share=0.05,
    ),
    Trial(
        study="correction",
        attack="Attribute recovered from the fairness promise",
        told="Null: the promise is about answers dealt out by chance. Planted: a fair model, and attackers who take "
        "accepted people for one group.",
        leaks=each("correction", _promise_leaks),
        share=0.5,
    ),
    Trial(
        study="queries",
        attack="Attribute learned from answered questions",
        told="Null: answers drowned in noise. Planted: exact answers.",
        leaks=_answers_leak,
        share=0.5,
    ),
    Trial(
        study="membership",
        attack="Members told from non-members (AUC)",
        told="Null: a tree trained on none of those judged. Planted: one grown until it knows every training record.",
        leaks=each("membership by area", _area_leaks),
    ),
    Trial(
        study="membership",
        attack="Members identified (TPR at 1% FPR)",
        told="Null: a model that remembers nobody. Planted: one that remembers whom it was trained on.",
        leaks=each("members caught", _caught_leaks),
    ),
    Trial(
        study="membership",
        attack="Members identified by ties of score and label (TPR at 1% FPR)",
        told="Null: scores that tie alike for members and others. Planted: half of the members with label 1 score 1.",
        leaks=each("ties", _ties_leak),
        share=0.1,
    ),
    Trial(
        study="membership",
        attack="Gap between groups in who is called a member",
        told="Null: a model that remembers both groups alike. Planted: one that remembers one of them.",
        leaks=each("gap of verdicts", _verdict_gap_leaks),
    ),
    Trial(
        study="membership",
        attack="Gap between groups in members identified (TPR at 1% FPR)",
        told="Null: a model that remembers both groups alike. Planted: one that remembers one of them.",
        leaks=each("gap of members caught", _caught_gap_leaks),
        share=0.5,
    ),
)
