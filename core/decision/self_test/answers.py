"""The attribute learned from answered bias questions: decoders with and without a prior beside the prior alone.

The published decoder, a linear program for every draw, is left out: it would take longer than all the rest.
"""

from __future__ import annotations

import numpy as np

from core.decision.audited import Audited
from core.decision.measures.answers_excess import answers_excess
from core.decision.plan import PlannedAnswers
from core.decision.self_test.attribute import model_answers
from core.decision.self_test.audited import audit_of, same_model
from core.decision.self_test.people import draw_people
from core.decision.self_test.trial import Trial, called
from core.queries import Asking, Exact, LaplaceGlobal, Trials
from core.questions import People, QueryPool
from core.seeds import child_generator, child_seed

_POOL, _PEOPLE, _QUESTIONS, _REPEATS = 400, 20, 12, 6
_NO_BUDGET = 1e-3
"""Budget whose noise drowns every answer."""

_ASKED_SETS = (200, 200, 200)


def _answers_leak(seed: int, runs: range, planted: bool) -> list[bool]:
    """Ask a block of runs at once, six draws of people, questions and noise each."""
    name = f"self-test, answers, from {runs.start}, {planted}"
    asking = Asking(n=_PEOPLE, design="random_binary", repeats=_REPEATS * len(runs), seed=child_seed(seed, name))
    trials = Trials(_pool(child_generator(seed, name)), asking, most=_QUESTIONS)
    mechanism = Exact() if planted else LaplaceGlobal(_NO_BUDGET)
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
    audited = same_model(model)
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


ANSWER_TRIALS = (
    Trial(
        attack="Attribute learned from answered questions",
        told="Null: answers drowned in noise. Planted: exact answers.",
        leaks=_answers_leak,
        share=0.5,
    ),
)
