"""One targeted person and one question: how often she is named, over epsilon, against the guarantees."""

from __future__ import annotations

import numpy as np

from core.queries import accuracy_limit, targeted_leakage
from pages.common import panels, query_controls, shell
from pages.common.asked import Asked
from pages.common.query_controls import EPSILONS, NOISES, Answering

__all__ = ["draw"]

_NOISES = ("noisy_sums", "laplace", "smooth_laplace", "cauchy")


def draw(people: Asked, answering: Answering) -> None:
    """Draw the curves over epsilon."""
    from core.figures import draw_targeted

    n1, n0 = people.trials.n_advantaged, people.trials.n_disadvantaged
    epsilons = sorted({*np.geomspace(EPSILONS[0], EPSILONS[-1], 60).tolist(), *EPSILONS})
    curves = {
        NOISES[noise]: [
            (e, float(targeted_leakage(query_controls.mechanism(answering, noise, epsilon=e), n1, n0)))
            for e in epsilons
        ]
        for noise in _NOISES
    }
    limits = {
        "Limit, sizes unknown": [(e, accuracy_limit(e)) for e in epsilons],
        "Limit, sizes known": [(e, accuracy_limit(e, sizes_known=True)) for e in epsilons],
    }
    epsilon = answering.epsilon
    here = {name: dict(points)[epsilon] for name, points in curves.items()}
    worst = max(here, key=lambda name: here[name])
    shell.whisper(
        f"One question about one person: {worst} allows {100 * here[worst]:.1f}% balanced accuracy at ε = {epsilon:g}",
        f"The whole budget on one answer about a model that accepts only them; groups of {n1:,} and {n0:,}, no prior. "
        "Baseline: random guessing gives 50%. The limits are for noise that keeps its ε",
    )
    drawn = draw_targeted(curves, limits, NOISES[answering.noise], epsilon, shell.palette())
    panels.chart(drawn, key="targeted_chart")
    panels.numbers({"One targeted person": drawn.table}, key="targeted")
