"""Public summary of an audit: what it was, by which policy, and the verdict words; no number measured on people.

A reader outside gets the settings, the policy with its limits, a verdict word for each check and for the release, the
kinds of caveats as the fixed sentences of `core.base.caveats.FIXED`, what was not tested, and the number of records.
The summary is made of these parts of an internal report and of no other (`CONTENTS`), so that two reports that agree in
them give the same bytes, but for the day, the fingerprint and what the auditor typed.

Four settings are left out because they may tell more: the seed, with which somebody who knows all records but one could
try out that one's values; the tolerance of a model that was not trained here, which may be the smallest that its
predictions keep to; the names and values of columns beyond the sensitive attribute and the label; and people at risk.

`Reports` are the files of an audit: the internal report, with every number, and the public summary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..auditing import plan_text
from ..auditing.plan import PARTS, AuditPlan, ModelPlan, other_studies
from ..auditing.policy import (
    CHECKS,
    VERDICT_TITLES,
    Limit,
    Policy,
    Status,
    is_placeholder,
    limit_text,
    policy_text,
    source_text,
    verdict_counts,
)
from ..auditing.policy.limits import check_title
from ..auditing.result import DataSummary, SelfTest
from ..base.caveats import FIXED, CaveatKind, in_order
from ..base.errors import FORMAT
from ..base.serialize import UNSAID, Result
from ..base.settings import Setting, params, values_of
from ..datasets import CATALOG
from ..models import METHOD_TITLES
from ..stats.fairness import METRIC_TITLES
from ..studies.people import PEOPLE
from ..studies.registry import STUDIES
from ..studies.subject import AuditConfig
from .brief_files import HTML_NAME, brief_html
from .charts import clean
from .codec import report_document
from .page import environment, logo, to_html
from .report import Report, report_fingerprint, strict, to_json
from .tables import csv_files

if TYPE_CHECKING:
    from ..auditing import ReleaseAudit

SUMMARY_KIND = "fairleak public summary"

CONTENTS = {
    "title": "the title that the plan gives the report, or else the model and version it names",
    "day": "the day on which the audit began",
    "fairleak": "the version of FairLeak",
    "table": "the table, if it is one of FairLeak's own, and whether its records are synthetic",
    "records": "the number of records",
    "attribute": "the name of the sensitive attribute",
    "label": "the name of the label",
    "settings": "the settings of the model, of what is released, and of each attack",
    "policy": "the policy: name, version, author, date, rationale and confidence",
    "checks": "each check with its limit, who set it and why, and its verdict word",
    "decision": "the verdict word on the release, and how many checks have which word",
    "self_test": "whether FairLeak's self-test was passed, failed or not run",
    "caveats": "the kinds of caveats, one fixed sentence for each",
    "not_tested": "the checks that were not run or not attacked, and those without a limit",
    "fingerprint": "the SHA-256 of the summary's own content",
}
"""Part of the summary -> what it tells; "kind" and "schema" name the format."""

OWN_TABLE = "A table of the auditor's own"

DECISION_SENTENCES = {
    "pass": "Every required check meets its limit.",
    "fail": "A required check does not meet its limit.",
    "inconclusive": "A required check is inconclusive, or the self-test failed.",
    "not_run": "A required check could not be run.",
}
"""Verdict on the release -> the sentence beside it."""

LIMITS_OF_A_PASS = (
    "A pass holds for these attacks on this model and this table. It does not prove that nothing leaks.",
    "Numbers measured on people stand in the internal report alone.",
    "This is not legal advice.",
)

_NOT_STATED = "not stated: it may be measured on the predictions"

_NEVER = "seed"

_OF_MODEL = (
    "kind",
    "method",
    "epsilon",
    "depth",
    "metric",
    "tolerance",
    "train_share",
    "threshold",
)
"""Settings of the model that are stated, where they apply."""

_PART_TITLES = {
    "outputs": "Released outputs",
    "bias_queries": "Bias-query answers",
    "membership": "Membership",
    "attriguard": "AttriGuard",
}

_TITLES: Mapping[str, Mapping[str, str]] = {"method": METHOD_TITLES, "metric": METRIC_TITLES}
"""Setting of the model -> titles of its options."""

_TRAINING = ("method", "epsilon", "depth")
"""Settings of a model that is trained here, and of no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedTable(Result):
    """The table, by its title if it is one of FairLeak's own."""

    title: str
    synthetic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow(Result):
    """One setting: the part of the plan, its title, and its value in words."""

    part: str
    setting: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWithoutLimits(Policy):
    """The policy but for its limits, which stand with the checks."""

    limits: tuple[Limit, ...] = field(default=(), metadata=UNSAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedCheck(Limit):
    """One check with its limit, which `limit` says in words, and its verdict, a key of `VERDICT_TITLES`."""

    title: str
    definition: str
    limit: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Result):
    """The verdict word on the release, its sentence, and how many checks have which word."""

    verdict: Status
    sentence: str
    counts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCaveat(Result):
    """A kind of caveat with its fixed sentence."""

    kind: CaveatKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicSummary(Result):
    """Public summary of an audit; see `CONTENTS`."""

    kind: str = SUMMARY_KIND
    schema: int = FORMAT
    title: str
    day: str
    fairleak: str
    table: AuditedTable
    records: int
    attribute: str
    label: str
    settings: tuple[SettingRow, ...]
    policy: PolicyWithoutLimits
    checks: tuple[LimitedCheck, ...]
    decision: Decision
    self_test: str
    caveats: tuple[FixedCaveat, ...]
    not_tested: tuple[str, ...]
    fingerprint: str = ""


