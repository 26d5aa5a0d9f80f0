"""Normal form of the texts that the desk compares: names, columns, values, identifiers.

Two texts with one normal form are one text: NFKC, case folded, without control and format characters, one blank between
words. Nothing else is made equal. What may only *look* equal is refused: a text holds letters of one script, and beside
them plain ASCII signs and digits. So there is no table of look-alikes, and none that a later edition could change under
people who are registered.

A script is the first word of a letter's Unicode name. Digits and signs are Latin. Latin letters are those of
European languages, with or without accents; phonetic ones (a script g, an alpha) look like others.
"""

from __future__ import annotations

import unicodedata

from ..base.errors import InputError
from ..datasets.columns import quoted

LATIN = "LATIN"

_INVISIBLE = ("Cc", "Cf")
"""Unicode categories of control and format characters."""

_EUROPEAN = "\u0180"
"""First character after Latin-1 and Latin Extended-A."""


def visible_text(text: object) -> str:
    """Text in NFKC, trimmed, without control and format characters, one blank between words."""
    plain = str(text)
    if not (plain.isascii() and plain.isprintable()):
        spaced = "".join(" " if character.isspace() else character for character in plain)
        seen = "".join(
            character for character in spaced if unicodedata.category(character) not in _INVISIBLE
        )
        plain = unicodedata.normalize("NFKC", seen)
    return " ".join(plain.split())


def normal_form(text: object, *, noun: str) -> str:
    """Return the normal form of a text; the form of a form is itself.

    Raises `InputError` if the text holds letters of two scripts, or a character that may only look like another one.

    Parameters
    ----------
    noun : str
        What the text is, for the sentence: "The name".
    """
    form = _folded(text)
    script_of(form, noun=noun)
    return form


def same_text(*texts: object) -> bool:
    """Whether texts are one by their normal form, where none of them need be refused."""
    return len(set(map(_folded, texts))) == 1


def _folded(text: object) -> str:
    return visible_text(visible_text(text).casefold())


def script_of(form: str, *, noun: str) -> str:
    """Script of a normal form's letters, `LATIN` without any; refuses two, and what only looks like a plain sign."""
    if form.isascii():
        return LATIN
    script = ""
    for character in form:
        if character.isascii() and not character.isalpha():
            continue
        letter_script = _letter_script(character)
        if not letter_script or letter_script != (script or letter_script):
            name = unicodedata.name(character, f"U+{ord(character):04X}")
            raise InputError(
                f"{noun} must hold letters of one script and plain signs, as others only look equal, got "
                f"{quoted(form, 80)} with {name}."
            )
        script = letter_script
    return script or LATIN


def _letter_script(character: str) -> str:
    """Script of a letter; "" for what is no letter, is not seen, or is a Latin letter that looks like another one."""
    name = unicodedata.name(character, "")
    category = unicodedata.category(character)
    if category[0] != "L" or category == "Lm" or name.endswith("FILLER"):
        return ""
    script = name.partition(" ")[0]
    is_plain_latin = character < _EUROPEAN or unicodedata.normalize("NFD", character)[0].isascii()
    if script == LATIN and not is_plain_latin:
        return ""
    return script
