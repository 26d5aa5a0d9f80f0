"""Settings, each declared once by a `Param`: what they are, and whether values keep to their rules.

A class of settings is a frozen dataclass whose fields are ``Annotated[type, Param(...)]``. Whatever breaks a rule is
reported in one sentence: what, which rule, which value. `core.base.settings_text` writes and reads them.
"""

from __future__ import annotations

import datetime
import math
import re
import types
import typing
import unicodedata
from collections.abc import Collection
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from numbers import Integral, Real
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

from .errors import InputError
from .serialize import Result

NO_LIMIT = "none"
"""How a value without limit is written."""

TYPE_TITLES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list",
}

LIST_TITLES = {int: "whole numbers", float: "finite numbers", str: "texts", tuple: "lists"}

_BITS = 1_000
"""Of the largest whole number that is read as a float."""

_CONTROL_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, of halves of a pair, and of separators of lines."""

_MIRRORED = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of writing, and so can make a text read as another."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Form = Literal["text", "path", "day", "line", "prose", "table"]
"""What a text is; see `Param.form`."""


@dataclass(frozen=True, slots=True)
class Param:
    """A setting, declared once: its widget, flag, TOML key with comment, bounds, and row of the reference.

    It stands beside the type of a frozen dataclass's field, ``Annotated[float, Param("Tolerance", ...)]``;
    `core.base.settings` reads it there.
    """

    title: str
    """What to call it."""
    help: str
    """What it does, in whole sentences; "{options}" stands for the names that can be chosen."""
    least: float | None = None
    most: float | None = None
    """Bounds of a number or of each number of a list; of a text the most characters it may have."""
    step: float | None = None
    """Of a slider."""
    options: Collection[str] | None = None
    """The names that can be chosen, with what to call each where that is said."""
    above: bool = False
    below: bool = False
    """Whether the least, or the most, is itself left out."""
    infinite: bool = False
    """Whether infinity is a value too."""
    some: bool = False
    """Whether a list must hold one item at least."""
    form: Form = "text"
    """Of a text: "path" is a file in the folder of the one that names it, "day" one of the calendar, "line" and "prose"
    are shown to people and so hold nothing invisible. "table" is a mapping, kept as pairs."""
    only: tuple[str, tuple[str, ...]] | None = None
    """Key and values: the setting is written only where that key has one of these. The key is one of the same table, or
    of another, as in "model.kind"."""
    written: bool | None = None
    """Whether a file tells it where it is empty (True), or only where it is not its default (False); by itself it is
    written unless it is empty."""
    flag: str = ""
    """Its flag, where that is not its name."""


def value_excerpt(value: object) -> str:
    """Return a value from a file as a message quotes it: short, whatever it is."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, (list, tuple)):
        if value:
            return "a list"
        return "an empty list"
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 19 digits"
    if isinstance(value, (int, float, str)):
        text = repr(value)
    else:
        text = str(value)
    if len(text) <= 80:
        return text
    return f"{text[:60]}… ({len(text):,} characters)"


class Settings(Result):
    """Base of settings that are checked as they are made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A field with its `Param`: what is declared, and what its type says."""

    name: str
    param: Param
    base: type  # bool, int, float, str or tuple; of a list that of its items
    many: bool  # whether it is a list
    optional: bool  # whether it, or an item of it, may be None
    default: Any  # MISSING where it must be given

    @property
    def flag(self) -> str:
        """Its flag."""
        return self.param.flag or f"--{self.name.replace('_', '-')}"

    @property
    def choices(self) -> tuple[str, ...] | None:
        """The names one value of it can be; None where it is no name, or a list."""
        if self.param.options is None or self.many:
            return None
        return tuple(self.param.options)

    @property
    def argument(self) -> str:
        """Name of its value among parsed arguments: that of its flag."""
        return self.flag.strip("-").replace("-", "_")

    @property
    def rule(self) -> str:
        """What its value, or each item of it, must be besides its type; "" where nothing is asked of it."""
        param = self.param
        if param.options is not None:
            how_many = "some" if self.many else "one"
            return f"be {how_many} of {', '.join(param.options)}"
        if self.base not in (int, float):
            if param.most:
                return f"have at most {param.most:,.0f} characters"
            return ""
        written = "{:,.0f}" if self.base is int else "{:g}"
        least, most = (
            None if end is None else written.format(end) for end in (param.least, param.most)
        )
        more = ", or infinite" if param.infinite else ""
        if least is None:
            return "be a finite number"
        if most is None:
            side = "above" if param.above else "at least"
            return f"be {side} {least}{more}"
        if self.base is int:
            if least == most:
                return f"be {least}"
            return f"be from {least} to {most}"
        opening = "(" if param.above else "["
        closing = ")" if param.below else "]"
        return f"be in {opening}{least}, {most}{closing}{more}"

    @property
    def comment(self) -> str:
        """What a file says over its key."""
        return self.param.help.replace("{options}", ", ".join(self.param.options or ()))


def params(cls: type) -> types.MappingProxyType[str, Setting]:
    """Return the settings of a class: name -> what is declared, in the order of its fields."""
    settings_class: Any = cls
    return _declared(settings_class)


@cache
def _declared(cls: type[Any]) -> types.MappingProxyType[str, Setting]:
    hints = typing.get_type_hints(cls, include_extras=True)
    declared = (field for field in fields(cls) if typing.get_origin(hints[field.name]) is Annotated)
    return types.MappingProxyType(
        {field.name: _setting(field, hints[field.name]) for field in declared}
    )


