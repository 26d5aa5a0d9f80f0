"""The query desk in-process: its ledger's place, who is registered, asking and its price, files, what is never told."""

import re
from dataclasses import replace

import numpy as np
import pytest
from google.protobuf import text_format

from core.desk import Ledger, TestSet, default_ledger, desk_roles, open_ledger, people_table
from core.desk import test_set_of as read_test_set
from core.stats.estimates import gap as gap_text
from core.studies.bias_queries import statistical_parity_gap
from pages._desk import desk_ledger
from pages._desk.desk_forms import to_fill_in
from tests import desk_files
from tests.app.dashboard import APP, plain
from tests.unit.datasets.bad_tables import GOOD_ROLES, assert_one_sentence, table_of

pytestmark = pytest.mark.usefixtures("start")


def state(name="demo, sex"):
    """Return how a test set stands in the default ledger, as somebody else opens it."""
    return open_ledger(default_ledger()).status(name)


def desk(dashboard):
    return dashboard.open("desk").click("desk_create")


def audited(dashboard):
    """Register the demo's test records in a new ledger."""
    return desk(dashboard).click("desk_register")


def from_file(dashboard, name="people.csv", content=None):
    """Register a file's people as "loans", outcome included, in a new ledger."""
    content = desk_files.test_set() if content is None else content
    desk(dashboard).choose(desk_source="file").give("desk_test_set", name, content)
    dashboard.choose(desk_label_column="repaid", desk_positive_repaid="yes", desk_new_name_file="loans")
    return dashboard.click("desk_register")


def ask(dashboard, epsilon=0.1, asker="team A"):
    """Ask, and tick that much may be spent where that is asked for."""
    if epsilon is not None:
        dashboard.choose(desk_epsilon=epsilon)
    dashboard.choose(desk_asker=asker)
    for box in ticks(dashboard):
        box.check()
        dashboard.settle()
    return dashboard.click("desk_ask")


def ticks(dashboard):
    return [box for box in dashboard.test.checkbox if (box.key or "").startswith("desk_sure")]


def sent(dashboard):
    """Return everything sent to the browser: words, charts, raw HTML and the widgets' values."""
    protos = [node.proto for node in dashboard.nodes() if getattr(node, "proto", None)]
    content = "\n".join(text_format.MessageToString(proto, as_utf8=True) for proto in protos)
    assert dashboard.finding[3:10] in content  # it does hold what is on the page
    return content


def test_register_quote_ask_and_a_repeat_is_free(start):
    dashboard = start().open("desk")
    assert "Example: " in dashboard.plain_finding and not default_ledger().parent.exists()
    dashboard.click("desk_create").click("desk_register")
    before = state()
    assert before.remaining == 0.9 and before.n_people == 3960
    dashboard.choose(desk_epsilon=0.1)
    assert re.search(r"(?s)Costs ε 0\.1.*0\.8 afterwards.*Typical error ±0\.00", dashboard.page_text)
    assert state() == before  # a quote charges nothing
    ask(dashboard)
    (answer,) = state().answers
    assert (state().spent, answer.asker) == (0.2, "team A")
    gap = gap_text(answer.gap.value)
    assert gap in dashboard.plain_finding and gap in dashboard.test.success[0].value
    ask(dashboard)
    assert state().spent == 0.2 and len(state().answers) == 1  # the same free answer is not written again
    session = ask(start().open("desk"), asker="team B", epsilon=0.3)
    assert session.test.success and state().spent == 0.2  # free for another session, too
    ask(dashboard.choose(desk_again=True))
    assert state().spent == pytest.approx(0.3) and not state().answers[1].from_past
    assert dashboard.widget("desk_again").value is False  # paying twice takes two decisions
    dashboard.choose(desk_section="log")
    (frame,) = (table.value for table in dashboard.test.dataframe)
    assert list(frame["Who"]) == ["team A", "team A"] and list(frame["Free"]) == [False, False]


def test_an_export_is_verified_and_a_changed_one_is_not(dashboard):
    ask(audited(dashboard))
    content = open_ledger(default_ledger()).record()[0]
    dashboard.choose(desk_section="record")
    assert any(state().seal in text for text in dashboard.texts)
    dashboard.give("desk_verify", "record.jsonl", content)
    assert "Entries 3 · Answers 1 · Budgets 1" in plain(dashboard.test.success[0].value)
    dashboard.choose(desk_noted="0123456789abcdef" * 2)
    assert "noted hash" in plain(dashboard.test.error[0].value)
    dashboard.choose(desk_noted="").give("desk_verify", "record.jsonl", content.replace(b"team A", b"team B"))
    assert not dashboard.test.success and "Verification failed" in dashboard.test.error[0].value
    dashboard.give("desk_verify", "people.csv", desk_files.test_set())
    assert_one_sentence(dashboard.plain_problem(), ("not an export",))


