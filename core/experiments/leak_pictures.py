"""Three leaks of the built-in demo as people of 100: what the Overview page opens with, computed beforehand.

``python -m core.experiments.leak_pictures data/demo_leaks.json`` computes them again by the audit's own measurements.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ..auditing.plan import changed_plan
from ..auditing.run import audited_of, measured
from ..auditing.suggestion import catalogue_plan
from ..base.errors import FairLeakError
from ..base.files import write_file
from ..base.serialize import RecordError, Result, dumps, loads
from ..datasets import load
from ..datasets.catalog import DEMO_FILE
from ..stats.estimates import Estimate

PICTURES = DEMO_FILE.with_name("demo_leaks.json")

QUESTIONS = 25
"""Exact answers to bias queries in the first picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakPicture(Result):
    """How many of 100 an attacker gets right without the release and with it, as shares, and the words beside them."""

    title: str
    before: Estimate
    after: Estimate
    before_text: str
    after_text: str
    chance_text: str


def leak_pictures() -> tuple[LeakPicture, ...]:
    """Return the pictures of the demo, by the measurements of its audit (about a minute)."""
    answers = {
        "bias_queries.questions": QUESTIONS,
        "bias_queries.people": 100,
        "bias_queries.mechanism": "exact",
    }
    plan = changed_plan(catalogue_plan("demo"), answers)
    audited = audited_of(plan, load("demo"))
    attribute = audited.attribute

    def sides(check: str) -> tuple[Estimate, Estimate]:
        """Return what is reached without the release, and with it."""
        measurement = measured(check, audited)
        gain = measurement.estimate
        control = measurement.control
        if gain is None or control is None:
            raise FairLeakError(
                f"The demo's {check} must have a number, got none: {measurement.reason}"
            )
        return control, Estimate(
            value=control.value + gain.value,
            low=control.value + gain.low,
            high=control.value + gain.high,
            n=gain.n,
            level=gain.level,
        )

    features, answered = sides("answers_excess")
    imputed, corrected = sides("correction_gain")
    members = measured("membership_auc", audited)
    assert members.estimate is not None and members.control is not None
    tolerance = plan.config.tolerance
    return (
        LeakPicture(
            title="Fairness answers",
            before=features,
            after=answered,
            before_text=f"people's {attribute} inferred correctly from their other data alone.",
            after_text=f"once {QUESTIONS} questions about the model's fairness are answered exactly.",
            chance_text="random guessing gets 50 · each group counts the same",
        ),
        LeakPicture(
            title="Tolerance",
            before=imputed,
            after=corrected,
            before_text=f"people's {attribute} inferred correctly by the best attacker before disclosure.",
            after_text=f"once the fairness tolerance {tolerance:g} is published.",
            chance_text="the best of 4 attackers and the majority-class baseline",
        ),
        LeakPicture(
            title="Training data",
            before=members.control,
            after=members.estimate,
            before_text="pairs of a training record and another record distinguished by random guessing.",
            after_text="distinguished by the best of the attacks on the released scores.",
            chance_text="100 pairs",
        ),
    )


def read_pictures(path: Path = PICTURES) -> tuple[LeakPicture, ...]:
    """Return the pictures that came with FairLeak; none if their file is missing or damaged."""
    try:
        return loads(path.read_text(encoding="utf-8"), tuple[LeakPicture, ...])
    except (OSError, UnicodeDecodeError, RecordError):
        return ()


if __name__ == "__main__":
    write_file(Path(sys.argv[1]), f"{dumps(leak_pictures())}\n".encode(), what="The pictures")
