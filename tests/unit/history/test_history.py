"""What is kept comes back as it was, once; signatures follow their rules; deleting leaves a record."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.auditing.policy import default_policy
from core.base.errors import FairLeakError, InputError
from core.report import to_json, verify_report
from core.report.report import Times
from core.store.chain import FIRST, TIME, linked
from core.store.events import Entry
from core.store.history import History
from tests.history_work import PROJECT, WHO, report
from tests.unit.datasets.bad_tables import assert_one_sentence


def keep(history: History, data: str = "data", *, project: str = PROJECT, policy: str = "3", releasable: bool = False):
    return history.keep(report(data, policy=policy, releasable=releasable), project=project, who=WHO)


def sign(history: History, entry: Entry, decision: str, name: str = "A. Officer", reason: str = ""):
    return history.sign(entry, decision=decision, name=name, role="data protection officer", reason=reason)


def test_what_is_kept_comes_back_as_it_was(history: History, location: str):
    first, second = keep(history, "2025"), keep(history, "2026")
    third = keep(history, "2026", project="Cards")
    again = History.open(location, create=False)
    assert again.entries() == (third, second, first) and again.entries(PROJECT) == (second, first)
    assert again.entries("Nobody's") == ()
    for entry, data in ((first, "2025"), (second, "2026"), (third, "2026")):
        document = again.document(entry)
        assert to_json(document) == to_json(report(data)) and document.content_fingerprint == entry.fingerprint
    assert (first.who, first.verdict, first.dataset) == (WHO, "fail", report().data.title)
    assert abs(datetime.strptime(first.when, TIME).replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(hours=1)
    assert verify_report(to_json(again.document(first)), signed=first.short).holds


def test_the_same_document_twice_is_one_entry_and_the_audit_run_again_is_another(history: History):
    first = keep(history)
    assert history.keep(report(), project=f"  {PROJECT} ", who="somebody else") == first
    assert history.entries() == (first,)
    later = replace(report(), times=Times(started="2031-01-01T00:00:00Z", seconds=1.0))
    later = replace(later, fingerprint=later.content_fingerprint)
    assert history.keep(later, project=PROJECT, who=WHO) != first
    assert len(history.entries()) == 2


def test_a_document_that_is_no_internal_report(tmp_path: Path):
    history = History.open(tmp_path / "history")
    negative = replace(report().data, n=-1)
    for altered, message in (
        (replace(report(), kind="fairleak public summary"), "must have the kind 'fairleak release audit'"),
        (replace(report(), fingerprint="0" * 64), "must have the fingerprint of its content"),
        (replace(report(), data=negative), "must follow its schema"),
    ):
        with pytest.raises(InputError, match=message):
            history.keep(altered, project=PROJECT, who=WHO)
    for project in ("", " \n", "x" * 81, "\x1b[2J"):
        with pytest.raises(InputError, match="project must be 1 to 80 printable characters"):
            history.keep(report(), project=project, who=WHO)
    assert history.entries() == ()


def test_release_is_signed_only_where_everything_passes_and_has_a_source(history: History):
    with pytest.raises(
        InputError, match=r"“Release” cannot be signed\. Required and not passed: .*Limits without a sour"
    ):
        sign(history, keep(history), "release")
    signed = sign(history, keep(history, releasable=True), "release")
    assert (signed.title, signed.void, history.signatures()) == ("Release", "", (signed,))


def test_accepting_a_risk_and_dissent_need_a_reason_and_both_stand(history: History):
    entry = keep(history)
    with pytest.raises(InputError, match="“Accept the risk” needs a reason"):
        sign(history, entry, "accept_risk")
    accepted = sign(history, entry, "accept_risk", reason="A pilot with 40 people.")
    with pytest.raises(InputError, match=r"A\. Officer signed “Accept the risk”: another decision needs a reason"):
        sign(history, entry, "do_not_release", name="D. Senter")
    dissent = sign(history, entry, "do_not_release", name="D. Senter", reason="40 people are people.")
    assert sign(history, entry, "do_not_release", name="D. Senter", reason="40 people are people.") == dissent
    assert history.signatures(entry) == (accepted, dissent) and not accepted.void and not dissent.void
    assert dissent.fingerprint == entry.fingerprint and not dissent.proven
    for change in ({"decision": "maybe"}, {"name": " "}, {"role": ""}, {"reason": "x" * 2001}):
        signature = {"decision": "do_not_release", "name": "X", "role": "Y", "reason": "z"}
        with pytest.raises(InputError, match=f"{next(iter(change))} must be"):
            history.sign(entry, **signature | change)
    assert len(history.signatures()) == 2


def test_a_later_audit_voids_a_signature_for_good_and_says_what_changed(history: History):
    first = keep(history)
    sign(history, first, "do_not_release")
    sign(history, keep(history, project="Cards"), "do_not_release")
    changed_report = report("other", policy="4")
    beside = history.signatures(first)[0].beside(changed_report.fingerprint, first.parts | {"data": "x", "policy": "y"})
    assert beside.void == "the audit changed since (data, policy)"
    assert history.signatures(first)[0].void == ""
    second = keep(history, policy="4")
    assert history.signatures(first)[0].void == "the audit changed since (policy)"
    assert [signature.void for signature in history.signatures(project="Cards")] == [""]
    sign(history, second, "do_not_release")
    again = sign(history, first, "do_not_release")  # back to the first: signed anew, what was void stays void
    assert [bool(signature.void) for signature in history.signatures(project=PROJECT)] == [True, True, False]
    assert history.signatures(first)[-1] == again
    history.delete(second, who=WHO)
    assert [bool(signature.void) for signature in history.signatures(project=PROJECT)] == [True, True, False]


def test_deleting_takes_the_document_and_leaves_who_did_it_and_what_was_signed(history: History, location: str):
    first, second = keep(history, "first"), keep(history, "second")
    signed = sign(history, second, "do_not_release")
    (gone,) = history.delete(first, who="D. Leter", reason="asked by the owner")
    assert gone.deleted is not None and (gone.deleted.who, gone.deleted.reason) == ("D. Leter", "asked by the owner")
    assert history.entries() == (second,) and history.entries(deleted=True) == (second, gone)
    assert gone.fingerprint == first.fingerprint
    for action in (
        history.document,
        lambda e: history.delete(e, who=WHO),
        lambda e: sign(history, e, "do_not_release"),
    ):
        with pytest.raises(
            InputError, match=r"The document of audit 2 was deleted by D\. Leter on .*: asked by the owner"
        ):
            action(first)
    assert len(history.delete(second, second, who=WHO)) == 1  # named twice, as by its number and its fingerprint
    assert history.signatures() == (signed,) and history.entries() == ()
    again = keep(history, "second")
    assert again.id > second.id  # kept again, it is another entry, with the signature that stands
    assert history.signatures(again) == (signed,) and history.expire(days=0, who=WHO) == ()
    if "://" not in location:
        history.delete(*history.entries(), who=WHO)
        content = b"".join(path.read_bytes() for path in Path(location).parent.glob("history.sqlite*"))
        assert b'"kind": "fairleak release audit"' not in content  # overwritten, not only unlinked


def test_what_is_too_old_is_deleted_unless_its_sign_off_stands(history: History):
    old, signed, card_entry = keep(history, "old"), keep(history, "signed"), keep(history, "old", project="Cards")
    sign(history, signed, "do_not_release")
    assert history.expire(days=1, who=WHO) == ()
    assert [entry.id for entry in history.expire(days=0, project=PROJECT, who=WHO)] == [old.id]
    assert history.entries() == (card_entry, signed)
    assert history.entries(deleted=True)[-1].deleted.reason == "kept for 0 days"
    with pytest.raises(InputError, match="days must be"):
        history.expire(days=-1, who=WHO)


def test_an_audit_is_found_by_its_number_or_its_fingerprint(history: History):
    entry = keep(history)
    for reference in (str(entry.id), entry.short, entry.fingerprint, entry.fingerprint[:8].upper()):
        assert history.find(reference) == entry
    for reference in ("99", entry.fingerprint[:7], "", "0" * 64):
        with pytest.raises(InputError) as error:
            history.find(reference, project=PROJECT)
        assert_one_sentence(str(error.value), ("There is no audit", reference[:30], PROJECT))
    keep(history, project="Cards")
    with pytest.raises(InputError, match=r"Several audits have the fingerprint .*: name one by its number, 3, 2"):
        history.find(entry.short)


def test_save_policy_keeps_each_version_for_good_and_once(history: History, location: str):
    policy = default_policy()
    first = history.save_policy(policy, who=WHO, reason="FairLeak's starting values.")
    assert history.save_policy(policy, who="B", reason="The same.") == first and first.policy == policy
    strict = replace(policy, version="2", limits=policy.limits[:3])
    with pytest.raises(InputError, match=f"version '{policy.version}' of '{policy.name}' was saved by {WHO} on"):
        history.save_policy(replace(strict, version=policy.version), who=WHO, reason="Stricter.")
    second = history.save_policy(strict, who=WHO, reason="Stricter.")
    again = History.open(location, create=False)
    assert again.policies() == (second, first) and again.policies("None") == ()
    assert [(saved.who, saved.reason, saved.policy) for saved in again.policies(policy.name)] == [
        (WHO, "Stricter.", strict),
        (WHO, "FairLeak's starting values.", policy),
    ]


def test_save_policy_refuses_what_no_file_could_say(history: History):
    policy = default_policy()
    for change, who, reason, message in (
        ({}, " ", "x", "who must be"),
        ({}, WHO, "", "reason must be"),
        ({"author": ""}, WHO, "x", "The policy: author of the policy must be given|The policy: author must be given"),
        ({"limits": ()}, WHO, "x", "must set at least one limit"),
    ):
        with pytest.raises(InputError, match=message):
            history.save_policy(replace(policy, **change), who=who, reason=reason)
    assert history.policies() == ()


@pytest.fixture
def history_file(tmp_path: Path) -> Path:
    """A history in a file, with a signed audit and another."""
    path = tmp_path / "history.sqlite"
    history = History.open(path)
    sign(history, keep(history), "do_not_release")
    keep(history, project="Cards")
    return path


def altered(path: Path, statement: str) -> None:
    """Change a history as somebody with a SQLite shell could."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_a_changed_document_is_noticed_and_the_others_are_read(history_file: Path):
    altered(
        history_file,
        "UPDATE fairleak_history_documents SET text = replace(text, '\"fail\"', '\"pass\"') WHERE entry = 2",
    )
    history = History.open(history_file)
    intact, changed = history.entries()
    assert history.document(intact).fingerprint == intact.fingerprint
    for read in (history.document, lambda e: sign(history, e, "do_not_release", name="B")):
        with pytest.raises(InputError, match="The document of audit 2 was changed after it was kept"):
            read(changed)
    altered(history_file, "DELETE FROM fairleak_history_documents WHERE entry = 2")
    with pytest.raises(InputError, match="The document of audit 2 is missing, and nobody deleted it"):
        history.document(changed)


