"""One plan's people and model, and what is computed once for several checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.splits import MOST_TAUGHT, Splits
from core.decision.plan import AuditPlan, OutputsPlan
from core.errors import Cancelled
from core.training import ModelFindings

T = TypeVar("T")


class Progress:
    """Counts steps and reports them.

    Parameters
    ----------
    report : callable, optional
        Called with (steps done, steps in all); may raise `core.errors.Cancelled` to stop.
    """

    def __init__(self, total: int, report: Callable[[int, int], None] | None = None) -> None:
        self.total, self.done, self._report = total, 0, report
        self._tell()

    def tick(self) -> None:
        """Count one step."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """Count up to this step; steps are never taken back."""
        self.done = max(self.done, min(done, self.total))
        self._tell()

    def _tell(self) -> None:
        if self._report is not None:
            self._report(self.done, self.total)


class Audited:
    """What is audited.

    Parameters
    ----------
    config : AuditConfig
        The plan's, with the roles the dataset was built with.
    model_notes : tuple of str
        What is to be known of how a model file answered.
    """

    def __init__(
        self,
        plan: AuditPlan,
        config: AuditConfig,
        dataset: AuditDataset,
        splits: Splits,
        model: ModelFindings,
        progress: Progress,
        *,
        model_notes: tuple[str, ...] = (),
    ) -> None:
        self.model_notes = model_notes
        self.plan, self.config, self.dataset = plan, config, dataset
        self.splits, self.model, self.progress = splits, model, progress
        self._found: dict[str, Any] = {}
        self._broken: dict[str, Exception] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, made once under this name; what broke once breaks again at once."""
        if name in self._broken:
            raise self._broken[name]
        if name not in self._found:
            try:
                self._found[name] = make()
            except Cancelled:
                raise
            except Exception as error:
                self._broken[name] = error
                raise
        found: T = self._found[name]
        return found

    @property
    def trainable(self) -> bool:
        """Whether the model can be trained again."""
        return self.plan.model.kind == "train"

    @property
    def has_scores(self) -> bool:
        """Whether the model gives scores, and not only labels."""
        return self.model.scores_given

    @property
    def released_scores(self) -> npt.NDArray[np.float64] | None:
        """Everybody's score with the decimals it is released with; None where labels alone are released."""
        return self.scores_of(self.plan.outputs)

    def scores_of(self, outputs: OutputsPlan) -> npt.NDArray[np.float64] | None:
        """Return everybody's score as a release would give it; None where it gives labels alone."""
        if not self.has_scores or outputs.released != "scores":
            return None
        return self.model.scores if outputs.decimals is None else np.round(self.model.scores, outputs.decimals)

    @property
    def sets_known(self) -> bool:
        """Whether the training records are those the model was trained on."""
        return self.trainable or self.dataset.sets is not None

    @property
    def attribute(self) -> str:
        """What the sensitive attribute is called."""
        return self.dataset.roles.attribute

    @property
    def trained_on(self) -> str:
        """What to call the training records: "4,080 people the model was trained on"."""
        n = self.splits.train.size
        return f"{n:,} people the model was trained on" if self.sets_known else f"{n:,} people drawn from the table"

    @property
    def over_people(self) -> tuple[str, ...]:
        """Return what every interval over people takes for granted, a sentence each."""
        told = ["The interval is over people like these; model, attackers and seed are taken as they are."]
        if self.splits.known.size > MOST_TAUGHT:
            told.append(f"The attackers learn from a seeded sample of {MOST_TAUGHT:,} of the people they know.")
        if not self.sets_known:
            told.append(
                "Nobody told which records the model was trained on: people drawn at random stand for them, so what "
                "it gives away of its own training records may be more."
            )
        return tuple(told)
