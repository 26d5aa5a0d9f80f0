"""A release audit, or an experiment over many plans, in three lines of Python, and their results in notebooks."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..auditing import (
    AuditPlan,
    MissingAnswers,
    catalogue_plan,
    load_model,
    load_table,
    read_plan,
    run_audit,
    suggested_plan,
)
from ..auditing.plan import changed_plan
from ..auditing.policy import VERDICT_TITLES
from ..base.errors import InputError, ReportProgress
from ..base.files import content_of
from ..datasets import CATALOG, Table, load, read_table
from ..datasets.catalog import default_cache_folder
from ..experiments.experiment import (
    ExperimentRow,
    grid_of,
    in_grid_order,
    rows_frame,
    run_experiment,
)
from ..report import Reports, board_html, board_style, caveats_html, summary_markdown
from ..report.public_summary import markdown
from ..report.tables import report_tables
from .audit import applied_policy, check_folder, write_audit

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, repr=False)
class AuditResult:
    """A judged audit; in a notebook it shows the checks of its report.

    `reports` are the internal report, with every number, and the public summary.
    """

    reports: Reports

    @property
    def verdict(self) -> str:
        """The verdict: pass, fail, inconclusive or not run."""
        return VERDICT_TITLES[self.reports.audit.verdict.overall].lower()

    @property
    def headline(self) -> str:
        """The verdict as a sentence."""
        return self.reports.audit.verdict.headline

    @property
    def caveats(self) -> tuple[str, ...]:
        """What has to be known beside the verdict, a sentence or two each."""
        return tuple(caveat.text for caveat in self.reports.audit.verdict.caveats)

    @property
    def checks(self) -> pandas.DataFrame:
        """A row for each check: verdict, value with 95% CI, limit, baseline."""
        import pandas as pd

        (checks,) = (
            table for table in report_tables(self.reports.document) if table.name == "checks"
        )
        return pd.DataFrame(checks.rows, columns=list(checks.columns))

    @property
    def summary(self) -> str:
        """Public summary as Markdown for a model card, without any number measured on people."""
        return summary_markdown(self.reports.summary)

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write internal report and public summary to a new or empty folder; `force` replaces earlier ones."""
        check_folder(Path(folder), force=force)
        write_audit(self.reports, Path(folder), force=force)

    def __repr__(self) -> str:
        """Return the verdict on one line."""
        return f"<Audit of {self.reports.audit.data.title}: {self.verdict}. {self.headline}>"

    def __str__(self) -> str:
        """Return the verdict and the sentence under it."""
        caveats = "".join(f"\n- {text}" for text in self.caveats)
        return f"{self.headline}\n{self.reports.audit.verdict.detail}{caveats}"

    def _repr_html_(self) -> str:
        """Return the report's board of checks, in a frame that keeps its style to itself."""
        rows = self.reports.document.rows
        overall = self.reports.audit.verdict.overall
        page = (
            f"<style>{board_style(overall=overall)} body {{font: 1rem/1.4 sans-serif; margin: .5rem 1rem;"
            " background: var(--fl-paper); color: var(--fl-ink)} h3 {color: var(--fl-verdict); margin: .4rem 0}</style>"
            f"<h3>{html.escape(self.headline)}</h3><p>{html.escape(self.reports.audit.verdict.detail)}</p>"
            f"{board_html(rows)}{caveats_html(self.reports.audit.verdict.caveats)}"
        )
        height = 11 + 4.6 * sum(row.limit is not None for row in rows) + 1.4 * len(self.caveats)
        look = f"width: 100%; height: {height:.0f}rem; border: 0; resize: vertical"
        return f'<iframe title="Checks of the audit" sandbox style="{look}" srcdoc="{html.escape(page)}"></iframe>'

    def _repr_markdown_(self) -> str:
        """Return the verdict and a table of the checks with a limit."""
        lines = [
            f"**{self.headline}** {self.reports.audit.verdict.detail}",
            "",
            "| | Check | Value | Limit |",
        ]
        lines.append("|---|---|---|---|")
        for row in self.reports.document.rows:
            if row.limit:
                value = row.number if row.measured else ""
                cells = (VERDICT_TITLES[row.display_verdict], row.title, value, row.limit_label)
                lines.append(f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |")
        lines += ["", *(f"- {markdown(text)}" for text in self.caveats)]
        return "\n".join(lines)


_ARGUMENTS = (
    "In Python, label, positive, favourable and confirmed are arguments of audit. "
    "Other keys need a plan, which fairleak init writes."
)


def audit(
    data: str | os.PathLike[str] | pandas.DataFrame,
    *,
    label: str = "",
    attribute: str = "",
    predictions: str = "",
    positive: str = "",
    favourable: str = "",
    prediction_positive: str = "",
    confirmed: Sequence[str] = (),
    policy: str = "",
    report: ReportProgress | None = None,
) -> AuditResult:
    """Audit a model and judge it by a policy, as `fairleak init` and `fairleak audit` do; without the self-test.

    Raises `InputError` if data, columns or policy cannot be used, or an answer is missing: it lists each with its key.

    Parameters
    ----------
    data : str, path or DataFrame
        Name of a dataset, such as "demo", a CSV or Parquet file, or a table.
    label, attribute : str
        Columns of the label and of the sensitive attribute; guessed from the table where they are not given.
    predictions : str
        Column of a model's predicted labels; guessed where it is not given. Without any, FairLeak trains a fair model.
    positive : str
        The label's value that scores and predictions are about; guessed where it is not given.
    favourable : str
        The label's value that is good for the person: fairness is counted on it. A table of yours needs it.
    prediction_positive : str
        The prediction's value that stands for `positive`, where it is not written as the label is.
    confirmed : sequence of str
        Facts of the input check that are right as they are, by their names.
    policy : str
        "default", "predictions" or a TOML file; by itself the one that fits what is given.
    report : callable, optional
        Called with (steps done, steps in all).
    """
    answers = {
        "label": label,
        "predictions": predictions,
        "positive": positive,
        "favourable": favourable,
        "prediction_positive": prediction_positive,
    }
    plan, table, guesses = _plan_and_table(data, attribute, answers, tuple(confirmed))
    judged_by = applied_policy(policy or None, plan, Path(), what="policy")
    try:
        audited = run_audit(plan, table, judged_by, guesses=guesses, report=report)
    except MissingAnswers as error:
        raise InputError(f"{error}\n{_ARGUMENTS}", key=error.key) from None
    return AuditResult(Reports(audited))


def _plan_and_table(
    data: str | os.PathLike[str] | pandas.DataFrame,
    attribute: str,
    answers: Mapping[str, str],
    confirmed: tuple[str, ...],
) -> tuple[AuditPlan, Table, tuple[str, ...]]:
    """Return the plan for data, with the roles of its columns guessed where they are not given, and these guesses."""
    if isinstance(data, str) and data in CATALOG:
        for name, value in (*answers.items(), ("confirmed", confirmed)):
            if value:
                raise InputError(
                    f"{name} must be left out with a dataset by its name, got {value!r}."
                )
        table = load(data, data_folder=_data_folder(), cache_folder=default_cache_folder())
        return catalogue_plan(data, attribute), table, ()
    if isinstance(data, str | os.PathLike):
        name = Path(data).name
        content = content_of(Path(data), what="data")
    elif hasattr(data, "to_csv"):
        name = "table.csv"
        content = data.to_csv(index=False).encode()
    else:
        raise InputError(
            f"data must be the name of a dataset, a file or a DataFrame, got {type(data).__name__}."
        )
    table = read_table(content, name)
    suggestion = suggested_plan(
        table,
        name,
        attribute=attribute,
        label=answers["label"],
        prediction=answers["predictions"],
        positive=answers["positive"],
        favourable=answers["favourable"],
        prediction_positive=answers.get("prediction_positive", ""),
        confirmed=confirmed,
    )
    return suggestion.plan, table, suggestion.questions


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The measurements of a grid of plans, in the order in which they came."""

    rows: tuple[ExperimentRow, ...]

    def frame(self) -> pandas.DataFrame:
        """Return one line a measurement: varied keys, study, check, value with interval, baseline, n, seed."""
        return rows_frame(self.rows)


_VARIED = {
    "methods": "model.method",
    "tolerances": "model.tolerance",
    "epsilons": "model.epsilon",
    "seeds": "model.seed",
    "decimals": "outputs.decimals",
}
"""Argument of `experiment` -> key of a plan."""


def experiment(
    data: AuditPlan | str | os.PathLike[str] | pandas.DataFrame,
    *,
    attributes: Sequence[str] = (),
    methods: Sequence[str] = (),
    tolerances: Sequence[float] = (),
    epsilons: Sequence[float] = (),
    seeds: Sequence[int] = (),
    decimals: Sequence[int | None] = (),
    vary: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    studies: Sequence[str] = (),
    measures: Sequence[str] = (),
    label: str = "",
    favourable: str = "",
    confirmed: Sequence[str] = (),
    n_jobs: int = 1,
    report: ReportProgress | None = None,
) -> ExperimentResult:
    """Measure every combination of plans by an audit's studies, as `fairleak experiment` does.

    Raises `InputError` as `audit` does, or if a value breaks its rule.

    Parameters
    ----------
    data : AuditPlan, str, path or DataFrame
        A plan, whose files are in the working folder; the file of one, ending in .toml, whose files are beside it; or
        data as of `audit`.
    attributes : sequence of str
        Sensitive attributes: each has a plan of its own.
    methods, tolerances, epsilons, seeds, decimals : sequence
        Values of `model.method`, `.tolerance`, `.epsilon`, `.seed` and `outputs.decimals`; the plan's where left out.
    vary : mapping
        Any other keys of a plan -> their values.
    studies : sequence of str
        Studies whose checks are measured; all where left out.
    measures : sequence of str
        Checks and numbers of studies that are measured instead, such as "attack_gain".
    label, favourable : str
        As of `audit`, for a table of yours.
    confirmed : sequence of str
        As of `audit`.
    n_jobs : int
        Worker processes.
    report : callable, optional
        Called with (models done, models in all).
    """
    names = tuple(attributes) or ("",)
    model_file = None
    guesses: set[str] = set()
    if isinstance(data, str | os.PathLike) and Path(data).suffix == ".toml":
        path = Path(data)
        folder = path.parent
        data = read_plan(content_of(path, what="data"), name=path.name)
    else:
        folder = Path()
    if isinstance(data, AuditPlan):
        table = load_table(data, folder=folder, data_folder=_data_folder())
        model_file = load_model(data, folder=folder)
        plans = [_about(data, attribute) for attribute in names]
    else:
        answers = {"label": label, "predictions": "", "positive": "", "favourable": favourable}
        sources = [
            _plan_and_table(data, attribute, answers, tuple(confirmed)) for attribute in names
        ]
        table = sources[0][1]
        plans = [plan for plan, _, _ in sources]
        guesses.update(*(guessed_roles for _, _, guessed_roles in sources))
    values = dict(
        methods=methods, tolerances=tolerances, epsilons=epsilons, seeds=seeds, decimals=decimals
    )
    varied = {
        key: tuple(values[name]) for name, key in _VARIED.items() if len(values[name])
    } | dict(vary)
    grid = {
        varied_plan: {"attribute": attribute, **values_of_plan}
        for attribute, plan in zip(names, plans, strict=True)
        for varied_plan, values_of_plan in grid_of(plan, varied).items()
    }
    rows = run_experiment(
        grid,
        table,
        studies=studies,
        measures=measures,
        model_file=model_file,
        guesses=guesses,
        n_jobs=n_jobs,
        report=report,
    )
    return ExperimentResult(tuple(in_grid_order(list(rows), grid)))


def _about(plan: AuditPlan, attribute: str) -> AuditPlan:
    """Return a plan about another attribute; the same one where none is named."""
    if not attribute:
        return plan
    if plan.data.dataset:  # a dataset of the catalogue has roles for each of its attributes
        plan = plan.without_roles
    return changed_plan(plan, {"data.attribute": attribute})


def _data_folder() -> Path | None:
    """Return the folder of local copies of the catalogue's datasets; None where there is none."""
    folder = os.environ.get("FAIRLEAK_DATA")
    if folder:
        return Path(folder)
    return None
