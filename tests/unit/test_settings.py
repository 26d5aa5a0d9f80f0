"""Settings: what one `Param` declares is a flag, a key with its comment, a sentence on a value, a row of the page."""

from __future__ import annotations

import argparse
import dataclasses
import math
import tomllib
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from streamlit.testing.v1 import AppTest

from core.__main__ import parser
from core.cli.arguments import Parser, seeds_in
from core.config import AuditConfig
from core.docs import files, settings_reference, studies
from core.errors import InputError
from core.param import Param
from core.settings import (
    Setting,
    Settings,
    add_arguments,
    checked,
    from_arguments,
    given,
    params,
    place_of,
    read_table,
    reference_rows,
    toml_text,
    toml_value,
    values_of,
)
from core.sweep.landscape import LandscapePlan

CLASSES = studies()
KEYS = [
    (f"{called}: {title}.{key}", title, key, setting)
    for called, tables in files().items()
    for title, keys in tables.items()
    for key, setting in keys.items()
]
OWN = [
    (f"{called}: {key}", "", key, setting)
    for called, (cls, _) in CLASSES.items()
    for key, setting in params(cls).items()
]
EVERY = [*KEYS, *OWN]


def each(cases: list[tuple[str, str, str, Setting]]) -> Any:
    names, *rest = zip(*cases, strict=True)
    return pytest.mark.parametrize(("title", "key", "setting"), list(zip(*rest, strict=True)), ids=names)


def action_of(command: str) -> argparse.ArgumentParser:
    """Return the parser of a command, or of a part of one, as in "queries ask"."""
    made = parser()
    for word in command.split():
        (parts,) = (action for action in made._actions if isinstance(action, argparse._SubParsersAction))
        made = parts.choices[word]
    return made


def own(cls: type, commands: str) -> Iterator[tuple[str, str, Setting]]:
    """Yield each setting of a class with the command that has its flag: the first of several."""
    flags = {command: action_of(command)._option_string_actions for command in commands.split(", ")}
    for key, setting in params(cls).items():
        yield next((command for command, there in flags.items() if setting.flag in there), commands), key, setting


def outside(setting: Setting) -> Any:
    """Return a value that the setting must refuse."""
    if setting.many:
        return 7
    wrong = {bool: 1, int: 1.5, float: "1", str: 7, tuple: 7}[setting.base]
    return 7 if setting.param.form == "table" else wrong


def beyond(setting: Setting) -> list[Any]:
    """Return values of the right type that are out of its bounds."""
    param, found = setting.param, []
    if setting.base is str:
        return ["no such name"] if param.options is not None else ["x" * int(param.most + 1)] if param.most else []
    if setting.base not in (int, float):
        return []
    if param.least is not None:
        found.append(setting.base(param.least) if param.above else setting.base(param.least - 1))
    if param.most is not None:
        found.append(setting.base(param.most) if param.below else setting.base(param.most + 1))
    return found + ([math.nan] if setting.base is float else [])


def value(setting: Setting) -> Any:
    """Return a value that can be written: the default, or one that its rules allow where that is empty."""
    param = setting.param
    if setting.default not in (None, "", ()) and setting.default is not dataclasses.MISSING:
        return setting.default
    if param.form == "table":
        return (("max_depth", None),)
    text = "2026-11-22" if param.form == "day" else "word"
    one: Any = {bool: True, int: 1, float: 0.5, str: text, tuple: ("a", "b")}[setting.base]
    one = next(iter(param.options)) if param.options is not None else one
    return (one,) if setting.many else one


@each(EVERY)
def test_every_setting_says_what_it_is(title: str, key: str, setting: Setting):
    param = setting.param
    assert (param.title[:1].isupper() or param.title[:1] == "ε") and not param.title.endswith(".")
    assert param.help[:1].isupper() or param.help[:1] == '"'
    assert param.help.endswith(".") and len(param.help) < 260
    assert setting.flag.startswith("--") and setting.flag == setting.flag.lower()
    with pytest.raises(InputError, match=rf"must hold only the keys {key}, got '{key}_'\.$"):
        read_table({f"{key}_": 1}, {key: setting}, place=place_of(title))


