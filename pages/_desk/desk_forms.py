"""What is filled in at the desk: files, the form that registers a test set, and the one that asks about it.

The people a ledger is asked about are the audited table's test records, or a file's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from core.base.errors import FairLeakError, InputError
from core.base.serialize import fingerprint
from core.base.settings import params
from core.datasets.build import select
from core.datasets.checked_table import Fact
from core.datasets.dataset import Table
from core.datasets.roles import Roles
from core.datasets.splits import split
from core.desk import (
    AskSettings,
    Ledger,
    LedgerAnswer,
    LedgerStatus,
    Quote,
    RegisterSettings,
    TestSet,
    desk_roles,
    input_facts,
    people_table,
    predictions_of,
    roles_in,
    suggested_roles,
    test_set_of,
)
from core.desk import findings as desk_findings
from core.desk.noise import epsilon_amount
from core.stats.estimates import count
from core.stats.fairness import METRIC_TITLES
from core.studies.subject import train_model
from pages._data.draft import values_of
from pages.shell import cached, panels, shell, signin, state
from pages.shell.background import Job, require_result
from pages.shell.controls import control

_NUMBER = "record number in the audited table"
"""Stands for the column of identifiers where people come from the audited table and not from a file."""

_REGISTER = params(RegisterSettings)
_ASK_SETTINGS = params(AskSettings)
_MOST_VALUES = 200
_NO_OUTCOME = "none"


# Files ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Upload:
    """A file's name and content, what tells it from others, and what was read from it so far."""

    name: str
    content: bytes = field(repr=False)
    mark: str = ""
    read: dict[str, Any] = field(default_factory=dict, repr=False)


def upload_box(key: str, label: str, *, help: str | None = None) -> Upload | None:
    """Draw an upload box and return the file that is in it, or was when the page was left."""
    file_key = f"{key}_file"

    def take(file: Any) -> None:
        st.session_state[file_key] = Upload(file.name, file.getvalue(), file.file_id)

    widget_file = panels.upload(label, key, take, forgets=(file_key,), help=help)
    upload: Upload | None = st.session_state.get(file_key)
    if upload is not None and widget_file is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{upload.name[:60]} is still here.")
            st.button(
                "Remove",
                key=f"{key}_remove",
                on_click=panels.forget,
                args=(file_key,),
                icon=":material/delete:",
            )
    return upload


def _read(upload: Upload, make: Callable[[], Any], *how: Any) -> Any | None:
    """Return what a file holds, read once each way (`how`); or say in one sentence what is wrong and return None."""
    key = fingerprint(*how)
    if key not in upload.read:
        try:
            with st.spinner("Reading the file"):
                upload.read[key] = make()
        except InputError as error:
            upload.read[key] = error
        except MemoryError:
            upload.read[key] = InputError(panels.TOO_LARGE)
    result = upload.read[key]
    if isinstance(result, InputError):
        panels.problem(str(result))
        return None
    return result


# People of the audited table ------------------------------------------------------------------------------------------


def _audited() -> tuple[TestSet, Roles] | None:
    """Return the audited table's test records; None, said in a sentence, for an attribute in more than two groups."""
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    if dataset.n_groups != 2:
        panels.problem(
            f"The desk compares two groups, and this attribute is split in {dataset.n_groups}; choose an attribute in "
            "two groups in the sidebar."
        )
        return None
    advantaged = int(dataset.sensitive.mean() >= 0.5)

    def draw() -> TestSet:
        rows = split(dataset, train_share=config.train_share, seed=config.seed).test
        ids = tuple(str(row + 1) for row in rows)
        attribute = (dataset.sensitive[rows] == advantaged).astype("uint8")
        return TestSet(ids=ids, attribute=attribute, labels=dataset.labels[rows])

    key = fingerprint("desk people", dataset.fingerprint, config.train_share, config.seed)
    try:
        test_set: TestSet = cached.store_of(config.dataset).remember(key, draw)
    except InputError as error:
        panels.problem(str(error))
        return None
    roles = dataset.roles
    group = (dataset.group_names[advantaged],)
    positive = dataset.label_names[1]
    return test_set, desk_roles(
        roles.attribute, person=_NUMBER, group=group, label=roles.label, positive=positive
    )


