"""One check as a row that can be opened: verdict, what was attacked, number beside limit, and all of it in plain words.

Whatever comes from a table or a policy file is escaped here.
"""

from __future__ import annotations

from html import escape

from core.policy import VERDICT_TITLES, CheckVerdict, limit_text, source_text
from core.report import BASIS_WORDS, CheckRow
from pages.common.deciding.bullet import bullet

__all__ = ["row", "waiting"]

_MARKS = {"fail": "✕", "inconclusive": "?", "not_run": "–", "pass": "✓", "not_asked": "·", "waiting": "…"}


def row(found: CheckRow) -> str:
    """Return the row of a check the policy sets a limit to."""
    verdict = found.verdict
    told = verdict.why if verdict.verdict == "not_run" else found.found.attacked
    number = f"{found.value}, {found.interval}" if found.interval else found.value
    label = f"{number}. Limit: {found.limit}."
    cells = [
        _verdict(verdict, VERDICT_TITLES[verdict.verdict], verdict.verdict),
        _named(verdict.title, told),
        f"<div>{bullet(verdict, label)}{_value(found)}</div>",
        _limit(found.limit, found.source),
    ]
    summary = f"<summary class='row'>{''.join(cells)}</summary>"
    return f"<details>{summary}<div class='more'><dl>{_opened(found)}</dl></div></details>"


def waiting(verdict: CheckVerdict) -> str:
    """Return the row of a check whose attack is not done yet."""
    assert verdict.limit is not None
    limit = limit_text(verdict.check, verdict.limit.value)
    cells = [
        _verdict(verdict, "Not yet", "waiting"),
        _named(verdict.title, "Not attacked yet."),
        f"<div>{bullet(verdict, f'No value yet. Limit: {limit}.')}<div class='small'>no value yet</div></div>",
        _limit(limit, source_text(verdict.limit)),
    ]
    return f"<div class='row still'>{''.join(cells)}</div>"


def _verdict(verdict: CheckVerdict, word: str, kind: str) -> str:
    optional = "" if verdict.limit is None or verdict.limit.required else "<div class='small'>not required</div>"
    mark = f"<span class='mark' aria-hidden='true'><span>{_MARKS[kind]}</span></span>"
    return f"<div><div class='word {kind}'>{mark}{word}</div>{optional}</div>"


def _named(title: str, told: str) -> str:
    return f"<div><div class='name'>{escape(title)}</div><div class='small brief'>{escape(told)}</div></div>"


def _value(found: CheckRow) -> str:
    interval = f", {escape(found.interval)}" if found.interval else ""
    kind = f" <span class='kind'>{found.found.basis}</span>" if found.found.estimate is not None else ""
    return f"<div class='small'><b>{escape(found.value)}</b>{interval}{kind}</div>"


def _limit(limit: str, source: str) -> str:
    return f"<div><div>{escape(limit)}</div><div class='small brief'>{escape(source)}</div></div>"


def _opened(found: CheckRow) -> str:
    """Return everything there is to be told of a check, one line a question."""
    verdict, measured, limit = found.verdict, found.found, found.verdict.limit
    lines = [("Why", _why(found)), ("The number", found.definition)]
    lines += [("What was attacked", measured.attacked), ("The attacker knows", measured.knows)]
    if found.control:
        lines.append(("Control", f"{measured.control_name}: {found.control}"))
    lines.append(("Taken for granted", "\n".join(measured.assumptions)))
    if measured.estimate is not None:
        word, meaning = BASIS_WORDS[measured.basis]
        lines.append(("Rests on", f"{word}: {meaning}."))
    lines.append(("Further numbers", found.details))
    if limit is not None:
        needed = "a release needs it" if limit.required else "shown, not required"
        who = ", ".join(text for text in (limit.author, limit.date) if text) or "nobody named"
        lines.append(("The limit", f"{found.limit}, item {verdict.item} of the policy, {needed}; set by {who}."))
        lines += [("Why this limit", limit.rationale.strip() or "No reason given."), ("Its source", found.source)]
    return "".join(f"<dt>{name}</dt><dd>{escape(told)}</dd>" for name, told in lines if told)


def _why(found: CheckRow) -> str:
    adjusted = found.verdict.p_adjusted
    if adjusted != adjusted:
        return found.verdict.why
    small = "below 0.001" if adjusted < 0.001 else f"{adjusted:.3f}"
    return f"{found.verdict.why} p {small} after Holm's correction over all limits."
