"""The desk: budgets and answers, a question with its price before and its answer after, the record, an example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from core.desk import (
    AskSettings,
    Columns,
    Ledger,
    LedgerAnswer,
    LedgerStatus,
    Quote,
    Registration,
    TestSet,
    example_ledger,
    verify_export,
)
from core.desk import findings as words
from core.desk.findings import prices, suggested_price
from core.errors import FairLeakError
from core.estimates import count
from core.fairness import METRIC_TITLES
from core.files import csv_of_frame
from core.fingerprint import fingerprint
from core.settings import params
from core.study import Finding
from pages.common import cached, desk_ledger, panels, shell, state
from pages.common import desk_people as people
from pages.common.controls import control

STORED = (
    "The ledger is the only thing written to disk; it holds nobody's attribute. Files you add stay in this session's "
    "memory. Anybody who can reach this page is trusted with the attribute, and unless FAIRLEAK_LEDGER pins the "
    "ledger's place can have the server open any file or database it reaches."
)

INTRODUCTION = (
    "Developers submit predictions and receive the difference in mean score between two groups, with noise that "
    "protects each person. All answers share one privacy budget, charged before the answer is shown. Create or open a "
    "ledger to begin."
)

GUIDE = (
    "**Setting.** Developers who must not know a sensitive attribute need to hear how fair their model is. All answers "
    "about one test set and attribute share one **total privacy budget** ε: whatever one person's attribute is, no "
    "answers together become more than e^ε times as likely (e^2ε for readers who know the group sizes). The budget "
    "cannot be increased, and people with the same identifiers cannot be registered for the attribute again. A part of "
    "the people is not recognised.\n\n"
    "**Answers.** Noise is added to the sum of the disadvantaged group's scores; the group's noisy size was paid for "
    "at registration (for equal opportunity, with the first query). The gap, advantaged minus everybody else, and its "
    "95% CI follow from these public numbers. Half the ε means twice the noise.\n\n"
    "**Free answers.** A query that was answered before gets the earlier answer. A query is refused for its price "
    "only, never for its answer. It offers a thousandth of the budget at least.\n\n"
    "**Wrong files.** A file about the registered people that is not the registered one goes on record.\n\n"
    "**Record.** Each answer is charged and written before anybody sees it, in a hash-chained (tamper-evident) audit "
    "log. Note the last hash elsewhere: an export that does not contain it was rewritten. The ledger itself holds the "
    "key of its seals; an export holds no key. Refused queries leave no trace in the ledger; those of this session are "
    "counted here."
)


def say(found: Finding) -> None:
    """Write the page's finding."""
    shell.finding(found.point, found.evidence)


def chosen(statuses: Sequence[LedgerStatus]) -> LedgerStatus:
    """Choose a test set; the one registered or asked about last stays chosen."""
    names = [status.registration.name for status in statuses]
    if st.session_state.get("desk_name") not in names:
        st.session_state["desk_name"] = names[-1]
    if len(names) > 1:
        st.selectbox("Test set", names, key="desk_name", persist_state="session", width=560)
    return statuses[names.index(st.session_state["desk_name"])]


def show(now: LedgerStatus, statuses: Sequence[LedgerStatus]) -> None:
    """Draw the answers of one test set beside all budgets."""
    from core.charts import GapRow, draw_gaps
    from core.charts.queries import MOST_ROWS

    colours = shell.palette()
    left, right = st.columns([3, 2], gap="large")
    with left:
        if now.answers:
            drawn = draw_gaps([GapRow(words=words.row(a), gap=a.gap, price=a.charged) for a in now.answers], colours)
            part = f" The last {MOST_ROWS} of {count(len(now.answers))}." if len(now.answers) > MOST_ROWS else ""
            legend = f"Gap with its 95% CI, latest first.{part} Diamond: free, from earlier answers"
            panels.titled("Answers", legend, drawn, key="desk_answers_chart")
        else:
            shell.whisper("Answers", "None yet. Ask below: the price is shown before anything is charged")
    with right:
        shell.whisper("Remaining budget", "Total ε of each test set, for everybody who asks; cannot be increased")
        refused = st.session_state.get("desk_refused", {})
        bars = (budget_bar(status, refused.get(status.registration.name, 0)) for status in statuses)
        st.html("".join(bars), width="stretch")


