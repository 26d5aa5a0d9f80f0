"""Settings: what one `Param` declares is a flag, a key with its comment, a sentence on a value, a row of the page."""

import dataclasses
import math
import re
import tomllib
from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np
import pytest

from core.auditing import read_plan
from core.auditing.plan import SOURCE, plan_tables
from core.auditing.policy import read_policy
from core.base.errors import FORMAT, FormatError, InputError, check_format
from core.base.settings import Param, Settings, checked, key_in, params
from core.base.settings_text import add_arguments, flag_values, from_arguments, read_table, toml_text, toml_value
from core.cli.arguments import Parser
from core.desk import example_ledger, open_ledger, verify_export
from core.experiments.engine import FileStore
from core.learn.reference_pages import files, studies
from core.report import from_json, report_document, to_json, verify_report
from core.report.page import to_html
from core.store.history import History
from tests.policy_samples import FILE
from tests.samples_report import altered_report, sample

CLASSES = studies()
TABLES = [*files().items(), *((called, {"": params(cls)}) for called, (cls, _) in CLASSES.items())]
EVERY = {
    f"{called}: {title}.{key}": (title, key, setting)
    for called, tables in TABLES
    for title, keys in tables.items()
    for key, setting in keys.items()
}
every_setting = pytest.mark.parametrize(("title", "key", "setting"), EVERY.values(), ids=EVERY)


def beyond(setting):
    """Return values of the right type that are out of its bounds."""
    param, base = setting.param, setting.base
    if base is str:
        return ["no such name"] if param.options is not None else ["x" * int(param.most + 1)] if param.most else []
    values = [math.nan] if base is float else []
    if base in (int, float) and param.least is not None:
        values.append(base(param.least - (not param.above)))
    if base in (int, float) and param.most is not None:
        values.append(base(param.most + (not param.below)))
    return values


def value(setting):
    """Return a value that can be written: the default, or one that its rules allow where that is empty."""
    param = setting.param
    if setting.default not in (None, "", (), dataclasses.MISSING):
        return setting.default
    if param.form == "table":
        return (("max_depth", None),)
    examples = {bool: True, int: max(1, int(param.least or 0)), float: 0.5, str: "word", tuple: ("a", "b")}
    example = "2026-11-22" if param.form == "day" else examples[setting.base]
    example = next(iter(param.options)) if param.options is not None else example
    return (example,) if setting.many else example


def test_a_key_that_is_left_out_has_the_default_of_the_reference():
    plan = read_plan('[data]\ndataset = "demo"\n[model_card]\n')
    settings = {key: setting for key, setting in SOURCE["model"].items() if hasattr(plan.config, key)}
    assert len(settings) > 6
    for key, setting in settings.items():
        assert getattr(plan.config, key) == setting.default, key
    for key, setting in plan_tables()["model_card"].items():
        assert getattr(plan.studied["model_card"], key) == setting.default, key


@every_setting
def test_every_setting_has_a_key_with_its_comment_and_reads_back_equal(title, key, setting):
    free = dataclasses.replace(setting, param=dataclasses.replace(setting.param, only=None, written=True))
    tables = {title: {key: free}}
    text = toml_text(tables, [(title, {key: value(setting)})], replacements={"attributes": "sex"})
    comment = setting.comment.replace("{attributes}", "sex")
    assert f"# {comment}\n{key} = " in text or setting.param.form == "table"
    content = tomllib.loads(text)
    content = content[title.strip("[]")] if title else content
    content = content[0] if isinstance(content, list) else content
    assert read_table(content, {key: setting}, table=title) == {key: value(setting)}


@every_setting
def test_every_setting_refuses_in_one_sentence(title, key, setting):
    name, foreign = key_in(title, key), {bool: 1, int: 1.5, float: "1"}.get(setting.base, 7)
    if setting.many or setting.param.form == "table":
        foreign = 7
    for wrong in [foreign, *beyond(setting)]:
        typed = [wrong] if setting.many and wrong != 7 else wrong
        with pytest.raises(InputError) as caught:
            checked(setting, typed, name)
        sentence = str(caught.value)
        assert sentence.startswith(f"{name} must ") and ", got " in sentence and sentence.endswith(".")
        assert "\n" not in sentence


def given_value(setting):
    """Return what is given on a command line: the default, or a value that its rules allow."""
    return setting.default is False or value(setting)


