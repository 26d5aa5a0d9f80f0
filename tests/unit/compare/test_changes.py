"""Comparisons: what intervals of a change cover, what is never called better, and the gates that follow."""

import json
import math
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from core.auditing.policy.decisions import LimitTest
from core.base.errors import InputError
from core.report import to_json
from core.report.comparison import CheckChange, Outlook, Turn, _decided, change_between, compare
from core.report.report import report_fingerprint
from core.stats.estimates import Estimate, certain, mean_over_repeats, paired_gain, proportion
from core.store.history import History
from core.studies.study import Measurement, Outcome
from tests.html_reader import Reader
from tests.patience import entries, finished
from tests.refusals import exit_code, refused
from tests.samples_report import PLAN, POLICY, altered_report, estimate, people, report

RUNS = 2000
NOT_RUN = Measurement(check="membership_caught", outcome=Outcome.NOT_RUN, reason="No scores.")


def covered(draw, true, *, folded=False, freedoms=(None, None)):
    """Return how often the interval of the change holds the true one, over `RUNS` pairs of estimates."""
    rng = np.random.default_rng(11)
    changes = [change_between(*draw(rng), folded=folded, freedoms=freedoms)[0] for _ in range(RUNS)]
    return float(np.mean([change.low <= true <= change.high for change in changes]))


def independent(rng):
    return proportion(rng.binomial(2000, 0.05), 2000), proportion(rng.binomial(1500, 0.08), 1500)


def same_people(rng):
    """Rates of the same 2,000 people, some of whom are easy to attack in both versions."""
    easy = rng.beta(0.3, 4.0, 2000)
    return tuple(proportion(int((rng.random(2000) < share * easy).sum()), 2000) for share in (0.7, 0.9))


def gains_of_different_people(rng):
    """Gains of 5 points each, of two versions that reveal other people of the same 2,000: the worst that gains can."""
    who = rng.random(2000)
    return tuple(paired_gain(int(revealed.sum()), 0, 2000) for revealed in (who < 0.05, who > 0.95))


def turned_round(rng):
    """Sizes of a difference of 0.1 that favours one group and then the other, on the same people."""
    shift = rng.normal(0.0, 0.03)
    return tuple(estimate(0.1 + way * shift, 1.96 * 0.03).folded() for way in (1.0, -1.0))


def repeats(rng):
    return mean_over_repeats(rng.normal(0.0, 1.0, 4)), mean_over_repeats(rng.normal(1.0, 3.0, 12))


def test_intervals_of_a_change_cover_for_other_people_and_for_the_same():
    assert 0.94 < covered(independent, 0.03) < 0.965
    assert covered(same_people, 0.2 * 0.3 / 4.3) > 0.955
    assert 0.93 < covered(gains_of_different_people, 0.0) < 0.965
    assert covered(repeats, 1.0, freedoms=(3, 11)) > 0.94


def test_sizes_of_differences_need_the_half_widths_added():
    """A difference that has turned round makes independent intervals too narrow: they would cover about 83%."""
    assert covered(turned_round, 0.0) < 0.87
    assert covered(turned_round, 0.0, folded=True) > 0.94


def test_a_change_of_students_has_the_fewer_degrees_of_freedom_and_agreeing_repeats_no_interval():
    few, normal = mean_over_repeats([0.1, 0.2, 0.4]), estimate(0.3, 0.0196)
    change, freedom = change_between(normal, few, freedoms=(None, 2))
    half_of_normal = 0.01 * 4.302653  # Student's t with 2 degrees of freedom
    assert freedom == 2
    assert change.high - change.value == pytest.approx(np.hypot(few.high - few.value, half_of_normal), rel=1e-4)
    change, freedom = change_between(normal, Estimate(value=0.1, low=0.1, high=0.1, n=3), freedoms=(None, 2))
    assert not LimitTest(estimate=change, limit=0.0, freedom=freedom).has_interval


