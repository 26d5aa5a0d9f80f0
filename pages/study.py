"""The page of a study that has none of its own: its settings, what it found, its checks drawn, its tables."""

from pages.shell import shell

shell.guard()

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.studies.registry import STUDIES
from core.studies.study import Check, Measurement, Study
from core.studies.subject import Subject
from pages.shell import cached, panels
from pages.shell.background import ensure_started
from pages.shell.controls import settings_of
from pages.shell.study_jobs import StudyRun

if TYPE_CHECKING:
    import pandas


def title_of(check: Check, subject: Subject) -> str:
    """Return what a check is called about these people."""
    title = check.title.format(attribute=subject.attribute)
    return f"{title[:1].upper()}{title[1:]}"


def draw_result(
    study: Study[Any, Any], result: Any, settings: Any
) -> dict[str, "pandas.DataFrame"]:
    """Draw the charts of a study; return the tables behind them."""
    tables = {}
    for quantity, drawing in study.charts(result, settings).items():
        panels.titled(drawing.title, quantity, drawing, key=f"{study.name}_{drawing.title}")
        tables[drawing.title] = drawing.table
    return tables


def draw_checks_of(
    study: Study[Any, Any], subject: Subject, measured: Mapping[str, Measurement]
) -> dict[str, "pandas.DataFrame"]:
    """Draw what a policy may limit, the numbers of one unit on one axis; return the tables behind them."""
    from core.auditing.charts import draw_checks
    from core.auditing.policy import estimate_text

    units: dict[str, list[Any]] = {}
    for check in study.declared:
        measurement = measured[check.name]
        if measurement.estimate is None:
            panels.problem(measurement.reason, point=f"{title_of(check, subject)}:")
            continue
        value_text, _ = estimate_text(check.name, measurement.estimate)
        # these are gains over it
        if check.unit in ("points", "bits"):
            control = None
        else:
            control = measurement.control
        units.setdefault(check.unit, []).append(
            (title_of(check, subject), value_text, measurement.estimate, control)
        )
    tables = {}
    for column, (unit, rows) in zip(
        st.columns(max(len(units), 1), gap="large"), units.items(), strict=False
    ):
        drawing = draw_checks(rows, unit=unit)
        with column:
            if any(control for *_, control in rows):
                beside = "; hollow: the control"
            else:
                beside = ""
            quantity = f"Measured, with 95% intervals{beside}"
            title = f"Checks: {drawing.title.lower()}"
            panels.titled(title, quantity, drawing, key=f"{study.name}_{unit}_chart")
        tables[drawing.title] = drawing.table
    return tables


shell.head()
study = STUDIES[st.session_state["page_now"]]
opening = st.container()
settings = settings_of(study.settings, study.name, study.command_defaults)
config, table = cached.audited()
subject = cached.audit(config, table).subject
if reason := study.unavailable(subject, settings):
    panels.problem(reason)
    st.stop()
work = StudyRun(study, subject, settings, cached.store_of(config.dataset))
ensure_started(work)
result = work.first(work.show_progress)
headline, *further = study.findings(result, settings)
with opening:
    panels.finding(headline)
work.watch(work.show_progress, drawn=result)
for finding in further:
    panels.statement(finding)
tables = draw_result(study, result, settings)
tables |= draw_checks_of(study, subject, study.checks(result, settings))
tables |= {
    title: panels.frame(rows) for title, rows in study.tables(result, settings).items() if rows
}
definitions = [
    f"**{shell.escape(title_of(check, subject))}.** {check.definition}" for check in study.declared
]
if headline.attacker_knows:
    definitions.append(f"**The attacker knows:** {shell.escape(headline.attacker_knows)}")
panels.foot("\n\n".join(definitions), tables, key=study.name)
