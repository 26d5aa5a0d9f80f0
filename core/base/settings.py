"""Settings, made from what each one's `Param` declares: checked, read, written, flags, reference.

A class of settings is a frozen dataclass whose fields are ``Annotated[type, Param(...)]``. Whatever breaks a rule is
reported in one sentence: what, which rule, which value. TOML files are small, flat and UTF-8: what is larger, or nested
deeper than any plan or policy is, is refused before it is parsed, because the parser's time grows with the square of a
key's parts.
"""

from __future__ import annotations

import argparse
import datetime
import math
import re
import tomllib
import types
import typing
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, partial
from numbers import Integral, Real
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, TypeVar

from .errors import InputError, check_format
from .param import Param
from .serialize import Result

LARGEST = 65_536
"""Characters of the largest file that is read."""

NO_LIMIT = "none"
"""How a value without limit is written."""

_DOTS = 500
"""Full stops a line may hold; each one may be a level of nesting to the parser."""

_POSITION = re.compile(
    r"^(?P<what>.*?) \(at (?:line (?P<line>\d+), column \d+|end of document)\)$", re.DOTALL
)

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}

_UNSEEN = ("Cc", "Cf", "Zl", "Zp")
"""Categories of characters that steer how text is shown."""


def parsed(content: str | bytes, *, name: str) -> dict[str, Any]:
    """Return a TOML file's content, whole; bytes are read as UTF-8, with or without a byte order mark.

    Raises `InputError`: the file is too large, not UTF-8, not TOML, or nested too deeply; the sentence begins with its
    name.
    """
    if len(content) > LARGEST:
        raise InputError(f"{name} must have at most {LARGEST:,} characters, got {len(content):,}.")
    text = _decoded(content, name)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _DOTS:
            raise InputError(
                f"{name} must have at most {_DOTS} full stops a line, got {line.count('.')} in line {number}."
            )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{name} is nested too deeply for a file of settings.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {_reason(str(error))}.") from None
    except ValueError:  # a whole number of thousands of digits
        raise InputError(f"{name} is not TOML: it holds a number that is too long.") from None


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


def quoted(text: str) -> str:
    """Return a text as a TOML string: on one line, or between three quotation marks where it has several.

    Characters that are not seen, or change the order in which others are, are written by their numbers.
    """
    if "\n" not in text:
        return f'"{_escaped(text)}"'
    lines = "\n".join(_escaped(line) for line in text.split("\n"))
    return f'"""\n{lines}"""'


def toml_value(value: Any) -> str:
    """Return a text, number, flag or list as TOML; None, which TOML has not, as `NO_LIMIT`."""
    if value is None:
        return quoted(NO_LIMIT)
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def _decoded(content: str | bytes, name: str) -> str:
    try:
        if isinstance(content, bytes):
            text = content.decode("utf-8")
        else:
            text = content.encode("utf-8").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            f"{name} must be UTF-8 text, got a byte that is not in line {line}."
        ) from None
    except UnicodeEncodeError:  # half a surrogate pair
        raise InputError(f"{name} must be UTF-8 text, got a character that is not.") from None
    return text.removeprefix("\ufeff")


def _reason(message: str) -> str:
    match = _POSITION.match(message)
    if not match:
        return message
    what = match["what"]
    if match["line"]:
        where = f"in line {match['line']}"
    else:
        where = "at the end of the file"
    return f"{what[:1].lower()}{what[1:]}, {where}"


def _escaped(text: str) -> str:
    def escaped_character(character: str) -> str:
        if character in _SHORT or unicodedata.category(character) not in _UNSEEN:
            return _SHORT.get(character, character)
        number = ord(character)
        if number < 2**16:
            return f"\\u{number:04X}"
        return f"\\U{number:08X}"

    return "".join(map(escaped_character, text))


S = TypeVar("S")

Tables = Mapping[str, Mapping[str, "Setting"]]
"""Name of a file's table, "" for the outermost, "[name]" for each of a list -> key -> the setting it tells."""

