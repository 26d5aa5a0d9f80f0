"""Five attacks on the same training records: what is published, whom each finds, and how many by chance.

They are those of an audit. Found by an attribute attack is whose attribute it infers correctly with a probability of at
least 99.5%. Each starts from imputation (`core.studies.subject.prior_of`) and adds what is published: the outputs of
the model, a disclosed tolerance, answers to bias queries, a model card. Whom imputation gives more than 95% by itself
it finds too: that is no leak (`core.studies.model_card.pinned_people` draws the same line). Found by membership
inference is a member above the threshold that 1% of the non-members exceed, by the attack that finds most members so.

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
from typing import Annotated, Any

import numpy as np

from ...base.errors import InputError
from ...base.serialize import UNSAID, Result
from ...base.settings import Param, Settings, params
from ...base.validation import LEAST_EPSILON, Codes, Floats, Ints, Mask, child_generator
from ...models import GIVEN_PREDICTIONS
from ...stats.estimates import Estimate
from ...stats.fairness import row_sets
from ..attribute.study import attacked_rows, released_gain
from ..bias_queries import BiasQueriesSettings, answers_text, mechanism_of
from ..bias_queries.decoders import AnsweredQueries, read_answers
from ..bias_queries.gaps import design_scores
from ..bias_queries.mechanisms import Mechanism
from ..bias_queries.trials import FEWEST_IN_GROUP
from ..correction import CorrectionSettings, true_tolerance
from ..correction.soft import soft_correct
from ..membership import REGISTRY, MembershipResult, MembershipSettings
from ..membership.roc import LOW_FPR
from ..membership.study import STUDY as MEMBERSHIP
from ..membership.study import measured
from ..model_card import ModelCardSettings, ReleasedPeople, measure_card, released_people
from ..model_card.card_result import drawn_people
from ..model_card.pinned_people import SETTLED, UNSURE
from ..study import ReportProgress, result_name
from ..subject import OutputsPlan, Progress, Subject, subject_of

_ANSWERS = params(BiasQueriesSettings)
_CARD = params(ModelCardSettings)
_MEMBERSHIP = params(MembershipSettings)

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
    ] = 0
    noise: Annotated[str, _ANSWERS["mechanism"].param] = "noisy_sums"
    answer_epsilon: Annotated[float, _ANSWERS["epsilon"].param] = 1.0
    answer_decimals: Annotated[
        int, replace(_ANSWERS["decimals"].param, flag="--answer-decimals")
    ] = 3
    models: Annotated[
        int,
        Param(
            "Models on the card",
            "Models on the card: the audited one and variants of it; 0 for no card.",
            least=0,
            most=50,
        ),
    ] = 0
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
    shadows: Annotated[int, _MEMBERSHIP["shadows"].param] = 16
    attacks: Annotated[tuple[str, ...], _MEMBERSHIP["attacks"].param] = field(
        default=(), metadata=UNSAID
    )

    @property
    def steps(self) -> int:
        """About how many steps are reported: the attacks under each change, and shadow models of three models."""
        return 30 + 3 * self.shadows

    def __post_init__(self) -> None:
        super(PeopleSettings, self).__post_init__()
        MembershipSettings(shadows=self.shadows, attacks=self.attacks)  # which has rules of its own

    @property
    def mechanism(self) -> Mechanism:
        """How bias queries are answered."""
        return mechanism_of(self.noise, epsilon=self.answer_epsilon, decimals=self.answer_decimals)


ATTACKS = {
    "outputs": "Outputs",
    "correction": "Correction",
    "queries": "Bias queries",
    "card": "Model card",
    "membership": "Membership",
}
"""Attack -> what pages call it, in the order of their columns."""

OUTPUT_ATTACKS = ("outputs", "membership")
"""Attacks on what the model releases about each person."""

CERTAIN = SETTLED[1]
IMPUTABLE = UNSURE[1]
"""Probability from which on somebody is found; above which imputation finds them too."""

_ALPHA = 0.025 / len(ATTACKS)
"""Below which a one-sided p-value of one attack counts (Bonferroni)."""

CARDS = "people, card of {}"
"""Under which a subject keeps everybody with the models on a card."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IdentifiedRecords(Result):
    """Whom one attack finds of n people."""

    attack: str
    """One of `ATTACKS`."""
    reason: str = ""
    """Why it was not run, in one sentence; nobody is found then."""
    setting: str = ""
    """What was published, in words."""
    identified: Mask
    """(n,): whom it finds."""
    leak: Mask
    """(n,): of these, whom imputation does not find too."""
    chance: float = 0.0
    """How many of the leaks it would find by chance alone."""
    beyond_chance: bool = False
    """Whether the leaks are more than chance alone gives, at 95% confidence for all attacks together."""
    average: Estimate | None = None
    """What the report measures of this attack over all training records, where that depends on outputs."""
    measure: str = ""
    """Of what that is: "accuracy", "balanced_accuracy" or "auc"."""


