"""Policy files: what is read, refused and written, what a change must say, and the policies to start from."""

import re
from dataclasses import replace

import pytest

from core.auditing import AuditPlan, ModelPlan, fitting_policy
from core.auditing.policy import (
    CHECKS,
    NO_SOURCE,
    Limit,
    default_policy,
    is_placeholder,
    judge,
    policy_text,
    predictions_policy,
    read_policy,
    source_text,
)
from core.base.errors import InputError
from core.datasets import Roles
from core.report.policy_drafts import LimitUse, check_change, policy_templates
from core.report.regulations import law_of_checks
from core.studies.study import Measurement
from core.studies.subject import AuditConfig
from tests.policy_samples import FILE, done, policy

HEAD, FIRST_TABLE, SECOND = (FILE.split("[[limit]]")[0], *(f"[[limit]]{part}" for part in FILE.split("[[limit]]")[1:]))


def changed(old, new):
    """Return the sample file with its first such passage changed."""
    assert old in FILE
    return FILE.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (changed("schema = 1", ""), "schema must be given, as in schema = 1."),
        (changed("For models that decide on loans.", " "), "rationale must be given."),
        (changed("Loan models", "Loan\\u202Emodels"), "name must not hold control characters, got U+202E."),
        (changed("[[limit]]", "limits = 2\n[[limit]]"), "date, rationale, level, limit, got 'limits'."),
        (HEAD, "A policy must set at least one limit, got none."),
        (HEAD + "[limit]\na = 1", "limit must be tables that each begin with [[limit]], got a table."),
        (HEAD + SECOND, "A policy must require at least one of its limits, got none that is required."),
        (FILE + FIRST_TABLE, "A check must have one limit at most, got limits 1 and 3 to attribute_excess."),
        (changed('check = "attribute_excess"\n', ""), "check of limit 1 must be given."),
        (changed("_excess", "_exess"), f"check of limit 1 must be one of {', '.join(CHECKS)}, got 'attribute_exess'."),
        (changed('"Below what anybody notices."', '""'), "rationale of limit 1 (attribute_excess) must be given."),
        *(
            (changed("2026-11-22", date), f"date must be a day written YYYY-MM-DD, got '{date}'.")
            for date in ("2026-02-30", "2026-1-2", "٢٠٢٦-١١-٢٢")
        ),
    ],
)
def test_what_is_malformed_is_told_in_one_sentence(text, expected):
    with pytest.raises(InputError, match=rf"^strict\.toml.* {re.escape(expected)}\Z"):
        read_policy(text, name="strict.toml")


@pytest.mark.parametrize("check", CHECKS)
def test_each_unit_has_its_range(check):
    ends = {"points": (-1, -1.01), "columns": (400, -1), "bits": (-10, -10.1)}
    allowed, wrong = ends.get(CHECKS[check].unit, (1, 1.01))
    text = policy_text(policy(**{check: 0.5}))
    read = read_policy(text.replace("value = 0.5", f"value = {allowed}"), name="p").limits[0].value
    assert read == allowed and isinstance(read, float)
    with pytest.raises(InputError, match=rf"^p: value of limit 1 \({check}\) must be "):
        read_policy(text.replace("value = 0.5", f"value = {wrong}"), name="p")


VALID = policy(unfairness=0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(VALID, level=1.0),
        replace(VALID, level=0.991),  # the strongest of several attacks has no interval at it
        replace(VALID, name="a\nb"),
        replace(VALID, schema=2),
        replace(VALID, limits=()),
        replace(VALID, limits=VALID.limits * 2),
        policy(unfairness=float("nan")),
    ],
)
def test_what_no_file_could_hold_is_not_written(wrong):
    with pytest.raises(InputError):
        policy_text(wrong)


def comfortable(shipped, without=()):
    values = {limit.check: 0.9 if CHECKS[limit.check].at_least else 0.1 * limit.value for limit in shipped.limits}
    return [done(check, value, 0.001) for check, value in values.items() if check not in without]


@pytest.mark.parametrize("shipped", [default_policy(), predictions_policy()], ids=["default", "predictions"])
def test_a_shipped_policy_can_be_passed_and_the_four_fifths_rule_alone_has_a_source(shipped):
    missing = shipped.limits[0].check
    verdicts = [judge(shipped, comfortable(shipped, without), attribute="sex").overall for without in ((), (missing,))]
    assert verdicts == ["pass", "not_run"]
    (sourced,) = (limit for limit in shipped.limits if source_text(limit) != NO_SOURCE)
    assert (sourced.check, sourced.value, sourced.required) == ("four_fifths", 0.8, False)
    assert "29 CFR 1607.4(D)" in sourced.source
    for limit in shipped.limits:
        assert limit.author and limit.date and (limit.source or "to be replaced by yours" in limit.rationale)