_TYPES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list",
}
_LISTS = {int: "whole numbers", float: "finite numbers", str: "texts", tuple: "lists"}
_BITS = 1_000
"""Of the largest whole number that is read as a float."""

_CONTROL_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, of halves of a pair, and of separators of lines."""

_MIRRORED = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of writing, and so can make a text read as another."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


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


def validate(
    instance: object, *, but: Collection[str] = (), location: TableLocation | None = None
) -> None:
    """Check every setting of an object that is in the making, `but` some; messages use the keys of a `location`.

    Each becomes what a file would give: a whole number where a float is asked for is one. Raises `InputError` on the
    first that breaks its rule.
    """
    for name, setting in params(type(instance)).items():
        if name in but:
            continue
        value = getattr(instance, name)
        told_name = location.of(name) if location else name
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
        raise broken(name, f"be a list of {_LISTS[setting.base]}", value)
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
            kind = _TYPES[base]
        if setting.many:
            kind = f"a list of {_LISTS[base]}"
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
        raise broken(name, f"be a list of {_LISTS[base]}", value)
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


# ------------------------------------------------------------------------------------------------------------- files


@dataclass(frozen=True, slots=True)
class TableLocation:
    """A table of a file as messages name it, such as "[data]", and its keys, with {} for the name: "data.{}"."""

    table: str
    key: str

    def of(self, key: str) -> str:
        """Return what a key of it is called."""
        return self.key.replace("{}", key)

    def error(self, key: str, rule: str, value: object) -> InputError:
        """Return the one sentence on a key of it."""
        return broken(self.of(key), rule, value)


def location_of(title: str) -> TableLocation:
    """Return how a table is named by its title, "" for the outermost."""
    if title:
        return TableLocation(f"[{title}]", f"{title}.{{}}")
    return TableLocation("the outermost table", "{}")


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put a file's name before whatever is wrong in it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def read_table(
    content: object,
    settings: Mapping[str, Setting],
    *,
    location: TableLocation,
    extra_keys: Collection[str] = (),
) -> dict[str, Any]:
    """Return what a table tells: key -> value, each checked; what it does not tell is not in it.

    `content` is as TOML is parsed, None for a table that is not there; `extra_keys` are further keys it may hold.

    Raises `InputError` if it is no table, has a key nobody knows, or a value breaks its rule.
    """
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(f"{location.table} must be a table, got {value_excerpt(content)}.")
    if "schema" in settings and "schema" in content:  # before keys that another format may have
        check_format(content["schema"], thing="The file")
    for key in content:
        if key not in settings and key not in extra_keys:
            keys = ", ".join((*settings, *extra_keys))
            raise InputError(
                f"{location.table} must hold only the keys {keys}, got {value_excerpt(key)}."
            )
    return {
        key: checked(settings[key], value, location.of(key))
        for key, value in content.items()
        if key in settings
    }


def read_tables(content: Mapping[str, Any], tables: Tables) -> dict[str, dict[str, Any]]:
    """Return what a file tells: table -> key -> value; lists of tables are only let through.

    Raises `InputError` as of `read_table`, or if a key does not go with the value of another one.
    """
    inner = [title for title in tables if title and not title.startswith("[")]
    table_names = [title.strip("[]") for title in tables if title]
    values_by_table = {
        "": read_table(content, tables[""], location=location_of(""), extra_keys=table_names)
    }
    values_by_table |= {
        title: read_table(content.get(title), tables[title], location=location_of(title))
        for title in inner
    }
    for title, values in values_by_table.items():
        for key, value in values.items():
            if reason := _misplaced(tables, title, key, values_by_table):
                raise location_of(title).error(key, f"be left out where {reason}", value)
    return values_by_table


def goes_with(
    tables: Tables, title: str, key: str, values: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Whether a setting of a table goes with the other settings of a file."""
    return not _misplaced(tables, title, key, values)


