"""A small drawer of SVG: elements as escaped markup, and the scales under them.

Nothing is written but through `element`, which escapes every attribute and every text, so that a name from somebody's
table stays a name. No scripts, no links, no styles: presentation attributes only.
"""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def clean(value: Any) -> Any:
    """Return a text without characters that are not seen but steer how others are shown; other values as they are."""
    return _UNSEEN.sub("\ufffd", value) if isinstance(value, str) and not isinstance(value, Markup) else value


def element(name: str, *inside: Any, **attributes: Any) -> Markup:
    """Return one element; underscores in attribute names become hyphens, None leaves an attribute out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = Markup("").join(clean(part) for part in inside)
    return Markup(f"<{name}{told}>") + content + Markup(f"</{name}>")


def text(x: float, y: float, words: str, **attributes: Any) -> Markup:
    """Return words at a place."""
    return element("text", words, x=x, y=y, **attributes)


def drawing(*inside: Any, width: float, height: float, label: str, class_: str, description: str = "") -> Markup:
    """Return a whole drawing that says what it shows to those who do not see it."""
    title = element("title", label)
    desc = element("desc", description) if description else Markup("")
    return element(
        "svg",
        title,
        desc,
        *inside,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=clean(f"{label} {description}".strip()),
        class_=class_,
        fill="none",
    )


def _number(value: Any) -> Any:
    if isinstance(value, float):
        return f"{round(value, 2):g}"
    return clean(value)