def budget_bar(status: LedgerStatus, refused: int = 0) -> str:
    """Return a budget as a bar: filled is spent."""
    colours, made, line = shell.palette(), status.registration, words.budget_text(status, refused)
    share = 100 * status.spent / made.budget
    label = f"{made.name}: ε {status.spent:g} of {made.budget:g} spent, {status.remaining:g} left; {line}"
    return (
        '<div style="margin-bottom:16px">'
        f'<div style="display:flex;justify-content:space-between;gap:12px"><span style="overflow-wrap:anywhere">'
        f"<b>{escape(made.name)}</b>, {escape(made.columns.attribute)}, {made.n_people:,} people</span>"
        f'<span style="white-space:nowrap">ε <b>{status.remaining:g}</b> left</span></div>'
        f'<div role="img" aria-label="{escape(label)}" style="height:10px;margin:5px 0;border-radius:2px;'
        f'background:{colours.grid}"><div style="height:10px;border-radius:2px;width:{share:.2f}%;'
        f'background:{colours.leak}"></div></div>'
        f'<div style="color:var(--fl-grey);font-size:.9rem">ε {status.spent:g} of {made.budget:g} spent; '
        f"{escape(line)}</div></div>"
    )


def log(status: LedgerStatus) -> None:
    """Draw the answered questions of a test set, the latest first, with a CSV."""
    import pandas as pd

    shell.whisper(
        f"Answered about {shell.escape(status.registration.name)}",
        "Latest first; gap with its 95% CI. Question: the first digits of the predictions' hash",
    )
    if not status.answers:
        st.caption("Nothing was asked yet.")
        return
    table = pd.DataFrame(
        {
            "Entry": one.number,
            "When": words.moment(one.asked),
            "Who": one.asker,
            "Metric": METRIC_TITLES[one.metric],
            "Gap": one.gap.value,
            "Low": one.gap.low,
            "High": one.gap.high,
            "ε": one.charged,
            "Free": one.from_past,
            "Question": one.question[:12],
        }
        for one in reversed(status.answers)
    )
    digits = {name: st.column_config.NumberColumn(format="%.4f") for name in ("Gap", "Low", "High")}
    st.dataframe(table, hide_index=True, height="content" if len(table) <= 8 else 320, column_config=digits)
    panels.download("CSV", lambda: csv_of_frame(table), "fairleak-desk.csv", key="desk_log_csv")


def export_and_verify(ledger: Ledger, seal: str | None) -> None:
    """Draw the export's button, and the check of an export."""
    left, right = st.columns(2, gap="large")
    with left:
        shell.whisper("Export", "Every entry with its hash, without key, predictions or anybody's attribute")
        if seal is None:
            st.caption("There is nothing on record yet.")
        else:
            st.markdown(f"Last hash of the ledger, to be noted elsewhere: `{seal}`")
            kept: dict[str, Any] = {"key": "desk_export", "mime": "application/jsonl"}
            panels.download("Download the record", lambda: ledger.record()[0], "fairleak-ledger.jsonl", **kept)
    with right:
        verify()


def verify() -> None:
    """Draw the check of an export, which needs no ledger."""
    shell.whisper(
        "Verify",
        "An export's chain of hashes, every budget's sum, every gap and standard error computed again; not the "
        "intervals' bounds, which follow from predictions it does not hold",
    )
    upload = people.upload_box("desk_verify", "An exported record")
    noted = st.text_input(
        "A hash noted earlier, if there is one (32 digits or more)", key="desk_noted", persist_state="session"
    )
    if upload is None:
        return
    try:
        found = verify_export(upload.content, noted=(noted or "").strip() or None)
    except FairLeakError as error:
        panels.problem(str(error))
        return
    sentence = shell.escape(words.verified(found, upload.name))
    if found.ok:
        st.success(sentence, icon=":material/verified:")
    else:
        st.error(sentence, icon=":material/error:")


_SECTIONS = {
    "ask": "Ask a question",
    "register": "Register a test set",
    "log": "Answered questions",
    "record": "Export and verify",
}


