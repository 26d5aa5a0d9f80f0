"""What is kept comes back as it was, once, even after a kill; signatures follow rules; deleting leaves a record."""

import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from core.auditing import RegisterPlan
from core.auditing.policy import Status, bullet, default_policy
from core.base.errors import FairLeakError, InputError
from core.report import to_json
from core.report.report import Times
from core.store import register
from core.store.chain import TIME
from core.store.events import BAN, DecisionState
from core.store.history import History
from core.studies.subject import OutputsPlan
from tests.history_work import MODEL, STEPS, VERSION, WHO, report, work
from tests.ledger_work import altered
from tests.unit.charts.checks import check, dots
from tests.unit.datasets.bad_tables import assert_one_sentence
from tests.workers import Worker
from tests.workers import database as database
from tests.workers import location as location


@pytest.fixture
def stored(location):
    """An empty history in a file, and in a database."""
    return History.open(location)


@pytest.fixture
def history(tmp_path):
    return History.open(tmp_path / "history.sqlite")


def keep(history, data="data", *, model=MODEL, version=VERSION, document=None, **more):
    document = document or report(data, **more)
    return history.keep(document, model=model, version=version, who=WHO)


def planned(document, **changes):
    document = replace(document, plan=replace(document.plan, **changes))
    return replace(document, fingerprint=document.content_fingerprint)


def sign(history, entry, decision, name="A. Officer", reason="Checks fail.", **more):
    return history.sign(entry, decision=decision, name=name, role="data protection officer", reason=reason, **more)


