"""In which encoding a text table is saved: UTF-8, UTF-16 with its mark or, where it can be told, Windows-1252.

Excel's plain "CSV" is saved in the code page of the computer, in western Europe and America Windows-1252 ("ANSI").
Every byte of it is one character of its own, so that equal texts stay equal and different ones different even if the
code page was another one: the audit's numbers do not depend on the letters. A file that mixes it with UTF-8 would
split a category in two, and is refused, and so is one whose words show that the code page was another one.
"""

from __future__ import annotations

import codecs
import re

from core.datasets.columns import quoted
from core.errors import InputError

Encoding = tuple[str, str]
"""Name of the codec, and a note on it ("" where nothing was decided)."""

_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_WORD = re.compile(rb"[\x80-\xff\w'\-]*[\x80-\xff][\x80-\xff\w'\-]*", re.ASCII)
_NO_LETTER = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # bytes without a meaning in Windows-1252
_OTHER_PAGE = re.compile(
    "[\xc0-\xff\u0152\u0153\u0160\u0161\u0178\u017d\u017e]{3}"  # Greek, Cyrillic and the like: no Western word
    "|[a-z\xdf-\xff][\u0152\u0160\u0178\u017d]"  # a capital after a small letter: Mac
    "|\\w[\u201a\u201e]"  # an opening quotation mark after a letter: DOS
    "|\\w[\u0192\u2020\u2021\u02c6\u2030\u2039\u201c\u201d\u02dc\u203a\xa1-\xa8\xab-\xac\xaf\xb6\xb8\xbb\xbf]\\w"
)


def encoding_of(content: bytes, name: str, *, windows: bool) -> Encoding:
    """Return how a text file is encoded.

    Parameters
    ----------
    content, name
        The file and what it is called.
    windows : bool
        Whether Windows-1252 is read; otherwise `undecodable` tells what is wrong.

    Raises
    ------
    InputError
        If the file is no text, or text in an encoding that is not read.
    """
    utf32 = content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not utf32:
        return "utf-16", ""
    sample = content[:4096]
    zeros = sorted((sample[::2].count(0), sample[1::2].count(0)))
    if utf32 or (zeros[1] > len(sample) / 5 and zeros[0] < len(sample) / 50):
        kind = "UTF-32" if utf32 else "UTF-16 without its mark"
        raise InputError(f"The file {quoted(name)} seems to be saved as {kind}; save it as UTF-8.")
    if len(_CONTROL.findall(sample)) > len(sample) / 50:
        raise InputError(f"The file {quoted(name)} is not text; export the table as CSV (UTF-8) or Parquet.")
    if (place := content.find(b"\0")) >= 0:
        raise InputError(
            f"Line {line_of(content, place)} holds a NUL byte, which no text table may; export the table again as "
            "UTF-8."
        )
    if not windows or _is_utf8(content):
        return "utf-8-sig", ""
    return "cp1252", _windows_note(content)


def line_of(content: bytes, place: int) -> int:
    """Return the line, from 1, in which a byte stands."""
    return (content.count(b"\n", 0, place) or content.count(b"\r", 0, place)) + 1


def undecodable(content: bytes, encoding: str) -> InputError:
    """Return the error for bytes that are no text in the encoding."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        if encoding != "utf-16":
            return _not_utf8(content, error.start)
    return InputError("The file begins like UTF-16 but is damaged; save it as UTF-8.")


def _not_utf8(content: bytes, start: int) -> InputError:
    place = start - max(content.rfind(b"\n", 0, start), content.rfind(b"\r", 0, start))
    return InputError(
        f"Line {line_of(content, start):,} is not UTF-8 (its byte {place:,} is 0x{content[start]:02X}); "
        "save the file as UTF-8 (in Excel: 'CSV UTF-8')."
    )


def _is_utf8(content: bytes) -> bool:
    if content.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), 1 << 20):
            decoder.decode(content[start : start + (1 << 20)])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _windows_note(content: bytes) -> str:
    """Return the note on a file in Windows-1252; refuse a file that is not all of it."""
    if content.startswith(codecs.BOM_UTF8) or _UTF8_LETTER.search(content) or _CONTROL.search(content):
        raise undecodable(content, "utf-8")
    if strange := _NO_LETTER.search(content):
        raise _not_utf8(content, strange.start())
    for word in _WORD.finditer(content):
        text = word.group().decode("cp1252")
        if _OTHER_PAGE.search(text):
            raise InputError(
                f"Line {line_of(content, word.start()):,} is not UTF-8, and as Windows-1252 it would read "
                f"{quoted(text)}; save the file as UTF-8 (in Excel: 'CSV UTF-8')."
            )
    first = next(_WORD.finditer(content)).start()
    return (
        "The file is not UTF-8 and was read as Windows-1252, in which Excel saves a plain CSV (see line "
        f"{line_of(content, first):,}); if letters look wrong, save it as 'CSV UTF-8'."
    )
