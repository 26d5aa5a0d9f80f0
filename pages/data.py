"""Data: choose or upload a table, check its column roles, and see group sizes and base rates."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

from typing import TYPE_CHECKING

import streamlit as st

from core.base.errors import InputError
from core.datasets.splits import SETS, split
from core.stats.estimates import count, independence_p_value, interval, percent
from pages._data import column_roles
from pages.shell import cached, controls, panels, state, upload
from pages.shell.shell import escape

if TYPE_CHECKING:
    import pandas

    from core.datasets.dataset import AuditDataset
    from core.studies.subject import AuditConfig
    from pages._data.gate import Gate

uploaded = upload.pending()
is_upload = uploaded is not None or state.dataset_name() == state.UPLOAD
badge = "your file" if is_upload else None
row = shell.head(badge=badge)
opening = st.container() if uploaded is not None else controls.page_parts().opening

_GUIDE = (
    "**Read.** The **sensitive attribute** is the column an attacker should not learn; the **label** is what the model "
    "predicts. A row of the chart is a group.\n\n"
    "**Sentences.** Red lines block the audit until they are repaired or confirmed. Amber ones ask. Green ones are "
    "guesses.\n\n"
    "**Roles.** Left out: records without label or attribute, and columns that are constant, look like identifiers, or "
    "hold a different text in most records. With predictions or scores, your own model is audited and nothing is "
    "trained. A *Set* column says which records trained it.\n\n"
    "**What it does not show.** A difference between groups is not yet a leak.\n\n"
    "**Your data.** An upload stays in this session's memory. It is gone when you reload or close the page, "
    "its memory ten minutes later."
)


def pending_page(table: upload.Table) -> None:
    """Draw the form for a table that waits for its column roles."""
    with row, st.container(horizontal=True, width="content"):
        with st.popover("Another file", icon=":material/upload:"):
            upload.box()
        upload.remove_button()
    gate = column_roles.draw(table, None)
    with opening:
        pending_finding(table, gate)
    upload.model_box(table, None, gate.roles)
    panels.notes(*table.notes)
    first = {"First 20 rows": table.frame.head(20)}
    panels.foot(_GUIDE, {**first, "Columns": cached.once(describe_columns, table)}, key="data")


def pending_finding(table: upload.Table, gate: Gate) -> None:
    """Write the finding for a table whose column roles are not confirmed yet: what is open, and what it would do."""
    rows, columns = table.frame.shape
    blocks = gate.count(Severity.BLOCKING)
    questions = gate.count(Severity.QUESTION)
    warnings = gate.count(Severity.CAUTION)
    before = "before the first verdict"
    if blocks:
        point = f"{blocks} sentence{'s' * (blocks > 1)} below block{'s' * (blocks == 1)} the first verdict."
        if questions == 1:
            point += " 1 more is a question."
        elif questions:
            point += f" {questions} more are questions."
    elif questions:
        point = f"Answer {questions} question{'s' * (questions > 1)} {before}."
    elif warnings:
        point = f"Look at {warnings} warning{'s' * (warnings > 1)} {before}. Then confirm, and this table is audited."
    else:
        point = "Nothing is open. Confirm, and this table is audited."
    shell.finding(
        point,
        f"{escape(table.title)}: {count(rows)} records, {columns} columns. In memory only: a reload loses it. "
        "*Audited* stays as it is until you press *Confirm and audit*, which opens the Report.",
        so_what=pending_meaning(gate),
        to_do=pending_steps(blocks, questions, warnings),
    )


def pending_meaning(gate: Gate) -> str:
    """Say what an open sentence would do to the verdict; where none blocks, what will be attacked."""
    for fact in gate.lines:
        if fact.severity is Severity.BLOCKING and topic_of(fact) in CONSEQUENCES:
            return f"{CONSEQUENCES[topic_of(fact)]} Each answer is one click."
    if gate.repaired:
        return "Answers change the roles in memory only. The file stays as it is; *Undo* brings a sentence back."
    roles = gate.roles
    outputs = [
        word
        for word, column in (("predictions", roles.prediction), ("scores", roles.score))
        if column
    ]
    if not outputs and any(fact.kind == "possible_answers" for fact in gate.lines):
        return (
            "A column may hold the model's answers; if it does, that model is audited. If none does, FairLeak trains a "
            "model of its own, and the verdict is about that one."
        )
    if not outputs:
        return "No column holds a model's predictions. FairLeak trains a model on this table and attacks it."
    so_what = f"The file brings a model's {' and '.join(outputs)}. FairLeak attacks these and trains no model of "
    so_what += "its own."
    if not roles.sets:
        so_what += " If a column says whom the model was trained on, give it the role *Set*; membership needs it."
    return so_what


def pending_steps(blocks: int, questions: int, warnings: int) -> str:
    """Say what is to be done before the audit."""
    steps = []
    if blocks:
        steps.append(f"answer the red sentence{'s' * (blocks > 1)}")
    if questions:
        steps.append(f"answer the amber question{'s' * (questions > 1)}")
    if warnings:
        steps.append(f"read the amber warning{'s' * (warnings > 1)}")
    steps.append("check the green lines, then press *Confirm and audit*")
    text = ", ".join(steps)
    return f"{text[:1].upper()}{text[1:]}. Every answer is written into the plan and the report."


def audited_page() -> None:
    """Draw the audited table: its groups, and the form of its column roles."""
    with controls.page_parts().beside:
        upload.box()
        upload.remove_button()
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    with opening:
        audited_finding(dataset, is_upload=table.uploaded)
    drawing = draw_groups(dataset)
    positive = f"{escape(dataset.roles.label)} = {escape(dataset.label_names[1])}"
    share = f"Share of each group with {positive}, and 95% CI"
    panels.titled("Group sizes and base rates", share, drawing, key="groups_chart")
    if dataset.predictions is not None:
        st.caption(answers(dataset))
    panels.notes(*dataset.notes, *sizes(dataset, config))
    gate = column_roles.draw(table, config.roles)
    if table.uploaded:
        upload.model_box(table, config.roles, gate.roles)
    tables = {
        "Groups": drawing.table,
        "Columns": cached.once(describe_columns, table),
        **cells(dataset, config),
    }
    panels.foot(_GUIDE, tables, key="data")
    panels.notes(table.source)


def audited_finding(dataset: AuditDataset, *, is_upload: bool) -> None:
    """Write the finding: the groups' base rates, of more than two groups the lowest and the highest."""
    groups = list(dataset.base_rates.items())
    if many := len(groups) > 2:
        groups.sort(key=lambda group: group[1].value)
    first_group, first = groups[0]
    last_group, last = groups[-1]
    label = escape(dataset.roles.label)
    positive = escape(dataset.label_names[1])
    positives = [rate.value * rate.n for _, rate in groups]
    negatives = [rate.n - rate.value * rate.n for _, rate in groups]
    significant = independence_p_value([positives, negatives]) < 0.05
    group_labels = [escape(first_group), escape(last_group)]
    if many:
        group_labels = [f"“{label}”" for label in group_labels]
    pair = f"for {percent(first)} of {group_labels[0]} and {percent(last)} of {group_labels[1]}."
    point = f"{label} = {positive} {pair}"
    if dataset.synthetic:
        records = "synthetic records"
    else:
        records = "records"
    largest, rate_of_largest = max(groups, key=lambda group: group[1].n)
    if dataset.n < dataset.rows_read:
        left_out = f" of {count(dataset.rows_read)}"
    else:
        left_out = ""
    attribute = escape(dataset.roles.attribute)
    evidence = (
        f"{count(dataset.n)}{left_out} {records}, {len(dataset.feature_names)} features. "
        f"95% CIs {interval(first)} and {interval(last)}. "
        f"Baseline for inferring {attribute} (always “{escape(largest)}”): {percent(rate_of_largest.n / dataset.n)}."
    )
    differs = "A model that copies these labels copies the difference. It can also make the attribute easier to infer."
    links: tuple[str, ...] = ()
    to_do = "Choose a dataset or upload your own, then check the column roles below."
    if is_upload:
        to_do = "Every page now audits this table. *Report* judges the model; *Model* shows its rates by group."
        links = ("report", "model")
    no_difference = (
        "No statistically significant difference between groups. Other columns may "
        f"still reveal {attribute}."
    )
    so_what = differs if significant else no_difference
    shell.finding(
        point[:1].upper() + point[1:], evidence, so_what=so_what, to_do=to_do, links=links
    )


