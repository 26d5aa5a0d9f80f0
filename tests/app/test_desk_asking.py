"""Asking at the query desk, in-process: the price before, the answer after, and what is free, refused or old."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.desk import Ledger, default_ledger, open_ledger
from core.estimates import gap as gap_text
from core.queries import statistical_parity_gap
from tests import desk_files
from tests.app.dashboard import Dashboard
from tests.app.desk import (
    ask,
    audited,
    captions,
    from_file,
    give,
    plain,
    price,
    state,
    ticks,
    told,
)
from tests.unit.datasets.bad_tables import assert_one_sentence

pytestmark = pytest.mark.usefixtures("start")


def test_register_quote_ask_and_a_repeat_is_free(dashboard: Dashboard):
    audited(dashboard)
    before = state()
    assert before.remaining == 0.9 and before.registration.n_people == 3960
    price(dashboard, 0.1)
    assert any("Costs ε 0.1" in plain(text) and "0.8 afterwards" in text for text in dashboard.texts)
    assert any("Typical error ±0.00" in text for text in dashboard.texts)
    assert state() == before  # a quote charges nothing
    ask(dashboard)
    now = state()
    assert now.spent == 0.2 and [a.asker for a in now.answers] == ["team A"]
    gap = gap_text(now.answers[0].gap.value)
    assert gap in dashboard.finding and "ε 0.8 of 1 is left for demo, sex" in plain(dashboard.finding)
    assert gap in dashboard.test.success[0].value
    assert dashboard.test.button(key="desk_ask").label == "Ask, free"
    ask(dashboard)
    assert state().spent == 0.2 and len(state().answers) == 1  # the same free answer is not written again
    dashboard.test.toggle(key="desk_again").set_value(True)
    dashboard.settle()
    ask(dashboard)
    assert state().spent == pytest.approx(0.3) and not state().answers[1].from_past
    assert dashboard.test.toggle(key="desk_again").value is False  # paying twice takes two decisions


def test_the_answer_is_about_the_audited_models_scores(dashboard: Dashboard):
    from core.config import AuditConfig
    from core.datasets import build_dataset, demo_table
    from core.datasets.splits import split
    from tests import expected

    audited(dashboard)
    ask(dashboard, epsilon=0.7)
    config: AuditConfig = expected.audit().config
    dataset = build_dataset(demo_table(), demo_table().roles[0])
    rows = split(dataset, train_share=config.train_share, seed=config.seed).test
    men = (dataset.sensitive[rows] == 0).astype(np.uint8)
    truth = statistical_parity_gap(expected.audit().model.scores[rows], men)[0]
    found = state().answers[0]
    assert found.gap.low <= truth <= found.gap.high
    assert found.gap.value == pytest.approx(truth, abs=8 * found.standard_error)


def test_over_budget_is_refused_counted_and_leaves_no_trace(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch):
    audited(dashboard)
    before = default_ledger().read_bytes(), state()
    assert max(map(float, dashboard.test.select_slider(key="desk_epsilon").options)) == 0.9  # what remains
    dashboard.test.button_group(key="desk_metric_2").set_value("equal_opportunity")
    price(dashboard, 0.9)
    assert "It would be refused." in plain(dashboard.test.warning[0].value) and not ticks(dashboard)
    assert dashboard.test.button(key="desk_ask").disabled
    quote = Ledger.quote  # as if somebody else spends between quote and question
    monkeypatch.setattr(Ledger, "quote", lambda *a, **k: replace(quote(*a, **k), reason=None))
    ask(dashboard.settle(), epsilon=None)
    assert state() == before[1]
    problems = [plain(warning.value) for warning in dashboard.test.warning]
    assert any("Refused." in one and "costs epsilon 1, and 0.9 of 1 is left" in one for one in problems)
    assert "1 refused in this session" in told(dashboard)
    assert plain(dashboard.finding).startswith("## ε 0.9 of 1 is left")


def test_an_answer_under_another_question_is_called_the_last_one(dashboard: Dashboard):
    """Another metric, price, switch or file: the green box goes, and what stays says which question it answers."""
    from_file(dashboard)
    give(dashboard, "desk_predictions", "model.csv", desk_files.predictions())
    ask(dashboard)
    gap = gap_text(state("loans").answers[0].gap.value)
    assert gap in dashboard.test.success[0].value and "Last answer" not in captions(dashboard)

    def another() -> None:
        assert not dashboard.test.success
        assert f"Last answer, to question 3 (Difference of mean scores, team A): **{gap}**" in captions(dashboard)

    def as_before() -> None:
        assert gap in dashboard.test.success[0].value and "Last answer" not in captions(dashboard)

    price(dashboard, 0.3)
    another()
    price(dashboard, 0.1)
    as_before()
    dashboard.test.toggle(key="desk_again").set_value(True)
    dashboard.settle()
    another()
    dashboard.test.toggle(key="desk_again").set_value(False)
    give(dashboard, "desk_predictions", "other.csv", desk_files.predictions(seed=2))
    another()
    give(dashboard, "desk_predictions", "bad.csv", b"")
    another()
    give(dashboard, "desk_predictions", "model.csv", desk_files.predictions())
    as_before()


def test_much_of_what_is_left_needs_a_tick(dashboard: Dashboard):
    audited(dashboard)
    price(dashboard, 0.3)
    assert not ticks(dashboard) and not dashboard.test.button(key="desk_ask").disabled
    price(dashboard, 0.5)
    (box,) = ticks(dashboard)
    assert plain(box.label) == "Yes, spend ε 0.5 of the ε 0.9 that is left"
    assert dashboard.test.button(key="desk_ask").disabled
    ticks(dashboard)[0].check()
    dashboard.settle()
    assert not dashboard.test.button(key="desk_ask").disabled
    price(dashboard, 0.7)
    assert dashboard.test.button(key="desk_ask").disabled  # another price, another decision
    ask(dashboard, epsilon=0.5)
    assert state().spent == pytest.approx(0.6)


def test_a_price_that_changed_meanwhile_is_not_paid(dashboard: Dashboard):
    """What is pressed is the price that was shown, also if somebody else spent between drawing and pressing."""
    made = open_ledger(default_ledger(), create=True)
    from_file(dashboard)
    give(dashboard, "desk_predictions", "model.csv", desk_files.predictions())
    dashboard.test.text_input(key="desk_asker").set_value("team A")
    price(dashboard, 0.3)
    from core.desk import test_set_of

    columns = state("loans").registration.columns
    people = test_set_of(desk_files.test_set(), "people.csv", columns)
    made.ask("loans", people, desk_files.scores(2), epsilon=0.7, asker="team B")
    dashboard.test.button(key="desk_ask").click()
    dashboard.settle()
    assert [answer.asker for answer in state("loans").answers] == ["team B"]
    assert "The price has changed since it was shown" in plain(dashboard.test.warning[0].value)


def test_another_seed_is_another_test_set(dashboard: Dashboard):
    audited(dashboard)
    dashboard.test.number_input(key="seed").set_value(7)
    dashboard.settle()
    assert_one_sentence(dashboard.plain_problem(), ("must be the one registered", "not the registered one"))
    assert dashboard.test.button(key="desk_ask").disabled
    assert any("same table" in caption.value for caption in dashboard.test.caption)