def check_change(name, before, after):
    """Return how a required check changed between two estimates, and what is tested of it."""
    change, freedom = change_between(before, after)
    of_check = {"check": name, "title": "", "required": True, "turn": Turn.NEW}
    changed = CheckChange(**of_check, change=change, before=before, after=after)
    return changed, LimitTest(estimate=change, limit=0.0, freedom=freedom)


@pytest.mark.long
def test_where_nothing_changed_a_false_worse_or_better_is_rarer_than_five_percent():
    """12 checks of the same people, whose estimates share half their variance, before and after drawn apart."""
    rng, called, worse = np.random.default_rng(5), 0, 0
    for _ in range(RUNS):
        values = 0.5**0.5 * (rng.normal(size=(2, 1)) + rng.normal(size=(2, 12)))
        pairs = [
            check_change(str(check), estimate(was, 1.959964), estimate(now, 1.959964))
            for check, (was, now) in enumerate(values.T)
        ]
        turns = {decided.turn for decided in _decided(pairs, None)}
        called += bool(turns & {Turn.WORSE, Turn.BETTER})
        worse += Turn.WORSE in turns
    assert called / RUNS < 0.05 and 0.005 < worse / RUNS < 0.05


@pytest.mark.parametrize(("errors", "turn"), [(1.8, Turn.NEW), (2.1, Turn.WORSE)])
def test_one_check_is_decided_at_95_percent(errors, turn):
    pair = check_change("gap", estimate(0.1, 1.96 * 0.03), estimate(0.1 + errors * 0.05, 1.96 * 0.04))
    (decided,) = _decided([pair], None)  # a change's error is 0.05
    assert decided.turn == turn
    assert decided.p_adjusted == pytest.approx(math.erfc(errors / math.sqrt(2)), rel=1e-3)


def turns(comparison):
    return {change.check: change.turn for change in comparison.checks}


def test_the_same_audit_twice_is_unchanged():
    comparison = compare(report(), report())
    assert comparison.verdict == Outlook.NOT_DISTINGUISHABLE and comparison.same_people is True
    assert {change.turn for change in comparison.checks if change.compared} == {Turn.UNCHANGED}
    assert turns(comparison)["attriguard_exposure"] == Turn.NOT_RUN
    assert comparison.changed == () and comparison.margin is None


@pytest.mark.parametrize(("now", "turn"), [(1e-13, Turn.UNCHANGED), (1e-11, Turn.WORSE), (-0.02, Turn.BETTER)])
def test_numbers_without_an_interval_are_compared_as_they_are_but_for_rounding(now, turn):
    before, after = (report({"membership_caught": certain(value, 90)}) for value in (0.02, 0.02 + now))
    assert turns(compare(before, after))["membership_caught"] == turn


@pytest.mark.parametrize(
    ("before", "after", "outlook"),
    [
        ({}, {"membership_caught": estimate(0.02, 0.004), "four_fifths": estimate(0.99, 0.005)}, Outlook.BETTER),
        ({"four_fifths": estimate(0.99, 0.005)}, {"four_fifths": estimate(0.7, 0.02)}, Outlook.WORSE),
        ({}, {"membership_caught": estimate(0.02, 0.004), "correction_gain": estimate(0.2, 0.004)}, Outlook.WORSE),
        ({}, {"membership_gap": estimate(0.3, 0.01)}, Outlook.NOT_DISTINGUISHABLE),  # which is not required
        ({"membership_caught": None}, {"membership_caught": estimate(0.0, 0.0)}, Outlook.NOT_DISTINGUISHABLE),
        ({}, {"membership_caught": NOT_RUN, "correction_gain": estimate(0.0, 0.004)}, Outlook.INCONCLUSIVE),
    ],
    ids=["better", "worse", "one worse", "optional", "new", "not run"],
)
def test_a_comparison_follows_its_required_checks(before, after, outlook):
    assert compare(report(before), report(after)).verdict == outlook


def test_a_policy_that_no_longer_limits_a_check_does_not_hide_it():
    fewer = replace(POLICY, limits=tuple(x for x in POLICY.limits if x.check != "correction_gain"))
    after = report({"correction_gain": estimate(0.2, 0.004)}, policy=fewer)
    assert compare(report(), after).verdict == Outlook.WORSE


