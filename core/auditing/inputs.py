"""What one plan audits: its table, its model, and the input check that it must answer before it is audited.

Only files inside the folder that is given are opened, wherever links lead. Of the input check stands here which key of
a plan answers a fact, and what blocks an audit; the facts themselves are those of `core.datasets.input_check`, which
the Data page draws as lines with a button a repair.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..base.errors import InputError
from ..base.files import content_of
from ..base.settings_text import toml_value
from ..datasets import AuditDataset, Roles, Table, build_dataset, load, read_table
from ..datasets.build import select
from ..datasets.catalog import default_cache_folder
from ..datasets.checked_table import REFUSED, Fact, Repair, Severity
from ..datasets.columns import quoted
from ..datasets.input_check import check_input
from ..datasets.roles import as_written
from ..models.model_answers import QueryAccess, opposite_access
from ..studies.attribute import STUDY as ATTRIBUTE
from ..studies.attribute import AttributeSettings
from ..studies.subject import OutputsPlan, Progress, Subject
from .plan import AuditPlan

if TYPE_CHECKING:
    from ..models.model_files import ModelFile

T = TypeVar("T")


@dataclass(eq=False)
class Audited(Subject):
    """What a plan audits.

    `config` is the plan's, with the roles the dataset was built with; `model_notes` say how a model file answered, and
    `facts` what the input check noted, asked, or had confirmed.
    """

    plan: AuditPlan = field(kw_only=True)
    progress: Progress = field(default_factory=lambda: Progress(1), kw_only=True)
    model_notes: tuple[str, ...] = field(default=(), kw_only=True)
    facts: tuple[Fact, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        self.trainable = self.plan.model.kind == "train"
        self.outputs = self.plan.outputs

    def under(self, plan: AuditPlan) -> Audited:
        """Return the same subject under a plan with other settings of studies; what is made of it, both keep."""
        changed = replace(self, plan=plan)
        changed._cache = self._cache
        changed._model_cache = self._model_cache
        return changed

    def releasing(self, outputs: OutputsPlan) -> Audited:
        """Return the same model with another release, whose leak is measured and not explained.

        What is made of the model, both keep.
        """
        progress = self.progress

        def report(done: int, total: int) -> None:
            progress.reach(progress.done)  # which may stop it

        plan = replace(self.plan, outputs=outputs)
        plan = plan.with_settings(ATTRIBUTE.name, AttributeSettings(closed=1.0))
        changed = replace(self, plan=plan, progress=Progress(1, report))
        changed._model_cache = self._model_cache
        return changed


def load_table(plan: AuditPlan, *, folder: Path, data_folder: Path | None) -> Table:
    """Return the table a plan names: a file in the plan's `folder`, or a dataset as of `core.datasets.load`.

    What is fetched lies in the user's cache.

    InputError if the file is not in the folder, cannot be read, or is no table; DataUnavailableError if the dataset can
    be neither read nor fetched.
    """
    if plan.data.file:
        return read_table(_content(folder, plan.data.file, "data.file"), Path(plan.data.file).name)
    return load(plan.data.dataset, data_folder=data_folder, cache_folder=default_cache_folder())


def load_model(plan: AuditPlan, *, folder: Path) -> ModelFile | None:
    """Return the model file a plan names; None if it names none.

    InputError if the file is not in the folder, cannot be read, or is refused by `core.models.model_files.read_model`.
    """
    if plan.model.kind != "file":
        return None
    from ..models.model_files import read_model

    return read_model(_content(folder, plan.model.file, "model.file"), Path(plan.model.file).name)


def load_policy_text(plan: AuditPlan, *, folder: Path) -> str | None:
    """Return the text of the policy file a plan names, None if it names none; InputError if it cannot be read."""
    if not plan.policy:
        return None
    try:
        return _content(folder, plan.policy, "policy").decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"policy must be a file of text in UTF-8, got {quoted(plan.policy)}."
        ) from None


def input_of(
    plan: AuditPlan, table: Table, *, model_file: ModelFile | None = None
) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return a plan's table with the answers of its model file, the roles of its columns, and how the file answered.

    Nothing of it is checked yet. InputError if the model file is missing or cannot answer.
    """
    roles = roles_of(plan, table)
    if plan.model.kind == "train":
        return table, roles, ()
    roles = replace(roles, threshold=plan.model.threshold)
    if plan.model.kind != "file":
        return table, roles, ()
    if model_file is None:
        raise InputError('A plan with model.kind "file" needs its model file, got none.')
    from ..models.model_files import with_answers

    try:
        return with_answers(
            table,
            model_file,
            roles,
            positive=plan.model.positive,
            features=plan.model.features,
        )
    except InputError as error:
        keys = "in a plan: model.positive, model.features, model.threshold"
        raise InputError(f"{str(error).removesuffix('.')} ({keys}).") from None


