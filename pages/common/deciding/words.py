"""The sentences of the Report page: the verdict with its icon, and in grey what was judged by what."""

from __future__ import annotations

from core.config import AuditConfig
from core.datasets.dataset import Table
from core.decision import OutputsPlan
from core.fairness import METRIC_TITLES
from core.policy import Policy, Verdict
from core.wording import tolerance_text
from pages.common.shell import escape

__all__ = ["finding", "no_verdict", "released"]

_ICONS = {
    "fail": ":red[:material/cancel:]",
    "inconclusive": ":yellow[:material/help:]",
    "not_run": ":gray[:material/do_not_disturb_on:]",
    "pass": ":green[:material/check_circle:]",
}

_NONE = {
    "attacking": ("No verdict yet: the attacks are under way.", "Judged as soon as they are done"),
    "stopped": ("No verdict: the attacks were stopped.", "What was found so far is not kept"),
    "failed": ("No verdict: the audit could not be made.", "Nothing was judged"),
}


def released(outputs: OutputsPlan) -> str:
    """Say what is released about each person."""
    if outputs.released == "labels":
        return "Labels only"
    if outputs.decimals is None:
        return "Scores as they are"
    return f"Scores rounded to {outputs.decimals} decimal{'s' * (outputs.decimals != 1)}"


def finding(verdict: Verdict, config: AuditConfig, table: Table, outputs: OutputsPlan) -> tuple[str, str]:
    """Return the verdict as the page's finding."""
    return (
        f"{_ICONS[verdict.overall]} {escape(verdict.headline)}",
        escape(f"{verdict.detail} {_subject(verdict.policy, config, table, outputs)}".strip()),
    )


def no_verdict(status: str, policy: Policy, config: AuditConfig, table: Table, outputs: OutputsPlan) -> tuple[str, str]:
    """Return the finding while there is no verdict: attacks under way, stopped or failed."""
    point, why = _NONE[status]
    return f":gray[:material/hourglass_empty:] {point}", escape(f"{why}. {_subject(policy, config, table, outputs)}")


def _subject(policy: Policy, config: AuditConfig, table: Table, outputs: OutputsPlan) -> str:
    attribute = config.roles.attribute if config.roles else "attribute"
    metric = METRIC_TITLES[config.metric].lower()
    return (
        f"{table.title}, {attribute}, {metric} within {tolerance_text(config.tolerance)}, seed {config.seed}. "
        f"Released: {released(outputs).lower()}. Policy: {policy.name}, version {policy.version}."
    )
