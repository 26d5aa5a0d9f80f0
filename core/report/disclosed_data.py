"""Table, model and plan as the disclosure edition tells them: put together from known parts, no file named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from core.report.document import Document
from core.report.numbers import rounded, rounded_estimate
from core.report.suppression import withheld_counts

if TYPE_CHECKING:
    from core.decision import AuditPlan

_OWN = "A table of the auditor's own"

_MORE_NOTES = "What was left out, filled in or stands twice is told in the internal edition."


def disclosed_data(data: Document, plan: AuditPlan, threshold: int) -> Document:
    """Return the table without fingerprint, notes and names of files."""
    own = _own(plan)
    return {
        **data,
        "title": _OWN if own else data["title"],
        "source": f"{_OWN}, not named here." if own else data["source"],
        "sets": _sets(data, threshold),
        "split": _split(plan),
        "notes": [_MORE_NOTES] if data["notes"] else [],
        "fingerprint": "",
    }


def _own(plan: AuditPlan) -> bool:
    """Whether the table is none of the catalogue, whose titles and sources are FairLeak's."""
    from core.datasets import CATALOG

    return bool(plan.data.file) or plan.data.dataset not in CATALOG


def _sets(data: Document, threshold: int) -> dict[str, int | None]:
    """Return the sizes of the sets; a small one is withheld, and another if all records would tell it."""
    counts = {**data["sets"], "": data["n"]}
    sums = [("", tuple(data["sets"]))] if sum(data["sets"].values()) == data["n"] else []
    hidden = withheld_counts(counts, sums, threshold=threshold, public=("",))
    return {name: None if name in hidden else size for name, size in data["sets"].items()}


def _split(plan: AuditPlan) -> str:
    config = plan.config
    if config.roles is not None and config.roles.sets:
        return "The sets are those of a column of the table; a seed that is withheld divides the attacker's."
    does = "train the model" if plan.model.kind == "train" else "stand for the model's training records"
    return (
        f"Drawn with a seed that is withheld: {100 * config.train_share:g}% of the records {does}; the attacker knows "
        "half of the others, the test takes the rest."
    )


def disclosed_model(model: Document, plan: AuditPlan, threshold: int, *, compared: bool, trained: bool) -> Document:
    """Return the model without fingerprint and file.

    Parameters
    ----------
    compared : bool
        Whether the unfairness on the test records may stand.
    trained : bool
        Whether that on the training records may.
    """
    from core.decision.summaries import ModelNote

    rates = {
        name: None if model[name]["n"] < threshold else rounded_estimate(model[name])
        for name in ("accuracy_train", "accuracy_test", "majority_test")
    }
    return {
        **model,
        **rates,
        "title": "Model file, not named here" if plan.model.kind == "file" else model["title"],
        "unfairness_test": rounded_estimate(model["unfairness_test"]) if compared else None,
        "achieved": rounded(model["achieved"]) if trained else None,
        "notes": [note for note in model["notes"] if note in tuple(ModelNote)],
        "fingerprint": "",
    }


def disclosed_plan(plan: Document, audited: AuditPlan, title: str) -> Document:
    """Return the plan without files and seed; its title goes where it names a file or is the table's own `title`."""
    own, name = _own(audited), plan["title"]
    return {
        **plan,
        "title": "" if _names_file(name, audited) or (own and name == title) else name,
        "data": {**plan["data"], "file": "withheld" if plan["data"]["file"] else ""},
        "model": {**plan["model"], "file": "withheld" if plan["model"]["file"] else ""},
        "policy": "withheld" if plan["policy"] else "",
        "config": {**plan["config"], "seed": None, **({"dataset": "upload"} if own else {})},
    }


def _names_file(title: str, plan: AuditPlan) -> bool:
    for path in (plan.data.file, plan.model.file, plan.policy):
        name = re.split(r"[\\/]", path)[-1].casefold()
        if name and (name in title.casefold() or name.rpartition(".")[0] == title.casefold()):
            return True
    return False