@pytest.mark.parametrize("missing", [None, NOT_RUN])
def test_a_required_check_that_fails_and_was_not_compared_keeps_the_gate_shut(missing):
    after = {"membership_caught": estimate(0.95, 0.01), "correction_gain": estimate(0.0, 0.004)}
    comparison = compare(report({"membership_caught": missing}), report(after), margin=0.05)
    assert comparison.verdict == Outlook.INCONCLUSIVE and comparison.checks[0].check == "membership_caught"
    assert comparison.checks[0].why.endswith("It fails now.")


def test_a_margin_asks_for_proof():
    for half, within in ((0.03, False), (0.001, True)):
        before, after = (report({"membership_caught": estimate(value, half)}) for value in (0.098, 0.0985))
        (change,) = (c for c in compare(before, after, margin=0.01).checks if c.check == "membership_caught")
        assert change.within == within
    for margin in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="margin must be a number above 0"):
            compare(report(), report(), margin=margin)


def test_a_failed_self_test_is_never_better():
    better = report({"membership_caught": estimate(0.01, 0.001)})
    assert compare(report(), better).verdict == Outlook.BETTER
    failed_tests = tuple(replace(test, passed=False) for test in better.self_tests)
    assert failed_tests
    assert compare(report(), replace(better, self_tests=failed_tests)).verdict == Outlook.INCONCLUSIVE


def test_changed_roles_are_named_with_what_they_were():
    def change(document):
        document["plan"]["config"]["roles"].update(favourable="<=50K", excluded=["race"])

    changes = compare(report(), altered_report(report(), change)).changed
    roles = {change.what: change for change in changes if change.what.startswith("role of ")}
    assert (roles["role of favourable"].before, roles["role of favourable"].after) == (">50K", "<=50K")
    assert {change.part for change in roles.values()} == {"Data"}
    assert len(roles) == 2 and any("excluded" in what for what in roles)


ROOT = Path(__file__).resolve().parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """A folder with two versions of a model, of which the later one leaks, and the audit of the first."""
    folder = tmp_path_factory.mktemp("versions")
    for name in ("safe", "leaky"):
        people(name, 700).to_csv(folder / f"{name}.csv", index=False)
        (folder / f"{name}.toml").write_text(PLAN.format(version=name), "utf-8")
    assert exit_code("audit", folder / "safe.toml", "--out", folder / "safe", "--no-self-test") < 3
    return folder


def test_the_same_audit_is_not_distinguishable_and_opens_the_gate(versions, capsys):
    page = versions / "safe" / "internal" / "report.html"
    assert exit_code("compare", versions / "safe" / "internal", page, "-q") == 0
    out, err = capsys.readouterr()
    assert err == "not distinguishable\n" and "Data, model, plan, policy, code and seeds are the same." in out