@each(EVERY)
def test_every_setting_has_a_key_with_its_comment_and_reads_back_equal(title: str, key: str, setting: Setting):
    free = dataclasses.replace(setting, param=dataclasses.replace(setting.param, only=None, shown=True))
    tables = {title: {key: free}}
    text = toml_text(tables, [(title, {key: value(setting)})], words={"attributes": "sex"})
    comment = setting.comment.replace("{attributes}", "sex")
    assert f"# {comment}\n{key} = " in text or setting.param.form == "table"
    content = tomllib.loads(text)
    content = content[title.strip("[]")] if title else content
    content = content[0] if isinstance(content, list) else content
    assert read_table(content, {key: setting}, place=place_of(title)) == {key: value(setting)}


@each(EVERY)
def test_every_setting_refuses_in_one_sentence(title: str, key: str, setting: Setting):
    name = place_of(title).of(key)
    for wrong in [outside(setting), *beyond(setting)]:
        told = [wrong] if setting.many and wrong != 7 else wrong
        with pytest.raises(InputError) as caught:
            checked(setting, told, name)
        sentence = str(caught.value)
        assert sentence.startswith(f"{name} must ") and ", got " in sentence and sentence.endswith(".")
        assert "\n" not in sentence


def test_a_widget_has_the_bounds_and_words_that_are_declared():
    def page() -> None:
        from core.config import AuditConfig
        from core.release_audit.plan import AuditPlan, PlannedAnswers
        from core.settings import params
        from pages.common.controls import control

        audit, answers = params(AuditConfig), params(PlannedAnswers)
        control(audit["train_share"], "share", "slider")
        control(answers["people"], "people")
        control(answers["mechanism"], "mechanism", help=None)
        control(params(AuditPlan)["title"], "title")
        control(audit["epsilon"], "epsilon", "select_slider", options=[1.0, 10.0], value=10.0)

    drawn = AppTest.from_function(page).run()
    assert not drawn.exception
    share, people, mechanism = drawn.slider(key="share"), drawn.number_input(key="people"), drawn.selectbox[0]
    assert (share.label, share.min, share.max, share.step, share.value) == ("Training share", 0.1, 0.8, 0.01, 0.34)
    assert share.help == params(AuditConfig)["train_share"].param.help
    assert (people.min, people.max, people.value) == (4, 5_000, 100)
    assert mechanism.options[-1] == "Noisy sums (ours)" and mechanism.value == "noisy_sums" and not mechanism.help
    assert drawn.text_input(key="title").proto.max_chars == 200
    assert drawn.select_slider(key="epsilon").value == 10.0


def written(setting: Setting) -> list[str]:
    """Return a setting as it is given on a command line, with its default or a value that its rules allow."""
    told = value(setting)
    if setting.base is bool:
        return [setting.flag if told or setting.default is False else setting.flag.replace("--", "--no-", 1)]
    text = "{max_depth = 3}" if setting.param.form == "table" else toml_value(told)
    if setting.many and setting.base is not tuple:
        text = ",".join("none" if one is None else str(one) for one in told)
    return [f"{setting.flag}={told if isinstance(told, str) else text}"]


FLAGS = [(command, key, setting) for cls, commands in CLASSES.values() for command, key, setting in own(cls, commands)]