def inferred(
    attack: str, prior: Floats, after: Floats, truth: Codes, setting: str = "", *, tried: int = 1
) -> IdentifiedRecords:
    """Return whom an attribute attack finds, by probabilities of each group before and after it, both (n, K).

    It is the best of so many that were `tried`.
    """
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
        beyond_chance=min(p_values) * k * tried < _ALPHA,
    )


def exceeding(
    attack: str, score: Floats, member: Mask, chosen: Ints, setting: str = "", *, tried: int = 1
) -> IdentifiedRecords:
    """Return which of the chosen, all members, score above the threshold that 1% of the non-members exceed.

    `chosen` are indices of the evaluated records, whose scores are of shape (m,). The threshold is itself a
    non-member's score: where nobody shares it, j + 1 of n + 1 people like the n non-members lie above the score that
    j of them exceed. The attack is the best of so many that were `tried`.
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
        beyond_chance=_fisher(hits, chosen.size, above, outside.size) * tried < _ALPHA,
    )


def _fisher(hits: int, size: int, above: int, reference_size: int) -> float:
    """Return the one-sided p-value of `hits` or more among `size`, where `above` of `reference_size` others are hit."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(hits - 1, size + reference_size, size, hits + above))


def disclosed_tolerance(subject: Subject, settings: PeopleSettings) -> float:
    """Return the tolerance that is disclosed to the attacker, raised until it holds for the training records."""
    tolerance = settings.tolerance
    if tolerance is None:
        tolerance = subject.config.tolerance
    return true_tolerance(tolerance, subject.model.unfairness_train)