def test_a_changed_record_is_refused(history_file: Path):
    altered(history_file, "UPDATE fairleak_history_entries SET text = replace(text, 'do_not_release', 'release')")
    before = history_file.read_bytes()
    with pytest.raises(InputError, match=r"The history .* is damaged and was left as it is: the hash of entry 3"):
        History.open(history_file)
    assert history_file.read_bytes() == before


def test_places_that_are_no_history_are_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    letter = tmp_path / "letter"
    letter.write_text("Dear officer")
    with pytest.raises(FairLeakError) as error:
        History.open(letter)
    assert_one_sentence(str(error.value), ("history", "is not a FairLeak history and was left as it is"))
    absent = tmp_path / "absent"
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(absent))
    with pytest.raises(InputError, match=r"There is no history at .*absent.*; keeping an audit makes one"):
        History.open(create=False)
    assert not absent.exists() and letter.read_text() == "Dear officer"


def test_a_database_of_another_edition_or_somebody_else_is_left_alone(database: str):
    import psycopg

    History.open(database)
    later = linked(1, FIRST, {"kind": "opened", "format": 2})
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE fairleak_history_entries SET text = %s, hash = %s", (later.text, later.hash))
        connection.execute("UPDATE fairleak_history SET hash = %s", (later.hash,))
        with pytest.raises(InputError, match=r"The history .* must be of format 1, got format 2"):
            History.open(database)
        connection.execute("DROP TABLE fairleak_history_documents, fairleak_history_entries")
        connection.execute("CREATE TABLE fairleak_history_entries (other integer)")
        with pytest.raises(FairLeakError, match="is not there, or is not a history"):
            History.open(database)


def test_ledger_and_history_share_a_database(database: str):
    from core.desk import open_ledger
    from tests.ledger_work import NAME, register

    register(open_ledger(database, create=True))
    entry = keep(History.open(database))
    assert History.open(database).entries() == (entry,) and open_ledger(database).status(NAME).spent > 0
