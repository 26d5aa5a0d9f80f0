"""Leakage from answers to bias queries, as tables: page, terminal and files show these numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.estimates import Estimate
from core.quantities import Row, Tables, change, share
from core.queries.decoders import DECODER_TITLES
from core.queries.guarantees import ErrorQuantiles
from core.queries.mechanisms import NOISES
from core.queries.trials import Leak

MEANING = (
    "Balanced accuracy: random guessing reaches 50%; 95% CIs over repetitions with other people, queries and noise.",
    "Gain: over the features alone, repetition by repetition.",
)
"""What the columns mean."""


def tables(leaks: Mapping[str, Sequence[Leak]], errors: Mapping[str, ErrorQuantiles]) -> Tables:
    """Return the leaks by how the answers are made, and the errors of an answer by kind of noise."""
    return {
        "Leakage by answers": [row for answers, own in leaks.items() for row in _leak_rows(answers, own)],
        "Error of an answer": [
            {"noise": NOISES[noise], "median error": error.median, "95th percentile": error.high}
            for noise, error in errors.items()
        ],
    }


def _leak_rows(noise: str, leaks: Sequence[Leak]) -> Iterator[Row]:
    for leak in sorted(leaks, key=lambda leak: leak.m):
        own = leak_row(DECODER_TITLES[leak.decoder], leak.m, leak.leakage.n, leak.leakage)
        everybody = {"lowest draw": share(leak.lowest), "draws with everybody inferred": share(leak.complete)}
        yield {"noise": noise, **own, "gain": change(leak.gain), **everybody}


def leak_row(attacker: str, answers: int, draws: int, leakage: Estimate) -> dict[str, object]:
    """Return how much an attacker recovers after so many answers."""
    return {"attacker": attacker, "answers": answers, "draws": draws, "balanced accuracy": share(leakage)}
