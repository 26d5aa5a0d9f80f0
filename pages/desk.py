"""Query desk: a ledger that answers fairness questions about registered people within one lifetime budget."""

from pages.shell import shell

shell.guard()

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from core.base.errors import FairLeakError
from core.base.files import csv_of_frame
from core.base.serialize import fingerprint
from core.desk import (
    Ledger,
    LedgerAnswer,
    LedgerStatus,
    TestSet,
    desk_roles,
    example_ledger,
)
from core.desk import findings as desk_findings
from core.desk.noise import epsilon_amount
from core.stats.estimates import count
from core.stats.fairness import METRIC_TITLES
from core.studies.bias_queries.charts import MOST_ROWS, GapRow, draw_gaps
from pages._desk import desk_forms, desk_ledger
from pages.shell import cached, panels, signin

STORED = (
    "Of this page only the ledger is written to disk; it holds nobody's attribute. Files you add stay in this "
    "session's memory. Anybody who can reach this page is trusted with the attribute. Unless FAIRLEAK_LEDGER sets the "
    "ledger's place, they can have the server open any file or database it reaches."
)

STORED_SIGNED_IN = (
    "Of this page only the ledger is written to disk; it holds nobody's attribute. A test set that an officer opens to "
    "askers stays in the server's memory. Askers see its size and its budget, and no attribute of anybody."
)

GUIDE = (
    "**Answers.** Noise is added to the sum of the disadvantaged group's scores. The gap and its 95% CI follow from "
    "public numbers. All answers share one **total privacy budget** ε: whatever one person's attribute is, no answers "
    "together become more than e^ε times as likely (e^2ε for readers who know the group sizes). Half the ε means twice "
    "the noise.\n\n"
    "**Free answers.** A repeated query gets its earlier answer. A query is refused for its price only.\n\n"
    "**Record.** Each answer is charged and written before anybody sees it, in a hash-chained (tamper-evident) audit "
    "log. Note the last hash elsewhere.\n\n"
    "**What it does not show.** Test sets that overlap in a part of their people are not noticed: their budgets add up."
)

SECTIONS = {
    "ask": "Ask a question",
    "register": "Register a test set",
    "log": "Answered questions",
    "record": "Export and verify",
}


def budget_bar(status: LedgerStatus) -> str:
    """Return a budget as a bar: filled is spent."""
    colours = shell.palette()
    line = desk_findings.budget_text(
        status, st.session_state.get("desk_refused", {}).get(status.name, 0)
    )
    share = 100 * status.spent / status.budget
    spent = f"ε {epsilon_amount(status.spent)} of {epsilon_amount(status.budget)} spent"
    remaining = epsilon_amount(status.remaining)
    label = f"{status.name}: {spent}, {remaining} left · {line}"
    return (
        '<div style="margin-bottom:16px">'
        f'<div style="display:flex;justify-content:space-between;gap:12px"><span style="overflow-wrap:anywhere">'
        f"<b>{escape(status.name)}</b>, {escape(status.roles.sensitive)}, "
        f"{count(status.n_people)} people</span>"
        f'<span style="white-space:nowrap">ε <b>{remaining}</b> left</span></div>'
        f'<div role="img" aria-label="{escape(label)}" style="height:10px;margin:5px 0;border-radius:2px;'
        f'background:{colours.grid}"><div style="height:10px;border-radius:2px;width:{share:.2f}%;'
        f'background:{colours.leak}"></div></div>'
        f'<div style="color:var(--fl-grey);font-size:.9rem">{spent} · '
        f"{escape(line)}</div></div>"
    )


def example() -> tuple[LedgerStatus, list[tuple[str, LedgerAnswer, float]]]:
    """Ask two simple rules for granting a loan, and one of them again, about the demo's people, in memory.

    Returns the ledger at its end, and what was asked: its words, the answer, and the true gap.
    """
    from core.datasets import build_dataset, demo_table
    from core.studies.bias_queries import statistical_parity_gap

    n = 1000
    table = demo_table()
    dataset = build_dataset(table, table.roles[0])
    men = (dataset.sensitive[:n] == 0).astype(np.uint8)
    people = TestSet(ids=tuple(str(i + 1) for i in range(n)), attribute=men)
    demo_ledger = example_ledger(7)
    demo_ledger.register("Example", people, budget=1, roles=desk_roles("sex", group=("men",)))

    def above_the_median(feature: str) -> Any:
        values = dataset.features[:n, dataset.feature_names.index(feature)]
        return (values >= np.median(values)).astype(float)

    answers = []
    for line, feature in (
        ("Loans by income", "income"),
        ("Loans by credit history", "credit_history_years"),
        ("Loans by income, again", "income"),
    ):
        scores = above_the_median(feature)
        answer = demo_ledger.ask("Example", people, scores, epsilon=0.1, asker="example")
        answers.append((line, answer, float(statistical_parity_gap(scores, men)[0])))
    return demo_ledger.status("Example"), answers


def show_example() -> None:
    """Draw the example, with its finding."""
    status, answers = cached.store_of("demo").remember(fingerprint("desk example"), example)
    panels.finding(
        desk_findings.example(status, max(abs(a.gap.value - truth) for _, a, truth in answers))
    )
    left, right = st.columns([3, 2], gap="large")
    legend = (
        "Gap in loan approvals, men minus women (−1 to 1). Dot: answer with 95% CI. Vertical line: true value "
        "(shown in this example only). Diamond: free"
    )
    rows = [
        GapRow(label=line, gap=a.gap, price=a.charged, truth=truth) for line, a, truth in answers
    ]
    panels.titled(
        "Answers and true values", legend, draw_gaps(rows), key="desk_example_chart", container=left
    )
    with right:
        budgets("Total ε of the test set", [status], status)