def sections(ledger: Ledger, now: LedgerStatus | None) -> None:
    """Choose a section and draw it; without a registration there is nothing to ask and nothing answered."""
    asked = now is not None
    there = {name: title for name, title in _SECTIONS.items() if asked or name in ("register", "record")}
    key = "desk_section" if asked else "desk_first_section"
    section = panels.pick("At the desk", there, key=key, default=next(iter(there)))
    if section == "register":
        desk_ledger.register_form(ledger)
    elif section == "record":
        export_and_verify(ledger, None if now is None else now.seal)
    elif section == "log" and now is not None:
        log(now)
    elif now is not None:
        question_form(ledger, now)


_ASKED = params(AskSettings)
_SOURCES = {"audited": "Of the audited model", "file": "A file"}
_EPSILON, _PRICED, _SHOWN = "desk_epsilon", "desk_priced", "desk_shown"


def question_form(ledger: Ledger, status: LedgerStatus) -> None:
    """Draw the question at the left, its price and the button at the right."""
    made = status.registration
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(f"Ask about {shell.escape(made.name)}", "The price is shown before anything is charged")
        metrics = ["statistical_parity"] + (["equal_opportunity"] if (made.n_positive or 0) >= 2 else [])
        metric = panels.pick(
            _ASKED["metric"].param.title,
            {name: METRIC_TITLES[name] for name in metrics},
            key=f"desk_metric_{len(metrics)}",
            default="statistical_parity",
            help="The answer is a difference of mean scores: of all people, or of those with a positive label where it "
            "is known. Of labels, 0 or 1, it is the gap of this name.",
        )
        epsilon = _epsilon(ledger, status)
        test_set = _test_set(made)
        scores = None if test_set is None else _scores(test_set, made)
    with right:
        _price(ledger, made, test_set, scores, metric=metric, epsilon=epsilon)


def _epsilon(ledger: Ledger, status: LedgerStatus) -> float:
    """Return the price of a new answer: a small share of what remains until another one is chosen."""
    made = status.registration
    offered = prices(status.remaining, least=made.least_epsilon)
    if len(offered) < 2:
        if not offered:
            st.caption("The budget is spent: only what was answered before can still be asked.")
        return offered[0] if offered else made.least_epsilon
    about = (ledger.place, status.registration.name)
    if st.session_state.get(_PRICED) != (about, offered):
        kept = st.session_state.get(_EPSILON)
        if st.session_state.get(_PRICED, ("",))[0] != about or kept not in offered:
            st.session_state[_EPSILON] = suggested_price(status.remaining, least=made.least_epsilon)
        st.session_state[_PRICED] = (about, offered)
    epsilon = control(
        _ASKED["epsilon"],
        _EPSILON,
        "select_slider",
        options=offered,
        format_func=lambda value: f"{value:.10g}",
        help="Half of it means twice the noise. Nothing is charged for what was answered before.",
    )
    return float(epsilon)


def _test_set(made: Registration) -> TestSet | None:
    """Return the registered people, whose attribute the ledger does not keep."""
    if people.is_audited(made):
        found = people.audited()
        return None if found is None else found[0]
    upload = people.upload_box(
        "desk_test_set",
        "The test set's file again: the ledger does not keep the attribute",
        help="The file it was registered with; the order of its records may differ.",
    )
    return None if upload is None else people.uploaded_test_set(upload, made.columns)


def _scores(test_set: TestSet, made: Registration) -> Any | None:
    """Return the predictions asked about."""
    source = "file"
    if people.is_audited(made):
        source = panels.pick("Predictions", _SOURCES, key="desk_predictions_source", default="audited")
    if source == "audited":
        scores = people.predicted()
        return scores if len(scores) == test_set.n else None
    upload = people.upload_box(
        "desk_predictions",
        "Predictions: a CSV or Parquet file with identifier and score",
        help="A score from 0 to 1 for each person of the test set, in any order.",
    )
    if people.is_audited(made):
        panels.download(
            "These records' numbers, to fill in",
            lambda: "\n".join(["record,score", *(f"{one},0.5" for one in test_set.ids), ""]).encode(),
            "fairleak-records.csv",
            key="desk_numbers",
        )
    if upload is None:
        return None
    return people.uploaded_predictions(upload, test_set, made)


