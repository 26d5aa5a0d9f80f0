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

from core.arrays import Codes, Floats, Ints
from core.attribute import released_gain
from core.attribute.study import model_answers, released_people
from core.estimates import paired_gain, rate_over_repeats
from core.membership import (
    REGISTRY,
    Evidence,
    MembershipPlan,
    MembershipSplit,
    disparities,
    is_muted,
    judging_everybody,
    roc,
    split_between,
)
from core.membership.study import FALSE_ALARMS, STUDY, JudgedMembers, membership_caught, membership_gap, tied_scores
from core.planted import Drawn, draw_people, subject_of
from core.policy import Limit, Policy, Status, judge
from core.queries import (
    AnswersLeak,
    Asking,
    Exact,
    LaplaceGlobal,
    People,
    PlannedAnswers,
    QueryPool,
    Trials,
    answers_excess,
)
from core.release_audit.inputs import Audited
from core.release_audit.plan import AuditPlan, ModelPlan
from core.seeds import child_generator, child_seed
from core.studies import STUDIES
from core.study import Measurement


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
    subject = subject_of(people, predictions, sizes, seed=seed, scores=scores)
    planned = PlannedAnswers() if answers is None else answers
    plan = AuditPlan(model=ModelPlan(kind="predictions"), config=subject.config, answers=planned)
    return Audited(subject.config, subject.dataset, subject.splits, subject.model, subject.progress, plan=plan)


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

_LOOKS = 18
"""How many kinds of people a table tells apart by two features and the label."""


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
    subject = released_people(run.number, run.rng, planted=run.planted, seed=run.seed)
    checks = {"attribute_excess": "accuracy", "attribute_balanced": "balanced_accuracy"}
    gains = {check: released_gain(subject, measure)[1] for check, measure in checks.items()}
    return any(called(Measurement(check=check, estimate=gain), 0.0) for check, gain in gains.items())


_CORRECTED_SETS = (400, 400, 100)


def _promise_leaks(run: Run) -> bool:
    study = STUDIES["correction"]
    subject = study.planted(run.seed) if run.planted else study.harmless(run.seed)
    *_, result = study.run(subject, study.settings())
    return called(study.checks(result, study.settings())["correction_gain"], 0.0)


_POOL, _PEOPLE, _QUESTIONS, _REPEATS = 400, 20, 12, 6


def _answers_leak(seed: int, runs: range, planted: bool) -> list[bool]:
    """Ask a block of runs at once, six draws of people, questions and noise each."""
    name = f"self-test, answers, from {runs.start}, {planted}"
    planned = PlannedAnswers(questions=_QUESTIONS, people=_PEOPLE, repeats=_REPEATS)
    asking = Asking(n=_PEOPLE, design="random_binary", repeats=_REPEATS * len(runs), seed=child_seed(seed, name))
    trials = Trials(_pool(child_generator(seed, name)), asking, most=_QUESTIONS)
    mechanism = Exact() if planted else LaplaceGlobal(1e-3)  # whose noise drowns every answer
    prior = trials.leakages(0, mechanism, "strongest")
    found = {kind: trials.leakages(_QUESTIONS, mechanism, kind) for kind in ("strongest", "without_prior")}

    def leaks(own: slice) -> bool:
        read = tuple(trials.leak_of(_QUESTIONS, kind, values[own], prior[own]) for kind, values in found.items())
        result = AnswersLeak(attribute="group", prior=rate_over_repeats(prior[own]), leaks=read)
        return called(answers_excess(result, planned), 0.0)

    return [leaks(slice(i * _REPEATS, (i + 1) * _REPEATS)) for i in range(len(runs))]


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
    evidence = Evidence(labels=labels, split=split, released=tree.predict_proba(features)[:, 1])
    guess = REGISTRY["loss"].judge(evidence)
    return not is_muted(roc(guess.score, split.judged[1]).auc)


def _caught_leaks(run: Run) -> bool:
    found = _judged(run, _MANY, lambda groups: _REMEMBERED if run.planted else 0.0)
    return called(membership_caught(found), FALSE_ALARMS)


def _ties_leak(run: Run) -> bool:
    subject = tied_scores(run.rng, planted=run.planted, seed=run.seed)
    *_, found = STUDY.run(subject, MembershipPlan(shadows=0))
    return called(membership_caught(found), FALSE_ALARMS)


def _verdict_gap_leaks(run: Run) -> bool:
    rng = run.rng
    law, split, groups = _law(2 * _BOTH, rng), _split(_BOTH, rng), rng.integers(0, 2, 2 * _BOTH)
    remembered = _remembered(groups, run)
    released = law.remembering(remembered).train(split.members, run.number)
    guess = REGISTRY["loss"].judge(Evidence(labels=law.labels, split=split, released=released))
    rows, member = split.judged
    if guess.verdict is None or is_muted(roc(guess.score, member).auc):
        return False
    found = disparities(guess.verdict, groups[rows], member, names=("0", "1"), seed=run.seed).results
    return any(result.tests["advantage_gap"].significant for result in found)


def _remembered(groups: Codes | Ints, run: Run) -> Floats:
    """Return how well everybody is remembered: those of one group alone where a gap is planted, else all alike."""
    return np.where(groups == 1, _REMEMBERED, 0.0) if run.planted else np.full(groups.size, _REMEMBERED / 2)


def _caught_gap_leaks(run: Run) -> bool:
    found = _judged(run, 2 * _MANY, lambda groups: _remembered(groups, run))
    return called(membership_gap(found), 0.0)


def _judged(run: Run, side: int, remembered: Callable[[Codes], npt.ArrayLike]) -> JudgedMembers:
    """Return what two membership attacks say of a law's people, as many members as non-members."""
    own = run.seed
    law = _law(2 * side + _NOT_JUDGED, run.rng)
    groups = (np.arange(law.level.size) % 2).astype(np.uint8)
    members, outsiders = np.arange(side), np.arange(side + _NOT_JUDGED, 2 * side + _NOT_JUDGED)
    scores = law.remembering(remembered(groups)).train(members, own)
    shadow = law.remembering(_REMEMBERED / 2)  # as the attacker thinks that such a model is trained
    people = Drawn(features=np.zeros((groups.size, 1), dtype=np.int64), labels=law.labels, sensitive=groups)
    audited = audit_of(people, (scores >= 0.5).astype(np.uint8), (side, _NOT_JUDGED, side), seed=own, scores=scores)
    evidence = Evidence(
        labels=law.labels,
        split=judging_everybody(members, outsiders),
        released=scores,
        seed=own,
        train=shadow.train,
        shadows=_SHADOWS,
    )
    guesses = {name: REGISTRY[name].judge(evidence) for name in ("loss", "lira")}
    # a check is decided by the interval, without the permutations
    return JudgedMembers(subject=audited, shadows=_SHADOWS, guesses=guesses, permutations=100)


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