def public_summary(report: Report) -> PublicSummary:
    """Public summary of an internal report, sealed with a fingerprint of its own."""
    data = report.data
    plan = report.plan
    overall = report.verdict.overall
    kinds = dict.fromkeys(caveat.kind for caveat in in_order(report.caveats))
    summary = PublicSummary(
        title=plan.title or plan.register.model_version,
        day=report.started_on,
        fairleak=report.provenance.fairleak,
        table=_table(plan, data),
        records=data.n,
        attribute=data.attribute,
        label=data.label,
        settings=tuple(_settings(plan)),
        policy=PolicyWithoutLimits(**{**values_of(report.policy), "limits": ()}),
        checks=tuple(_checks(report)),
        decision=Decision(
            verdict=overall,
            sentence=DECISION_SENTENCES[overall],
            counts=verdict_counts(Counter(_verdicts(report).values())),
        ),
        self_test=_self_test(report.self_tests),
        caveats=tuple(FixedCaveat(kind=kind, text=FIXED[kind]) for kind in kinds),
        not_tested=tuple(_not_tested(report)),
    )
    return replace(summary, fingerprint=report_fingerprint(strict(summary)))


def _table(plan: AuditPlan, data: DataSummary) -> AuditedTable:
    is_uploaded = bool(plan.data.file) or plan.data.dataset not in CATALOG
    if is_uploaded:
        title = OWN_TABLE
    else:
        title = CATALOG[plan.data.dataset].title
    return AuditedTable(title=title, synthetic=data.synthetic)


def _settings(plan: AuditPlan) -> Iterator[SettingRow]:
    """Rows of settings: the part of the plan, the setting's title, and its value in words."""
    model = values_of(plan.config, plan.model)
    trained = plan.model.kind == "train"
    declared = {**params(AuditConfig), **params(ModelPlan)}
    of_model = {name: declared[name] for name in _OF_MODEL if trained or name not in _TRAINING}
    for row in _rows("Model", of_model, model):
        if not trained and row.setting == declared["tolerance"].param.title:
            row = replace(row, value=_NOT_STATED)
        yield row
    for name, part in PARTS.items():
        yield from _rows(
            _PART_TITLES[name],
            _stated(params(part), getattr(plan, name)),
            values_of(getattr(plan, name)),
        )
    planned = dict(plan.studies)
    for name, settings in other_studies().items():
        if name != PEOPLE.name:
            yield from _rows(
                STUDIES[name].title, params(settings), values_of(planned.get(name) or settings())
            )


