"""What a release audit is to do: its TOML file, declared, read and written.

Files that a plan names must lie inside its own folder; `load_table` opens them. A plan also comes back from a report,
in the shape it was asked in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any

from ..base.errors import FORMAT, InputError
from ..base.serialize import UNSAID, Result, content_fingerprint
from ..base.settings import Param, Setting, Settings, broken, params, value_excerpt, values_of
from ..base.settings_text import Tables, built, goes_with, naming, parsed, read_tables, toml_text
from ..datasets.catalog import CATALOG
from ..datasets.roles import Roles
from ..models import GIVEN_PREDICTIONS
from ..studies.attriguard.result import AttriGuardSettings
from ..studies.bias_queries import BiasQueriesSettings
from ..studies.membership import MembershipSettings
from ..studies.people import PEOPLE, PeopleSettings
from ..studies.registry import STUDIES
from ..studies.subject import TRAINED_TOLERANCE, AuditConfig, OutputsPlan
from .plausible_attackers import AttackersPlan

UPLOAD = "upload"
"""What `core.datasets.read_table` calls a user's own table."""

_MOST_LISTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan(Result):
    """Where the table comes from: a dataset of the catalogue, or a file. The other one is ""."""

    dataset: Annotated[
        str, Param("Dataset", "A dataset of the catalogue: {options}.", options=CATALOG)
    ] = "demo"
    file: Annotated[str, Param("File", "A CSV or Parquet file beside this one.", form="path")] = ""
    attribute: Annotated[
        str,
        Param(
            "Attribute",
            'Which of its attributes: {attributes}. Or two columns crossed: "sex × race".',
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan(Settings):
    """Which model is audited."""

    kind: Annotated[
        str,
        Param(
            "Model",
            '"train": trained here; "predictions": columns of the table; "file": an ONNX or skops file.',
            options={
                "train": "Train one here",
                "predictions": "Given predictions",
                "file": "A model file",
            },
        ),
    ] = "train"
    file: Annotated[
        str,
        Param(
            "Model file",
            "An ONNX or skops file beside this one.",
            form="path",
            only=("kind", ("file",)),
        ),
    ] = ""
    features: Annotated[
        tuple[str, ...],
        Param(
            "The columns the model takes, in its order",
            "The columns it takes, in its order; left out where the file lists its own.",
            only=("kind", ("file",)),
        ),
    ] = ()
    positive: Annotated[
        str,
        Param(
            "Positive answer",
            "Its answer for the label's positive value, where that has another name.",
            only=("kind", ("file",)),
        ),
    ] = ""
    threshold: Annotated[
        float,
        Param(
            "A score predicts the positive value from",
            "From which score on a prediction counts as 1, where only scores are given.",
            least=0.0,
            most=1.0,
            step=0.01,
            only=("kind", ("predictions", "file")),
        ),
    ] = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterPlan(Settings):
    """Which version of which model of the register is audited; all "" where the audit is not for the register."""

    model: Annotated[
        str, Param("Model", "What the model is called in the register.", most=80, form="line")
    ] = ""
    version: Annotated[
        str, Param("Version", "Which of its versions is audited.", most=40, form="line")
    ] = ""
    purpose: Annotated[
        str, Param("Purpose", "What it is used for, and for whom.", most=200, form="line")
    ] = ""
    owner: Annotated[
        str, Param("Owner", "Who answers for it: a unit, a person.", most=80, form="line")
    ] = ""
    review: Annotated[
        str,
        Param("Next review", "Day by which it is looked at again, YYYY-MM-DD.", form="day"),
    ] = ""

    @property
    def model_version(self) -> str:
        """Model and version as one line; "" where they have no name."""
        return f"{self.model} {self.version}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan(Result):
    """Everything a release audit is asked to do.

    An empty title is the dataset's, an empty policy the default one. The configuration has the roles of the columns,
    method, metric, seed, and the tolerance that is disclosed.
    """

    schema: Annotated[
        int, Param("Schema", "Version of this format.", least=FORMAT, most=FORMAT)
    ] = FORMAT
    title: Annotated[
        str, Param("Title of the report", "What to call the audit in the report.", most=200)
    ] = ""
    policy: Annotated[
        str,
        Param(
            "Policy",
            'A policy file beside this one, or "predictions" or "default", which FairLeak brings along; left '
            'out: "default". "--policy" overrides it.',
            form="path",
        ),
    ] = ""
    data: DataPlan = field(default_factory=DataPlan)
    model: ModelPlan = field(default_factory=ModelPlan)
    config: AuditConfig = field(default_factory=lambda: AuditConfig(tolerance=TRAINED_TOLERANCE))
    outputs: OutputsPlan = field(default_factory=OutputsPlan)
    bias_queries: BiasQueriesSettings = field(default_factory=BiasQueriesSettings)
    membership: MembershipSettings = field(default_factory=MembershipSettings)
    attriguard: AttriGuardSettings = field(default_factory=AttriGuardSettings)
    register: RegisterPlan = field(default=RegisterPlan(), metadata=UNSAID)
    studies: tuple[tuple[str, Any], ...] = field(default=(), metadata=UNSAID)
    """Name of any other study, or "attackers" -> its settings, where the plan has a table for it."""

    @property
    def people(self) -> PeopleSettings | None:
        """How people at risk are looked for, where the plan has a table for them."""
        return dict(self.studies).get(PEOPLE.name)

    @property
    def people_settings(self) -> PeopleSettings:
        """How people at risk are looked for: what the plan says of them, or what the rest of it publishes."""
        return self.people or PeopleSettings(**_published(self.studied))

    @property
    def attackers(self) -> AttackersPlan:
        """What the model's owner states about attackers; empty where the plan has no table for it."""
        return dict(self.studies).get(_ATTACKERS) or AttackersPlan()

    def with_attackers(self, statement: AttackersPlan) -> AuditPlan:
        """Return the same plan with another statement about attackers, which changes nothing measured."""
        tables = dict(self.studies)
        tables.pop(_ATTACKERS, None)
        if statement != AttackersPlan():
            tables[_ATTACKERS] = statement
        return replace(self, studies=tuple(tables.items()))

    def with_settings(self, study: str, settings: Settings) -> AuditPlan:
        """Return the same plan with other settings of a study."""
        tables = {**dict(self.studies), study: settings}
        return replace(self, studies=tuple(tables.items()))

    @property
    def has_true_sets(self) -> bool:
        """Whether the training records are those the model was trained on; see `Subject.has_true_sets`."""
        return self.model.kind == "train" or bool(self.config.roles and self.config.roles.sets)

    @property
    def fingerprint(self) -> str:
        """What is audited in 64 hex digits: data, model, training and outputs, whatever is asked of them."""
        return content_fingerprint(self.data, self.model, self.config, self.outputs)

    @property
    def studied(self) -> dict[str, Any]:
        """Study -> what the plan sets of it."""
        return {
            "attriguard": self.attriguard,
            "bias_queries": self.bias_queries,
            "membership": self.membership,
            **dict(self.studies),
        }

    @property
    def without_roles(self) -> AuditPlan:
        """The same plan with the roles that its dataset has for its attribute."""
        return replace(self, config=replace(self.config, roles=None))

    def settings_of(self, study: str, default: Callable[[], Any]) -> Any:
        """Return what the plan sets of a study; what the study itself sets where the plan has no table for it."""
        if study == PEOPLE.name:
            return self.people_settings
        if study in self.studied:
            return self.studied[study]
        return default()


def _published(studied: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of people at risk by what a plan's other settings answer, publish and train."""
    answers = studied["bias_queries"]
    settings = {
        "answers": answers.questions,
        "noise": answers.mechanism,
        "answer_epsilon": answers.epsilon,
        "answer_decimals": answers.decimals,
        "shadows": studied["membership"].shadows,
        "attacks": studied["membership"].attacks,
    }
    if card := studied.get("model_card"):
        settings |= {
            "models": card.n_models,
            "decimals": card.decimals,
            "card_epsilon": card.epsilon,
        }
    return settings


_ATTACKERS = "attackers"
"""Table of the owner's statement, which stands in `AuditPlan.studies` as it may be left out like theirs."""

_NO_TABLE = ("attribute", "correction", "fairness")
"""Studies whose checks depend on nothing beyond [model] and [outputs]."""

_UNWRITTEN = "correction"
"""Of these the study with settings that a plan may have, for what is found besides; no plan is written with them."""

PARTS = {
    "outputs": OutputsPlan,
    "bias_queries": BiasQueriesSettings,
    "membership": MembershipSettings,
    "attriguard": AttriGuardSettings,
}
"""Table of every plan -> its settings."""

_CONFIG = params(AuditConfig)

SOURCE: Tables = {
    "data": params(DataPlan) | params(Roles),
    "model": params(ModelPlan)
    | {key: _CONFIG[key] for key in ("method", "epsilon")}
    | _CONFIG
    | {"tolerance": replace(_CONFIG["tolerance"], default=TRAINED_TOLERANCE)},
}
"""Where the people come from, and which model is looked at."""


def other_studies() -> dict[str, type]:
    """Return name -> settings of the studies of an audit with a table of their name, only where it is given."""
    return {
        name: study.settings
        for name, study in STUDIES.items()
        if study.declared and name not in (*PARTS, *_NO_TABLE)
    }


def optional_tables() -> dict[str, type]:
    """Return name -> settings of what an audit does only where the plan has its table, or that may have one."""
    without_checks = {name: study.settings for name, study in STUDIES.items() if not study.declared}
    return {
        **other_studies(),
        **without_checks,
        PEOPLE.name: PeopleSettings,
        _ATTACKERS: AttackersPlan,
        _UNWRITTEN: STUDIES[_UNWRITTEN].settings,
    }


def plan_tables() -> Tables:
    """Return the tables a plan may have: those of every plan, and one for each of `optional_tables`."""
    parts = {**PARTS, **optional_tables()}
    return {
        "": params(AuditPlan),
        **SOURCE,
        **{title: params(part) for title, part in parts.items()},
        "register": params(RegisterPlan),
    }


def read_plan(text: str | bytes, *, name: str = "The plan") -> AuditPlan:
    """Read a plan, TOML in UTF-8; `name` is what to call the file in sentences.

    InputError if the text is no TOML, has an unknown table or key, or a value of a wrong type or out of range; one
    sentence with file, key, rule and value.
    """
    content = parsed(text, name=name)
    with naming(name):
        return _plan_of(content)


def _plan_of(content: Mapping[str, Any]) -> AuditPlan:
    """Return the plan that the tables of a file describe."""
    tables = read_tables(content, plan_tables())
    data, model, config = read_source(tables)
    parts: dict[str, Any] = {
        title: built(part, tables[title], title) for title, part in PARTS.items()
    }
    optional: dict[str, Any] = {
        name: built(part, tables[name], name)
        for name, part in optional_tables().items()
        if name in content
    }
    if PEOPLE.name in optional:  # what it leaves out is as the rest of the plan has it
        listed = {**_published({**parts, **optional}), **tables[PEOPLE.name]}
        optional[PEOPLE.name] = built(PeopleSettings, listed, PEOPLE.name)
    register = built(RegisterPlan, tables["register"], "register")
    if bool(register.model) != bool(register.version):
        missing, present = ("version", "model") if register.model else ("model", "version")
        raise broken(f"register.{missing}", f"be given where register.{present} is", "")
    return built(
        AuditPlan,
        tables[""],
        data=data,
        model=model,
        config=config,
        register=register,
        studies=tuple(optional.items()),
        **parts,
    )


def plan_setting(key: str) -> Setting:
    """Return the setting that a key of a plan names, such as "model.tolerance"; InputError if there is none."""
    title, _, name = key.rpartition(".")
    tables = plan_tables()
    if title not in tables or name not in tables[title]:
        titles = ", ".join(title for title in tables if title)
        raise InputError(
            f"A key of a plan must be TABLE.KEY with a table among {titles}, got {value_excerpt(key)}."
        )
    return tables[title][name]


def changed_plan(plan: AuditPlan, values: Mapping[str, Any]) -> AuditPlan:
    """Return a plan with other values of some keys, such as "model.tolerance"; None leaves a key out.

    Keys that do not go with the new values are left out too: the budget of a method that has none.
    InputError if a key is unknown, or a value breaks its rule or contradicts another.
    """
    content: dict[str, Any] = tomllib.loads(plan_text(plan))
    for key, value in values.items():
        plan_setting(key)
        title, _, name = key.rpartition(".")
        table = content.setdefault(title, {}) if title else content
        table[name] = value
    tables = plan_tables()
    for title, table in content.items():
        if isinstance(table, dict):
            content[title] = {
                name: value
                for name, value in table.items()
                if value is not None and goes_with(tables, title, name, content)
            }
    return _plan_of(content)


def read_source(tables: Mapping[str, Mapping[str, Any]]) -> tuple[DataPlan, ModelPlan, AuditConfig]:
    """Return what the tables [data] and [model] tell.

    Refused are keys that contradict each other, and a [data] that names no table: left empty it is not meant to be
    about the demo.
    """
    data = tables["data"]
    model = tables["model"]
    if not {"dataset", "file"} & data.keys():
        if data:
            only = f"only {', '.join(map(value_excerpt, list(data)[:_MOST_LISTED]))}"
        else:
            only = "neither"
        raise InputError(f"[data] must name a dataset of the catalogue or a file, got {only}.")
    plan = built(ModelPlan, model, "model")
    if plan.kind == "file" and not plan.file:
        raise broken("model.file", 'name a file where model.kind is "file"', plan.file)
    source, roles = _data(data, plan.kind)
    preset = {}
    if plan.kind != "train":
        preset = {"method": GIVEN_PREDICTIONS}
    config = {"tolerance": SOURCE["model"]["tolerance"].default} | dict(model) | preset
    return (
        source,
        plan,
        built(AuditConfig, config, "model", dataset=source.dataset or UPLOAD, roles=roles),
    )


def _data(data: Mapping[str, Any], kind: str) -> tuple[DataPlan, Roles | None]:
    """Return where the table comes from, and its roles where the plan gives them."""
    own_roles = any(key in data for key in params(Roles))
    if "file" in data:
        for key in ("dataset", "attribute"):
            if key in data:
                raise broken(f"data.{key}", "be left out where data.file names a table", data[key])
        if not data["file"]:
            raise broken("data.file", "name a file", "")
    elif "attribute" in data:
        entry = CATALOG[data.get("dataset", "demo")]
        if own_roles:
            raise broken(
                "data.attribute",
                "be left out where label and sensitive are given",
                data["attribute"],
            )
        if not entry.offers(data["attribute"]):
            raise broken(
                "data.attribute", f"be one of {', '.join(entry.attributes)}", data["attribute"]
            )
    source = DataPlan(
        dataset=data.get("dataset", ""),
        file=data.get("file", ""),
        attribute=data.get("attribute", ""),
    )
    roles = None
    if source.file or own_roles:
        for key in ("label", "positive", "sensitive"):
            if not data.get(key):
                raise broken(f"data.{key}", "be given", "")
        roles = built(Roles, data, "data")
    if kind == "predictions" and (roles is None or not roles.gives_predictions):
        raise InputError(
            'data.prediction or data.score must be given where model.kind is "predictions", got neither.'
        )
    return source, roles


def plan_text(plan: AuditPlan) -> str:
    """Return the plan as TOML that `read_plan` reads back equal."""
    return toml_text(plan_tables(), _values(plan, plan.studies))


def plan_value(plan: AuditPlan, key: str) -> Any:
    """Return what a plan says of a key such as "model.tolerance"; None where the key does not go with the others."""
    title, _, name = key.rpartition(".")
    values = dict(_values(plan, plan.studies))
    if title not in values or not goes_with(plan_tables(), title, name, values):
        return None
    return values[title].get(name)


def commented_plan(
    plan: AuditPlan,
    *,
    notes: Mapping[str, str] = MappingProxyType({}),
    instead: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the plan as TOML, a comment over every key.

    `notes` and `instead` are those of `core.base.settings_text.toml_text`.
    """
    texts = {"attributes": ""}
    if plan.data.dataset in CATALOG:
        texts["attributes"] = ", ".join(CATALOG[plan.data.dataset].attributes)
    studies = {name: plan.settings_of(name, settings) for name, settings in other_studies().items()}
    studies |= dict(plan.studies)
    return toml_text(
        plan_tables(),
        _values(plan, studies.items()),
        replacements=texts,
        notes=notes,
        instead=instead,
    )


def source_values(plan: AuditPlan) -> dict[str, dict[str, Any]]:
    """Return the tables [data] and [model] of a plan."""
    roles = plan.config.roles
    data = (plan.data,) if roles is None else (replace(plan.data, attribute=""), roles)
    return {"data": values_of(*data), "model": values_of(plan.model, plan.config)}


def _values(
    plan: AuditPlan, studies: Iterable[tuple[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "", values_of(plan)
    yield from source_values(plan).items()
    yield from ((title, values_of(getattr(plan, title))) for title in PARTS)
    yield from ((name, values_of(settings)) for name, settings in studies)
    if plan.register != RegisterPlan():
        yield "register", values_of(plan.register)


def check_plan(plan: AuditPlan) -> None:
    """Check the plan of a report: InputError if no plan file could say it by the rules of `read_plan`."""
    try:
        written = plan_text(plan)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"The report's plan must be one that FairLeak wrote, got {str(error)[:120]}."
        ) from None
    if read_plan(written, name="The report's plan") != plan:
        raise InputError(
            "The report's plan must be one that a plan file can say, got settings that contradict others."
        )