def written(setting):
    example = given_value(setting)
    if setting.base is bool:
        return setting.flag if example else setting.flag.replace("--", "--no-", 1)
    text = "{max_depth = 'none'}" if setting.param.form == "table" else toml_value(example)
    if setting.many and setting.base is not tuple:
        text = ",".join("none" if part is None else str(part) for part in example)
    return f"{setting.flag}={example if isinstance(example, str) else text}"


@pytest.mark.parametrize("name", CLASSES)
def test_flags_make_settings_and_wrong_ones_name_the_flag(name, capsys):
    cls, _ = CLASSES[name]
    parser = Parser()
    add_arguments(parser, cls)
    every = flag_values(parser.parse_args(list(map(written, params(cls).values()))), cls)
    assert every == {key: given_value(setting) for key, setting in params(cls).items()}
    must = [written(setting) for setting in params(cls).values() if setting.default is dataclasses.MISSING]
    for setting in params(cls).values():
        for wrong in beyond(setting) if not setting.many else ():
            line = [*must, f"{setting.flag}={wrong}"]
            if setting.choices is None:
                with pytest.raises(InputError, match=rf"^{setting.flag} must "):
                    from_arguments(parser.parse_args(line), cls)
                continue
            with pytest.raises(SystemExit):  # the parser knows the choices
                parser.parse_args(line)
            assert f": {setting.flag} must be one of {setting.choices[0]}, " in capsys.readouterr().err


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(Settings):
    shares: Annotated[tuple[float | None, ...], Param("Shares", "Some shares.", least=0, most=1, below=True)] = ()
    budget: Annotated[float, Param("Budget", "A budget.", least=0, above=True, infinite=True)] = 1.0


def test_numbers_of_a_class_of_settings_become_floats():
    numbers = (Bounds(budget=3).budget, Bounds(budget=np.float32(3)).budget, Bounds(shares=(0,)).shares[0])
    assert {type(number) for number in numbers} == {float}
    with pytest.raises(InputError, match=r"^shares must be in \[0, 1\), got 1\.0\.$"):
        Bounds(shares=(1.0,))


FOREIGN_FORMAT = 2


def report():
    return replace(report_document(sample()), schema=FOREIGN_FORMAT)


def report_with_foreign(part):
    altered_report(report_document(sample()), lambda document: document[part].update(schema=FOREIGN_FORMAT))


def foreign_file(make, folder):
    """Return a database of another format, made by this version but for its header."""
    path, foreign = folder / "database", folder / "foreign"
    make(path)
    content = bytearray(path.read_bytes())
    content[63] = FOREIGN_FORMAT
    foreign.write_bytes(content)
    return foreign


EXPORT = example_ledger(1).record()[0].replace(b'"version":1', b'"version":2')
FORMATS = {
    "report": (lambda folder: from_json(to_json(report())), "A report"),
    "report to verify": (lambda folder: verify_report(to_json(report()), name="The report"), "The report"),
    "page to verify": (lambda folder: verify_report(to_html(report()), name="The report"), "The report"),
    "plan in a report": (lambda folder: report_with_foreign("plan"), "The report's plan"),
    "policy in a report": (lambda folder: report_with_foreign("policy"), "The report's policy"),
    "plan": (lambda folder: read_plan(f"schema = {FOREIGN_FORMAT}", name="The plan"), "The plan: The file"),
    "policy": (lambda folder: read_policy(FILE.replace("= 1", "= 2", 1), name="The policy"), "The policy: The file"),
    "ledger": (lambda folder: open_ledger(foreign_file(partial(open_ledger, create=True), folder)), "The ledger "),
    "history": (lambda folder: History.open(foreign_file(History.open, folder)), "The history "),
    "export": (lambda folder: verify_export(EXPORT), "The export "),
    "points": (lambda folder: FileStore(foreign_file(FileStore, folder)), "The store "),
}


@pytest.mark.parametrize(("read", "thing"), FORMATS.values(), ids=FORMATS)
def test_another_format_is_refused(read, thing, tmp_path):
    with pytest.raises(InputError) as refusal:
        read(tmp_path)
    rule = f"must be of format {FORMAT}, got format {FOREIGN_FORMAT}"
    assert re.fullmatch(rf"{thing}.*{rule}\.", str(refusal.value))


@pytest.mark.parametrize("version", [None, 0, 2, 1.5, "1", True, [1], "x" * 99])
def test_check_format_refuses_all_but_its_version(version):
    with pytest.raises(FormatError, match=r"^The plan must be of format 1, got (none|format .{1,40})\.$"):
        check_format(version, thing="The plan")
    check_format(FORMAT, thing="The plan")