def dataset_of(
    plan: AuditPlan, table: Table, *, model_file: ModelFile | None = None
) -> AuditDataset:
    """Return the dataset of a plan: its table with roles, and the answers of its model file where there is one.

    InputError if a rule of `core.datasets.build_dataset` is broken, or the model file is missing or cannot answer.
    """
    answered, roles, _ = input_of(plan, table, model_file=model_file)
    return build_dataset(answered, roles)


def checked_dataset(
    plan: AuditPlan,
    table: Table,
    *,
    model_file: ModelFile | None = None,
    guesses: Collection[str] = (),
) -> AuditDataset:
    """Return `dataset_of`; refused while a fact of the input check blocks an audit, as `require_answers` does."""
    answered, roles, _ = input_of(plan, table, model_file=model_file)
    require_answers(answered, roles, guesses=guesses)
    return build_dataset(answered, roles)


def access_of(
    plan: AuditPlan, table: Table, dataset: AuditDataset, model_file: ModelFile
) -> QueryAccess:
    """Return query access to a model file, about records put together of the dataset's people."""
    from ..models.model_files import file_access

    without_answers = replace(dataset.roles, prediction="", score="", prediction_positive="")
    selected, _, _ = select(table.frame, without_answers)
    roles = as_written(table.frame, dataset.roles)
    access = file_access(
        model_file,
        table.frame[selected],
        positive=plan.model.positive or roles.positive,
        threshold=plan.model.threshold,
        features=plan.model.features,
    )
    if roles.positive == roles.favourable:
        return access
    return opposite_access(access)


def roles_of(plan: AuditPlan, table: Table) -> Roles:
    """Return the roles of the table's columns; a table that suggests none under the plan's attribute is refused."""
    if plan.config.roles is not None:
        return plan.config.roles
    suggested_roles = table.roles_for(plan.data.attribute)
    if suggested_roles is None:
        offered = ", ".join(roles.key for roles in table.roles) or "none"
        rule = (
            f"must be one of {offered} of {quoted(table.title)}, got {quoted(plan.data.attribute)}."
        )
        raise InputError(f"data.attribute {rule}", key="data.attribute")
    return suggested_roles


def _content(folder: Path, file: str, key: str) -> bytes:
    """Return the bytes of a file inside the folder, wherever links lead."""
    home = os.path.realpath(folder)
    try:
        path = Path(os.path.realpath(os.path.join(home, file)))
    except ValueError:  # a zero byte, which `content_of` puts into words
        path = Path(home, file)
    if not path.is_relative_to(home):
        raise InputError(
            f"{key} must be a file inside the plan's folder, got the link {quoted(file)}.", key=key
        )
    return content_of(path, what=key, label=file)


# The input check ------------------------------------------------------------------------------------------------------

TITLES: Mapping[Severity, str] = {
    Severity.BLOCKING: "Blocking",
    Severity.QUESTION: "Question",
    Severity.CAUTION: "Warning",
    Severity.GUESS: "Guess",
    Severity.NOTE: "Note",
}
"""What a fact is called, by its severity."""

