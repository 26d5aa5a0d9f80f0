"""Other defences on the same people: what they change, and how often each attacker is right against them."""

from __future__ import annotations

from typing import Any

from core.figures.guard import attacker_label
from core.wording import count
from pages.common import panels, shell
from pages.common.guarding.work import Grown, Guarding

__all__ = ["draw"]

_SHOWN = {
    "blurme": ("BlurMe", "3 added"),
    "chisquare": ("ChiSquare", "3 added"),
    "qpm": ("QPM", "slack 0.5"),
    "local_dp": ("Local DP, ε = 8", "epsilon 8 an entry"),
}
"""What is drawn of each method; the other settings are among the numbers."""

_READERS = ("logistic", "forest", "network")


def draw(work: Guarding, grown: Grown, budget: float) -> None:
    """Draw the comparison, with AttriGuard at the slider's budget."""
    from core.attriguard import comparison
    from core.figures import DefenceRow, draw_defences

    study = grown.study
    made: Any = work.need("others", "Defending otherwise", lambda report: list(comparison(grown.guard, report)))
    now = {point.attacker: point.accuracy for point in study.at(budget)}
    ours = DefenceRow(
        name="AttriGuard",
        size=study.spent(budget).value,
        rates={name: now[name] for name in _READERS if name in now},
        ours=True,
    )
    rows = [
        DefenceRow(name=_name(row), size=row.size.value, rates=row.accuracy)
        for row in made
        if _SHOWN[row.method][1] == row.parameter
    ]
    sizes = sorted(row.size for row in rows)
    shell.whisper(
        f"AttriGuard changes {ours.size:.1f} {study.unit} a person, the others {sizes[0]:.1f} to {sizes[-1]:.1f}",
        f"How often each attacker, trained on clean ratings, names the {shell.escape(study.attribute)} of "
        f"{count(study.truth.size)} people. BlurMe and ChiSquare are told the true value, or what logistic regression "
        "takes for it (guessed); an attacker who trains on their noise is not among them",
    )
    drawn = draw_defences(
        [ours, *rows],
        study.majority,
        shell.palette(),
        unit=study.unit,
        labels={name: attacker_label(name) for name in _READERS},
    )
    panels.chart(drawn, key="others_chart")
    panels.numbers({"Defences drawn": drawn.table, "All settings": _all(made)}, key="guard-others")


def _name(row: Any) -> str:
    told = {"blurme": True, "chisquare": True}.get(row.method, False)
    aside = (", true value" if row.knows_truth else ", guessed") if told else ""
    return _SHOWN[row.method][0] + aside


def _all(made: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "defence": row.method,
                "setting": row.parameter,
                "told the true value": row.knows_truth,
                "ratings changed": row.size.value,
                **{attacker_label(name): estimate.value for name, estimate in row.accuracy.items()},
            }
            for row in made
        ]
    )
