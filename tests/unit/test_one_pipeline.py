"""A study is built once: page, command, report, notebook and experiment read one number of it."""

import html
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import audit, experiment
from core.auditing import plan_text
from core.auditing.plan import changed_plan
from core.auditing.run import audited_of, measured
from core.base.caveats import Caveat, CaveatKind
from core.base.errors import InputError
from core.cli.notebook import AuditResult
from core.datasets import read_table
from core.experiments.experiment import grid_of, run_experiment
from core.report import Reports, board_html
from core.stats.estimates import estimate_columns
from core.studies.registry import STUDIES
from core.studies.study import Outcome
from pages.shell.background import ResultStore
from pages.shell.study_jobs import StudyRun
from tests import samples
from tests.input_cases import two_rows_a_person
from tests.refusals import exit_code
from tests.unit.test_architecture import HEAVY, loaded_by

SLOW = {("train", name) for name in ("correction", "two_models")}
SLOW |= {(model, name) for model in ("train", "predictions") for name in ("attribute", "measured_epsilon")}
CASES = [
    pytest.param(model, name, marks=[pytest.mark.long] * ((model, name) in SLOW))
    for model in ("train", "predictions")
    for name, study in STUDIES.items()
    if study.declared
]


def measurements_on_page(name, plan, table):
    """Return what a study's page measures of a plan's model, its job done at once in this process."""
    study = STUDIES[name]
    chosen = plan.settings_of(name, study.settings)
    job = SimpleNamespace(partial=[], each_in_subprocess=lambda run, about: run(lambda done, total: None))
    work = StudyRun(study, audited_of(plan, table), chosen, ResultStore("test", entries=1))
    return study.checks(work._run(job), chosen)


def plan_of(kind):
    """Return a plan of a kind of model, with settings that are not those by default."""
    if kind == "predictions":
        settings = {"attriguard.budget": 0.8, "model.train_share": 0.5, "model.seed": 1}
        return changed_plan(samples.given_plan(prediction="answer"), settings)
    settings = {"attriguard.budget": 0.3, "membership.shadows": 4, "two_models.companion": "counterpart"}
    settings |= {"bias_queries.questions": 5, "bias_queries.repeats": 2, "bias_queries.people": 30}
    return changed_plan(samples.plan(), settings | {"model.train_share": 0.5})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of 300 people and a model's answers about them."""
    frame = samples.frame(300)
    wrong = np.random.default_rng(1).random(300) < 0.2
    frame["answer"] = np.where((frame["skill"] > 0) != wrong, "yes", "no")
    folder = tmp_path_factory.mktemp("one")
    frame.to_csv(folder / "people.csv", index=False)
    return folder


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_report_page_command_notebook_and_experiment_give_one_number(kind, name, folder):
    table, plan = read_table((folder / "people.csv").read_bytes(), "people.csv"), plan_of(kind)
    (folder / "plan.toml").write_text(plan_text(plan))
    audited = audited_of(plan, table)
    audit = {check.name: measured(check.name, audited) for check in STUDIES[name].declared}
    rows = run_experiment(grid_of(plan, {}), table, studies=(name,))
    assert {row.measurement.check: row.measurement for row in rows if row.measurement.check in audit} == audit
    if any(measurement.outcome == Outcome.DONE for measurement in audit.values()):
        assert measurements_on_page(name, plan, table) == audit
    numbers = experiment(folder / "plan.toml", studies=(name,)).frame().replace({np.nan: None}).to_dict("records")
    assert {row["check"] for row in numbers} == set(audit)
    if exit_code("attack", name, "--plan", folder / "plan.toml", "--json", folder / "rows.json") == 0:
        numbers += json.loads((folder / "rows.json").read_text())["tables"]["Checks"]
    for row in numbers:
        assert estimate_columns("value", audit[row["check"]].estimate).items() <= row.items()


def test_an_experiment_on_people_in_several_sets_is_refused_until_it_is_confirmed():
    frame = two_rows_a_person()
    with pytest.raises(InputError, match="several rows"):
        experiment(frame, favourable="yes", studies=("fairness",))
    assert experiment(frame, favourable="yes", studies=("fairness",), confirmed=("person",)).rows