class PeopleAttacks:
    """The attacks on one sample of training records, each run once under each setting and change of the model."""

    def __init__(
        self, subject: Subject, settings: PeopleSettings, report: ReportProgress | None = None
    ) -> None:
        self.settings = settings
        self.progress = Progress(settings.steps, report)
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

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.rows.size)

    @property
    def imputed(self) -> Mask:
        """(n,): whom imputation finds, without the model."""
        return self.prior[np.arange(self.n), self.truth] > IMPUTABLE

    def run(
        self,
        attack: str,
        settings: PeopleSettings,
        training: float | None = None,
        outputs: OutputsPlan | None = None,
    ) -> IdentifiedRecords:
        """Return whom an attack finds: of the audited model or a private tree with this ε, and with other outputs."""
        made_by, reads = _RUN[attack]
        if attack not in OUTPUT_ATTACKS:
            outputs = None
        key = attack, tuple(getattr(settings, name) for name in reads), training, outputs
        if key not in self._results:
            try:
                self._results[key] = made_by(self, self._subject(training, outputs), settings)
            except InputError as error:
                self._results[key] = self._nobody(attack, str(error))
            self.progress.tick()
        return self._results[key]

    def _nobody(self, attack: str, reason: str) -> IdentifiedRecords:
        """Return an attack that finds nobody, as it cannot be run."""
        nobody = np.zeros(self.n, dtype=np.bool_)
        return IdentifiedRecords(attack=attack, reason=reason, identified=nobody, leak=nobody)

    def _subject(self, training: float | None, outputs: OutputsPlan | None) -> Subject:
        """Return the audited model, or a private tree of the same records, or either with other outputs."""
        model = self.subject
        if training is not None:

            def train() -> Subject:
                config = replace(self.subject.config, method="dp_id3", epsilon=training)
                trained = subject_of(config, self.dataset)
                trained.outputs = self.subject.outputs
                return trained

            model = model.once(f"people, private tree with ε = {training}", train)
        if outputs is None:
            return model
        return model.once(f"people, releasing {outputs}", lambda: model.releasing(outputs))

    def _outputs(self, subject: Subject, settings: PeopleSettings) -> IdentifiedRecords:
        """Attack everything that the model releases, as the report does."""
        gains = {
            measure: released_gain(subject, measure)
            for measure in ("accuracy", "balanced_accuracy")
        }
        measure = next((name for name, gain in gains.items() if gain[1].low > 0), "accuracy")
        position, gain, posteriors = gains[measure]
        chosen = self._positions(attacked_rows(subject, position))
        attacker = posteriors[position]
        identified = inferred(
            "outputs",
            attacker.before[chosen],
            attacker.after[chosen],
            self.truth,
            subject.released_text,
            tried=len(posteriors),
        )
        return replace(identified, average=gain, measure=measure)

    def _correction(self, subject: Subject, settings: PeopleSettings) -> IdentifiedRecords:
        """Tell the attacker the tolerance, raised until it holds for the training records."""
        rows = self.everybody.rows
        config = subject.config
        model = subject.model
        applied = disclosed_tolerance(subject, settings)
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
        mechanism = settings.mechanism
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
            answers, sums = mechanism.release(scores, s, rng=rng)
            released = []
            if sums is not None:
                released.append(sums)
            answered = AnsweredQueries(
                design="jitter",
                scores=scores[np.newaxis],
                answers=answers[np.newaxis],
                released=released,
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
        if not settings.models:
            raise InputError("No model card is planned.")
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
        return ((people > 0) & (people < people.sum(axis=0))).all(axis=1)

    def _codes(self, group_code: int) -> list[int]:
        """Return which groups are set against everybody else: of two that one, of more each."""
        k = self.prior.shape[1]
        if k == 2:
            return [group_code]
        return list(range(k))

    def _membership(self, subject: Subject, settings: PeopleSettings) -> IdentifiedRecords:
        """Judge training and test records; a threshold has its FPR on the test records."""
        attacks = MembershipSettings(shadows=settings.shadows, attacks=settings.attacks)

        def judge() -> tuple[MembershipResult, MembershipSettings]:
            *_, members = MEMBERSHIP.run(subject, attacks, lambda *_: self.progress.tick())
            return members, attacks

        result, _ = subject.once(result_name(MEMBERSHIP.name, attacks), judge)
        checks = measured(result)
        average: dict[str, Any] = {"average": checks["membership_auc"].estimate, "measure": "auc"}
        if reason := checks["membership_caught"].reason:
            return replace(self._nobody("membership", reason), **average)
        score, _ = result.guesses[result.identifying]
        identified = exceeding(
            "membership",
            score,
            result.member == 1,
            self._positions(result.rows),
            f"{REGISTRY[result.identifying].phrase} at 1% FPR",
            tried=len(result.guesses),
        )
        return replace(identified, **average)

    def _positions(self, rows: Ints) -> Ints:
        """Return where these people stand among some rows that hold them all."""
        order = np.argsort(rows)
        return order[np.searchsorted(rows, self.rows, sorter=order)]


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
    family = "mixed" if trained and models else "audited"
    card = ModelCardSettings(family=family, count=max(1, models), on="train")
    return released_people(subject, card)


_RUN: dict[
    str,
    tuple[Callable[[PeopleAttacks, Subject, PeopleSettings], IdentifiedRecords], tuple[str, ...]],
] = {
    "outputs": (PeopleAttacks._outputs, ()),
    "correction": (PeopleAttacks._correction, ("tolerance",)),
    "queries": (
        PeopleAttacks._queries,
        ("answers", "noise", "answer_epsilon", "answer_decimals"),
    ),
    "card": (PeopleAttacks._card, ("models", "decimals", "card_epsilon")),
    "membership": (PeopleAttacks._membership, ("shadows", "attacks")),
}
"""Attack -> what runs it, and the settings its result hangs on, besides the people and the model."""
