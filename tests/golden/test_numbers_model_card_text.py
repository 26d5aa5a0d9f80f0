"""What is said of model cards, and whose they are, is as it was: findings, advice, tables, models and people."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.base.caveats import Caveat, CaveatKind
from core.datasets.splits import split
from core.stats.estimates import Estimate, accuracy
from core.studies.model_card import (
    Advice,
    Draws,
    ModelCardResult,
    ModelCardSettings,
    Tried,
    in_common,
    measure_cards,
)
from core.studies.model_card import findings as wording
from core.studies.model_card.card_result import (
    _left_out,
    _recipe,
    drawn_people,
    kept_columns,
    natural_models,
    released_people,
)
from core.studies.model_card.study import STUDY
from core.studies.subject import AuditConfig, subject_of
from tests import samples
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.golden.test_numbers_model_card_attacks import card_people


def _dropped(notes: tuple[str, ...]) -> tuple[Caveat, ...]:
    """Return a caveat for each note: of records left out, and of anything else."""
    kinds = (CaveatKind.RECORDS_DROPPED, CaveatKind.TABLE_PARSING)
    return tuple(Caveat(kind, note) for kind, note in zip(kinds, notes, strict=False))


def some(rng: np.random.Generator, *values: Any) -> Any:
    """Return one of a few values."""
    return values[int(rng.integers(len(values)))]


def worded(seed: int) -> ModelCardResult:
    """Return a small card with invented results: nobody, one person or all disclosed, noise, contradictions, limits."""
    rng = np.random.default_rng(seed)
    people = card_people(names=("south", "north", "east") if seed % 3 == 1 else ("south", "north"))
    epsilon = 60.0 if seed % 4 == 3 else None
    settings = ModelCardSettings(
        family="mixed",
        count=some(rng, 1, 2, 3),
        decimals=None if epsilon else (None, 0, 1, 3)[seed % 4],
        epsilon=epsilon,
        statistics=("sp_gap",) if seed % 2 else ("sp_gap", "tpr_rate"),
        sizes=seed % 5 > 0 or epsilon is not None,
    )
    study = measure_cards(people, settings)
    who = rng.choice(40, some(rng, 0, 1, 2, 5), replace=False)
    truth = people.sensitive[who]
    guess = truth if seed % 2 else np.ones_like(truth)
    right = None if seed % 6 == 5 else accuracy(truth, guess)
    disclosed = replace(study.pinned, people=who, inferred=guess, right=right)
    gain = Estimate(value=0.01, low=some(rng, -0.02, 0.0, 0.005), high=some(rng, 0.02, 0.05, 0.3), n=40)
    bits = replace(study.measured.bits, low=some(rng, 2.0, 3.04, math.nan), high=some(rng, 3.0, 3.05, 90.0))
    expected = replace(study.prediction.bits, value=some(rng, 0.0, 3.04, 120.0))
    share = some(rng, 0.0, 0.0099, 0.01, 0.5, 1.0)
    noise = None if epsilon is None else Draws(count=20, pinned=some(rng, 0, who.size, 7), converged=rng.random() < 0.7)
    return replace(
        study,
        people=replace(people, left_out=("Two.", "Three.")[: seed % 3], rows_read=1234),
        status=some(rng, "converged", "converged", "not_converged", "infeasible"),
        reason="" if seed % 2 else "Too slow.",
        measured=replace(study.measured, accuracy_gain=gain, bits=bits),
        prediction=replace(study.prediction, bits=expected, draws=some(rng, 0, 24)),
        meter=replace(study.meter, joint_bits=study.meter.prior_bits * share),
        pinned=disclosed,
        in_common=in_common(disclosed, people.columns, study.published.release),
        draws=noise,
    )


def in_sentences() -> NamedValues:
    """What is said of cards, and of what to publish instead."""
    for seed in range(18):
        study = worded(seed)
        for finding in wording.findings(study):
            texts = [finding.point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats]
            yield f"{seed}", [text for text in texts if text and text not in (wording.APPROXIMATE, wording.DISCLOSED)]
        yield f"{seed}, as most", [wording.settled_as_most(study), wording.left_out(study.people), study.n_numbers]
        rng = np.random.default_rng(seed)
        kinds = ((None, None), (1, None), (None, 3.0))[: 2 + seed % 2]
        tried = tuple(
            Tried(decimals=decimals, epsilon=epsilon, pinned=some(rng, 0, 3), df_bits=1.5, converged=rng.random() < 0.8)
            for decimals, epsilon in kinds
        )
        best = {"decimals": some(rng, None, None, 1, 3), "epsilon": some(rng, None, 0.3)}
        advised = Advice(exact=seed % 5 == 0, tried=tried, **best)
        instead = wording.with_advice(wording.disclosure(study), advised, study)
        yield f"{seed}, advice", [wording.advice(advised, study).text, instead.point[:40], instead.to_do]
        for title, rows in wording.tables(replace(study, advice=advised)).items() if seed < 5 else ():
            yield f"{seed}, {title}", [len(rows), str([*rows[0].values()][:3])[:120]]
    halves = replace(study, people=replace(study.people, codes=np.arange(40) % 2))
    for guess in ([0], [1], [0, 1], [1, 1]):
        both = replace(halves, pinned=replace(study.pinned, people=np.arange(len(guess)), inferred=np.array(guess)))
        people = replace(both.people, codes=(np.arange(40) % 3 > 0).astype(np.uint8))
        yield (
            f"half of all, {guess}",
            [wording.settled_as_most(variant) for variant in (both, replace(both, people=people))],
        )
    yield "bits", [wording.bits_text(bits) for bits in (-0.04, 0.0, 99.94, 99.95, -1234.5)]


def in_variants() -> NamedValues:
    """Whose numbers are on a card, and of which models."""
    families = ("mixed", "seeds", "depths", "features")
    for family in families:
        yield f"recipes of {family}", [" ".join(map(str, _recipe(family, i))) for i in range(13)]
    data, config = samples.dataset(260, seed=2), AuditConfig(method="unmitigated", seed=5)
    splits = split(data, train_share=config.train_share, seed=5)
    for count in (1, 4):
        yield f"{count} fair", natural_models(data, splits, splits.test[:9], count=count, family="tolerances")[1]
    for without in ((), ("town",), ("town", "skill"), ("town", "skill", "score"), ("height",)):
        yield f"without {without}", refused(kept_columns, data, without)
    yield "drawn", [drawn_people(9, most, seed=1).tolist() for most in (0, 1, 4, 8, 9, 10)]
    for rows_read, notes in (
        (260, ()),
        (263, ()),
        (263, ("3 records without hired are left out.", "Else.")),
        (261, ()),
        (261, ("1 record without hired is left out.", "Else.")),
    ):
        yield f"left out {rows_read}", _left_out(replace(data, rows_read=rows_read, caveats=_dropped(notes)))
    subject = subject_of(config, data)
    for settings in (
        ModelCardSettings(),
        ModelCardSettings(on="train", people=20, group="south"),
        ModelCardSettings(family="mixed", count=3, without=("town",)),
        ModelCardSettings(group="east"),
    ):
        steps: list[int] = []
        report = lambda *done, log=steps: log.extend(done)  # noqa: E731
        people = refused(released_people, subject, settings, report)
        if isinstance(people, str):
            yield settings.group, people
            continue
        yield f"{settings.family}, {settings.on}", [people.group, people.other_group, people.names, people.rows, steps]
        first = people.columns.iloc[0].astype(str).tolist()
        yield f"{settings.family}, columns", [list(people.columns), first, people.n]
    for planted in (False, True):
        subject, settings = STUDY.plants[0].make(1, planted)
        *_, study = STUDY.run(subject, settings)
        numbers = [study.n, study.pinned.count, study.measured.accuracy_gain, STUDY.steps(subject, settings)]
        yield f"planted {planted}", numbers


CASES: dict[str, Callable[[], NamedValues]] = {"words": in_sentences, "variants": in_variants}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_words_and_people_of_model_cards(case: str) -> None:
    compare_numbers(f"model_card_{case}", CASES[case]())