def people():
    """A small table with the predictions of a model that looks at the town."""
    frame = samples.frame(400)
    return frame.assign(predicted=(frame["skill"] > 0.4 * (frame["town"] == "up")).map({True: "yes", False: "no"}))


@pytest.fixture(scope="module")
def result():
    return audit(people(), label="hired", attribute="origin", predictions="predicted", favourable="yes")


def test_importing_it_loads_nothing_heavy():
    loaded = loaded_by("import core\nassert core.__version__")
    assert not {name.partition(".")[0] for name in loaded} & (HEAVY | {"numpy"})
    assert "core.cli.notebook" in loaded_by("from core import audit")


def test_it_says_what_the_command_says(result, tmp_path, capsys):
    people().to_csv(tmp_path / "table.csv", index=False)
    plan, folder, out = tmp_path / "plan.toml", tmp_path / "here", tmp_path / "out"
    answers = ["--label", "hired", "--attribute", "origin", "--favourable", "yes"]
    assert exit_code("init", "--file", tmp_path / "table.csv", *answers, "-o", plan) == 0
    capsys.readouterr()
    arguments = [plan, "--out", out, "--policy", "predictions", "--no-self-test", "--quiet"]
    assert exit_code("audit", *arguments) == {"pass": 0, "fail": 1}.get(result.verdict, 2)
    output = capsys.readouterr()
    assert (output.err.splitlines(), output.out.splitlines()[0]) == ([result.verdict], result.headline)
    result.write(folder)
    ours, theirs = (json.loads((f / "internal" / "report.json").read_text("utf-8")) for f in (folder, out))
    assert ours["measurements"] == theirs["measurements"] and ours["verdict"] == theirs["verdict"]
    with pytest.raises(InputError, match="must be a new or an empty folder"):
        result.write(folder)


def test_a_notebook_shows_the_board_of_the_report(result):
    page_text, rows = html.unescape(result._repr_html_()), result.reports.document.rows
    assert board_html(rows) in page_text and "sandbox" in page_text and "<script" not in page_text
    limited = [row for row in rows if row.limit]
    headline, _, _, _, *lines = result._repr_markdown_().splitlines()
    assert headline.startswith(f"**{result.headline}** ")
    assert all(row.title in line for row, line in zip(limited, lines[: len(limited)], strict=True))
    assert list(result.checks["check"])[: len(limited)] == [row.check for row in limited]


def test_the_frame_of_a_notebook_is_higher_with_more_caveats(result):
    release, heights = result.reports.audit, []
    for many in (0, 5, 10):
        caveats = tuple(Caveat(CaveatKind.PERSONS_REPEATED, f"Caveat {i}.") for i in range(many))
        frame = AuditResult(Reports(replace(release, verdict=replace(release.verdict, caveats=caveats))))._repr_html_()
        heights.append(float(re.search(r"height: (\d+)rem", frame)[1]))
    assert np.diff(heights).min() >= 5


@pytest.mark.parametrize(
    ("data", "more", "message"),
    [
        ("nothing.csv", {}, "data must be a file that can be read, got 'nothing.csv'"),
        (7, {}, "data must be the name of a dataset, a file or a DataFrame, got int."),
        ("demo", {"label": "approved"}, "label must be left out with a dataset by its name, got 'approved'."),
        ("demo", {"favourable": "yes"}, "favourable must be left out with a dataset by its name, got 'yes'."),
        (people(), {"favourable": "perhaps"}, "The favourable value must be one that 'hired' takes"),
        ("demo", {"attribute": "shoes"}, "attribute must be one of sex, origin, age/ranges, got 'shoes'"),
        (people(), {"predictions": "nobody"}, "The prediction must be a column of the table, got"),
        (people(), {"label": "hired", "attribute": "origin", "policy": "none.toml"}, "policy must be a file"),
    ],
)
def test_unusable_input_is_one_sentence(data, more, message):
    with pytest.raises(InputError) as caught:
        audit(data, **more)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_an_answer_that_is_missing_is_listed_with_its_key():
    with pytest.raises(InputError, match=r'^data\.favourable: .*data\.favourable = "yes".*\n.*arguments of audit.*$'):
        audit(people(), label="hired", attribute="origin", predictions="predicted")
