"""What each kind of attacker makes of the answers, whatever the questions and the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.queries import (
    DECODERS,
    Asking,
    Exact,
    LaplaceGlobal,
    NoisySums,
    Reading,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    Trials,
    leakage,
)
from core.queries.decoders import Answered, read_answers
from core.queries.gaps import DESIGNS
from core.queries.reveal import recover_compressed
from tests.unit.queries.people import pool

REPEATS, N = 6, 40
SIGNED = [Exact(), Rounded(2), LaplaceGlobal(50.0), SmoothCauchy(50.0), SmoothLaplace(50.0, 1e-5), NoisySums(50.0)]
ABSOLUTE = [replace(mechanism, absolute=True) for mechanism in SIGNED]
CASES = [(d, m) for d in (*DESIGNS, "single") for m in SIGNED] + [("single", m) for m in ABSOLUTE]
LAST = {"jitter": 24, "random_binary": 24, "targeted": N + 1, "bits": 1, "single": N}


def trials(design: str = "jitter", *, repeats: int = REPEATS, n: int = N, n_disadvantaged: int = 120) -> Trials:
    return Trials(pool(400, n_disadvantaged), Asking(n=n, design=design, repeats=repeats, seed=3))


def leaked(made: Trials, m: int, mechanism, decoder: str) -> float:
    return made.leak(m, mechanism, decoder).leakage.value


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize(("design", "mechanism"), CASES, ids=str)
def test_every_decoder_reads_every_question_and_noise(design: str, mechanism, decoder: str):
    made = trials(design)
    for m in {0, 1, LAST[design] // 2, LAST[design]}:
        readings = read_answers(made.ask(m, mechanism), decoder)
        assert len(readings) == REPEATS
        for reading in readings:
            assert reading.values.shape == reading.recovered.shape == (N,)
            assert np.isfinite(reading.values).all() and set(np.unique(reading.recovered)) <= {0, 1}
            assert_decided_by_the_threshold(reading)


def assert_decided_by_the_threshold(reading: Reading) -> None:
    """Check that nobody with a higher value than a person called disadvantaged is called advantaged."""
    above = reading.values > reading.threshold + 1e-9
    below = reading.values < reading.threshold - 1e-9
    assert (reading.recovered[above] == 0).all() and (reading.recovered[below] == 1).all()


@pytest.mark.parametrize("design", ["jitter", "random_binary", "bits", "targeted", "single"])
@pytest.mark.parametrize("decoder", ["strongest", "without_prior"])
def test_enough_exact_answers_are_the_truth(design: str, decoder: str):
    made = trials(design)
    assert made.leak(made.numbers[-1], Exact(), decoder).complete == 1.0
    if design == "bits":
        assert made.leak(made.numbers[-1], Exact(), "published").complete == 1.0
    if design == "single":
        assert made.leak(N, Exact(absolute=True), decoder).complete == 1.0


def test_a_whole_solution_of_the_linear_program_is_the_truth():
    made, whole = trials(repeats=40), 0
    sizes = {"n_advantaged": made.n_advantaged, "n_disadvantaged": made.n_disadvantaged}
    for m in (12, 16, 20):
        given = made.ask(m, Exact())
        for r, reading in enumerate(read_answers(given, "strongest")):
            told = recover_compressed(given.scores[r], given.answers[r], method="box", prior=given.prior[r], **sizes)
            x = told.values / (2 * told.threshold)
            if np.abs(x - np.rint(x)).max() < 1e-6:
                whole += 1
                assert (reading.recovered == made.people[r].sensitive).all()
                assert (reading.recovered == told.recovered).all()
            elif reading.threshold == 0.5:  # the likeliest give these very answers
                assert (reading.recovered == made.people[r].sensitive).all()
            else:
                assert reading.values.sum() == pytest.approx(made.n_disadvantaged, abs=1e-4)  # probabilities
                assert reading.threshold == pytest.approx(made.n_disadvantaged / N)
    assert 20 < whole < 110


def test_whole_numbers_that_few_coarse_answers_allow_are_no_certainty():
    """Two answers in whole numbers about 40 people are met by millions of vectors; one of them is no knowledge."""
    made = trials("random_binary", repeats=10)
    for reading in read_answers(made.ask(2, Exact()), "strongest"):
        assert reading.values.min() > 0 and reading.values.max() < 1


@pytest.mark.parametrize("mechanism", SIGNED, ids=str)
def test_who_knows_more_recovers_more(mechanism):
    made = trials(repeats=30)
    strongest, without, published = (leaked(made, 20, mechanism, decoder) for decoder in DECODERS)
    assert strongest > without - 0.01 and without > published - 0.03
    assert published > 0.4


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("design", [*DESIGNS, "single"])
def test_without_answers_there_is_the_prior_or_nothing(design: str, decoder: str):
    made = trials(design)
    share = made.n_advantaged / N
    for people, reading in zip(made.people, read_answers(made.ask(0, Exact()), decoder), strict=True):
        if decoder == "strongest":
            assert (reading.recovered == (people.prior > share)).all()
            assert reading.values == pytest.approx(1 - people.prior)
        else:
            assert reading.recovered.all() and leakage(people.sensitive, reading.recovered) == 0.5


def answered(design: str, mechanism, scores, answers, prior, sizes: tuple[int, int]) -> Answered:
    """Return answers made by hand, one repeat."""
    return Answered(
        design=design,
        scores=np.asarray(scores, dtype=float)[np.newaxis],
        answers=np.asarray(answers, dtype=float)[np.newaxis],
        released=[],
        prior=np.asarray(prior, dtype=float)[np.newaxis],
        mechanism=mechanism,
        n_advantaged=sizes[0],
        n_disadvantaged=sizes[1],
    )


class TestNotAskedAbout:
    """People no question is about keep what was known of them: their prior, or that most are advantaged."""

    PRIOR = (0.9, 0.3, 0.9, 0.3, 0.9, 0.3)

    def test_flipped_people_under_the_published_decoder(self):
        base = np.array([0.2, 0.8, 0.4, 0.5, 0.3, 0.6])
        scores = np.tile(base, (5, 1))
        for person in range(4):
            scores[person + 1, person] = 1 - base[person]
        truth = np.array([0, 0, 1, 0, 1, 1])
        gaps = scores @ np.where(truth == 1, 1 / 3, -1 / 3)
        (found,) = read_answers(answered("targeted", Exact(), scores, gaps, self.PRIOR, (3, 3)), "published")
        assert found.recovered.tolist() == [0, 0, 1, 1, 1, 1]  # a score of a half hides its person
        assert found.values[[3, 4, 5]].tolist() == [0, 0, 0]

    def test_flipped_people_and_what_the_first_answer_says_of_the_others(self):
        base = np.array([0.2, 0.8, 0.4, 0.5, 0.3, 0.9])
        truth = np.array([0, 0, 1, 0, 1, 1])
        weights = np.where(truth == 1, 1 / 3, -1 / 3)
        scores = np.tile(base, (4, 1))
        for person in range(3):
            scores[person + 1, person] = 1 - base[person]
        for decoder in ("strongest", "without_prior"):
            given = answered("targeted", Exact(), scores, scores @ weights, [0.5] * 6, (3, 3))
            (found,) = read_answers(given, decoder)
            assert found.recovered.tolist() == truth.tolist()
            assert found.values[:3].tolist() == [1, 1, 0]
        all_but_one = np.vstack([scores, base, base])
        all_but_one[4, 4], all_but_one[5, 5] = 0.7, 0.1  # the questions about the fourth and the fifth, sixth left out
        all_but_one = np.vstack([all_but_one[:4], base, all_but_one[4]])
        given = answered("targeted", Exact(), all_but_one, all_but_one @ weights, [0.5] * 6, (3, 3))
        (found,) = read_answers(given, "without_prior")
        assert found.recovered.tolist() == truth.tolist()

    def test_people_an_absolute_answer_does_not_name(self):
        mechanism = Exact(absolute=True)
        given = answered("single", mechanism, np.eye(6)[:2], [0.5, 0.25], self.PRIOR, (4, 2))
        strongest, without = (read_answers(given, decoder)[0] for decoder in ("strongest", "without_prior"))
        assert strongest.recovered.tolist() == [0, 1, 1, 0, 1, 0]
        assert without.recovered.tolist() == [0, 1, 1, 1, 1, 1]
        assert strongest.values[2:] == pytest.approx([0.1, 0.7, 0.1, 0.7])

    def test_packed_people(self):
        made = trials("bits", n=120)
        assert made.numbers == (0, 1, 2, 3)
        people, reading = made.reading(1, Exact(), "strongest")
        assert (reading.recovered[:50] == people.sensitive[:50]).all()
        assert reading.values[50:] == pytest.approx(1 - people.prior[50:])
        _, without = made.reading(1, Exact(), "without_prior")
        assert (without.recovered[50:] == 1).all()


def test_absolute_gaps_of_groups_of_one_size_say_nothing():
    made = trials("single", n_disadvantaged=200)
    assert made.n_advantaged == made.n_disadvantaged
    mechanism = Exact(absolute=True)
    assert leaked(made, N, mechanism, "strongest") == leaked(made, 0, mechanism, "strongest")
    assert leaked(made, N, mechanism, "published") == 0.5