def _stated(declared: Mapping[str, Setting], settings: Any) -> dict[str, Setting]:
    """Return the settings that a file states: without those at a default that it leaves out."""
    return {
        name: setting
        for name, setting in declared.items()
        if setting.param.written is not False or getattr(settings, name) != setting.default
    }


def _rows(
    part: str, declared: Mapping[str, Setting], values: Mapping[str, Any]
) -> Iterator[SettingRow]:
    for name, setting in declared.items():
        key, allowed = setting.param.only or ("", ())
        applies = not key or values.get(key.rpartition(".")[2]) in allowed
        value = values.get(name, setting.default)
        omitted = name == _NEVER or (setting.param.written is False and value == ())
        if applies and not omitted:
            yield SettingRow(
                part=part, setting=setting.param.title, value=_value_text(setting, value)
            )


def _value_text(setting: Setting, value: Any) -> str:
    """Value of a setting in words: an option by its title, a number without noughts behind it."""
    titles = _TITLES.get(setting.name, setting.param.options)
    if isinstance(titles, Mapping) and value in titles:
        return str(titles[value])
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if value in (None, ""):
        return "none"
    number = setting.base in (int, float)
    if number:
        return f"{value:,g}".replace("inf", "∞")
    return str(value)


def _verdicts(report: Report) -> dict[str, str]:
    """Return check -> verdict of those with a limit, in the policy's order; what was not attacked did not pass."""
    verdicts = {row.check: row.display_verdict for row in report.rows}
    return {limit.check: verdicts[limit.check] for limit in report.policy.limits}


def _checks(report: Report) -> Iterator[LimitedCheck]:
    """Rows of checks with a limit, in the policy's order."""
    for limit, verdict in zip(report.policy.limits, _verdicts(report).values(), strict=True):
        if is_placeholder(limit):
            source = "placeholder"
        else:
            source = source_text(limit)
        yield LimitedCheck(
            **values_of(replace(limit, source=source)),
            title=check_title(limit.check, report.data.attribute),
            definition=CHECKS[limit.check].definition,
            limit=limit_text(limit.check, limit.value),
            verdict=verdict,
        )


def _self_test(tests: Sequence[SelfTest]) -> str:
    if not tests:
        return "not run"
    if all(test.passed for test in tests):
        return "passed"
    return "failed"


_UNTESTED = {
    "not_run": "not run",
    "not_attacked": "not attacked, as nothing of the kind is released",
}
"""Verdict of a check that was not tested -> the reason in words."""


def _not_tested(report: Report) -> Iterator[str]:
    attribute = report.data.attribute
    verdicts = _verdicts(report)
    for check, verdict in verdicts.items():
        if verdict in _UNTESTED:
            yield f"{check_title(check, attribute)}: {_UNTESTED[verdict]}."
    for check in CHECKS:
        if check not in verdicts:
            yield f"{check_title(check, attribute)}: the policy has no limit for it."
    yield "Other attacks, models and tables than these."


# -------------------------------------------------------------------------------------------------------------- pages


def summary_title(summary: PublicSummary) -> str:
    """Title of the audit, or of its table where the plan gives none."""
    return summary.title or summary.table.title


def summary_facts(summary: PublicSummary) -> tuple[tuple[str, str], ...]:
    """Terms and texts on what was audited, as page and Markdown show them."""
    policy = summary.policy
    table = summary.table
    synthetic = ", synthetic records" if table.synthetic else ""
    signed = (policy.name, f"version {policy.version}", f"by {policy.author}", policy.date)
    return (
        ("Table", f"{table.title}{synthetic}"),
        ("Records", f"{summary.records:,}"),
        ("Sensitive attribute", summary.attribute),
        ("Label", summary.label),
        ("Policy", ", ".join(text for text in signed if text not in ("", "version ", "by "))),
        ("Self-test", summary.self_test),
        ("FairLeak", summary.fairleak),
        ("Day", summary.day or "not stated"),
    )