@pytest.mark.parametrize(
    ("command", "key", "setting"), FLAGS, ids=[f"{command} {setting.flag}" for command, _, setting in FLAGS]
)
def test_every_setting_of_a_study_has_a_flag_at_a_real_command(command: str, key: str, setting: Setting):
    parser = action_of(command)
    for action in parser._actions:
        action.required = False
        action.nargs = "?" if not action.option_strings and action.nargs is None else action.nargs
    told = True if setting.base is bool and setting.default is False else value(setting)
    found = getattr(parser.parse_args(written(setting)), parser._option_string_actions[setting.flag].dest)
    if (command, key) == ("tradeoff", "seeds"):  # also takes 0-9
        found = seeds_in(found)
    elif setting.param.form == "table":
        told = (("max_depth", 3),)
    elif isinstance(found, tuple) and not setting.many and setting.base is not tuple:
        (found,) = found  # the command takes several
    assert checked(setting, found, setting.flag) == told


def test_flags_make_settings_and_wrong_ones_name_the_flag(capsys: pytest.CaptureFixture[str]):
    for cls, commands in CLASSES.values():
        parser = Parser()
        add_arguments(parser, cls)
        must = [word for s in params(cls).values() if s.default is dataclasses.MISSING for word in written(s)]
        made = from_arguments(parser.parse_args(must), cls)
        assert all(getattr(made, name) == value(s) for name, s in params(cls).items() if s.default == value(s)), (
            commands
        )
        for setting in params(cls).values():
            for wrong in beyond(setting) if not setting.many else ():
                if setting.choices is not None:  # which the parser knows
                    with pytest.raises(SystemExit) as left:
                        parser.parse_args([*must, f"{setting.flag}={wrong}"])
                    assert left.value.code == 3
                    assert f": {setting.flag} must be one of {setting.choices[0]}, " in capsys.readouterr().err
                    continue
                with pytest.raises(InputError, match=rf"^{setting.flag} must "):
                    from_arguments(parser.parse_args([*must, f"{setting.flag}={wrong}"]), cls)


def test_two_classes_share_the_flags_of_one_name():
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Other(Settings):
        seed: Annotated[int, Param("Seed", "Fixes the other draw.", least=0)] = 1
        rest: Annotated[float | None, Param("Rest", "The rest.", least=0)] = 0.5

    parser = argparse.ArgumentParser()
    add_arguments(parser, {"here": LandscapePlan, "there": Other}, "metric", "seed", "rest", defaults={"rest": 2.0})
    shown = " ".join(parser.format_help().split())
    assert "there: Fixes the other draw (default: 1)." in shown and "there: The rest (default: 2)." in shown
    assert given(parser.parse_args(["--rest", "none"]), Other) == {"rest": None}
    assert from_arguments(parser.parse_args(["--seed", "3"]), Other, rest=1.0) == Other(seed=3, rest=1.0)


def test_the_page_has_every_setting():
    text = settings_reference()
    for _, title, key, setting in KEYS:
        [(name, *_)] = reference_rows({key: setting}, title=title)
        assert f"| `{name}` |" in text
    for _, _, _, setting in OWN:
        assert f"| `{setting.flag}` |" in text


def test_a_class_of_settings_is_checked_as_it_is_made():
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Bounds(Settings):
        shares: tuple[float, ...] = ()
        many: Annotated[tuple[float | None, ...], Param("Many", "Some shares.", least=0, most=1, below=True)] = ()
        one: Annotated[float, Param("One", "A budget.", least=0, above=True, infinite=True)] = 1.0

    assert values_of(Bounds(many=(0.5, None))) == {"many": (0.5, None), "one": 1.0}
    assert Bounds(one=math.inf).one == math.inf
    for change, sentence in (
        ({"many": (1.0,)}, "many must be in [0, 1), got 1.0."),
        ({"many": 0.5}, "many must be a list of finite numbers, got 0.5."),
        ({"one": 0.0}, "one must be above 0, or infinite, got 0.0."),
        ({"one": True}, "one must be a number, got true."),
        ({"one": math.nan}, "one must be above 0, or infinite, got nan."),
    ):
        with pytest.raises(InputError) as caught:
            Bounds(**change)
        assert str(caught.value) == sentence
