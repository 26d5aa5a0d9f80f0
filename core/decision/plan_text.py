"""A plan as the TOML that `core.decision.read_plan` reads back equal, and with comments, to start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from core.decision.plan import AuditPlan
from core.decision.plan_file import NO_LIMIT
from core.toml_files import quoted

__all__ = ["commented_plan", "plan_text", "source_tables", "toml_value"]

_ROLE_TEXTS = ("first_name", "other_name", "attribute_name", "prediction", "score", "sets")

_COMMENTS = {
    "": {
        "schema": "Version of this format.",
        "title": "What to call the audit in the report.",
        "policy": 'A policy file beside this one, or "predictions" or "default", which FairLeak brings along; left '
        'out: "default". "--policy" overrides it.',
    },
    "data": {
        "dataset": "A dataset of the catalogue: {datasets}.",
        "attribute": "Which of its attributes: {attributes}.",
        "file": "A CSV or Parquet file beside this one.",
        "label": "The column the model predicts.",
        "positive": "Its value that counts as 1.",
        "sensitive": "The column of the sensitive attribute.",
        "group": "Its values that form the first group; everybody else is the second. Or: each = true for a group "
        "each value, at_most = 30 or cuts = [30, 50] for numbers.",
        "excluded": "Columns that neither model nor attacker sees.",
        "missing": 'Records that lack a feature: "keep" or "drop".',
        "prediction": "The column of predicted labels.",
        "score": "The column of scores in [0, 1].",
        "sets": "The column that says train, attack or test for each record; without it the sets are drawn.",
    },
    "model": {
        "kind": '"train": trained here; "predictions": columns of the table; "file": an ONNX or skops file.',
        "file": "An ONNX or skops file beside this one.",
        "features": "The columns it takes, in its order; left out where the file names them itself.",
        "positive": "Its answer that counts as 1, where it does not answer with 0 and 1.",
        "threshold": "From which score on a prediction counts as 1, where only scores are given.",
        "method": "How it is trained: {methods}.",
        "metric": "The fairness metric: {metrics}.",
        "tolerance": "The largest unfairness that is promised, and so disclosed to attackers.",
        "train_share": "Share of the records that trains the model; of the rest the attacker knows half.",
        "seed": "Fixes sets, training, predictions and attackers.",
    },
    "outputs": {
        "released": 'What is handed out about each person: "scores" (with the labels), or "labels" alone. Attacks use '
        "all of it. Scores are released as they are, or with decimals = 3 beside this line rounded so.",
        "decimals": "Decimals the scores are released with.",
    },
    "answers": {
        "questions": "Answers to bias questions that are planned; 0 for none. Long beyond 100.",
        "people": "People they are about.",
        "mechanism": "How they are answered: {mechanisms}.",
        "epsilon": "Privacy budget of all of them together; not used by exact and rounded answers.",
        "decimals": "Of rounded answers.",
        "repeats": "Draws of people, questions and noise the leakage is averaged over.",
    },
    "membership": {"shadows": "Shadow models of LiRA, an even number of at least 4; 0 leaves LiRA out."},
    "guard": {"budget": "Columns AttriGuard changes per person on average; 0 if it is not used."},
}


def plan_text(plan: AuditPlan) -> str:
    """Return the plan as TOML."""
    return "\n".join(_lines(plan, None, {}))


def commented_plan(
    plan: AuditPlan, *, options: Mapping[str, str], notes: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the plan as TOML with a comment over every key.

    Parameters
    ----------
    plan : AuditPlan
    options : mapping of str to str
        What can be chosen, for the comments: datasets, attributes, methods, metrics, mechanisms.
    notes : mapping of str to str
        Further comments, of one line or several: "data.label" goes over that key of [data], "data" over the table's
        first, "policy" stands in that key's place where the plan names none.
    """
    return "\n".join(_lines(plan, options, notes))


def toml_value(value: Any) -> str:
    """Return a text, number, flag or list as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def _lines(plan: AuditPlan, options: Mapping[str, str] | None, notes: Mapping[str, str]) -> Iterator[str]:
    for title, fields in _tables(plan).items():
        if title:
            yield ""
            yield f"[{title}]"
        yield from _commented(notes.get(title, ""))
        for key, value in fields.items():
            comment = _COMMENTS.get(title, {}).get(key)
            if options is not None and comment:
                yield f"# {comment.format(**options)}"
            yield from _commented(notes.get(f"{title}.{key}", ""))
            yield f"{key} = {toml_value(value)}"
        if not title and "policy" in notes and not plan.policy:
            yield f"# {_COMMENTS[title]['policy']}"
            yield from _commented(notes["policy"])
    yield ""


def _commented(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in text.splitlines())


def _tables(plan: AuditPlan) -> dict[str, dict[str, Any]]:
    """Return title -> key -> value, without what is empty or does not go with the kind of model."""
    head: dict[str, Any] = {"schema": plan.schema}
    head |= {key: value for key, value in (("title", plan.title), ("policy", plan.policy)) if value}
    tables = {"": head} | source_tables(plan)
    outputs = plan.outputs.to_dict().items()
    tables["outputs"] = {key: value for key, value in outputs if value is not None}
    for title, part in (("answers", plan.answers), ("membership", plan.membership), ("guard", plan.guard)):
        tables[title] = part.to_dict()
    return tables


def source_tables(plan: AuditPlan) -> dict[str, dict[str, Any]]:
    """Return the tables [data] and [model] of a plan."""
    tables = {"data": _data(plan), "model": _model(plan)}
    if plan.config.forest is not None:
        tables["model.forest"] = {key: NO_LIMIT if value is None else value for key, value in plan.config.forest}
    return tables


def _data(plan: AuditPlan) -> dict[str, Any]:
    source = {"dataset": plan.data.dataset, "file": plan.data.file, "attribute": plan.data.attribute}
    roles = plan.config.roles
    if roles is None:
        return {key: value for key, value in source.items() if value}
    told: dict[str, Any] = {key: value for key, value in source.items() if value and key != "attribute"}
    told |= {"label": roles.label, "positive": roles.positive, "sensitive": roles.sensitive}
    more = {"group": roles.group, "at_most": roles.at_most, "each": roles.each, "cuts": roles.cuts}
    told |= {key: value for key, value in more.items() if value not in ((), None, False)}
    told |= {"excluded": roles.excluded, "missing": roles.missing}
    return told | {key: getattr(roles, key) for key in _ROLE_TEXTS if getattr(roles, key)}


def _model(plan: AuditPlan) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": plan.model.kind}
    if plan.model.kind == "train":
        told["method"] = plan.config.method
        if plan.config.method == "dp_id3":
            told["epsilon"] = plan.config.epsilon
    else:
        if plan.model.kind == "file":
            file = {"file": plan.model.file, "features": plan.model.features, "positive": plan.model.positive}
            told |= {key: value for key, value in file.items() if value}
        told["threshold"] = plan.model.threshold
    return told | {key: getattr(plan.config, key) for key in ("metric", "tolerance", "train_share", "seed")}