def test_what_is_kept_comes_back_as_it_was(stored, location):
    first, second = keep(stored, "2025"), keep(stored, "2026")
    third = keep(stored, "2026", model="Cards")
    again = History.open(location, create=False)
    assert again.entries() == (third, second, first)
    assert again.entries(MODEL) == (second, first)
    for entry, data in ((first, "2025"), (third, "2026")):
        assert to_json(again.document(entry)) == to_json(report(data))
    assert (first.who, first.verdict, first.dataset) == (WHO, "fail", report().data.title)
    assert abs(datetime.strptime(first.when, TIME).replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(hours=1)


def test_the_same_document_twice_is_one_entry_and_the_audit_run_again_is_another(stored):
    first = keep(stored)
    assert stored.keep(report(), model=f"  {MODEL.upper()} ", version=VERSION, who="somebody else") == first
    assert stored.entries() == (first,)
    later = replace(report(), times=Times(started="2031-01-01T00:00:00Z", seconds=1.0))
    later = replace(later, fingerprint=later.content_fingerprint)
    assert stored.keep(later, model=MODEL, version=VERSION, who=WHO) != first
    assert len(stored.entries()) == 2


@pytest.mark.parametrize(
    ("change", "names", "message"),
    [
        ({"kind": "fairleak public summary"}, {}, "must have the kind 'fairleak release audit'"),
        ({"fingerprint": "0" * 64}, {}, "must have the fingerprint of its content"),
        ({"data": replace(report().data, n=-1)}, {}, "must follow its schema"),
        *(({}, {"model": name}, "model must be 1 to 80 printable characters") for name in (" \n", "x" * 81)),
        *(({}, {"version": name}, "version must be 1 to 40 printable characters") for name in ("x" * 41, "\x1b[2J")),
    ],
)
def test_bad_documents_and_names_are_refused(change, names, message, history):
    with pytest.raises(InputError, match=message):
        history.keep(replace(report(), **change), **{"model": MODEL, "version": VERSION, "who": WHO} | names)
    assert history.entries() == ()


def test_release_is_signed_only_where_everything_passes_and_has_a_source(history):
    with pytest.raises(InputError, match=r"“Release” cannot be signed\. Required and not passed: .*Limits without a"):
        sign(history, keep(history), "release")
    signed = sign(history, keep(history, releasable=True), "release")
    assert (signed.title, signed.end, history.signatures()) == ("Release", "", (signed,))


def test_accepting_a_risk_and_dissent_need_a_reason_and_the_ban_ends_what_it_contradicts(history):
    entry = keep(history)
    with pytest.raises(InputError, match="“Accept the risk” needs a reason and a last day"):
        sign(history, entry, "accept_risk", reason="")
    pilot = {"reason": "A pilot with 40 people.", "condition": "No partners."}
    with pytest.raises(InputError, match="“Do not release” needs a reason"):
        sign(history, entry, BAN, reason="")
    with pytest.raises(InputError, match="“Accept the risk” needs a last day"):
        sign(history, entry, "accept_risk", **pilot)
    accepted = sign(history, entry, "accept_risk", until="2999-12-31", **pilot)
    with pytest.raises(InputError, match=r"A\. Officer signed “Accept the risk”: another decision needs a reason"):
        sign(history, entry, BAN, name="D. Senter", reason="")
    dissent = sign(history, entry, BAN, name="D. Senter", reason="40 people are people.")
    assert sign(history, entry, BAN, name="D. Senter", reason="40 people are people.") == dissent
    before, after = history.signatures(entry)
    assert (before.number, before.superseded, after) == (accepted.number, dissent.when, dissent) and after.stands
    assert before.condition == "No partners." and dissent.fingerprint == entry.fingerprint and not dissent.proven


@pytest.mark.parametrize("change", [{"decision": "maybe"}, {"name": " "}, {"role": ""}, {"reason": "x" * 2001}])
def test_a_signature_that_says_too_little(change, history):
    signature = {"decision": BAN, "name": "X", "role": "Y", "reason": "z"}
    with pytest.raises(InputError, match=f"{next(iter(change))} must be"):
        history.sign(keep(history), **signature | change)
    assert history.signatures() == ()


def test_a_ban_survives_new_versions_tables_policies_and_the_deletion_of_its_audit(stored, location):
    banned = keep(stored)
    ban = sign(stored, banned, BAN)
    sign(stored, keep(stored, "next", version="2.0", releasable=True), "release")
    keep(stored, "another table", policy="4")  # the banned version audited again, of other data, by another policy
    stored.register(MODEL, purpose="Another purpose", owner="Somebody else", who=WHO)
    stored.delete(banned, who=WHO)
    model = History.open(location, create=False).model(MODEL)
    assert model.bans() == (ban,) and ban.version == VERSION
    in_force = {(entry.version, entry.decision) for entry in model.current_decisions("2026-11-29")}
    assert in_force == {(VERSION, BAN), ("2.0", "release")}
    passing = keep(stored, "passes now", releasable=True)
    for decision in ("release", "accept_risk"):
        with pytest.raises(InputError, match=f"{MODEL} {VERSION} is banned by A. Officer since .*only revoking the"):
            sign(stored, passing, decision, reason="It passes now.")
    stored.revoke(ban, name="B. Officer", role="CRO", reason="Labels alone are released now.")
    released = sign(stored, passing, "release")
    assert stored.model(MODEL).bans() == () and released.stands


def test_banned_answers_stay_banned_under_another_version_policy_and_time(stored):
    ban = sign(stored, keep(stored), BAN)
    same = planned(report(policy="4", releasable=True), outputs=OutputsPlan(), title="Another")
    again = keep(stored, version="1.2", document=same)
    for decision in ("release", "accept_risk"):
        with pytest.raises(InputError, match=r"The same answers were banned as 1\.0 by A\. Officer on .*: only"):
            sign(stored, again, decision, reason="A pilot.", until="2999-12-31")
    assert stored.model(MODEL).banned_answers() == ((again, ban),)
    so_what = register.register_finding(stored.models(), TODAY).so_what
    assert "1.2 has the same answers as the banned 1.0" in so_what and "although" not in so_what
    narrower = planned(same, outputs=OutputsPlan(released="labels"))
    assert sign(stored, keep(stored, version="1.3", document=narrower), "release").stands
    stored.revoke(ban, name="B. Officer", role="CRO", reason="Withdrawn.")
    assert sign(stored, again, "release").stands and not stored.model(MODEL).banned_answers()


def test_revoke_needs_name_role_and_reason_and_happens_once(stored, location):
    ban = sign(stored, keep(stored), BAN)
    for missing in ("name", "role", "reason"):
        with pytest.raises(InputError, match=f"{missing} must be 1 to"):
            stored.revoke(ban, **{"name": "B", "role": "CRO", "reason": "Why"} | {missing: " "})
    assert stored.model(MODEL).bans() == (ban,)
    (revoked,) = stored.revoke(ban, name="B", role="CRO", reason="Repaired.", proven=True)
    revocation = revoked.revoked
    assert (revocation.who, revocation.reason, revocation.proven) == ("B, CRO", "Repaired.", True)
    assert not revoked.stands and revoked.state("2026-11-29") == DecisionState.REVOKED
    with pytest.raises(InputError, match=r"stands no more: revoked by B, CRO on .*: Repaired"):
        stored.revoke(ban, name="C", role="CRO", reason="Again.")
    assert History.open(location, create=False).signatures() == (revoked,)  # still on record


def test_decisions_end_on_their_last_day_and_a_ban_has_none(history):
    entry = keep(history, releasable=True)
    released = sign(history, entry, "release", until="2031-05-01")
    states = [released.state(day) for day in ("2031-05-01", "2031-05-02")]
    assert states == [DecisionState.STANDS, DecisionState.LAPSED]
    model = history.model(MODEL)
    assert model.next_review == "2031-05-01" and not model.current_decisions("2031-05-02")
    for until, message in (("2020-01-01", "until must not be over"), ("2031-02-30", "until must be a day written")):
        with pytest.raises(InputError, match=message):
            sign(history, entry, "release", until=until)
    with pytest.raises(InputError, match="until must be left out"):
        sign(history, entry, BAN, reason="x", until="2031-01-01")


def test_an_audit_that_fails_after_a_release_contradicts_it(history):
    sign(history, keep(history, "first", releasable=True), "release")
    assert history.model(MODEL).contradicted("2026-11-29") == ()
    failing = keep(history, "second")
    assert history.model(MODEL).contradicted("2026-11-29") == (failing,)
    so_what = register.register_finding(history.models(), "2026-11-29").so_what
    assert so_what.startswith("Loans 1.0 is released, and its last audit says: fail.")
    keep(history, "third", releasable=True)
    assert history.model(MODEL).contradicted("2026-11-29") == ()


def test_what_the_plan_says_registers_the_model_and_binds_the_audit(stored):
    stated = {"model": "Vendor default", "version": "2.1", "owner": "Retail risk"}
    registration = RegisterPlan(**stated, purpose="Whom to call", review="2031-05-01")
    document = planned(report(), register=registration)
    entry = stored.keep(document, who=WHO)
    model = stored.model("VENDOR  default")
    assert entry.title == "Vendor default 2.1" and model.entries == (entry,) and model.next_review == "2031-05-01"
    assert (model.purpose, model.owner, model.review) == ("Whom to call", "Retail risk", "2031-05-01")
    for typed in ({"model": "Another"}, {"version": "2.2"}):
        with pytest.raises(InputError, match=f"{next(iter(typed))} must be what the plan of the audit says"):
            stored.keep(document, who=WHO, **typed)
    changed = stored.register("vendor default", purpose="Whom to call first", owner="Risk", who="B")
    assert (changed.name, changed.owner, changed.review, changed.entries) == ("Vendor default", "Risk", "", (entry,))
    later = RegisterPlan(**stated | {"version": "2.2"}, review="2032-01-01")
    stored.keep(planned(report("next"), register=later), who=WHO)
    model = stored.model("Vendor default")
    assert (model.owner, model.review, model.versions) == ("Risk", "2032-01-01", ("2.2", "2.1"))


def test_deleting_takes_the_document_and_leaves_who_did_it_and_what_was_signed(stored):
    first, second = keep(stored, "first"), keep(stored, "second")
    signed = sign(stored, second, BAN)
    (gone,) = stored.delete(first, who="D. Leter", reason="asked by the owner")
    assert stored.entries(deleted=True) == (second, gone)
    message = r"The document of audit .* of Loans 1\.0 was deleted by D\. Leter on .*: asked by the owner"
    for action in (stored.document, partial(stored.delete, who=WHO), partial(sign, stored, decision=BAN)):
        with pytest.raises(InputError, match=message):
            action(first)
    assert len(stored.delete(second, second, who=WHO)) == 1  # named twice, as by its number and its fingerprint
    assert (stored.signatures(), stored.entries()) == ((signed,), ())
    again = keep(stored, "second")
    assert again.id > second.id  # kept again, it is another entry, with the signature that stands
    assert stored.signatures(again) == (signed,)


def test_a_deleted_document_is_overwritten(history, tmp_path):
    history.delete(keep(history), who=WHO)
    content = b"".join(path.read_bytes() for path in tmp_path.glob("history.sqlite*"))
    assert b'"kind": "fairleak release audit"' not in content


def test_what_is_too_old_is_deleted_unless_its_sign_off_stands(stored):
    old, signed, card_entry = keep(stored, "old"), keep(stored, "signed"), keep(stored, "old", model="Cards")
    sign(stored, signed, "do_not_release")
    assert stored.expire(days=1, who=WHO) == ()
    assert [entry.id for entry in stored.expire(days=0, model=MODEL, who=WHO)] == [old.id]
    assert stored.entries() == (card_entry, signed)
    assert stored.entries(deleted=True)[-1].deleted.reason == "kept for 0 days"
    with pytest.raises(InputError, match="days must be"):
        stored.expire(days=-1, who=WHO)


def test_find_returns_the_last_audit_of_a_version_or_the_one_of_a_fingerprint(stored):
    first, second = keep(stored, "first"), keep(stored, "second")
    candidate = keep(stored, version="2.0-RC")
    assert stored.find(MODEL) == candidate and stored.find(MODEL, VERSION) == second
    assert stored.find("  loans ", "2.0-rc") == candidate
    for mark in (first.short, first.fingerprint, first.fingerprint[:8].upper()):
        assert stored.find(MODEL, VERSION, audit=mark) == first
    stored.delete(second, who=WHO)
    assert stored.find(MODEL, VERSION) == first
    for arguments, mark, phrases in (
        (("Cards",), "", ("There is no model 'Cards'", "'Loans'")),
        ((MODEL, "3.0"), "", ("There is no audit of version '3.0'", "'2.0-RC', '1.0'")),
        ((MODEL,), "0" * 64, ("There is no audit '000",)),
        ((MODEL,), first.fingerprint[:7], ("first 8 or more digits",)),
    ):
        with pytest.raises(InputError) as error:
            stored.find(*arguments, audit=mark)
        assert_one_sentence(str(error.value), phrases)


def test_save_policy_keeps_each_version_for_good_and_once(stored, location):
    policy = default_policy()
    first = stored.save_policy(policy, who=WHO, reason="FairLeak's starting values.")
    assert stored.save_policy(policy, who="B", reason="The same.") == first and first.policy == policy
    strict = replace(policy, version="2", limits=policy.limits[:3])
    with pytest.raises(InputError, match=f"version '{policy.version}' of '{policy.name}' was saved by {WHO} on"):
        stored.save_policy(replace(strict, version=policy.version), who=WHO, reason="Stricter.")
    second = stored.save_policy(strict, who=WHO, reason="Stricter.")
    again = History.open(location, create=False)
    assert again.policies(policy.name) == (second, first) and again.policies("None") == ()
    assert (second.who, second.reason, second.policy) == (WHO, "Stricter.", strict)


@pytest.fixture
def history_file(tmp_path, history):
    sign(history, keep(history), "do_not_release")
    keep(history, model="Cards")
    return tmp_path / "history.sqlite"


def test_a_changed_document_is_noticed_and_the_others_are_read(history_file):
    table = "fairleak_history_documents"
    altered(history_file, f"UPDATE {table} SET text = replace(text, '\"fail\"', '\"pass\"') WHERE entry = 3")
    history = History.open(history_file)
    intact, changed = history.entries()
    assert history.document(intact).fingerprint == intact.fingerprint
    for read in (history.document, partial(sign, history, decision="do_not_release", name="B")):
        with pytest.raises(InputError, match=r"The document of audit .* of Loans 1\.0 was changed after it was kept"):
            read(changed)
    altered(history_file, f"DELETE FROM {table} WHERE entry = 3")
    with pytest.raises(InputError, match=r"The document of audit .* of Loans 1\.0 is missing, and nobody deleted it"):
        history.document(changed)


def test_a_changed_record_is_refused(history_file):
    altered(history_file, "UPDATE fairleak_history_entries SET text = replace(text, 'do_not_release', 'release')")
    before = history_file.read_bytes()
    with pytest.raises(InputError, match=r"The history .* is damaged and was left as it is: the hash of entry 4"):
        History.open(history_file)
    assert history_file.read_bytes() == before


TODAY = "2030-01-01"


def test_review_text_counts_from_today():
    texts = {"2029-12-31": "1 day overdue", TODAY: "today", "2030-01-13": "in 12 days"}
    texts |= {"2030-07-01": "in 6 months", "2034-01-01": "in 4 years"}
    assert {day: register.review_text(day, TODAY) for day in texts} == texts


def test_register_finding_counts_bans_and_due_reviews(history):
    for version in ("1.0", "2.0"):
        sign(history, keep(history, version, version=version), BAN)
    keep(history, "2.1", version="2.1")
    for name, review in (("Cards", "2030-01-13"), ("Churn", "2029-12-30"), ("Later", "2031-01-01")):
        history.register(name, purpose="p", owner="o", review=review, who=WHO)
    finding = register.register_finding(history.models(), TODAY)
    assert finding.point == "4 models: 2 versions banned, 2 reviews due, the first 2 days overdue."
    assert finding.evidence.startswith("3 audits of 3 versions.")
    assert "Loans: 2.0, 1.0 may not be used." in finding.so_what
    assert finding.to_do.startswith("Review Churn by 30 Dec 2029. Review Cards by 13 Jan 2030.")


def audits_of(history):
    return register.version_audits(history.model(MODEL), history.document)


def test_version_audits_are_the_last_of_each_version_and_release(history):
    keep(history, "1.0")
    again = keep(history, "again")
    of_labels = planned(report("labels"), outputs=OutputsPlan(released="labels"))
    scores, labels = keep(history, "2.0", version="2.0"), keep(history, version="2.0", document=of_labels)
    audits = audits_of(history)
    assert [audit.entry for audit in audits] == [again, scores, labels]
    assert [audit.label for audit in audits] == ["1.0", "2.0, scores", "2.0, labels"]
    history.delete(scores, who=WHO)
    assert [audit.label for audit in audits_of(history)] == ["1.0", "2.0"]
    for n in range(3, 9):
        keep(history, f"{n}.0", version=f"{n}.0")
    assert [audit.label for audit in audits_of(history)] == [f"{n}.0" for n in range(3, 3 + register.MOST_VERSIONS)]


def test_draw_check_puts_values_where_the_report_has_them(history):
    keep(history, "1.0")
    keep(history, "b", version="2.0", releasable=True)
    audits = audits_of(history)
    checks = register.visible_checks(audits)
    symbols = {Status.PASS: "circle", Status.INCONCLUSIVE: "diamond", Status.FAIL: "x"}
    for name in checks:
        drawing = register.draw_check(name, audits)
        marks = {trace["x"]: (trace["y"], trace["marker"]["symbol"]) for trace in dots(check(drawing))}
        rows = [audit.checks[name] for audit in audits]
        expected = {}
        for at, row in enumerate(rows):
            if places := bullet(row):
                symbol = "triangle-up" if True in places.arrows else symbols[row.verdict]
                expected[at,] = ((2 * places.value,), symbol)
        assert marks == expected
        assert [row for row in rows if row.number not in drawing.alt] == []
    limited = {name for audit in audits for name, row in audit.checks.items() if row.limit}
    assert len(checks) == register.MOST_CHECKS and len(register.version_rows(audits)) == 2 * len(limited)


def checked(location):
    """Return number -> fingerprint of everything kept, each read whole; none is there twice."""
    history = History.open(location, create=False)
    entries = history.entries()
    for entry in entries:
        assert history.document(entry).fingerprint == entry.fingerprint
    assert len({entry.fingerprint for entry in entries}) == len(entries)
    return {entry.id: entry.fingerprint for entry in entries}


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_killed_at_any_step_kept_all_or_nothing(step, stored, location):
    worker = Worker(work, location, "keep", 1, step)
    assert worker.collected_answers() == [] and worker.process.exitcode == -signal.SIGKILL
    survivors = checked(location)
    assert len(survivors) == (step == "committed")
    entry = stored.keep(report("1 0"), model=MODEL, version=VERSION, who="the same once more")
    assert checked(location) == {entry.id: entry.fingerprint}
    assert set(survivors) <= {entry.id}


@pytest.mark.parametrize("step", ["entry written", "head moved"])
def test_a_history_killed_while_it_is_made_is_absent(step, location):
    worker = Worker(work, location, "create", 0, step)
    assert worker.collected_answers() == [] and worker.process.exitcode == -signal.SIGKILL
    with pytest.raises(FairLeakError, match=r"There is no history at|is not there, or is not a history"):
        History.open(location, create=False)
    History.open(location)
    assert checked(location) == {}


def test_writers_of_the_same_audit_keep_it_once(stored, location):
    running = [Worker(work, location, "same", k, "none") for k in range(4)]
    answers = [answer for worker in running for answer in worker.collected_answers()]
    assert len(answers) == 4 and len({answer["id"] for answer in answers}) == 1
    assert list(checked(location).values()) == [answers[0]["fingerprint"]]