def test_reports_of_strangers_are_refused_in_one_sentence(tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(to_json(report()), "utf-8")
    altered = json.loads(to_json(report()))
    leak = next(row for row in altered["measurements"] if row["check"] == "correction_gain")["estimate"]
    leak |= {"value": 0.001, "low": 0, "high": 0.002}  # its verdict is still that it fails
    for document in (altered, {**altered, "fingerprint": report_fingerprint(altered)}):
        bad.write_text(to_json(document), "utf-8")
        assert "BEFORE" in refused(capsys, "compare", bad, good)
    for more in ((tmp_path / "none",), (tmp_path,), (good, "--margin", "0"), (good, "--html", tmp_path)):
        refused(capsys, "compare", good, *more)


def test_audits_of_a_model_are_compared_by_their_versions(tmp_path, capsys):
    path = tmp_path / "history.sqlite"
    history = History.open(path)
    loans = {"model": "Loans", "who": "A. Officer"}
    released = history.keep(report(), version="1.0", **loans)
    command = ["compare", "released", "latest", "--model", "Loans", "--history", path, "-q"]
    assert "No version of 'Loans' is released in" in refused(capsys, *command)
    pilot = {"decision": "accept_risk", "reason": "A pilot.", "until": "2999-12-31"}
    history.sign(released, name="A. Officer", role="DPO", **pilot)
    history.keep(report({"membership_caught": estimate(0.3, 0.01)}), version="1.1", **loans)
    assert exit_code(*command) == 1 and capsys.readouterr().err == "worse\n"
    assert exit_code("compare", released.fingerprint[:8], "1.0", *command[3:]) == 0
    assert "There is no audit of version '9.9'" in refused(capsys, "compare", "1.0", "9.9", *command[3:])
    history.delete(released, who="A. Officer", reason="asked by the owner")
    assert f"The document of audit {released.short} of Loans 1.0 was deleted by A. Officer" in refused(capsys, *command)


def filled(text, inputs, outputs):
    def value(match):
        parts = match[1].strip().split(".")
        return inputs[parts[1]] if parts[0] == "inputs" else outputs.get(parts[1], {}).get(parts[3], "")

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def act(folder, **arguments):
    """Run the action's steps as GitHub does; return the exit code of the last, its outputs, and the summary."""
    inputs = {name: arguments.get(name.replace("-", "_"), x.get("default", "")) for name, x in ACTION["inputs"].items()}
    command = folder / "bin" / "fairleak"
    command.parent.mkdir(exist_ok=True)
    quick = 'first=$1; shift; if [ "$first" = audit ]; then set -- --no-self-test "$@"; fi'
    command.write_text(f'#!/bin/sh\n{quick}\nexec "{sys.executable}" -m core "$first" "$@"\n')
    command.chmod(0o755)
    file, summary, outputs = folder / "output.txt", folder / "summary.md", {}
    summary.write_text("")
    places = {"GITHUB_OUTPUT": str(file), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(folder)}
    places |= {"GITHUB_ACTION_PATH": str(ROOT), "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}
    places["PYTHONPATH"] = f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}"
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash" and "${{" not in step["run"], "expressions reach bash as variables alone"
        file.write_text("")
        env = os.environ | {name: filled(value, inputs, outputs) for name, value in step["env"].items()} | places
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = finished(bash, progress=lambda: entries(folder), cwd=folder, env=env)
        outputs[step["id"]] = dict(line.split("=", 1) for line in file.read_text().splitlines())
        if done.returncode:
            break
    action_outputs = {name: filled(x["value"], inputs, outputs) for name, x in ACTION["outputs"].items() if outputs}
    return done.returncode, action_outputs, summary.read_text()


@pytest.fixture
def fast(versions, tmp_path):
    for name in ("safe.csv", "safe.toml", "leaky.csv", "leaky.toml"):
        (tmp_path / name).write_bytes((versions / name).read_bytes())
    (tmp_path / "released").symlink_to(versions / "safe")
    return tmp_path


@pytest.mark.long
def test_the_action_stops_a_version_that_leaks_more(fast):
    settings = {"baseline": "released", "install": "false", "fail_on": "worse,inconclusive"}
    code, outputs, summary = act(fast, plan="leaky.toml", **settings)
    assert code == 1 and outputs["verdict"] == "worse" and "    Worse: " in summary
    document = json.loads((fast / "fairleak-report-comparison.json").read_text("utf-8"))
    assert "attribute_excess" in {row["check"] for row in document["checks"] if row["turn"] == "worse"}
    page = Reader((fast / "fairleak-report-comparison.html").read_text("utf-8"))
    assert document["headline"] in page.text and "Hiring, leaky" in page.text
    again, outputs, _ = act(fast, plan="safe.toml", out="again", **settings)
    assert again == 0 and outputs["verdict"] == "not distinguishable"


@pytest.mark.long
def test_the_action_refuses_what_it_cannot_use(fast):
    assert act(fast, plan="safe.toml", install="false", fail_on="wrose")[0] == 3
    assert act(fast, plan="safe.toml", install="false", baseline="out/internal", out="out")[0] == 3
    assert act(fast, plan='none.toml"; touch hacked; "', install="false")[0] == 3
    assert not (fast / "hacked").exists()
