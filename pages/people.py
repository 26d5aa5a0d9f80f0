"""People at risk: whom several attacks find among the same training records, and what would free each."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from core.base.errors import InputError
from core.base.files import csv_of_frame
from core.base.settings import values_of
from core.stats.estimates import count
from pages._report import report_plan
from pages._report.report_audit import PeopleRun
from pages.shell import cached, panels
from pages.shell.background import ensure_started
from pages.shell.controls import settings_of

with shell.head():
    st.markdown(":red-badge[:material/lock: Internal only] never in the public summary")
config, table = cached.audited()
dataset = cached.dataset_of(table, config.roles)

from core.charts.theme import group_style
from core.datasets.build import select
from core.datasets.columns import as_text
from core.studies.people import CERTAIN, IMPUTABLE, PEOPLE, PeopleAtRisk, PeopleSettings
from core.studies.people.people_study import (
    LEGEND,
    SHORT,
    SIGNS,
    best_effect,
    draw_sets,
    effect_rows,
    fix_text,
    people_rows,
    signs_of,
    without_fix,
)

MOST = 200
"""Rows that are drawn; the file has all."""

_STYLE = """<style>
.fl-people {overflow: auto; max-height: 350px; border-bottom: 1px solid var(--fl-line)}
.fl-people table {border-collapse: collapse; width: 100%; font-size: .875rem; line-height: 1.3}
.fl-people th {font-weight: 400; text-align: center; position: sticky; top: 0; z-index: 1; padding: .3rem .45rem}
.fl-people td {border-top: 1px solid var(--fl-line); padding: .27rem .45rem; text-align: center; white-space: nowrap}
.fl-people :is(th, td):is(:first-child, :nth-child(2), :last-child) {text-align: left}
.fl-people td:last-child {white-space: normal; min-width: 11rem}
.fl-people :is(th, td):first-child {font-variant-numeric: tabular-nums; padding-left: 0}
</style>"""


def identifier_columns() -> list[str]:
    """Return the columns of a user's table that are no part of the audit: one of them may hold identifiers."""
    if not table.uploaded:
        return []
    roles = dataset.roles
    used = {roles.label, roles.sensitive, roles.prediction, roles.score, roles.sets}
    used.update(dataset.feature_names)
    return [column for column in table.frame.columns if column not in used]


def names_of_people(column: str) -> list[str]:
    """Return what a column of the table calls the people of the result; of an empty cell ""."""
    selected, _, _ = select(table.frame, dataset.roles)
    used = table.frame.loc[selected, column]
    return as_text(used).iloc[result.rows].fillna("").tolist()  # type: ignore[no-any-return]


def people_html() -> str:
    """Return the table of the people shown in the theme's colours; names of a user's table are harmless."""
    attacks = (SHORT[attack.attack] for attack in result.attacks)
    look = f'scope="col" style="color: {colours.grey}; background: {colours.background}"'
    names = [identifier or "Record", "Group", *attacks, "Attacks", "Imputation", "Smallest fix"]
    if not has_fix:
        names.pop()
    head = "".join(f"<th {look}>{escape(name)}</th>" for name in names)
    rows = "".join(f"<tr>{''.join(_cells(index))}</tr>" for index in indices[:MOST].tolist())
    body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'{_STYLE}<div class="fl-people" tabindex="0"><table>{body}</table></div>'


def _cells(index: int) -> Iterator[str]:
    yield f"<td>{escape(identifiers[index])}</td>"
    yield f"<td>{_group(index)}</td>"
    for sign in signs_of(result, index):
        color = {"●": colours.leak, "○": colours.strongest}.get(sign, colours.grey)
        yield f'<td style="color: {color}"><span role="img" aria-label="{SIGNS[sign]}">{sign}</span></td>'
    yield f"<td><strong>{int(result.number[index])}</strong></td>"
    if result.imputed[index]:
        yield "<td>too</td>"
    else:
        yield "<td></td>"
    if not has_fix:
        return
    fix = fix_text(result, index)
    if fix.startswith("none"):
        quiet = f' style="color: {colours.grey}"'
    else:
        quiet = ""
    yield f"<td{quiet}>{escape(fix[:1].upper() + fix[1:])}</td>"


def _group(index: int) -> str:
    """Return a person's group in its colour, of more than two by name alone."""
    code = int(result.groups[index])
    name = escape(result.group_names[result.groups[index]])
    if len(result.group_names) > 2:
        return name
    style = group_style(code)
    sign = "●" if style.symbol == "circle" else "◆"
    label = f'<span aria-hidden="true">{sign}</span> <strong>{name}</strong>'
    return f'<span style="color: {colours.color(style.color)}">{label}</span>'


colours = shell.palette()
_PAGES = {
    "outputs": "report",
    "correction": "correction",
    "queries": "desk",
    "card": "model_card",
    "training": "model",
}
"""What a remedy changes -> the page that does it."""