def _setting(field: Field[Any], hint: Any) -> Setting:
    kind, param = typing.get_args(hint)
    kind, optional = _without_none(kind)
    many = typing.get_origin(kind) is tuple and param.form != "table"
    if many:
        kind, empty = _without_none(typing.get_args(kind)[0])
        optional = optional or empty
    if field.default_factory is not MISSING:
        default = field.default_factory()
    else:
        default = field.default
    base = typing.get_origin(kind) or kind
    return Setting(
        name=field.name, param=param, base=base, many=many, optional=optional, default=default
    )


def _without_none(kind: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether that was in it."""
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return kind, False
    first, *rest = (member for member in typing.get_args(kind) if member is not types.NoneType)
    return kind if rest else first, True


def validate(instance: object, *, but: Collection[str] = (), key: str = "{}") -> None:
    """Check every setting of an object that is in the making, `but` some; `key` is what messages call one.

    Each becomes what a file would give: a whole number where a float is asked for is one. Raises `InputError` on the
    first that breaks its rule.
    """
    for name, setting in params(type(instance)).items():
        if name in but:
            continue
        value = getattr(instance, name)
        told_name = key.replace("{}", name)
        if setting.many and isinstance(
            value, list
        ):  # what is read becomes a tuple, what is made must be one: a key
            raise broken(told_name, "be a tuple", value)
        object.__setattr__(instance, name, checked(setting, value, told_name))


def checked(setting: Setting, value: Any, name: str) -> Any:
    """Return a setting's value as its class takes it: a list as a tuple, a day as text; refuse what breaks its rule."""
    if value is None and setting.optional:
        return None
    if setting.param.form == "table":
        return _pairs(value, name)
    if (
        setting.param.form == "day"
        and isinstance(value, datetime.date)
        and not isinstance(value, datetime.datetime)
    ):
        return value.isoformat()  # written without quotation marks
    if not setting.many:
        return _checked_value(setting, value, name)
    if not isinstance(value, (list, tuple)):
        raise broken(name, f"be a list of {LIST_TITLES[setting.base]}", value)
    if setting.param.some and not value:
        raise broken(name, "name at least one", [])
    return tuple(
        None
        if setting.optional and item in (None, NO_LIMIT)
        else _checked_value(setting, item, name)
        for item in value
    )


def broken(name: str, rule: str, value: object) -> InputError:
    """Return the one sentence on a setting that breaks a rule."""
    return InputError(f"{name} must {rule}, got {value_excerpt(value)}.")


def _pairs(value: Any, name: str) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    if not isinstance(value, dict):
        raise broken(name, "be a table", value)
    return tuple((key, None if item == NO_LIMIT else item) for key, item in value.items())


def _checked_value(setting: Setting, value: Any, name: str) -> Any:
    base = setting.base
    param = setting.param
    kinds: dict[type, Any] = {int: Integral, float: Real, tuple: (list, tuple)}
    if not isinstance(value, kinds.get(base, base)) or (
        isinstance(value, bool) and base is not bool
    ):
        if param.form == "day":
            kind = "a day written YYYY-MM-DD"
        else:
            kind = TYPE_TITLES[base]
        if setting.many:
            kind = f"a list of {LIST_TITLES[base]}"
        raise broken(name, f"be {kind}", value)
    if base is str:
        return _text(setting, value, name)
    if base is tuple:
        return tuple(value)
    if base is bool:
        return value
    least = -math.inf if param.least is None else param.least
    most = math.inf if param.most is None else param.most
    outside = (
        not least <= value <= most
        or (param.above and value == least)
        or (param.below and value == most)
    )
    if base is float:
        huge = isinstance(value, int) and value.bit_length() > _BITS
        outside = outside or huge or (math.isinf(value) and not param.infinite)
        if param.infinite and value == math.inf:
            return math.inf
    if outside and setting.many and setting.rule == "be a finite number":
        raise broken(name, f"be a list of {LIST_TITLES[base]}", value)
    if outside:
        raise broken(name, setting.rule, value)
    return base(value)


def _text(setting: Setting, value: str, name: str) -> str:
    param = setting.param
    if param.options is not None and value not in param.options:
        raise broken(name, setting.rule, value)
    if param.most and len(value) > param.most:
        raise InputError(f"{name} must {setting.rule}, got {len(value):,}.")
    if param.form in ("line", "prose", "day"):
        allowed = "\n\t" if param.form == "prose" else ""
        for character in value:
            if (
                unicodedata.category(character) in _CONTROL_CATEGORIES and character not in allowed
            ) or character in _MIRRORED:
                raise InputError(
                    f"{name} must not hold control characters, got U+{ord(character):04X}."
                )
    elif "\x00" in value:
        raise broken(name, "not hold a zero byte", value)
    if value and param.form == "path" and not inside(value):
        raise broken(name, "be a file inside the folder of this one, as a path from there", value)
    if value and param.form == "day" and not _is_day(value):
        raise broken(name, "be a day written YYYY-MM-DD", value)
    return value


def inside(path: str) -> bool:
    """Return whether a path, as it is written, stays inside the folder it starts from."""
    for kind in (PurePosixPath, PureWindowsPath):
        parts = kind(path)
        if parts.is_absolute() or parts.drive or parts.root or ".." in parts.parts:
            return False
    return bool(PurePosixPath(path).name)


def _is_day(value: str) -> bool:
    try:
        return (
            bool(_DAY.fullmatch(value))
            and value.isascii()
            and bool(datetime.date.fromisoformat(value))
        )
    except ValueError:
        return False


def key_in(title: str, name: str) -> str:
    """Return what a key of a table is called, by the table's title, "" for the outermost: "data.label"."""
    if title:
        return f"{title}.{name}"
    return name


def values_of(*objects: object) -> dict[str, Any]:
    """Return the settings of some objects: name -> value."""
    return {
        name: getattr(instance, name) for instance in objects for name in params(type(instance))
    }
