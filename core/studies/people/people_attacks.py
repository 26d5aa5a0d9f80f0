"""Four attacks on the same training records: what is published, whom each finds, and how many by chance.

Found by an attribute attack is whose attribute it infers correctly with a probability of at least 99.5%. Correction,
bias queries and model card start from one prior, imputation (`core.studies.subject.prior_of`), and each adds what is
published. Whom imputation gives more than 95% by itself it finds too: that is no leak
(`core.studies.model_card.pinned_people` draws the same line). Found by membership inference is a member above the
threshold that 1% of the non-members exceed.

Answers and cards tell one group from everybody else. Of more than two groups, each is attacked so, with answers and
numbers of its own: found is whom the attack on their own group finds.

By chance. Claims are wrong about those they cannot be true of: an attack without a leak flags members and non-members
alike, and claims as large a share of those outside a group as of those in it. So the number by chance is the sum, over
groups, of the people in the group times the share of all others who are claimed for it. That the leaks are no more is
Fisher's exact test of those claimed against all others, as the others' share is chance too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.settings import Param, Settings, params
from ...base.validation import LEAST_EPSILON, Codes, Floats, Ints, Mask, child_generator
from ...models import GIVEN_PREDICTIONS
from ...stats.fairness import row_sets
from ..bias_queries import NOISE_TITLES, BiasQueriesSettings, NoisySums, answers_text, mechanism_of
from ..bias_queries.decoders import AnsweredQueries, read_answers
from ..bias_queries.gaps import design_scores
from ..bias_queries.trials import FEWEST_IN_GROUP
from ..correction import CorrectionSettings, true_tolerance
from ..correction.soft import soft_correct
from ..membership import FEWEST_SHADOWS, REGISTRY, MembershipSettings, roc
from ..membership.attack import MemberGuess, evidence_of
from ..membership.roc import LOW_FPR
from ..model_card import ModelCardSettings, ReleasedPeople, measure_card, released_people
from ..model_card.card_result import drawn_people
from ..model_card.pinned_people import SETTLED, UNSURE
from ..study import ReportProgress
from ..subject import Subject, subject_of

_ANSWERS = params(BiasQueriesSettings)
_CARD = params(ModelCardSettings)

_NOISES = {name: title for name, title in NOISE_TITLES.items() if name != "smooth_laplace"}
"""Noise that keeps its ε whatever that is."""

MOST_PEOPLE = 1_000
"""Most people who are looked at, as on a model card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSettings(Settings):
    """The same training records, and what is published about them."""

    people: Annotated[
        int,
        Param(
            "People",
            "Training records that are attacked, drawn with the seed.",
            least=20,
            most=MOST_PEOPLE,
        ),
    ] = MOST_PEOPLE
    tolerance: Annotated[float | None, params(CorrectionSettings)["tolerance"].param] = None
    answers: Annotated[
        int,
        Param(
            "Answers",
            "Answers to bias queries about these people; 0 for none.",
            least=0,
            most=1_000,
        ),
    ] = 250
    noise: Annotated[str, replace(_ANSWERS["mechanism"].param, options=_NOISES)] = "exact"
    answer_epsilon: Annotated[
        float, replace(_ANSWERS["epsilon"].param, flag="--answer-epsilon")
    ] = 5.0
    models: Annotated[
        int,
        Param(
            "Models on the card",
            "Models on the card: the audited one and variants of it.",
            least=1,
            most=50,
        ),
    ] = 20
    decimals: Annotated[int | None, _CARD["decimals"].param] = 3
    card_epsilon: Annotated[
        float | None,
        Param(
            "Privacy budget ε of the card",
            "Privacy budget of all published numbers together, with noise in place of rounding; none for no noise.",
            least=LEAST_EPSILON,
            most=1_000.0,
            flag="--publish-epsilon",
        ),
    ] = None
    shadows: Annotated[int, params(MembershipSettings)["shadows"].param] = 16

    @property
    def steps(self) -> int:
        """About how many steps are reported: each model with its shadows."""
        return 1 + 3 * (1 + self.shadows)

    def __post_init__(self) -> None:
        super(PeopleSettings, self).__post_init__()
        MembershipSettings(shadows=self.shadows)  # which has a rule of its own


ATTACKS = {
    "correction": "Correction",
    "queries": "Bias queries",
    "card": "Model card",
    "membership": "Membership",
}
"""Attack -> what pages call it, in the order of their columns."""

CERTAIN = SETTLED[1]
IMPUTABLE = UNSURE[1]
"""Probability from which on somebody is found; above which imputation finds them too."""