def budgets(title: str, statuses: Sequence[LedgerStatus], now: LedgerStatus) -> None:
    """Draw what is left of the budgets, and what no attacker can exceed."""
    shell.whisper("Remaining budget", f"{title}, for everybody who asks; cannot be increased")
    st.html("".join(map(budget_bar, statuses)), width="stretch")
    panels.notes(desk_findings.ceiling(now))


def chosen(statuses: tuple[LedgerStatus, ...]) -> LedgerStatus:
    """Choose a test set; the one registered or asked about last stays chosen."""
    names = [status.name for status in statuses]
    if st.session_state.get("desk_name") not in names:
        st.session_state["desk_name"] = names[-1]
    if len(names) > 1:
        st.selectbox("Test set", names, key="desk_name", persist_state="session", width=560)
    return statuses[names.index(st.session_state["desk_name"])]


def show(now: LedgerStatus, statuses: tuple[LedgerStatus, ...]) -> None:
    """Draw the answers of one test set beside all budgets."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        if now.answers:
            if len(now.answers) > MOST_ROWS:
                part = f" The last {MOST_ROWS} of {count(len(now.answers))}."
            else:
                part = ""
            legend = f"Gap with its 95% CI, latest first.{part} Diamond: free"
            rows = [
                GapRow(label=desk_findings.row(a), gap=a.gap, price=a.charged) for a in now.answers
            ]
            panels.titled("Answers", legend, draw_gaps(rows), key="desk_answers_chart")
        else:
            shell.whisper(
                "Answers", "None yet. Ask below: the price is shown before anything is charged"
            )
    with right:
        budgets("Total ε of each test set", statuses, now)


def log(status: LedgerStatus) -> None:
    """Draw the answered questions of a test set, the latest first, with a CSV."""
    shell.whisper(
        f"Answered about {shell.escape(status.name)}",
        "Latest first; gap with its 95% CI. Question: the first digits of the predictions' hash",
    )
    if not status.answers:
        st.caption("Nothing was asked yet.")
        return
    table = panels.frame(
        {
            "Entry": answer.number,
            "When": desk_findings.moment(answer.time),
            "Who": answer.asker,
            "Metric": METRIC_TITLES[answer.metric],
            "Gap": answer.gap.value,
            "Low": answer.gap.low,
            "High": answer.gap.high,
            "ε": answer.charged,
            "Free": answer.from_past,
            "Question": answer.question[:12],
        }
        for answer in reversed(status.answers)
    )
    if signin.role() is signin.Role.ASKER:
        table = table.drop(columns="Who")
    digits = {name: st.column_config.NumberColumn(format="%.4f") for name in ("Gap", "Low", "High")}
    height = panels.table_height(table, 8, 320)
    st.dataframe(table, hide_index=True, height=height, column_config=digits)
    panels.download("CSV", lambda: csv_of_frame(table), "fairleak-desk.csv", key="desk_log_csv")


def sections(ledger: Ledger, now: LedgerStatus | None) -> None:
    """Choose a section and draw it; without a registration there is nothing to ask and nothing answered."""
    allowed = {
        signin.Role.ASKER: ("ask", "log"),
        signin.Role.AUDITOR: ("ask", "log", "record"),
        signin.Role.OFFICER: tuple(SECTIONS),
    }[signin.role() or signin.Role.ASKER]
    without = ("register", "record")
    offered = {name: SECTIONS[name] for name in allowed if now is not None or name in without}
    if not offered:
        return
    key = "desk_first_section" if now is None else "desk_section"
    section = panels.pick("At the desk", offered, key=key, default=next(iter(offered)))
    if section == "record":
        left, right = st.columns(2, gap="large")
        with left:
            desk_ledger.export(ledger, now)
        with right:
            desk_ledger.verify()
    elif section == "register" or now is None:
        desk_forms.register(ledger)
    elif section == "log":
        log(now)
    else:
        desk_forms.ask(ledger, now)


def ledger_box(*, expanded: bool) -> None:
    """Draw the box that opens a ledger, for those who look after ledgers."""
    if signin.is_officer():
        desk_ledger.box(expanded=expanded)


ledger = desk_ledger.current()
badge = "" if ledger else "synthetic example"
shell.head(badge=badge)
if ledger is None:
    show_example()
    if not signin.is_officer():
        st.caption("No ledger is open on this server; an officer opens one.")
    ledger_box(expanded=True)
    with st.expander("Verify an export", icon=":material/verified:"):
        desk_ledger.verify()
else:
    try:
        statuses = ledger.statuses()
    except FairLeakError as error:
        shell.finding(
            "The ledger cannot be read now.",
            "Nothing was asked or charged; try again, or open another one.",
        )
        desk_ledger.unreadable(str(error))
        ledger_box(expanded=True)
        st.stop()
    heading = st.container()
    now = chosen(statuses) if statuses else None
    with heading:
        if now is None:
            if signin.is_officer():
                step = "Register one below"
                about = "all queries about them"
            else:
                step = "An officer registers one"
                about = "all queries"
            step += f": its people, their attribute, and the total budget of {about}."
            shell.finding("The ledger is open and holds no test set yet.", step)
        else:
            panels.finding(desk_findings.finding(now))
        desk_ledger.still()
    if now is not None:
        show(now, statuses)
    sections(ledger, now)
    ledger_box(expanded=False)

panels.how_to_read(GUIDE)
stored = STORED_SIGNED_IN if signin.is_on() else STORED
st.caption(stored)