def _audited_scores() -> Any:
    """Return the audited model's scores of the test records; waits with a progress bar while it is trained."""
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    store = cached.store_of(config.dataset)

    def work(job: Job) -> Any:
        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        model = cached.trained_model(store, config, dataset) or train_model(config, dataset, splits)
        return model.scores[splits.test]

    key = fingerprint("desk scores", dataset.fingerprint, config)
    return require_result(store, key, "Training the audited model", work)


# Registering a test set -----------------------------------------------------------------------------------------------

_REGISTER_PROBLEM = "desk_register_problem"


def register(ledger: Ledger) -> None:
    """Draw the form that registers a test set, and its button."""
    shell.whisper(
        "Register a test set", "Who is asked about, and how much may ever be revealed about them"
    )
    sources = {"file": "A file", "audited": "Test records of the audited table"}
    source = panels.pick("People", sources, key="desk_source", default="audited")
    people = _from_file() if source == "file" else _audited()
    if people is not None and source != "file":
        _describe(*people)
    left, right = st.columns([3, 2], gap="large")
    if people and source != "file":
        suggested = f"{state.dataset_name()}, {people[1].sensitive}"
    else:
        suggested = ""
    name = left.text_input(
        "Name, as askers will call it",
        value=suggested,
        max_chars=80,
        key=f"desk_new_name_{source}_{suggested[:60]}",
        persist_state="session",
    )
    budget = control(
        _REGISTER["budget"],
        "desk_budget",
        "number_input",
        container=right,
        min_value=0.00001,
        max_value=1000.0,
        value=1.0,
        step=0.1,
        format="%g",
        help="Smaller protects more and answers less. 1 is strict, 10 protects little.",
    )
    st.caption(desk_findings.price_of_size(float(budget)))
    another = control(
        _REGISTER["another_attribute"],
        "desk_another_attribute",
        help="Needed where these people have a budget for another attribute. It is believed, and goes on record.",
    )
    pressed = st.button(
        "Register",
        key="desk_register",
        disabled=people is None,
        type="primary",
        icon=":material/how_to_reg:",
    )
    if pressed and people is not None:
        with panels.keeping_problem(_REGISTER_PROBLEM):
            if not (name or "").strip():
                raise InputError("Give the test set a name; askers need it.")
            test_set, roles = people
            status = ledger.register(
                name,
                test_set,
                budget=round(float(budget), 6),
                roles=roles,
                another_attribute=another,
            )
            state.choose("desk_name", status.name)
            state.choose("desk_section", "ask")
            state.choose("desk_another_attribute", False)
            st.rerun()
    panels.kept_problem(_REGISTER_PROBLEM)


def _describe(test_set: TestSet, roles: Roles) -> None:
    """Say who would be registered."""
    if test_set.n_positive is None:
        labels = ""
    else:
        labels = f" {count(test_set.n_positive)} of them have the positive label."
    group = " or ".join(roles.group) or "1"
    st.markdown(
        f"{count(test_set.n)} people; attribute **{shell.escape(roles.sensitive)}**, advantaged group "
        f"**{shell.escape(group)}**, compared with everybody else.{labels}"
    )


