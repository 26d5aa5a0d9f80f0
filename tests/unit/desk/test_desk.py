"""The desk: what is charged, what is free, what is refused, what is told; on both databases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.desk import Ledger, TestSet, open_ledger, verify_export
from core.errors import InputError
from core.queries import equal_opportunity_gap, statistical_parity_gap
from tests.ledger_work import ATTRIBUTE, BUDGET, COUNT, NAME, people
from tests.unit.desk.questions import G, H, ask, changed


def test_the_first_answer_is_charged_and_everything_that_follows_from_it_is_free(ledger: Ledger):
    first, second = ask(ledger, H), ask(ledger, G)
    assert (first.charged, second.charged, second.remaining) == (0.3, 0.3, 1.2)
    assert not first.from_past and not second.from_past
    free = [H, 1 - H, 0.3 * H + 0.5 * G + 0.1, np.full(60, 0.7), 0.5 + (H - G) / 4, H[:]]
    for scores in free:
        answer = ask(ledger, scores, 5)  # whatever is offered
        assert answer.from_past and answer.charged == 0 and answer.remaining == 1.2
    values = [ask(ledger, scores).gap.value for scores in free]  # type: ignore[union-attr]
    assert values[0] == pytest.approx(first.gap.value) and values[1] == pytest.approx(-first.gap.value)  # type: ignore[union-attr]
    assert values[2] == pytest.approx(0.3 * first.gap.value + 0.5 * second.gap.value)  # type: ignore[union-attr]
    assert values[3] == 0
    assert not ask(ledger, H * G).from_past


def test_answers_are_near_the_truth_when_the_budget_is_large(place: str):
    ledger = open_ledger(place, create=True)
    ledger.register(NAME, people(), budget=1000, columns=ATTRIBUTE, count_epsilon=300)
    test_set = people()
    sp = statistical_parity_gap(H, test_set.attribute)[0]
    eo = equal_opportunity_gap(G, test_set.attribute, test_set.labels)[0]  # type: ignore[arg-type]
    assert ask(ledger, H, 200).gap.value == pytest.approx(sp, abs=0.003)  # type: ignore[union-attr]
    answer = ask(ledger, G, 150, metric="equal_opportunity")
    assert answer.gap.value == pytest.approx(eo, abs=0.006) and answer.gap.n == test_set.n_positive  # type: ignore[union-attr]
    assert answer.charged == 450


def test_equal_opportunity_pays_for_its_count_once(ledger: Ledger):
    first, second = (ask(ledger, scores, 0.2, metric="equal_opportunity") for scores in (H, G))
    assert (first.charged, second.charged) == (0.4, 0.2)
    assert ask(ledger, 1 - H, metric="equal_opportunity").from_past
    masked = H * people().labels  # type: ignore[operator]
    assert ask(ledger, masked).from_past and ask(ledger, people().labels).from_past  # the same sum, and its count
    assert not ask(ledger, H, 0.1).from_past  # who has no positive label was never asked about


def test_a_question_over_budget_is_refused_and_leaves_no_trace(ledger: Ledger):
    before = ledger.status(NAME)
    answer = ask(ledger, H, 1.9)
    assert answer.refused and answer.gap is None and answer.charged == 0 and answer.seal is None
    assert answer.reason == "The question costs epsilon 1.9, and 1.8 of 2 is left for 'loans'."
    assert ledger.status(NAME) == before
    assert not ask(ledger, H, 1.8).refused  # to the last millionth
    assert ask(ledger, G, 0.002).refused
    assert ask(ledger, 1 - H, 1000).from_past  # what is free stays free
    assert ledger.status(NAME).remaining == 0


def test_refusals_do_not_depend_on_the_attribute(tmp_path: Path):
    outcomes = []
    for flip in range(4):
        test_set = people()
        attribute = test_set.attribute.copy()
        attribute[flip] ^= 1
        other = TestSet(ids=test_set.ids, attribute=attribute, labels=test_set.labels)
        ledger = open_ledger(tmp_path / str(flip), create=True)
        ledger.register(NAME, other, budget=1, columns=ATTRIBUTE)
        asked = [(H, 0.3), (1 - H, 0.3), (G, 0.4), (H * G, 0.3), (H * G, 0.2), (np.zeros(60), 1)]
        answers = [ledger.ask(NAME, other, h, epsilon=e, asker="x") for h, e in asked]
        outcomes.append([(a.refused, a.reason, a.charged, a.from_past, a.remaining) for a in answers])
    assert all(outcome == outcomes[0] for outcome in outcomes) and outcomes[0][3][0]


def test_paying_again_sharpens_the_answer_and_uses_both_looks(ledger: Ledger):
    first = ask(ledger, H, 0.3)
    again = ask(ledger, H, 0.3, again=True)
    assert again.charged == 0.3 and not again.from_past
    assert again.standard_error < 0.8 * first.standard_error  # type: ignore[operator]
    assert ask(ledger, H).gap.value == pytest.approx(again.gap.value)  # type: ignore[union-attr]


def test_the_order_of_people_does_not_matter(ledger: Ledger):
    answer = ask(ledger, H)
    test_set, order = people(), np.random.default_rng(3).permutation(60)
    shuffled = TestSet(
        ids=tuple(test_set.ids[k] for k in order),
        attribute=test_set.attribute[order],
        labels=test_set.labels[order],  # type: ignore[index]
    )
    again = ledger.ask(NAME, shuffled, H[order], epsilon=0.3, asker="team B")
    assert again.from_past and again.gap == answer.gap


def test_a_quote_says_what_will_be_charged_and_releases_nothing(place: str):
    ledger = open_ledger(place, create=True)
    ledger.register(NAME, people(), budget=400, columns=ATTRIBUTE, count_epsilon=40)
    for scores, metric in ((H, "statistical_parity"), (H, "equal_opportunity"), (1 - H, "equal_opportunity")):
        before = ledger.status(NAME)
        quote = ledger.quote(NAME, people(), scores, epsilon=100, metric=metric)
        assert ledger.status(NAME) == before
        answer = ask(ledger, scores, 100, metric=metric)
        assert (quote.charged, quote.from_past, quote.refused) == (answer.charged, answer.from_past, False)
        assert quote.standard_error == pytest.approx(answer.standard_error, rel=0.5)
    assert ledger.quote(NAME, people(), G, epsilon=500).refused


def test_status_tells_every_answer_and_the_export_holds(ledger: Ledger, tmp_path: Path):
    answers = [ask(ledger, H), ask(ledger, 1 - H), ask(ledger, G, metric="equal_opportunity")]
    status = ledger.status(NAME)
    assert [one.gap for one in status.answers] == [one.gap for one in answers]
    assert [one.number for one in status.answers] == [one.number for one in answers] == [3, 4, 5]
    assert status.spent == pytest.approx(COUNT + 0.3 + 0.5) and status.spent + status.remaining == BUDGET
    assert status.seal == answers[-1].seal and len(status.to_frame()) == 3
    assert ledger.names() == (NAME,) and ledger.registration(NAME) == status.registration
    path = tmp_path / "export.jsonl"
    assert ledger.export(path) == status.seal
    found = verify_export(path, noted=answers[0].seal)
    assert found.ok and found.seal == status.seal and found.budgets[0].spent == status.spent
    with pytest.raises(InputError, match="must be a file that does not exist yet"):
        ledger.export(path)


def test_neither_attribute_nor_identifiers_nor_exact_counts_are_stored(ledger: Ledger, place: str, tmp_path: Path):
    ask(ledger, H)
    ledger.export(tmp_path / "export.jsonl")
    told = (tmp_path / "export.jsonl").read_bytes()
    if "://" not in place:
        told += b"".join(path.read_bytes() for path in Path(place).parent.glob("ledger*"))
    test_set = people()
    for order in (np.arange(60), test_set.order()):
        attribute = test_set.attribute[order]
        for a in (attribute, 1 - attribute):
            assert a.astype(np.uint8).tobytes() not in told and "".join(map(str, a)).encode() not in told
    assert b"person 1" not in told


def test_the_same_free_answer_is_written_once(ledger: Ledger):
    first, free = ask(ledger, H), ask(ledger, 1 - H)
    status = ledger.status(NAME)
    for _ in range(3):
        again = ledger.ask(NAME, people(), H, epsilon=1, asker="team B")
        assert (again.number, again.gap, again.charged) == (first.number, first.gap, 0)
        assert again.from_past and again.asker == "team B" and again.remaining == first.remaining
        assert ask(ledger, 1 - H).number == free.number
    assert ledger.status(NAME) == status
    sharper = ask(ledger, H, 0.5, again=True)
    assert ask(ledger, 1 - H).number == sharper.number + 1  # it says something new now


def test_a_coarse_answer_of_the_past_is_not_forced_on_anybody(ledger: Ledger):
    ask(ledger, H, 0.002)
    quote = ledger.quote(NAME, people(), H, epsilon=1)
    assert quote.from_past and quote.coarse and quote.standard_error > 3 * quote.fresh_error  # type: ignore[operator]
    paid = ask(ledger, H, 1, again=True)
    assert paid.charged == 1 and paid.standard_error == pytest.approx(quote.fresh_error, rel=0.5)
    quote = ledger.quote(NAME, people(), H, epsilon=0.5)
    assert quote.from_past and not quote.coarse
    assert ledger.quote(NAME, people(), G, epsilon=0.5).fresh_error is None


def test_a_group_without_positive_labels_is_answered_like_any_other(tmp_path: Path):
    """A refusal would say something about the attribute."""
    test_set = changed(labels=people().attribute)
    ledger = open_ledger(tmp_path / "ledger", create=True)
    ledger.register(NAME, test_set, budget=1, columns=ATTRIBUTE)
    answer = ledger.ask(NAME, test_set, H, epsilon=0.5, metric="equal_opportunity", asker="x")
    assert not answer.refused and -1 <= answer.gap.low <= answer.gap.value <= answer.gap.high <= 1  # type: ignore[union-attr]