def test_names_are_shown_and_never_obeyed(dashboard):
    hostile = "<img src=x onerror=alert(1)> *x* [y](z) :red[w]"
    hostile_ledger = open_ledger(default_ledger(), create=True)
    people = TestSet(ids=tuple("abcdef"), attribute=np.array([1, 0, 1, 0, 1, 1]))
    hostile_ledger.register(hostile, people, budget=2, roles=desk_roles(hostile, group=(hostile,)))
    hostile_ledger.ask(hostile, people, np.linspace(0, 1, 6), epsilon=0.5, asker=hostile)
    dashboard.open("desk")
    for name in ("ask", "log", "record"):
        dashboard.choose(desk_section=name)
        assert hostile in dashboard.plain_finding
        for text in (*dashboard.texts, *(caption.value for caption in dashboard.test.caption)):
            assert hostile not in text
        for element in dashboard.test.get("html"):
            assert "<img" not in text_format.MessageToString(element.proto)


def test_over_budget_is_refused_counted_and_leaves_no_trace(dashboard, monkeypatch):
    audited(dashboard)
    before = state()
    assert max(map(float, dashboard.widget("desk_epsilon").options)) == 0.9  # what remains
    dashboard.choose(desk_metric_2="equal_opportunity", desk_epsilon=0.9)
    assert "It would be refused." in plain(dashboard.test.warning[0].value) and not ticks(dashboard)
    assert dashboard.button("desk_ask").disabled
    quote = Ledger.quote  # as if somebody else spends between quote and question
    monkeypatch.setattr(Ledger, "quote", lambda *a, **k: replace(quote(*a, **k), reason=None))
    ask(dashboard.settle(), epsilon=None)
    assert state() == before and "Refused in this session 1" in sent(dashboard)
    assert any("costs epsilon 1, and 0.9 of 1 is left" in plain(box.value) for box in dashboard.test.warning)


def test_much_of_what_is_left_needs_a_tick_and_another_seed_is_another_test_set(dashboard):
    audited(dashboard).choose(desk_epsilon=0.3)
    assert not ticks(dashboard) and not dashboard.button("desk_ask").disabled
    dashboard.choose(desk_epsilon=0.5)
    (box,) = ticks(dashboard)
    assert plain(box.label) == "Yes, spend ε 0.5 of the ε 0.9 that is left"
    assert dashboard.button("desk_ask").disabled
    box.check()
    dashboard.settle()
    assert not dashboard.button("desk_ask").disabled
    dashboard.choose(desk_epsilon=0.7)
    assert dashboard.button("desk_ask").disabled  # another price, another decision
    dashboard.choose(seed=7)
    assert_one_sentence(dashboard.plain_problem(), ("must be the one registered", "not the registered one"))
    assert dashboard.button("desk_ask").disabled


def test_an_answer_belongs_to_its_question_and_a_price_that_changed_meanwhile_is_not_paid(dashboard):
    ask(from_file(dashboard).give("desk_predictions", "model.csv", desk_files.predictions()))
    gap = gap_text(state("loans").answers[0].gap.value)
    last = f"Last answer, to question 3 (Difference of mean scores, team A): **{gap}**"
    for key, after, before in (("desk_epsilon", 0.3, 0.1), ("desk_again", True, False)):
        dashboard.choose(**{key: after})
        assert last in dashboard.page_text and not any(gap in box.value for box in dashboard.test.success)
        dashboard.choose(**{key: before})
        assert last not in dashboard.page_text and gap in dashboard.test.success[0].value
    dashboard.give("desk_predictions", "other.csv", desk_files.predictions(seed=2))
    assert last in dashboard.page_text
    dashboard.choose(desk_epsilon=0.3)
    people = read_test_set(people_table(desk_files.test_set(), "people.csv"), state("loans").roles)
    open_ledger(default_ledger()).ask("loans", people, desk_files.scores(3), epsilon=0.7, asker="team B")
    dashboard.click("desk_ask")
    assert [answer.asker for answer in state("loans").answers] == ["team A", "team B"]
    assert "The price has changed since it was shown" in plain(dashboard.test.warning[0].value)


def test_files_are_matched_kept_over_pages_and_nothing_of_them_is_written(dashboard, tmp_path):
    from_file(dashboard, "people.parquet", desk_files.test_set_parquet())
    status = state("loans")
    assert (status.n_people, status.roles.group, status.roles.positive) == (400, ("Male",), "yes")
    assert dashboard.button("desk_ask").disabled
    dashboard.give("desk_predictions", "model.csv", desk_files.predictions()).open("data").open("desk")
    messages = ["model.csv is still here.", "people.parquet is still here."]
    assert sorted(text.value for text in dashboard.test.text) == messages
    ask(dashboard, epsilon=0.7)
    (answer,) = state("loans").answers
    sex = np.array([line.split(",")[1] == "Male" for line in desk_files.test_set().decode().splitlines()[1:]])
    truth = statistical_parity_gap(desk_files.scores(), sex.astype(np.uint8))[0]
    assert abs(answer.gap.value - truth) < 0.15 < truth  # right people in the right order
    dashboard.click("desk_predictions_remove")
    assert dashboard.button("desk_ask").disabled
    dashboard.give("desk_predictions", "copy.csv", desk_files.predictions())
    assert dashboard.button("desk_ask").label == "Ask, free" and state("loans").spent == pytest.approx(0.8)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name.removesuffix("-wal").removesuffix("-shm") for path in written} == {"ledger.sqlite"}
    stored = b"".join(path.read_bytes() for path in written)
    assert b"team A" in stored and b"Female" not in stored