def _price(
    ledger: Ledger, made: Registration, test_set: TestSet | None, scores: Any | None, *, metric: str, epsilon: float
) -> None:
    """Draw what the question would cost and tell, who asks, and the button."""
    with st.container(border=True):
        quote, again = None, False
        if test_set is None or scores is None:
            shell.whisper("No question yet", "Add the files at the left; then its price and its precision stand here.")
        else:
            quote, again = _quoted(ledger, made, test_set, scores, metric=metric, epsilon=epsilon)
        asker = st.text_input(
            "Who asks, and about which model, for the record",
            max_chars=80,
            key="desk_asker",
            placeholder="team A, model 7",
            help="The record keeps this text and has no other field for the model.",
            persist_state="session",
        )
        sure = _sure(made, quote)
        pressed = st.button(
            words.button(quote),
            key="desk_ask",
            type="primary",
            icon=":material/front_hand:",
            disabled=quote is None or quote.refused or not sure,
        )
        shown = st.session_state.get(_SHOWN)
        st.session_state[_SHOWN] = words.button(quote)
        question = (
            None if quote is None else fingerprint("desk question", ledger.place, made.name, np.asarray(scores), metric)
        )
        if pressed and question is not None and shown != words.button(quote):
            _keep_problem(question, "The price has changed since it was shown; press again if it suits you.")
        elif pressed and question is not None and test_set is not None and sure:
            how = {"epsilon": epsilon, "metric": metric, "asker": asker or "", "again": again}
            _ask(ledger, made, test_set, scores, question, **how)
        _show_outcome(ledger, made, question, epsilon=epsilon, again=again)


def _sure(made: Registration, quote: Quote | None) -> bool:
    """Ask for a tick where a question takes more than half of what is left; each price needs its own."""
    if quote is None or quote.refused or 2 * quote.charged <= quote.remaining:
        return True
    key = fingerprint("desk sure", made.name, quote.charged, quote.remaining)
    return st.checkbox(words.sure(quote), key=f"desk_sure_{key[:16]}")


def _quoted(
    ledger: Ledger, made: Registration, test_set: TestSet, scores: Any, *, metric: str, epsilon: float
) -> tuple[Quote | None, bool]:
    """Draw the price and the typical error; returns them, and whether a free answer shall be paid for anew."""
    told: dict[str, Any] = {"epsilon": epsilon, "metric": metric}
    try:
        quote = ledger.quote(made.name, test_set, scores, **told)
        again = quote.from_past and control(
            _ASKED["again"], "desk_again", help="New noise; a repeated query gets the most precise answer."
        )
        if again:
            quote = ledger.quote(made.name, test_set, scores, **told, again=True)
    except FairLeakError as error:
        panels.problem(str(error))
        if people.is_audited(made):
            st.caption(
                "These people were registered from the audited table: they are its test records with the same table, "
                "attribute, training share and seed in the sidebar as then."
            )
        return None, False
    shell.whisper(*words.price(quote, epsilon))
    if made_of := words.counted(quote.charged, epsilon):
        st.caption(made_of)
    if quote.coarse:
        st.caption(words.coarse(quote, epsilon))
    if quote.refused:
        panels.problem(quote.reason or "", point="It would be refused.")
    shell.whisper(*words.expected(quote))
    return quote, bool(again)


def _ask(ledger: Ledger, made: Registration, test_set: TestSet, scores: Any, question: str, **how: Any) -> None:
    st.session_state.pop(_PROBLEM, None)
    if not how["asker"].strip():
        _keep_problem(question, "Say who asks; the record needs it.")
        return
    try:
        answer = ledger.ask(made.name, test_set, scores, **how)
    except FairLeakError as error:
        _keep_problem(question, str(error))
        return
    state.choose("desk_again", False)
    if answer.refused:
        refused = st.session_state.setdefault("desk_refused", {})  # the ledger itself keeps no trace of it
        refused[made.name] = refused.get(made.name, 0) + 1
    st.session_state[_ANSWER] = _Answered(question, answer, how["epsilon"])
    st.rerun()


_ANSWER, _PROBLEM = "desk_answer", "desk_ask_problem"


@dataclass(slots=True)
class _Answered:
    """An answer, its question, what was paid, and the price on the slider when it was first shown."""

    question: str
    answer: LedgerAnswer
    paid: float
    place: str = ""
    slider: float | None = None