top = st.container()
row = st.container(key="people_controls").columns(
    [17, 18, 16, 44, 25], gap="small", vertical_alignment="bottom"
)
at_least = panels.pick(
    "Found by at least", [1, 2, 3], key="people_at_least", default=1, container=row[0]
)
groups = {"": "All groups", **{name: name for name in dataset.group_names}}
group = panels.choose(
    "Group", groups, key=f"people_group_{dataset.roles.key}_{dataset.n_groups}", container=row[1]
)
record = row[2].text_input(
    "Person",
    placeholder="record",
    key="people_record",
    max_chars=40,
    help="Row of the table as it is used, the first one 0, or what the chosen column has. People who were not drawn "
    "cannot be looked up.",
)
hidden = row[3].toggle(
    "Count only what imputation does not find",
    value=True,
    key="people_hidden",
    persist_state="session",
    help="Where imputation infers the attribute without the model, no attack on the attribute is a leak. Its people "
    "stay if they are flagged as members: imputation cannot do that.",
)
try:
    with row[4].popover("Attack settings", icon=":material/tune:", width="stretch"):
        columns = ["", *identifier_columns()]
        first = 0
        if dataset.roles.person in columns:
            first = columns.index(dataset.roles.person)
        identifier = st.selectbox(
            "Named by",
            columns,
            index=first,
            format_func=lambda column: shell.escape(column) or "row number",
            key=f"people_identifier_{table.fingerprint[:8]}",
            disabled=len(columns) == 1,
            persist_state="session",
            help="A column of identifiers that is no part of the audit. It stays in this session: "
            "reports and files have row numbers.",
        )
        audit_plan = report_plan.plan_of(config, table)
        planned = audit_plan.people_settings
        settings = settings_of(PeopleSettings, "people", values_of(planned))
except InputError as error:
    panels.problem(str(error))
    st.stop()
work = PeopleRun(report_plan.subject(config, table, audit_plan), settings)
ensure_started(work)
result: PeopleAtRisk = work.first(work.show_progress)
identifiers = [str(row) for row in result.rows]
if identifier:
    identifiers = names_of_people(identifier)

headline, by_chance, in_common = PEOPLE.findings(result, settings)
if settings != planned:
    note = "Not as your audit plan has it: Attack settings were changed here. The Report goes by the plan."
    headline = replace(headline, caveats=(note, *headline.caveats))
attribute = shell.escape(result.attribute)
best = best_effect(result)
links = () if best is None else (_PAGES[best.plan[0].slot],)
with top:
    panels.finding(headline, *links)
try:
    indices = result.chosen(
        at_least=at_least,
        group=group,
        record=record,
        hide_imputed=hidden,
        identifiers=identifiers,
    )
except InputError as error:
    panels.problem(str(error))
    st.stop()

left, right = st.columns([2, 1], gap="medium")
with left:
    title = f"People found by {at_least} or more attacks: {count(indices.size)}"
    if record.strip():
        title = f"Record {shell.escape(record.strip())}"
    note = f"{LEGEND}. Imputation: “too” where it infers the {attribute}; a member (●) is a leak all the same"
    if not identifier:
        note += ". Record: row of the table as it is used, first = 0"
    if indices.size > MOST:
        note += f"; the first {MOST} are shown"
    rows = people_rows(result, indices)
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"
    ):
        shell.whisper(title, note)
        csv = partial(csv_of_frame, panels.frame(rows))
        panels.download(
            "Table (CSV)", csv, "people-at-risk.csv", key="people_csv", disabled=not rows
        )
    has_fix = any(fix_text(result, index) for index in indices)
    if no_fix := without_fix(result, indices):
        st.caption(no_fix)
    if rows:
        st.html(people_html())
    else:
        st.caption(
            "Nobody is found so. Choose fewer attacks, all groups, or count what imputation finds too."
        )
with right:
    if result.sets:
        panels.titled(
            "Which attacks find the same people",
            f"People: {count(result.at_least(1))}; shaded: 2 or more attacks",
            draw_sets(result),
            key="people_sets_chart",
        )
    else:
        shell.whisper(
            "Which attacks find the same people", "Nobody is found by an attack that was run."
        )
    numbers = " · ".join(f"{k}: **{count(int((result.number == k).sum()))}**" for k in range(6))
    st.caption(f"People by number of attacks: {numbers}.")

panels.foot(
    f"**Who.** {count(result.n)} training records, drawn with the seed: the same for all attacks.\n\n"
    f"**Found.** The attacks are those of the Report. All but membership start from imputation and add what is "
    f"published. They find whose {attribute} they infer correctly with at least {CERTAIN:.1%} probability. It is a "
    f"leak where imputation alone has at most {IMPUTABLE:.0%}. The attacker of Outputs may know the {attribute} of "
    "half of the training records and impute from these: ○ may then stand where Imputation is empty. Membership flags "
    "those who score above the threshold that 1% of the non-members exceed.\n\n"
    f"**By chance.** {shell.escape(by_chance.point)} {shell.escape(by_chance.evidence)}\n\n"
    "**Smallest fix.** The fewest, mildest remedies of a fixed list under which no attack finds the "
    "person. Each was run again, with noise from the seed: other noise may find somebody else. A private tree is "
    "attacked again by every attack.\n\n"
    "**What it does not show.** Other attacks or settings may find others. An empty list is no proof of safety.",
    panels.frames(PEOPLE.tables(result, settings)),
    key="people",
)
remedies, differences = st.tabs(["What each remedy does", "How the people found differ"])
with remedies:
    if result.effects:
        st.dataframe(panels.worded(effect_rows(result)), hide_index=True)
        st.caption("All attacks are run again with each remedy; new: found with it and not before.")
    else:
        st.caption("Nobody is found, so no remedy was tried.")
with differences:
    panels.statement(in_common)