def _misplaced(
    tables: Tables, title: str, key: str, values: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the other key and its value that a setting does not go with; "" if it does."""
    only = tables[title][key].param.only
    if only is None:
        return ""
    where, _, name = only[0].rpartition(".")
    where = where or title
    current = values.get(where, {}).get(name, tables[where][name].default)
    if current in only[1]:
        return ""
    return f'{location_of(where).of(name)} is "{current}"'


def built(cls: type[S], values: Mapping[str, Any], title: str = "", **more: Any) -> S:
    """Return settings made from what a table tells, with their defaults for the rest.

    Raises `InputError` if they break a rule they have together; its sentence begins with the table.
    """
    try:
        return cls(**{name: values[name] for name in params(cls) if name in values}, **more)
    except InputError as error:
        message = f"[{title}]: {error}" if title else str(error)
        raise InputError(message) from None


def values_of(*objects: object) -> dict[str, Any]:
    """Return the settings of some objects: name -> value."""
    return {
        name: getattr(instance, name) for instance in objects for name in params(type(instance))
    }


def toml_text(
    tables: Tables,
    values: Iterable[tuple[str, Mapping[str, Any]]],
    *,
    replacements: Mapping[str, str] | None = None,
    notes: Mapping[str, str] = types.MappingProxyType({}),
    instead: Mapping[str, str] = types.MappingProxyType({}),
) -> str:
    """Return settings as TOML that reads back equal; keys are written in the order of `tables`.

    `values` are the tables to write, with what each key is. With `replacements`, a comment stands over every key, with
    these words for what stands in braces. `notes` are further comments: "data.label" goes over that key of [data],
    "data" over the table's first; `instead` are comments in the place of keys left out because they are empty.
    """
    written = list(values)
    lines: list[str] = []
    for title, table_values in written:
        if title:
            lines += ["", f"[{title}]"]
        lines += _commented(notes.get(title, ""))
        inner: list[str] = []
        for key, setting in tables[title].items():
            if key not in table_values or _misplaced(tables, title, key, dict(written)):
                continue
            dotted_key = f"{title}.{key}" if title else key
            value = table_values[key]
            if replacements is None:
                comment = ""
            else:
                comment = setting.comment.format(**replacements)
            if _left_out(setting, value):
                if dotted_key in instead:
                    lines += _commented(f"{comment}\n{instead[dotted_key]}")
            elif setting.param.form == "table":
                inner += ["", f"[{dotted_key}]", *(f"{k} = {toml_value(v)}" for k, v in value)]
            else:
                lines += [
                    *_commented(comment),
                    *_commented(notes.get(dotted_key, "")),
                    f"{key} = {_written(setting, value)}",
                ]
        lines += inner
    return "\n".join([*lines, ""])


def _written(setting: Setting, value: Any) -> str:
    if setting.base is float and not setting.many:
        value = float(value)
    return toml_value(value)


def _left_out(setting: Setting, value: Any) -> bool:
    if setting.param.written is False:
        return bool(value == setting.default)
    return value is None or (value in ("", ()) and not setting.param.written)


def _commented(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in text.splitlines())


# ----------------------------------------------------------------------------------------- command line and reference


def add_arguments(
    parser: argparse._ActionsContainer,
    cls: type,
    *names: str,
    defaults: Mapping[str, Any] = types.MappingProxyType({}),
) -> None:
    """Add a flag for each setting of a class, or for those named, in their order; what is not given has no value.

    A list is written with commas, as in 0.1,0.5, and "all" is every name there is; what is no list of texts or numbers
    as in a TOML file. `defaults` are what the help tells instead of a setting's own default; None tells none.
    """
    settings = params(cls)
    for name in names or settings:
        _add_flag(parser, settings[name], _flag_help(settings[name], defaults))


def _flag_help(setting: Setting, defaults: Mapping[str, Any]) -> str:
    text = setting.comment
    default = defaults.get(setting.name, setting.default)
    unsaid = default is MISSING or default in (None, "", ()) or isinstance(default, bool)
    if unsaid:
        return text
    return f"{text.rstrip('.')} (default: {_flag_text(default)})."


def _add_flag(parser: argparse._ActionsContainer, setting: Setting, text: str) -> None:
    more: dict[str, Any] = {
        "dest": setting.argument,
        "default": argparse.SUPPRESS,
        "help": text.replace("%", "%%"),
    }
    if setting.default is MISSING:
        more["required"] = True
    if setting.default is False:
        parser.add_argument(setting.flag, action="store_true", **more)
    elif setting.base is bool:
        parser.add_argument(setting.flag, action=argparse.BooleanOptionalAction, **more)
    elif setting.many or setting.base is tuple:
        list_form = "TABLE" if setting.param.form == "table" else "LIST"
        parser.add_argument(
            setting.flag,
            metavar=list_form,
            type=partial(_list_of, setting),
            **more,
        )
    else:
        text_form = "NAME" if setting.param.options else "TEXT"
        metavar = {int: "N", float: "X", str: text_form}[setting.base]
        if setting.optional and setting.base is not str:
            kind = _or_none(setting.base)
        else:
            kind = setting.base
        parser.add_argument(
            setting.flag, metavar=metavar, type=kind, choices=setting.choices, **more
        )


def flag_values(
    arguments: argparse.Namespace, cls: type, *, but: Collection[str] = ()
) -> dict[str, Any]:
    """Return the settings whose flags were given: name -> value, without those that are none of this class.

    Raises `InputError` if a value breaks its rule; the sentence begins with the flag.
    """
    return {
        name: checked(setting, getattr(arguments, setting.argument), setting.flag)
        for name, setting in params(cls).items()
        if hasattr(arguments, setting.argument) and name not in but
    }


def from_arguments(arguments: argparse.Namespace, cls: type[S], **more: Any) -> S:
    """Return settings as their flags say; `more` is what the command says itself. Raises as `flag_values` does."""
    return cls(**flag_values(arguments, cls, but=more), **more)


def flags_text(instance: object) -> str:
    """Return the flags of all settings that have a value: "--methods dp_id3 --prefer balanced"."""
    settings = [
        (setting, getattr(instance, name)) for name, setting in params(type(instance)).items()
    ]
    return " ".join(
        f"{setting.flag} {_flag_text(value)}" for setting, value in settings if value is not None
    )


def _or_none(base: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if text == NO_LIMIT:
            return None
        return base(text)

    read.__name__ = base.__name__  # argparse tells it
    return read


def _list_of(setting: Setting, text: str) -> Any:
    """Return a list as a flag has it; what cannot be read stays text, which breaks the setting's rule."""
    try:
        if setting.base is tuple:
            return tomllib.loads(f"value = {text}")["value"]
        if text == "all" and setting.param.options is not None:
            return tuple(setting.param.options)
        if text.strip():
            parts = [part.strip() for part in text.split(",")]
        else:
            parts = []
        return tuple(part if part == NO_LIMIT else setting.base(part) for part in parts)
    except ValueError:
        return text


def _flag_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_flag_text, value))
    if isinstance(value, float):
        return f"{value:.12g}"
    if value is None:
        return NO_LIMIT
    return str(value)


def reference_rows(
    settings: Mapping[str, Setting], *, title: str = ""
) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield a row of the reference for each setting: its key, its flag, its default, its rule, what it does.

    The settings are key -> setting, as `params` has it, or a table of a file, whose title is "" for the outermost.
    """
    for key, setting in settings.items():
        if setting.default in (None, (), "", MISSING):
            default = ""
        else:
            default = f"`{toml_value(setting.default)}`"
        if setting.many:
            kind = f"a list of {_LISTS[setting.base]}"
        else:
            kind = _TYPES[setting.base]
        rule = ["a table" if setting.param.form == "table" else kind]
        if setting.rule not in ("", "be a finite number"):
            rule.append(setting.rule.removeprefix("be ").removeprefix("have "))
        if setting.param.only:
            condition_key, values = setting.param.only
            rule.append(f"where {condition_key} is {' or '.join(values)}")
        description = re.sub(r":? \{\w+\}", "", setting.param.help)
        if setting.default is MISSING:
            must = "must be given"
        else:
            must = default
        if title:
            key = f"{title}.{key}"
        yield key, setting.flag, must, ", ".join(rule), description
