"""The worst of several draws of the noise: what a study, its advice and an exit code agree on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.model_card import (
    DRAWS,
    Release,
    ReleaseSettings,
    advise,
    drawn_again,
    pinned,
    project,
    release_of,
    study,
)
from core.model_card.pinned_people import noise_generator, worst_of_draws
from tests.release_cases import large_case
from tests.release_samples import people


def by_hand(posterior: np.ndarray, release: Release, sensitive: np.ndarray, *, seed: int, draws: int) -> list[int]:
    """Return how many people each draw pins down."""
    found = []
    for draw in range(draws):
        rng = noise_generator(seed, epsilon=release.epsilon, draw=draw)
        after = project(posterior, release.publish(sensitive, rng=rng)).probability
        found.append(pinned(posterior, after).count)
    return found


@pytest.mark.parametrize("epsilon", [3.0, 20.0, 60.0, 200.0])
def test_the_worst_is_the_most_of_the_draws_looked_at(epsilon: float):
    case = large_case(200, n=250, k=25, epsilon=epsilon)
    worst = worst_of_draws(case.posterior, case.release, sensitive=case.sensitive, seed=4)
    counts = by_hand(case.posterior, case.release, case.sensitive, seed=4, draws=worst.count)
    assert worst.pinned == max(counts) and worst.known
    assert worst.count == DRAWS or (worst.count >= 3 and worst.pinned and not any(counts[2:-1]))


def test_without_noise_there_is_one_draw():
    case = large_case(5, n=250, k=25)
    worst = worst_of_draws(case.posterior, case.release, sensitive=case.sensitive)
    assert (worst.count, worst.pinned) == (
        1,
        pinned(case.posterior, project(case.posterior, case.published).probability).count,
    )
    plain = study(people(), ReleaseSettings(count=12, decimals=None))
    assert drawn_again(plain, people()) is plain and plain.most_pinned == plain.pinned.count


def test_a_draw_that_pins_nobody_is_not_the_whole_story():
    """Some budget pins nobody in the draw a study shows and somebody in another."""
    told = []
    for epsilon in (10.0, 30.0, 60.0):
        for seed in range(3):
            settings = ReleaseSettings(count=12, decimals=None, epsilon=epsilon, seed=seed)
            found = drawn_again(study(people(), settings), people())
            assert found.draws is not None and found.most_pinned == found.draws.pinned >= found.pinned.count
            assert found.to_frame().set_index("quantity")["value"]["pinned_at_worst"] == found.most_pinned
            told.append((found.pinned.count, found.most_pinned))
    assert any(here == 0 < worst for here, worst in told) and any(worst == 0 for _, worst in told)


@pytest.mark.parametrize(("decimals", "epsilon"), [(None, 10.0), (None, 17.5), (6, None), (0, None)])
def test_the_advice_tries_the_precision_of_the_card_with_the_same_draws(
    decimals: int | None, epsilon: float | None, monkeypatch: pytest.MonkeyPatch
):
    settings = ReleaseSettings(count=12, decimals=decimals, epsilon=epsilon, seed=2)
    found = drawn_again(study(people(), settings), people())
    monkeypatch.setattr("core.model_card.advice.EPSILONS", (30.0, 10.0))
    advice = advise(people().posterior, release_of(people(), settings), sensitive=people().sensitive, seed=2)
    rows = [row for row in advice.tried if (row.decimals, row.epsilon) == (decimals, epsilon)]
    assert [row.pinned for row in rows] == [found.most_pinned]
    assert rows[0].draws == (1 if found.draws is None else found.draws.count)
    coarse = [row.decimals for row in advice.tried if row.epsilon is None and row.decimals is not None]
    budgets = [row.epsilon for row in advice.tried if row.epsilon is not None]
    assert advice.tried[0].decimals is None and coarse == sorted(coarse, reverse=True)
    assert budgets == sorted(budgets, reverse=True)


def test_a_draw_whose_posterior_is_not_known_is_said_to_be(monkeypatch: pytest.MonkeyPatch):
    case = large_case(6, n=300, k=2, epsilon=5.0)

    def failing(*args: object) -> object:
        return replace(project(*args), status="not_converged", reason="It was stopped.")  # type: ignore[arg-type]

    monkeypatch.setattr("core.model_card.pinned_people.project", failing)
    worst = worst_of_draws(case.posterior, case.release, sensitive=case.sensitive)
    assert not worst.known and worst.count == 3