_ALPHA = 0.025 / len(ATTACKS)
"""Below which a one-sided p-value of one attack counts (Bonferroni)."""

CARDS = "people, card of {}"
MEMBERS = "people, members by {} shadows"
MODELS = "people, {} with ε = {}"
"""Under which a subject keeps everybody with the models on a card, what the membership attack says of everybody, and
itself with a model trained in another way."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IdentifiedRecords(Result):
    """Whom one attack finds of n people."""

    attack: str
    """One of `ATTACKS`."""
    reason: str = ""
    """Why it was not run, in one sentence; nobody is found then."""
    setting: str = ""
    """What was published, in words."""
    identified: Mask = field(repr=False)
    """(n,): whom it finds."""
    leak: Mask = field(repr=False)
    """(n,): of these, whom imputation does not find too."""
    chance: float = 0.0
    """How many of the leaks it would find by chance alone."""
    beyond_chance: bool = False
    """Whether the leaks are more than chance alone gives, at 95% confidence for all attacks together."""


def inferred(
    attack: str, prior: Floats, after: Floats, truth: Codes, setting: str = ""
) -> IdentifiedRecords:
    """Return whom an attribute attack finds, by probabilities of each group before and after it, both (n, K)."""
    n, k = prior.shape
    records = np.arange(n)
    sure = after >= CERTAIN
    claims = sure & (prior <= IMPUTABLE)
    inside = truth[:, np.newaxis] == np.arange(k)
    size = inside.sum(axis=0)
    hits = (claims & inside).sum(axis=0)
    claimed = claims.sum(axis=0)
    p_values = [_fisher(hits[g], size[g], claimed[g] - hits[g], n - size[g]) for g in range(k)]
    return IdentifiedRecords(
        attack=attack,
        setting=setting,
        identified=sure[records, truth],
        leak=claims[records, truth],
        chance=float(size @ ((claimed - hits) / np.maximum(n - size, 1))),
        beyond_chance=min(p_values) * k < _ALPHA,
    )


def exceeding(
    attack: str, score: Floats, member: Mask, chosen: Ints, setting: str = ""
) -> IdentifiedRecords:
    """Return which of the chosen, all members, score above the threshold that 1% of the non-members exceed.

    `chosen` are indices of the evaluated records, whose scores are of shape (m,). The threshold is itself a
    non-member's score: where nobody shares it, j + 1 of n + 1 people like the n non-members lie above the score that
    j of them exceed.
    """
    outside = np.sort(score[~member])[::-1]
    threshold = outside[int(LOW_FPR * outside.size)]
    flagged = score[chosen] > threshold
    hits = int(flagged.sum())
    above = int((outside > threshold).sum())
    unshared = int((outside == threshold).sum() == 1)
    return IdentifiedRecords(
        attack=attack,
        setting=setting,
        identified=flagged,
        leak=flagged,
        chance=chosen.size * (above + unshared) / (outside.size + unshared),
        beyond_chance=_fisher(hits, chosen.size, above, outside.size) < _ALPHA,
    )


def _fisher(hits: int, size: int, above: int, reference_size: int) -> float:
    """Return the one-sided p-value of `hits` or more among `size`, where `above` of `reference_size` others are hit."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(hits - 1, size + reference_size, size, hits + above))


