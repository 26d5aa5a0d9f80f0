"""From a plan to what is audited: the table it names, the model file it names, and the dataset both make.

Only files inside the folder that is given are opened, wherever links lead.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import AuditConfig
from core.datasets import AuditDataset, Roles, Table, build_dataset, load, read_table
from core.datasets.columns import quoted
from core.decision.plan import AuditPlan
from core.errors import InputError
from core.files import content_of

if TYPE_CHECKING:
    from core.models.files import ModelFile


def load_table(plan: AuditPlan, *, folder: Path, data_folder: Path | None, cache_folder: Path | None) -> Table:
    """Return the table a plan names.

    Parameters
    ----------
    folder : Path
        The plan's folder, from which its files are told.
    data_folder, cache_folder : Path or None
        For datasets of the catalogue, as for `core.datasets.load`.

    Raises
    ------
    InputError
        If the file is not in the folder, cannot be read, or is no table.
    DataUnavailableError
        If the dataset can be neither read nor fetched.
    """
    if plan.data.file:
        return read_table(_content(folder, plan.data.file, "data.file"), Path(plan.data.file).name)
    return load(plan.data.dataset, data_folder=data_folder, cache_folder=cache_folder)


def load_model(plan: AuditPlan, *, folder: Path) -> ModelFile | None:
    """Return the model file a plan names; None if it names none.

    Raises
    ------
    InputError
        If the file is not in the folder, cannot be read, or is refused by `core.models.files.read_model`.
    """
    if plan.model.kind != "file":
        return None
    from core.models.files import read_model

    return read_model(_content(folder, plan.model.file, "model.file"), Path(plan.model.file).name)


def load_policy_text(plan: AuditPlan, *, folder: Path) -> str | None:
    """Return the content of the policy file a plan names; None if it names none.

    Raises
    ------
    InputError
        If the file is not in the folder or cannot be read.
    """
    if not plan.policy:
        return None
    try:
        return _content(folder, plan.policy, "policy").decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"policy must be a file of text in UTF-8, got {quoted(plan.policy)}.") from None


def dataset_of(plan: AuditPlan, table: Table, *, model_file: ModelFile | None = None) -> AuditDataset:
    """Return the dataset of a plan: its table with roles, and the answers of its model file where there is one.

    Raises
    ------
    InputError
        If a rule of `core.datasets.build_dataset` is broken, or the model file is missing or cannot answer.
    """
    return dataset_and_notes(plan, table, model_file=model_file)[0]


def dataset_and_notes(
    plan: AuditPlan, table: Table, *, model_file: ModelFile | None = None
) -> tuple[AuditDataset, tuple[str, ...]]:
    """Return `dataset_of`, and what is to be known of how the model file answered."""
    roles = roles_of(plan, table)
    if plan.model.kind == "train":
        return build_dataset(table, roles), ()
    notes: tuple[str, ...] = ()
    roles = replace(roles, threshold=plan.model.threshold)
    if plan.model.kind == "file":
        if model_file is None:
            raise InputError('A plan with model.kind "file" needs its model file, got none.')
        from core.models.files import with_answers

        try:
            answered = with_answers(
                table,
                model_file,
                threshold=plan.model.threshold,
                positive=plan.model.positive,
                features=plan.model.features,
            )
        except InputError as error:
            told = f"{str(error).removesuffix('.')} (in a plan: model.positive, model.features, model.threshold)."
            raise InputError(told) from None
        table, roles = answered.table, replace(roles, prediction=answered.prediction, score=answered.score)
        notes = answered.answers.notes
    return build_dataset(table, roles), notes


def config_of(plan: AuditPlan, dataset: AuditDataset) -> AuditConfig:
    """Return the plan's configuration with the roles the dataset was built with."""
    return replace(plan.config, roles=dataset.roles)


def roles_of(plan: AuditPlan, table: Table) -> Roles:
    """Return the roles of the table's columns.

    Raises
    ------
    InputError
        If the table suggests no roles under the attribute the plan names.
    """
    if plan.config.roles is not None:
        return plan.config.roles
    wanted = [roles for roles in table.roles if plan.data.attribute in ("", roles.key)]
    if not wanted:
        raise InputError(
            f"data.attribute must be one of {', '.join(roles.key for roles in table.roles) or 'none'} of "
            f"{quoted(table.title)}, got {quoted(plan.data.attribute)}."
        )
    return wanted[0]


def _content(folder: Path, file: str, key: str) -> bytes:
    """Return the bytes of a file inside the folder, wherever links lead."""
    home = os.path.realpath(folder)
    try:
        path = Path(os.path.realpath(os.path.join(home, file)))
    except ValueError:  # a zero byte, which `content_of` puts into words
        path = Path(home, file)
    if not path.is_relative_to(home):
        raise InputError(f"{key} must be a file inside the plan's folder, got the link {quoted(file)}.")
    return content_of(path, what=key, named=file)