def _from_file() -> tuple[TestSet, Roles] | None:
    """Ask for a file and what its columns are; return a description of its people, as soon as it can be read."""
    upload = upload_box(
        "desk_test_set",
        "Test set: a CSV or Parquet file with a record a person (up to 200 MB)",
        help="Read in this session's memory. The ledger keeps a keyed hash of it, to know it again.",
    )
    table = _table_of(upload)
    if upload is None or table is None:
        return None
    roles = _chosen_roles(table, upload)
    people = _read(upload, lambda: _people(table, roles), "people", roles)
    if people is None:
        return None
    test_set, roles, facts = people
    _describe(test_set, roles)
    if values_text := desk_findings.together(desk_findings.everybody_else(table, roles)):
        st.markdown(f"The disadvantaged group takes together {shell.escape(values_text)}.")
    for note in (*table.notes, *(fact.text for fact in facts)):
        st.caption(shell.escape(note))
    return test_set, roles


def _table_of(upload: Upload | None) -> Table | None:
    """Table of an upload, read once; None, with its problem drawn, where it is none."""
    if upload is None:
        return None
    return _read(upload, lambda: people_table(upload.content, upload.name), "table")


def _people(table: Table, roles: Roles) -> tuple[TestSet, Roles, tuple[Fact, ...]]:
    """Test set of a table, its roles as the table writes them, and the facts of the input check."""
    roles = roles_in(table, roles)
    return test_set_of(table, roles), roles, input_facts(table, roles)


def _chosen_roles(table: Table, upload: Upload) -> Roles:
    """Ask which column of a table is which, and which values count; the defaults are those of an audit's roles."""
    suggestion = _read(upload, lambda: suggested_roles(table), "suggestion") or desk_roles("")
    names = [str(column) for column in table.frame.columns]
    left, middle, right = st.columns(3, gap="medium")
    person = _choose(
        left, "Identifier", names, f"desk_id_column_{upload.mark}", default=suggestion.person
    )
    columns = [name for name in names if name != person]
    key = f"desk_attribute_column_{upload.mark}"
    sensitive = _choose(middle, "Sensitive attribute", columns, key, default=suggestion.sensitive)
    values = values_of(table.frame, sensitive, _MOST_VALUES)
    group = _choose(
        middle, "Advantaged group", values, f"desk_advantaged_{sensitive}_{upload.mark}"
    )
    outcomes = [_NO_OUTCOME, *(name for name in columns if name != sensitive)]
    key = f"desk_label_column_{upload.mark}"
    public = "Counts as public: those who ask may know it."
    label = _choose(right, "True outcome, for equal opportunity", outcomes, key, help=public)
    if label == _NO_OUTCOME:
        return desk_roles(sensitive, person=person, group=(group,))
    values = values_of(table.frame, label, _MOST_VALUES)
    if label == suggestion.label:
        default = suggestion.positive
    else:
        default = ""
    positive = _choose(
        right, "Positive outcome", values, f"desk_positive_{label}_{upload.mark}", default=default
    )
    return desk_roles(sensitive, person=person, group=(group,), label=label, positive=positive)


def _choose(
    column: Any,
    title: str,
    options: Sequence[str],
    key: str,
    *,
    default: str = "",
    help: str | None = None,
) -> str:
    """Draw the choice of one column or value of a test set's table."""
    if default in options:
        index = list(options).index(default)
    else:
        index = 0
    choice: str = column.selectbox(
        title, options, index=index, key=key, help=help, persist_state="session"
    )
    return choice


# Asking ---------------------------------------------------------------------------------------------------------------

_EPSILON = "desk_epsilon"
_PRICED = "desk_priced"
_LAST_BUTTON = "desk_shown"
_ANSWER = "desk_answer"
"""Where the session keeps the last answer: which budget it is about, the question, the answer, and what was paid."""

_ANSWER_PRICE = "desk_answer_price"
"""Where it keeps the price on the slider when that answer was first shown."""

_PROBLEM = "desk_ask_problem"