def sizes(dataset: AuditDataset, config: AuditConfig) -> tuple[str, ...]:
    """Say why the people are too few for an audit, or for the policy that fits it, and what works."""
    policy = cached.policy_that_fits(config)
    settings = (config.method, config.metric, config.train_share, config.seed)
    problems = dataset.once(("sizes", *settings), lambda: size_problems(dataset, config, policy))
    return tuple(f"{problem.reason} {problem.remedy}" for problem in problems)


def cells(dataset: AuditDataset, config: AuditConfig) -> dict[str, pandas.DataFrame]:
    """Return how many people there are by set, group and label; nothing where they cannot be divided into sets."""
    try:
        splits = split(dataset, train_share=config.train_share, seed=config.seed)
    except InputError:  # which the sizes say
        return {}
    return {"People by set, group and label": panels.frame(cell_sizes(dataset, splits))}


def answers(dataset: AuditDataset) -> str:
    """Say what of a model the table brings."""
    roles = dataset.roles
    assert dataset.predictions is not None
    positive = percent(float(dataset.predictions.mean()))
    if roles.prediction:
        source = f"Predictions from column {escape(roles.prediction)}: positive for {positive}."
        if roles.score:
            source += f" Scores from column {escape(roles.score)}."
    else:
        source = (
            f"Predictions from column {escape(roles.score)}: a score of at least {roles.threshold:g} is positive, "
            f"{positive} of people."
        )
    if dataset.sets is None:
        return f"{source} No column says whom the model was trained on, so the sets are drawn with the seed."
    sizes = {name: int((dataset.sets == name).sum()) for name in SETS}
    set_sizes = ", ".join(f"{count(size)} {name}" for name, size in sizes.items() if size)
    return f"{source} Sets from column {escape(roles.sets)}: {set_sizes}."


from core.auditing.charts import draw_groups
from core.auditing.sizes import cell_sizes, size_problems
from core.datasets.checked_table import Severity
from core.datasets.columns import describe_columns
from core.datasets.input_check import CONSEQUENCES, topic_of

if uploaded is None:
    audited_page()
else:
    pending_page(uploaded)