def _keep_problem(question: str, sentence: str) -> None:
    """Remember why there is none."""
    st.session_state[_PROBLEM] = (question, sentence)


def _show_outcome(ledger: Ledger, made: Registration, question: str | None, *, epsilon: float, again: bool) -> None:
    """Say what came of the question; of another question, only its answer, named as such.

    The slider's end follows what remains, so the price on it may move by itself while an answer arrives: the price it
    then shows is the one that belongs to the answer.
    """
    problem = st.session_state.get(_PROBLEM)
    if problem is not None and problem[0] == question:
        panels.problem(problem[1])
    kept: _Answered | None = st.session_state.get(_ANSWER)
    if kept is None:
        return
    if not kept.place:
        kept.place, kept.slider = ledger.place, epsilon
    if (kept.place, kept.answer.name) != (ledger.place, made.name):
        return
    same = (kept.question, kept.slider) == (question, epsilon) and not again
    if kept.answer.refused:
        if same:
            panels.problem(kept.answer.reason or "", point="Refused.")
    elif same:
        st.success(words.answered(kept.answer, kept.paid), icon=":material/check_circle:")
    else:
        st.caption(words.last_answer(kept.answer, shell.escape))


_SEED = 7
_PRICE = 0.1
_PEOPLE = 1000


@dataclass(frozen=True, slots=True)
class _Example:
    """An example's ledger at its end, what was asked, and the true gaps."""

    status: LedgerStatus
    asked: tuple[str, ...]
    answers: tuple[LedgerAnswer, ...]
    truths: tuple[float, ...]

    @property
    def worst(self) -> float:
        return max(abs(a.gap.value - t) for a, t in zip(self.answers, self.truths, strict=True))


def show_example(place: Any) -> None:
    """Draw the example, its finding in `place`."""
    from core.charts import GapRow, draw_gaps

    found: _Example = cached.store_of("demo").remember(fingerprint("desk example"), _play)
    with place:
        say(words.example(found.status, found.worst))
    left, right = st.columns([3, 2], gap="large")
    with left:
        answers = zip(found.asked, found.answers, found.truths, strict=True)
        rows = [GapRow(words=w, gap=a.gap, price=a.charged, truth=t) for w, a, t in answers]
        panels.titled(
            "Answers and true values",
            "Gap in loan approvals, men minus women (−1 to 1). Dot: answer with 95% CI. Vertical line: true value "
            "(shown in this example only). Diamond: free",
            draw_gaps(rows, shell.palette()),
            key="desk_example_chart",
        )
    with right:
        shell.whisper("Remaining budget", "Total ε of the test set, for everybody who asks; cannot be increased")
        st.html(budget_bar(found.status), width="stretch")
        st.markdown(INTRODUCTION)


def _play() -> _Example:
    """Ask three questions about the built-in demo's people, of a ledger in memory."""
    from core.datasets import build_dataset, demo_table
    from core.queries import statistical_parity_gap

    table = demo_table()
    dataset = build_dataset(table, table.roles[0])
    men = (dataset.sensitive[:_PEOPLE] == 0).astype(np.uint8)
    people = TestSet(ids=tuple(str(i + 1) for i in range(_PEOPLE)), attribute=men)
    ledger = example_ledger(_SEED)
    ledger.register("Example", people, budget=1, columns=Columns(attribute="sex", advantaged="men"))
    questions = _questions(dataset)
    answers = [ledger.ask("Example", people, scores, epsilon=_PRICE, asker="example") for scores in questions.values()]
    truths = [float(statistical_parity_gap(scores, men)[0]) for scores in questions.values()]
    return _Example(ledger.status("Example"), tuple(questions), tuple(answers), tuple(truths))


def _questions(dataset: Any) -> dict[str, Any]:
    """Return two simple rules for granting a loan, and the first one again."""
    income = dataset.features[:_PEOPLE, dataset.feature_names.index("income")]
    history = dataset.features[:_PEOPLE, dataset.feature_names.index("credit_history_years")]
    by_income = (income >= np.median(income)).astype(float)
    by_history = (history >= np.median(history)).astype(float)
    return {
        "Loans by income": by_income,
        "Loans by credit history": by_history,
        "Loans by income, again": by_income,
    }