def ask(ledger: Ledger, status: LedgerStatus) -> None:
    """Draw the question at the left, its price and the button at the right."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(
            f"Ask about {shell.escape(status.name)}",
            "The price is shown before anything is charged",
        )
        metrics = ["statistical_parity"]
        if (status.n_positive or 0) >= 2:
            metrics.append("equal_opportunity")
        metric = panels.pick(
            _ASK_SETTINGS["metric"].param.title,
            {name: METRIC_TITLES[name] for name in metrics},
            key=f"desk_metric_{len(metrics)}",
            default="statistical_parity",
            help="The answer is a difference of mean scores: of all people, or of those with a positive label where it "
            "is known. Of labels, 0 or 1, it is the gap of this name.",
        )
        epsilon = _epsilon(ledger, status)
        test_set = _test_set(ledger, status)
        scores = None
        if test_set is not None:
            scores = _scores(test_set, status)
    with right, st.container(border=True):
        _price(ledger, status, test_set, scores, metric, epsilon)


def _epsilon(ledger: Ledger, status: LedgerStatus) -> float:
    """Return the price of a new answer: a small share of what remains until another one is chosen."""
    offered = desk_findings.prices(status.remaining, least=status.least_epsilon)
    if len(offered) < 2:
        if not offered:
            st.caption("The budget is spent: only what was answered before can still be asked.")
        if offered:
            return offered[0]
        return status.least_epsilon
    about = (ledger.location, status.name)
    before, last_offered = st.session_state.get(_PRICED, ("", ()))
    if before != about or (
        offered != last_offered and st.session_state.get(_EPSILON) not in offered
    ):
        st.session_state[_EPSILON] = desk_findings.suggested_price(
            status.remaining, least=status.least_epsilon
        )
    st.session_state[_PRICED] = (about, offered)
    epsilon = control(
        _ASK_SETTINGS["epsilon"],
        _EPSILON,
        "select_slider",
        options=offered,
        format_func=epsilon_amount,
        help="Half of it means twice the noise. Nothing is charged for what was answered before.",
    )
    return float(epsilon)


def _test_set(ledger: Ledger, status: LedgerStatus) -> TestSet | None:
    """Return the registered people, whose attribute the ledger does not keep; only an officer opens them to askers."""
    if not signin.is_on():
        return _own_test_set(status)
    test_sets = cached.test_sets()
    key = fingerprint("test set", ledger.location, status.name)
    opened: TestSet | None = test_sets.get(key)
    if signin.role() is signin.Role.ASKER:
        if opened is None:
            st.caption(
                "An officer has not opened this test set, or has closed it, since the server started; ask for it."
            )
        return opened
    test_set = opened or _own_test_set(status)
    if test_set is not None and signin.is_officer():
        help_text = "They ask without the file and never see it; it stays in the server's memory until you close it."
        switch = f"desk_opened_{key[:16]}"
        st.session_state[switch] = opened is not None
        handed: tuple[str, TestSet | None] = (key, test_set)
        if opened:
            handed = (key, None)
        st.toggle(
            "Open to askers", key=switch, on_change=_open_to_askers, args=handed, help=help_text
        )
    return test_set


def _open_to_askers(key: str, test_set: TestSet | None) -> None:
    """Keep a test set for askers, or no longer; callbacks run before the page looks at roles."""
    if signin.is_officer():
        cached.test_sets().put(key, test_set)


def _own_test_set(status: LedgerStatus) -> TestSet | None:
    """Return the registered people from the audited table or from a file of this session."""
    if status.roles.person == _NUMBER:
        people = _audited()
        if people is None:
            return None
        return people[0]
    upload = upload_box(
        "desk_test_set",
        "The test set's file again: the ledger does not keep the attribute",
        help="The file it was registered with; the order of its records may differ.",
    )
    table = _table_of(upload)
    if upload is None or table is None:
        return None
    return _read(upload, lambda: test_set_of(table, status.roles), "test set", status.roles)


def _scores(test_set: TestSet, status: LedgerStatus) -> Any | None:
    """Return the predictions asked about."""
    audited = status.roles.person == _NUMBER
    if audited and signin.role() is not signin.Role.ASKER:
        sources = {"audited": "Of the audited model", "file": "A file"}
        if (
            panels.pick("Predictions", sources, key="desk_predictions_source", default="audited")
            == "audited"
        ):
            scores = _audited_scores()
            if len(scores) == test_set.n:
                return scores
            return None
    upload = upload_box(
        "desk_predictions",
        "Predictions: a CSV or Parquet file with identifier and score",
        help="A score from 0 to 1 for each person of the test set, in any order.",
    )
    if audited:
        if signin.role() is signin.Role.ASKER:
            audited_table = None
        else:
            audited_table = _table()
        panels.download(
            "These records' numbers, to fill in",
            partial(to_fill_in, test_set, audited_table),
            "fairleak-records.csv",
            key="desk_numbers",
        )
        if audited_table is None:
            rows = ""
        else:
            rows = "; their rows are beside them"
        st.caption(f"Numbers count the records used, from 1{rows}.")
    table = _table_of(upload)
    if upload is None or table is None:
        return None
    names = [str(column) for column in table.frame.columns]
    left, right = st.columns(2)
    person = _choose(
        left,
        "Identifier",
        names,
        f"desk_predictions_id_{upload.mark}",
        default=status.roles.person,
    )
    columns = [name for name in names if name != person]
    score = _choose(right, "Score, from 0 to 1", columns, f"desk_predictions_score_{upload.mark}")
    make = partial(predictions_of, table, test_set, person=person, score=score)
    return _read(upload, make, "predictions", person, score, fingerprint(list(test_set.ids)))


def _table() -> tuple[Table, Roles]:
    """Return the audited table, and the roles of its columns."""
    config, table = cached.audited()
    return table, cached.dataset_of(table, config.roles).roles


def to_fill_in(test_set: TestSet, table: tuple[Table, Roles] | None) -> bytes:
    """Return a file for scores: records' numbers and, where their table is there, the rows they have in it.

    A table has more rows than records where some are left out for what they lack.
    """
    head = "record,score"
    lines = [f"{person},0.5" for person in test_set.ids]
    if table is not None:
        audited, roles = table
        selected, _, _ = select(audited.frame, roles)
        rows = np.flatnonzero(selected) + 1
        head = f"{head},row in the table"
        lines = [
            f"{line},{rows[int(person) - 1]}"
            for line, person in zip(lines, test_set.ids, strict=True)
        ]
    return "\n".join([head, *lines, ""]).encode()


def _price(
    ledger: Ledger,
    status: LedgerStatus,
    test_set: TestSet | None,
    scores: npt.ArrayLike | None,
    metric: str,
    epsilon: float,
) -> None:
    """Draw what the question would cost and tell, who asks, the button, and what came of it."""
    quote = None
    again = False
    question = ""
    submit = None
    if test_set is None or scores is None:
        shell.whisper(
            "No question yet",
            "Add the files at the left; then its price and its precision stand here.",
        )
    else:
        question = fingerprint(
            "desk question",
            ledger.location,
            status.name,
            np.asarray(scores),
            metric,
        )
        submit = partial(ledger.ask, status.name, test_set, scores, epsilon=epsilon, metric=metric)
        quoted = partial(
            ledger.quote, status.name, test_set, scores, epsilon=epsilon, metric=metric
        )
        quote, again = _quoted(quoted, status, epsilon)
    asker = _asker()
    ready = quote is not None and not quote.refused and _sure(status, quote)
    button = desk_findings.button(quote)
    last_button = st.session_state.get(_LAST_BUTTON)
    pressed = st.button(
        button, key="desk_ask", disabled=not ready, type="primary", icon=":material/front_hand:"
    )
    st.session_state[_LAST_BUTTON] = button
    if pressed and ready and submit is not None:
        try:
            if last_button != button:
                raise InputError(
                    "The price has changed since it was shown; press again if it suits you."
                )
            if not asker:
                raise InputError("Say who asks; the record needs it.")
            answer = submit(asker=asker, again=again)
        except FairLeakError as error:
            st.session_state[_PROBLEM] = (question, str(error))
        else:
            panels.forget(_PROBLEM)
            state.choose("desk_again", False)
            if answer.refused:
                refused = st.session_state.setdefault(
                    "desk_refused", {}
                )  # the ledger itself keeps no trace of it
                refused[status.name] = refused.get(status.name, 0) + 1
            about = (ledger.location, status.name)
            st.session_state[_ANSWER] = (about, question, answer, epsilon)
            panels.forget(_ANSWER_PRICE)
            st.rerun()
    _show_outcome((ledger.location, status.name), question, epsilon, again=again)


def _asker() -> str:
    """Ask who asks and about which model; who has signed in is asked for the model only, and stands before it."""
    proven = signin.name()
    label = "Who asks, and about which model, for the record"
    placeholder = "team A, model 7"
    room = 80
    if proven:
        st.text(f"Asked by {proven}")
        label = "About which model, for the record"
        placeholder = "model 7"
        room -= len(f"{proven}: ")
    text = st.text_input(
        label,
        max_chars=room,
        placeholder=placeholder,
        key="desk_asker",
        help="The record keeps this text and has no other field for the model.",
        persist_state="session",
    )
    return ": ".join(filter(None, (proven, (text or "").strip())))


def _sure(status: LedgerStatus, quote: Quote) -> bool:
    """Ask for a tick where a question takes more than half of what is left; each price needs its own."""
    if 2 * quote.charged <= quote.remaining:
        return True
    key = fingerprint("desk sure", status.name, quote.charged, quote.remaining)
    return st.checkbox(desk_findings.sure(quote), key=f"desk_sure_{key[:16]}")


def _quoted(
    quoted: Callable[..., Quote], status: LedgerStatus, epsilon: float
) -> tuple[Quote | None, bool]:
    """Draw the price and the typical error; returns them, and whether a free answer shall be paid for again."""
    try:
        quote = quoted()
        again = False
        if quote.from_past:
            help_text = "New noise; a repeated query gets the most precise answer."
            again = bool(control(_ASK_SETTINGS["again"], "desk_again", help=help_text))
        if again:
            quote = quoted(again=True)
    except FairLeakError as error:
        panels.problem(str(error))
        if status.roles.person == _NUMBER:
            st.caption(
                "These people were registered from the audited table: they are its test records with the same table, "
                "attribute, training share and seed in the sidebar as then."
            )
        return None, False
    shell.whisper(*desk_findings.price(quote, epsilon))
    if made_of := desk_findings.counted(quote.charged, epsilon):
        st.caption(made_of)
    if quote.coarse:
        st.caption(desk_findings.coarse(quote, epsilon))
    if quote.refused:
        panels.problem(quote.reason or "", point="It would be refused.")
    shell.whisper(*desk_findings.expected(quote))
    return quote, again


def _show_outcome(about: tuple[str, str], question: str, epsilon: float, *, again: bool) -> None:
    """Say what came of the question; of another question, only its answer, named as such.

    The slider's end follows what remains, so the price on it may move by itself while an answer arrives: the price it
    then shows is the one that belongs to the answer.
    """
    failed_question, sentence = st.session_state.get(_PROBLEM, ("", ""))
    if question and failed_question == question:
        panels.problem(sentence)
    answer: LedgerAnswer
    about_answer, answered_question, answer, paid = st.session_state.get(_ANSWER, [None] * 4)
    if about_answer != about:
        return
    price = st.session_state.setdefault(_ANSWER_PRICE, epsilon)
    same = (answered_question, price) == (question, epsilon) and not again
    if answer.refused:
        if same:
            panels.problem(answer.reason or "", point="Refused.")
    elif same:
        st.success(desk_findings.answered(answer, paid), icon=":material/check_circle:")
    else:
        about_it, answer_text = desk_findings.last_answer(answer)
        st.caption(f"{shell.escape(about_it)} {answer_text}")
