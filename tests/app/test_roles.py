"""Page and command guess the same roles for the same reasons, promise the same, and release the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.datasets import build_dataset, cautions, read_table, suggest_roles
from core.errors import InputError
from core.release_audit import AuditPlan, OutputsPlan, kept_tolerance, plan_text, read_plan, suggested_plan
from tests.app.dashboard import Dashboard
from tests.app.deciding import Attacks, attacks, section
from tests.app.test_given import scored
from tests.browser.tables import people
from tests.unit.datasets.bad_tables import GOOD, csv_bytes, rows
from tests.unit.datasets.office_tables import Dialect

__all__ = ["attacks"]

N = 240


def two_values(i: int) -> str:
    return f"{20 + i % 37},{'FM'[i % 3 > 0]},{i % 5 % 2},{0.2 if i % 2 else 0.8},{int(i % 2 == 0)}"


def office(i: int) -> list[object]:
    return [f"Müller {i}", 20 + i % 37, "wm"[i % 3 > 0], "ja" if i % 5 < 2 else "nein", "ja" if i % 2 else "nein"]


TABLES = {
    "good": GOOD,
    "styled names": people(),
    "predictions": scored(),
    "a score of two values": csv_bytes("age,sex,paid,score,prediction", [two_values(i) for i in range(N)]),
    "several groups": csv_bytes("age,race,hired", [f"{20 + i % 37},{'abc'[i % 3]},{i % 5 % 2}" for i in range(N)]),
    "a number as attribute": csv_bytes(
        "age,job,hired", [f"{20 + i % 37},{'xyz'[i % 3]},{i % 5 % 2}" for i in range(N)]
    ),
    "an office's": Dialect(separator=";", encoding="cp1252").table(
        ["Name", "Alter", "Geschlecht", "Zusage", "Vorhersage"], [office(i) for i in range(N)]
    ),
    "a near copy": csv_bytes("job2,age,job,sex,hired", [f"{'xy'[i % 2]},{row}" for i, row in enumerate(rows())]),
    "no attribute": csv_bytes("age2,job,kind,hired"),
    "no label": csv_bytes("age,job,sex,hired", [row.rsplit(",", 1)[0] + f",{i % 4}" for i, row in enumerate(rows())]),
}


def boxes(dashboard: Dashboard) -> dict[str, Any]:
    """Return what the form holds, by role."""
    roles = ("label", "positive", "sensitive", "prediction", "score", "sets", "excluded")
    widgets = (*dashboard.test.selectbox, *dashboard.test.multiselect)
    return {role: next((w.value for w in widgets if (w.key or "").startswith(f"{role}_")), None) for role in roles}


def captions(dashboard: Dashboard) -> list[str]:
    return [caption.value.replace("\\", "") for caption in dashboard.test.caption]


def test_page_and_command_agree_on_every_table(dashboard: Dashboard):
    dashboard.open("data")
    for name, content in TABLES.items():
        table = read_table(content, f"{name}.csv")
        dashboard.upload(f"{name}.csv", content)
        assert not dashboard.test.warning, name
        guess = suggest_roles(table.frame)
        shown = boxes(dashboard)
        for role, value in shown.items():
            expected = getattr(guess.roles, role)
            assert (tuple(value) if role == "excluded" else value or "") == expected, (name, role)
        told = captions(dashboard)
        for reason in guess.reasons.values():
            assert any(line in (f"Guessed: {reason}.", f"Not guessed: {reason}.") for line in told), (name, reason)
        said = [info.value.replace("\\", "") for info in dashboard.test.info]
        assert said == list(cautions(table.frame, guess.roles)), name
        try:
            plan, _ = suggested_plan(table, f"{name}.csv")
        except InputError:
            assert dashboard.button("use_roles").disabled, name
            continue
        dashboard.click("use_roles")
        assert not dashboard.test.warning, name
        assert dashboard.test.session_state["own_roles_upload"] == [plan.config.roles], name
        assert dashboard.test.number_input(key="tolerance").value == plan.config.tolerance, name
        assert not any(line.startswith("Guessed: ") for line in captions(dashboard)), name


def test_the_tolerance_starts_where_the_predictions_keep_to_it(dashboard: Dashboard):
    def tolerance() -> float:
        return float(dashboard.test.number_input(key="tolerance").value)

    dashboard.open("data").upload("scored.csv", scored())
    assert tolerance() == 0.005
    dashboard.click("use_roles")
    table = read_table(scored(), "scored.csv")
    plan, _ = suggested_plan(table, "scored.csv")
    assert tolerance() == plan.config.tolerance > 0.1
    dashboard.choose(metric="equal_opportunity")
    dataset = build_dataset(table, plan.config.roles)
    other = kept_tolerance(dataset, replace(plan.config, metric="equal_opportunity"))
    assert tolerance() == other != plan.config.tolerance
    dashboard.test.number_input(key="tolerance").set_value(0.3)  # the user's own from here on
    dashboard.settle()
    dashboard.choose(metric="statistical_parity")
    dashboard.open("data")
    assert tolerance() == 0.3
    dashboard.choose(dataset="demo")
    assert tolerance() == 0.005
    dashboard.choose(tolerance=0.02)
    dashboard.open("model")
    assert tolerance() == 0.02


def test_what_is_released_is_said_chosen_and_in_the_plan(dashboard: Dashboard, attacks: Attacks):
    def released() -> Any:
        return next(w for w in dashboard.test.selectbox if (w.key or "").startswith("asked_outputs_"))

    dashboard.open("data").upload("scored.csv", scored())
    dashboard.click("use_roles")
    dashboard.open("report")
    assert "Released: scores rounded to 3 decimals." in dashboard.finding.replace("\\", "")
    section(dashboard, "attacked")
    assert released().options == [
        "Scores as they are",
        "Scores rounded to 1 decimal",
        *(f"Scores rounded to {places} decimals" for places in range(2, 7)),
        "Labels only",
    ]
    released().set_value(OutputsPlan(decimals=1))
    dashboard.click("asked_keep")
    assert "Released: scores rounded to 1 decimal." in dashboard.finding.replace("\\", "")
    released().set_value(OutputsPlan(released="labels"))
    dashboard.click("asked_keep")
    assert [plan.outputs for plan in attacks.asked] == [
        OutputsPlan(decimals=3),
        OutputsPlan(decimals=1),
        OutputsPlan(released="labels"),
    ]
    assert all(read_plan(plan_text(plan)) == plan for plan in attacks.asked)
    first, _ = suggested_plan(read_table(scored(), "scored.csv"), "scored.csv")
    assert _but_answers(attacks.asked[0]) == _but_answers(first)
    dashboard.test.selectbox(key="dataset").set_value("demo")  # what was said of another model
    dashboard.settle()
    assert "Released: scores as they are." in dashboard.finding.replace("\\", "")
    assert attacks.asked[-1].outputs == OutputsPlan() and attacks.asked[-1].answers.questions == 0


def _but_answers(plan: AuditPlan) -> tuple[Any, ...]:
    return plan.data, plan.model, plan.config, plan.outputs, plan.answers, plan.membership