class PeopleAttacks:
    """The attacks on one sample of training records, each run once under each setting.

    `again` trains the audited model in another way; everything about it is then attacked again.
    """

    def __init__(
        self, subject: Subject, settings: PeopleSettings, report: ReportProgress | None = None
    ) -> None:
        self.settings = settings
        self._report = report
        self._done = 0
        self.subject = subject
        self.dataset = subject.dataset
        self._results: dict[object, IdentifiedRecords] = {}
        card = CARDS.format(settings.models)
        seed = subject.config.seed
        self.everybody: ReleasedPeople = subject.once(
            card, lambda: _everybody(subject, settings.models)
        )
        self.chosen = drawn_people(self.everybody.n, settings.people, seed=seed)
        self.people = self.everybody.some(settings.people, seed=seed)
        self.rows = self.people.rows
        self.prior = self.people.posteriors
        self.truth = self.people.codes
        self.tick()

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.rows.size)

    @property
    def imputed(self) -> Mask:
        """(n,): whom imputation finds, without the model."""
        return np.asarray(self.prior[np.arange(self.n), self.truth] > IMPUTABLE)

    def tick(self) -> None:
        """Report one more step."""
        self._done += 1
        if self._report is not None:
            self._report(self._done, max(self._done, self.settings.steps))

    def run(
        self, attack: str, settings: PeopleSettings, training: tuple[str, float] | None = None
    ) -> IdentifiedRecords:
        """Return whom an attack finds, of the audited model or one trained by another (method, ε)."""
        made_by, reads = _RUN[attack]
        key = attack, tuple(getattr(settings, name) for name in reads), training
        if key not in self._results:
            try:
                self._results[key] = made_by(self, self._subject(training), settings)
            except InputError as error:
                nobody = np.zeros(self.n, dtype=np.bool_)
                self._results[key] = IdentifiedRecords(
                    attack=attack, reason=str(error), identified=nobody, leak=nobody
                )
        return self._results[key]

    def _subject(self, training: tuple[str, float] | None) -> Subject:
        """Return the audited model, or it trained in another way on the same records."""
        if training is None:
            return self.subject
        method, epsilon = training

        def train() -> Subject:
            trained = subject_of(
                replace(self.subject.config, method=method, epsilon=epsilon), self.dataset
            )
            trained.outputs = self.subject.outputs
            return trained

        return self.subject.once(MODELS.format(method, epsilon), train)

    def _correction(self, subject: Subject, settings: PeopleSettings) -> IdentifiedRecords:
        """Tell the attacker the tolerance, raised until it holds for the training records."""
        rows = self.everybody.rows
        config = subject.config
        model = subject.model
        if settings.tolerance is None:
            disclosed = config.tolerance
        else:
            disclosed = settings.tolerance
        applied = true_tolerance(disclosed, model.unfairness_train)
        after = soft_correct(
            self.everybody.posteriors,
            model.predictions[rows],
            tolerance=applied,
            metric=config.metric,
            labels=self.dataset.labels[rows],
        )
        return inferred(
            "correction",
            self.prior,
            after[self.chosen],
            self.truth,
            f"disclosed tolerance {applied:g}",
        )

    def _queries(self, subject: Subject, settings: PeopleSettings) -> IdentifiedRecords:
        """Answer queries about the people the metric speaks of, all in one series."""
        if not settings.answers:
            raise InputError("No answers to bias queries are planned.")
        if not subject.has_scores:
            raise InputError("Bias queries need scores; only predicted labels are given.")
        config = subject.config
        labels = self.dataset.labels[self.rows]
        if config.metric == "equalized_odds":
            metric = "equal_opportunity"
        else:
            metric = config.metric
        _, queried = row_sets(metric, labels, self.n)[0]
        if queried is None:
            inside = np.arange(self.n)
        else:
            inside = np.flatnonzero(queried)
        sizes = np.bincount(self.truth[inside], minlength=self.prior.shape[1])
        largest = int(np.bincount(self.dataset.sensitive).argmax())  # the advantaged one
        large = np.minimum(sizes, inside.size - sizes) >= FEWEST_IN_GROUP
        codes = [code for code in self._codes(largest) if large[code]]
        if not codes:
            raise InputError(
                f"Bias queries need at least {FEWEST_IN_GROUP} people of each group they are about."
            )
        m = min(settings.answers, inside.size)
        seed = config.seed
        mechanism = mechanism_of(settings.noise, epsilon=settings.answer_epsilon)
        rng = child_generator(seed, "people at risk, noise on answers")
        scores = design_scores(
            "jitter",
            subject.model.scores[self.rows[inside]],
            m,
            rng=child_generator(seed, "people at risk, queries"),
        )
        after = self.prior.copy()
        for code in codes:
            s = (self.truth[inside] == code).astype(np.uint8)
            if isinstance(mechanism, NoisySums):
                released = mechanism.release(scores, s, rng=rng)
            else:
                released = None
            if released is None:
                answers = mechanism.draws(scores, s, rng=rng, draws=1)[0]
                releases = []
            else:
                answers = released.gaps
                releases = [released]
            answered = AnsweredQueries(
                design="jitter",
                scores=scores[np.newaxis],
                answers=answers[np.newaxis],
                released=releases,
                prior=self.prior[np.newaxis, inside, code],
                mechanism=mechanism,
                n_advantaged=int(s.sum()),
                n_disadvantaged=int(s.size - s.sum()),
            )
            _write(after, inside, code, 1.0 - read_answers(answered, "strongest")[0].values)
        setting = answers_text(m, mechanism) + _about(codes, after)
        return inferred("queries", self.prior, after, self.truth, setting)

    def _card(self, subject: Subject, settings: PeopleSettings) -> IdentifiedRecords:
        """Publish the card of the audited model, and of its variants."""
        people = self.people
        predictions = np.vstack(
            [subject.model.predictions[self.rows][np.newaxis], people.predictions[1:]]
        )
        decimals = None
        if settings.card_epsilon is None:
            decimals = settings.decimals
        card = ModelCardSettings(
            family="mixed",
            count=len(predictions),
            on="train",
            decimals=decimals,
            epsilon=settings.card_epsilon,
            seed=subject.config.seed,
        )
        after = self.prior.copy()
        names = people.group_names
        rated = self._rated
        codes = [code for code in self._codes(names.index(people.group)) if rated[code]]
        if not codes:
            raise InputError(
                "A card needs people of the group it is about, and others, with either label."
            )
        for code in codes:
            measured_card = measure_card(
                replace(people, group=names[code], predictions=predictions), card
            )
            if measured_card.status == "infeasible":
                raise InputError(measured_card.reason)
            _write(after, np.arange(self.n), code, measured_card.probability)
        setting = f"models: {len(predictions)}, {card.precision}" + _about(codes, after)
        return inferred("card", self.prior, after, self.truth, setting)

    @property
    def _rated(self) -> Mask:
        """(K,): whether a group and everybody else have people with either label, and so all rates of a card."""
        people = np.zeros((self.prior.shape[1], 2), dtype=np.int64)
        np.add.at(people, (self.truth, self.dataset.labels[self.rows]), 1)
        return np.asarray(((people > 0) & (people < people.sum(axis=0))).all(axis=1))

    def _codes(self, group_code: int) -> list[int]:
        """Return which groups are set against everybody else: of two that one, of more each."""
        k = self.prior.shape[1]
        if k == 2:
            return [group_code]
        return list(range(k))

    def _membership(self, subject: Subject, settings: PeopleSettings) -> IdentifiedRecords:
        """Judge training and test records; a threshold has its FPR on the test records."""
        guess: MemberGuess = subject.once(
            MEMBERS.format(settings.shadows),
            lambda: judged_members(subject, settings.shadows, lambda *_: self.tick()),
        )
        member = np.isin(guess.rows, subject.splits.train)
        if reason := roc(guess.score, member).resolution_reason(LOW_FPR):
            raise InputError(f"A threshold of 1% FPR {reason.removeprefix('n/a, ')}.")
        position = {row: i for i, row in enumerate(guess.rows.tolist())}
        chosen = np.array([position[row] for row in self.rows.tolist()], dtype=np.intp)
        return exceeding(
            "membership", guess.score, member, chosen, f"{REGISTRY[guess.name].phrase} at 1% FPR"
        )


