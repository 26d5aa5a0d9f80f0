"""The normal form of identifiers: two spellings with one form are one person.

A form decides who shares a budget, so a form never changes: registrations keep the number of theirs, and another rule
is another number. That is why the look-alikes are a table of our own and not a library's, whose next edition would
leave registered people unknown; Unicode's own list besides reads 0 as O and 1 as l, and "rn" as "m".

Form 2, for new registrations, makes equal (and so takes for one person, which is refused with both spellings):

- capitals and small letters, compatible characters (full-width, ligatures, superscripts) and letters with and without
  accents or other marks. Names in scripts that write vowels as marks may come to be equal: number such people.
- Cyrillic and Greek letters and the Latin ones they look like. One Greek letter that looks like two is read by its
  capital, and by its small form beside Latin letters: the case of Greek names must not matter.
- whatever cannot be seen: control, format and unassigned characters, fillers.
- blanks, any number or none, but for one between two numbers: "1 11" is not "11 1". All dashes are "-".
- numbers of one value, in any script's digits: 1, 001, 1.0, "1,0", "#1", +1, 1e0; also in a text, as in "p-007". A
  comma before groups of three digits parts thousands, 1,000 = 1000 (a blank too); any other comma is a decimal one.

It keeps apart: different numbers (-1 and 1, 1.5 and 15), and other punctuation: "A-1" is not "A1". What has several
points or commas, as 1.2.10, is no number and stays as it is. 1.10 is 1.1, and hexadecimal "1e3" is 1000: rename those.

Form 1, of registrations that do not name theirs: NFKC, without blanks around it. Whether people have a budget already
was decided without regard to case, which people are registered was not.
"""

from __future__ import annotations

import re
import unicodedata

FORM = 2
"""The form of new registrations."""

_LOOK_ALIKES = str.maketrans(
    "авсԁеԍнһіјкӏморԛѕтуѵԝх" + "αβεζηικμνορτυχω" + "ıɑɡօ" + "\u066b\u066c،⁄−’‘ʼ",
    "abcdeghhijklmopqstyvwx" + "abezhikmnoptyxw" + "iago" + ".,,/-'''",
)
_BESIDE_LATIN = str.maketrans("νυη", "vun")
_FILLERS = "\u115f\u1160\u17b4\u17b5\u2800"  # letters and a symbol in name, blanks in sight
_HOLDS_LATIN = re.compile("[A-Za-z]")
_BLANKS = re.compile(r" +")
_HOLDS_BLANK = re.compile(r"\d[.,]?$")
_WHOLE = re.compile(
    r"#*([+-]?)([1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?|\d*[.,]?\d*)(?:e([+-]?\d{1,9}))?",
    re.ASCII,
)
_INSIDE = re.compile(r"(?:(?:^|(?<=[^\W\d_]))#+)?(?<!\d)(?<![\W\d_][.,])(\d+(?:[.,]\d+)*)")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", re.ASCII)


def trimmed(identifier: object) -> str:
    """Return an identifier in NFKC without blanks around it: form 1."""
    return unicodedata.normalize("NFKC", str(identifier)).strip()


def normal_form(identifier: object) -> str:
    """Return form 2 of an identifier; the form of a form is itself."""
    text = unicodedata.normalize("NFKD", str(identifier))
    if _HOLDS_LATIN.search(text):
        text = text.translate(_BESIDE_LATIN)
    text = unicodedata.normalize("NFKD", text.casefold()).translate(_LOOK_ALIKES)
    if not (text.isascii() and text.isprintable()):
        text = "".join(_plain(one) for one in text)
    text = _without_blanks(text)
    number = _number(text)
    return _INSIDE.sub(_inside, text) if number is None else number


FORMS = {1: trimmed, FORM: normal_form}
"""All forms by their number."""


def _plain(character: str) -> str:
    """Return a blank, dash or digit as the plain one, nothing for what is not seen or a mark, others as they are."""
    category = unicodedata.category(character)
    if character.isspace() or category[0] == "Z" or character in _FILLERS:
        return " "
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd":
        return "-"
    return "" if category[0] == "M" or (category[0] == "C" and category != "Co") else character


def _without_blanks(text: str) -> str:
    """Return a text without blanks, but for one where two numbers would run together."""
    joined = ""
    for piece in _BLANKS.split(text):
        apart = _HOLDS_BLANK.search(joined) and re.match(r"[.,]?\d", piece)
        joined += f" {piece}" if apart else piece
    return joined


def _number(text: str) -> str | None:
    """Return a number as sign, digits without zeros around them, and power of ten; None for what is none."""
    found = _WHOLE.fullmatch(text)
    if found is None or not any(one.isdigit() for one in found[2]):
        return None
    whole, _, part = _decimal(found[2].replace(" ", "")).partition(".")
    digits = (whole + part).lstrip("0")
    if not digits:
        return "0"
    power = int(found[3] or 0) - len(part) + len(digits) - len(digits.rstrip("0"))
    return f"{'-' if found[1] == '-' else ''}{digits.rstrip('0')}e{power}"


def _decimal(text: str) -> str:
    """Return digits with a decimal point, if any, from digits with one mark or commas between thousands."""
    return text.replace(",", "") if _GROUPED.fullmatch(text) else text.replace(",", ".")


def _inside(found: re.Match[str]) -> str:
    """Return a number inside a text by its value, without the number sign before it."""
    told = _decimal(found[1])
    if told.count(".") > 1:
        return found[1]
    whole, _, part = told.partition(".")
    return ".".join(filter(None, (whole.lstrip("0") or "0", part.rstrip("0"))))