def test_numbers_to_fill_in_stand_beside_the_rows_of_the_table():
    """Rows 1, 4, 7 ... have no label: the records used are counted without them, the rows of the table with."""
    people = TestSet(ids=("1", "2", "3", "80"), attribute=np.array([0, 1, 0, 1]))
    lines = to_fill_in(people, (table_of(hired=[None, "yes", "no"]), GOOD_ROLES)).decode().splitlines()
    assert lines == ["record,score,row in the table", "1,0.5,2", "2,0.5,3", "3,0.5,5", "80,0.5,120"]
    assert to_fill_in(people, None).decode().splitlines()[:2] == ["record,score", "1,0.5"]


def test_choices_about_a_file_outlive_a_look_at_another_page_and_not_the_file(dashboard):
    content = desk_files.test_set()
    desk(dashboard).choose(desk_source="file")
    dashboard.give("desk_test_set", "three.csv", content.replace(b",Female", b",divers", 3))
    dashboard.choose(desk_attribute_column="sex")
    assert f"takes together {content.count(b'Female') - 3} 'Female', 3 'divers'." in dashboard.page_text
    dashboard.give("desk_test_set", "people.csv", content)
    dashboard.choose(desk_advantaged_sex="Female", desk_label_column="repaid", desk_positive_repaid="no")
    dashboard.open("data").open("desk")
    dashboard.choose(desk_new_name_file="loans").click("desk_register")
    roles = state("loans").roles
    assert (roles.group, roles.label, roles.positive) == (("Female",), "repaid", "no")


def open_location(dashboard, at, button="desk_open"):
    dashboard.widget("desk_place").set_value(at)
    dashboard.test.run()
    dashboard.click(button)


def test_bad_places_are_one_sentence_and_the_open_ledger_stays(dashboard, tmp_path):
    audited(dashboard)
    before, foreign = dashboard.finding, tmp_path / "notes.txt"
    foreign.write_text("no ledger at all\n" * 100)
    for at, button, phrase in (
        (str(foreign), "desk_open", "not a FairLeak ledger"),
        (str(tmp_path / "none.sqlite"), "desk_open", "press Create to make one"),
        (str(APP.parent / "ledger.sqlite"), "desk_create", "must not lie"),
        ("postgresql://ann@127.0.0.1:1/db", "desk_open", "cannot be used"),
    ):
        open_location(dashboard, at, button)
        assert_one_sentence(dashboard.plain_problem(), (phrase,))
        assert dashboard.finding == before
    assert foreign.read_text() == "no ledger at all\n" * 100 and not (APP.parent / "ledger.sqlite").exists()
    open_location(dashboard, str(default_ledger()))
    assert not dashboard.test.warning and dashboard.finding == before
    away = default_ledger().with_suffix(".away")
    default_ledger().rename(away)
    dashboard.settle()
    assert "cannot be read now" in dashboard.finding
    away.rename(default_ledger())
    dashboard.click("desk_try_again")
    assert "ε 0.9 of 1 is left" in dashboard.plain_finding


@pytest.mark.parametrize(
    ("typed", "pinned"),
    [
        ("postgresql://ann:S3cret-Wort@host:port@:1/db", False),
        ("postgresql://ann@127.0.0.1:1/db?password=S3cret-Wort", True),
    ],
)
def test_a_password_in_a_url(dashboard, typed, pinned, caplog, monkeypatch):
    if pinned:
        monkeypatch.setenv("FAIRLEAK_LEDGER", typed)
        dashboard.open("desk").click("desk_open")
    else:
        dashboard.open("desk").choose(desk_place=typed)
        assert "S3cret" not in sent(dashboard) and "S3cret" not in dashboard.widget("desk_place").value
        open_location(dashboard, typed)
    assert_one_sentence(dashboard.plain_problem())
    assert "S3cret" not in sent(dashboard) + caplog.text + str(dict(dashboard.test.query_params))


def test_a_password_of_its_own_field(dashboard, monkeypatch):
    locations = []
    monkeypatch.setattr(desk_ledger, "open_ledger", lambda location, **_: locations.append(str(location)) or None)
    dashboard.open("desk").choose(desk_place="postgresql://ann@host/db", desk_password_field="p@ss/w:rd")
    dashboard.click("desk_open")
    assert locations == ["postgresql://ann:p%40ss%2Fw%3Ard@host/db"]
    assert "p@ss" not in sent(dashboard) and "p%40ss" not in sent(dashboard)


def test_a_pinned_ledger(dashboard, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLEAK_LEDGER", str(tmp_path / "pinned.sqlite"))
    desk(dashboard)
    assert (tmp_path / "pinned.sqlite").is_file() and not default_ledger().exists()
    assert "holds no test set yet" in dashboard.finding and "FAIRLEAK_LEDGER names" in dashboard.page_text
    assert not [field for field in dashboard.test.text_input if field.key in ("desk_place", "desk_password_field")]