def requirement(check: Limit) -> str:
    """Whether a release needs a check: "for release", "where it can be run" or "no"."""
    if not check.required:
        return "no"
    if check.if_not_run == "allowed":
        return "where it can be run"
    return "for release"


def summary_html(summary: PublicSummary) -> str:
    """Page of a summary: one HTML file that needs nothing else."""
    template = environment().get_template("summary.html")
    return template.render(
        summary=summary,
        title=summary_title(summary),
        facts=summary_facts(summary),
        requirement=requirement,
        kind=SUMMARY_KIND,
        closing=LIMITS_OF_A_PASS,
        logo=logo(),
        running="FairLeak public summary",
        fingerprint=summary.fingerprint,
    )


def is_summary_page(text: str) -> bool:
    """Whether a page is that of a summary."""
    return f'<meta name="fairleak-kind" content="{SUMMARY_KIND}">' in text[:4000]


def markdown(value: Any) -> str:
    """Text as one line that Markdown shows as it is: no markup, link or cell of a table."""
    flat = " ".join(str(clean(str(value))).split())
    return re.sub(r"([\\`*_{}\[\]<>#|~$&!@]|:(?=//)|(?<=www)\.)", r"\\\1", flat)


def summary_markdown(summary: PublicSummary) -> str:
    """Section of a model card in Markdown."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: PublicSummary) -> Iterator[str]:
    decision = summary.decision
    yield "## Fairness and privacy audit"
    yield ""
    yield f"**{VERDICT_TITLES[decision.verdict]}.** {decision.sentence} {decision.counts}."
    yield ""
    yield f"- Audit: {markdown(summary_title(summary))}"
    for term, text in summary_facts(summary):
        yield f"- {term}: {markdown(text)}"
    yield from (
        "",
        "### Checks",
        "",
        "| Verdict | Check | Limit | Required | Source of the limit |",
        "|---|---|---|---|---|",
    )
    for check in summary.checks:
        texts = (check.title, check.limit, requirement(check), check.source)
        yield f"| {VERDICT_TITLES[check.verdict]} | {' | '.join(map(markdown, texts))} |"
    yield from ("", "### Settings", "", "| Part | Setting | Value |", "|---|---|---|")
    for row in summary.settings:
        yield f"| {' | '.join(map(markdown, (row.part, row.setting, row.value)))} |"
    yield from ("", "### Caveats and limits", "")
    yield from (f"- {caveat.text}" for caveat in summary.caveats)
    yield from (f"- {sentence}" for sentence in LIMITS_OF_A_PASS)
    yield from ("", "### Not tested", "")
    yield from (f"- {markdown(text)}" for text in summary.not_tested)
    yield ""
    yield f"Made by FairLeak; fingerprint of this summary `{summary.fingerprint}`."


FOLDERS = ("internal", "public")
"""Folders of an audit: for internal use, and for anybody."""


class Reports:
    """Internal report and public summary of an audit, each built once."""

    def __init__(self, audit: ReleaseAudit) -> None:
        self.audit = audit

    @cached_property
    def document(self) -> Report:
        """Internal report, sealed with its fingerprint."""
        return report_document(self.audit)

    @cached_property
    def summary(self) -> PublicSummary:
        """Public summary, sealed with its own fingerprint."""
        return public_summary(self.document)

    @property
    def internal_files(self) -> dict[str, bytes]:
        """Files of the internal report: name -> content."""
        texts = {
            "report.json": to_json(self.document),
            "report.html": to_html(self.document),
            HTML_NAME: brief_html(self.document),
            "policy.toml": policy_text(self.audit.verdict.policy),
            "plan.toml": plan_text(replace(self.audit.plan, policy="policy.toml")),
        }
        return _encoded(texts) | csv_files(self.document)

    @property
    def public_files(self) -> dict[str, bytes]:
        """Files of the public summary: name -> content."""
        texts = {
            "summary.json": to_json(self.summary),
            "summary.html": summary_html(self.summary),
            "model-card.md": summary_markdown(self.summary),
        }
        return _encoded(texts)


def _encoded(texts: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8") for name, text in texts.items()}