def _write(after: Floats, places: Ints, code: int, probability: Floats) -> None:
    """Write the probability of one group, (n,), among those of all, (n, K); of two groups, also that of the other."""
    after[places, code] = probability
    if after.shape[1] == 2:
        after[places, 1 - code] = 1.0 - probability


def _about(codes: list[int], after: Floats) -> str:
    if after.shape[1] == 2:
        return ""
    return f", for each of {len(codes)} groups against everybody else"


def _everybody(subject: Subject, models: int) -> ReleasedPeople:
    """Return all training records with imputation of them, and the audited model's answers and its variants'."""
    trained = subject.trainable and subject.config.method != GIVEN_PREDICTIONS
    family = "mixed" if trained else "audited"
    return released_people(subject, ModelCardSettings(family=family, count=models, on="train"))


_RUN: dict[
    str,
    tuple[Callable[[PeopleAttacks, Subject, PeopleSettings], IdentifiedRecords], tuple[str, ...]],
] = {
    "correction": (PeopleAttacks._correction, ("tolerance",)),
    "queries": (PeopleAttacks._queries, ("answers", "noise", "answer_epsilon")),
    "card": (PeopleAttacks._card, ("decimals", "card_epsilon")),
    "membership": (PeopleAttacks._membership, ("shadows",)),
}
"""Attack -> what runs it, and the settings its result hangs on, besides the people and the model."""


def judged_members(
    subject: Subject, shadows: int, report: ReportProgress | None = None
) -> MemberGuess:
    """Return what LiRA says of everybody; without shadow models, what boosting on everything released does.

    InputError if no scores are released, or it is unknown whom the model was trained on.
    """
    if subject.released_scores is None:
        raise InputError("Membership inference at 1% FPR needs scores; labels alone are released.")
    again = subject.trainable and shadows >= FEWEST_SHADOWS
    evidence = evidence_of(subject, shadows, report)
    if again:
        return REGISTRY["lira"].judge(evidence)
    return REGISTRY["released"].judge(evidence)