def test_what_may_be_left_out_is_said_and_does_not_block_but_what_broke_does():
    """Of a table that does not tell the training records nothing is known about them, and the verdict says so."""
    policy = predictions_policy()
    excused = tuple(limit.check for limit in policy.limits if limit.if_not_run == "allowed")
    measurements = comfortable(policy, excused)
    missing = [Measurement(check=check, outcome="not_run", reason="No column tells them.") for check in excused]
    verdict = judge(policy, [*measurements, *missing], attribute="sex")
    assert verdict.overall == "pass" and verdict.headline == "Every required limit is kept: Pass 5 of 5."
    assert "Not tested, and not blocking under this policy: “Training records identified" in verdict.detail
    assert not any(row.blocks for row in verdict.rows)
    broke = [replace(missing[0], outcome="failed"), *missing[1:]]
    assert judge(policy, [*measurements, *broke], attribute="sex").overall == "not_run"
    assert judge(policy, missing, attribute="sex").overall == "not_run"


BEFORE = default_policy()
MINE = {"version": f"{BEFORE.version}.1", "author": "A. Officer"}


def with_first_limit(**fields):
    """Return the default policy in a version of one's own, with its first limit changed."""
    return replace(BEFORE, **MINE, limits=(replace(BEFORE.limits[0], **fields), *BEFORE.limits[1:]))


def test_check_change_accepts_a_changed_limit_with_reason_and_source():
    check_change(BEFORE, with_first_limit(value=0.01, rationale="Our law.", source="Law, § 3"))
    check_change(BEFORE, BEFORE)
    check_change(BEFORE, replace(BEFORE, **MINE, limits=BEFORE.limits[1:], rationale="Nobody attacks that here."))


@pytest.mark.parametrize(
    ("after", "phrase"),
    [
        (with_first_limit(value=0.01, source="Law, § 3"), "a reason of its own"),
        (with_first_limit(value=0.01, rationale="Our law."), "a source"),
        (with_first_limit(required=False, rationale="Our law."), "a source"),
        (with_first_limit(if_not_run="allowed", rationale="Our law."), "a source"),
        (replace(BEFORE, rationale="Another reason."), "a version of its own"),
        (replace(BEFORE, version=MINE["version"]), "who answers for it"),
        (replace(BEFORE, **MINE, limits=BEFORE.limits[1:]), "not covered any more"),
        (replace(BEFORE, **MINE, limits=(*BEFORE.limits, Limit(check="attriguard_cost", value=3.0))), "a reason"),
    ],
)
def test_check_change_refuses_a_change_that_says_too_little(after, phrase):
    with pytest.raises(InputError, match=phrase):
        check_change(BEFORE, after)


def test_limit_use_is_applied_and_read_back():
    uses = list(LimitUse)[:-1]
    assert [LimitUse.of(use.applied(BEFORE.limits[0])) for use in uses] == uses
    assert LimitUse.of(None) == LimitUse.NOT_COVERED


@pytest.mark.parametrize(("key", "text"), [("gdpr", "GDPR"), ("ai_act", "EU AI Act")])
def test_a_policy_of_a_law_has_its_checks_and_the_default_numbers(key, text):
    _, make = policy_templates()[key]
    limits, default = make().limits, {limit.check: limit for limit in BEFORE.limits}
    assert limits
    for limit in limits:
        provisions = [item for item in law_of_checks()[limit.check].provisions if item.text.name == text]
        assert provisions and all(item.article in limit.rationale for item in provisions)
        assert is_placeholder(limit) == is_placeholder(default[limit.check])


@pytest.mark.parametrize(
    ("kind", "columns", "fits"),
    [
        ("train", {}, default_policy),
        ("file", {}, default_policy),
        ("predictions", {"score": "score"}, predictions_policy),
        ("predictions", {"score": "score", "sets": "set"}, default_policy),
    ],
)
def test_the_policy_that_fits_asks_for_what_is_brought(kind, columns, fits):
    roles = Roles(label="y", positive="1", sensitive="sex", prediction="p", **columns)
    plan = AuditPlan(model=ModelPlan(kind=kind), config=AuditConfig(roles=roles))
    assert fitting_policy(plan) == fits()
