"""Settings as text, by what their `Param` declares: TOML files, flags of the command line, rows of the reference.

TOML files are small, flat and UTF-8: what is larger, or nested deeper than any plan or policy is, is refused before it
is parsed, because the parser's time grows with the square of a key's parts.
"""

from __future__ import annotations

import argparse
import re
import tomllib
import types
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING
from functools import partial
from typing import Any, TypeVar

from .errors import InputError, check_format
from .settings import (
    LIST_TITLES,
    NO_LIMIT,
    TYPE_TITLES,
    Setting,
    broken,
    checked,
    key_in,
    params,
    value_excerpt,
)

S = TypeVar("S")

LARGEST = 65_536
"""Characters of the largest file that is read."""

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


Tables = Mapping[str, Mapping[str, "Setting"]]
"""Name of a file's table, "" for the outermost, "[name]" for each of a list -> key -> the setting it tells."""


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
    table: str,
    key: str = "{}",
    extra_keys: Collection[str] = (),
) -> dict[str, Any]:
    """Return what a table tells: key -> value, each checked; what it does not tell is not in it.

    `content` is as TOML is parsed, None for a table that is not there; `extra_keys` are further keys it may hold.
    Messages call it `table`, such as "[data]", and a key of it `key`, such as "data.{}".

    Raises `InputError` if it is no table, has a key nobody knows, or a value breaks its rule.
    """
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(f"{table} must be a table, got {value_excerpt(content)}.")
    if "schema" in settings and "schema" in content:  # before keys that another format may have
        check_format(content["schema"], thing="The file")
    for name in content:
        if name not in settings and name not in extra_keys:
            keys = ", ".join((*settings, *extra_keys))
            raise InputError(f"{table} must hold only the keys {keys}, got {value_excerpt(name)}.")
    return {
        name: checked(settings[name], value, key.replace("{}", name))
        for name, value in content.items()
        if name in settings
    }


def read_tables(content: Mapping[str, Any], tables: Tables) -> dict[str, dict[str, Any]]:
    """Return what a file tells: table -> key -> value; lists of tables are only let through.

    Raises `InputError` as of `read_table`, or if a key does not go with the value of another one.
    """
    inner = [title for title in tables if title and not title.startswith("[")]
    table_names = [title.strip("[]") for title in tables if title]
    values_by_table = {
        "": read_table(content, tables[""], table="the outermost table", extra_keys=table_names)
    }
    values_by_table |= {
        title: read_table(
            content.get(title), tables[title], table=f"[{title}]", key=key_in(title, "{}")
        )
        for title in inner
    }
    for title, values in values_by_table.items():
        for key, value in values.items():
            if reason := _misplaced(tables, title, key, values_by_table):
                raise broken(key_in(title, key), f"be left out where {reason}", value)
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
    return f'{key_in(where, name)} is "{current}"'


def built(cls: type[S], values: Mapping[str, Any], title: str = "", **more: Any) -> S:
    """Return settings made from what a table tells, with their defaults for the rest.

    Raises `InputError` if they break a rule they have together; its sentence begins with the table.
    """
    try:
        return cls(**{name: values[name] for name in params(cls) if name in values}, **more)
    except InputError as error:
        message = f"[{title}]: {error}" if title else str(error)
        raise InputError(message) from None


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
    if default is MISSING or default is False or default in (None, "", ()):
        return text
    if default is True:
        written = setting.flag
    else:
        written = _flag_text(default)
    return f"{text.rstrip('.')} (default: {written})."


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
            kind = f"a list of {LIST_TITLES[setting.base]}"
        else:
            kind = TYPE_TITLES[setting.base]
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