_ELSEWHERE = {"threshold": "model.threshold"}
"""Fields of `core.datasets.Roles` that a plan writes in another table than [data]."""

_MOST_REPAIRS = 4
"""Repairs of a fact that one line lists."""


class MissingAnswers(InputError):
    """Facts that block an audit until a plan answers them; `details` has a line for each where there are several."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts
        lines = tuple(map(answer_line, facts))
        if len(lines) == 1:
            super().__init__(lines[0], key=facts[0].key)
            return
        super().__init__(f"Answers missing before an audit: {len(lines)}.", key=facts[0].key)
        self.details = lines

    def __str__(self) -> str:
        """Return everything, a line for each answer where there are several."""
        return "\n".join((super().__str__(), *self.details))


def plan_key(name: str) -> str:
    """Return the key of a plan that holds a field of the roles."""
    return _ELSEWHERE.get(name, f"data.{name}")


def plan_lines(repair: Repair) -> Iterator[str]:
    """Yield what a repair writes into a plan: 'data.positive = "no"'."""
    for name, value in repair.changes.items():
        yield f"{plan_key(name)} = {toml_value(value)}"


def answer_line(fact: Fact) -> str:
    """Return a fact with its key, and what can be written into a plan to answer it."""
    answers = [
        f"{' and '.join(plan_lines(repair))} ({repair.title})"
        for repair in fact.repairs[:_MOST_REPAIRS]
    ]
    key = f"{fact.key}: " if fact.key else ""
    if not answers:
        return f"{key}{fact.text}"
    return f"{key}{fact.text} Write {' or '.join(answers)}."


def terminal_line(fact: Fact) -> str:
    """Return a fact as a terminal prints it, with the key that answers it where something is asked."""
    if fact.severity is Severity.NOTE or not fact.key:
        return f"{TITLES[fact.severity]}: {fact.text}"
    return f"{TITLES[fact.severity]}: {fact.text} ({fact.key})"


def plan_comments(facts: Iterable[Fact]) -> dict[str, str]:
    """Return key of a plan -> comment, of the facts that ask something; of the favourable value the key."""
    comments: dict[str, list[str]] = {}
    for fact in facts:
        if fact.severity is Severity.NOTE or not fact.key:
            continue
        lines = comments.setdefault(fact.key, [])
        lines.append(f"{TITLES[fact.severity]}: {fact.text}")
        if fact.kind == "favourable":
            lines.append("favourable =   (required)")
            continue
        for repair in fact.repairs:
            lines += [
                f"{line.removeprefix('data.')}   ({repair.title})" for line in plan_lines(repair)
            ]
    return {key: "\n".join(map(_one_line, lines)) for key, lines in comments.items()}


def _one_line(text: str) -> str:
    """Return a text with U+FFFD for characters that are not shown: a comment must not end in its middle."""
    hidden = {character for character in text if not character.isprintable()}
    return text.translate({ord(character): "\ufffd" for character in hidden})


def refuse_blocking(facts: Iterable[Fact]) -> None:
    """Raise `MissingAnswers` if any of the facts blocks an audit: what is to be repaired, or has no default."""
    unanswered = tuple(fact for fact in facts if fact.severity in REFUSED)
    if unanswered:
        raise MissingAnswers(unanswered)


def require_answers(
    table: Table, roles: Roles, *, guesses: Collection[str] = ()
) -> tuple[Fact, ...]:
    """Return the facts of a table with its roles, none of which blocks an audit.

    Parameters
    ----------
    table : Table
        With a model file's answers as columns, where there is one.
    guesses : collection of str
        Roles that nobody has confirmed, as of `core.datasets.input_check.check_input`.

    Raises
    ------
    MissingAnswers
        If a fact blocks an audit: neither repaired by the roles nor confirmed by them.
    """
    facts = check_input(table.frame, roles, guesses=guesses)
    refuse_blocking(facts)
    return facts
