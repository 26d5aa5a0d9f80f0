"""A good table whose names and values look like code: they are names and values."""

import csv
import io
import random

_SCRIPT, _FORMULA = "<script>alert(1)</script>", "=cmd|' /C calc'!A0"
_LONG = "long" * 60

HOSTILE = {
    "label": _SCRIPT,
    "positive": "{{7*7}}",
    "sensitive": _FORMULA,
    "group": "</style><b>",
    "prediction": '"; DROP TABLE people; --',
    "score": "\u202escore\u200f",
    "sets": "sets of\ntwo lines",
}
"""Names and values of the roles in `hostile_table`; sets are train, attack and test, in any case."""

_FEATURES = {
    "{{7*7}}": ["@SUM(1+1)*cmd|' /C calc'!A0", "+1+1", "-2+3", "${jndi:x}"],
    "</style>": ["</td></tr></table>", "<img src=x onerror=alert(1)>", "&lt;b&gt;"],
    "👩‍🍳 emoji": ["👨‍👩‍👧", "🏳️‍🌈", "é", "ﬀ"],
    "\u200fשלום": ["\u202eabc", "שלום", "مرحبا"],
    'it\'s "quoted", twice; no | bar\tor tab': ['"', "'", "''", "a,b;c"],
    "__class__": ["%s%n", "{0}", "{name}", "$(rm)"],
    _LONG: ["x" * 300, "y" * 300],
    "*bold* _it_ [link](javascript:alert(1)) $x$ :red[a]": ["`code`", "# head", "~~gone~~"],
    "../../etc/passwd": ["..\\..\\x", "/dev/null", "file:///etc"],
}

HOSTILE_NAMES = (*_FEATURES, "=1+1 points", *(HOSTILE[role] for role in ("label", "sensitive", "prediction", "score")))
"""Every column of `hostile_table` but the one of sets."""


def hostile_table(n=400):
    """Return a good CSV of n people whose names and values look like code, markup and formulas."""
    chance = random.Random(3)
    groups, answers = (HOSTILE["group"], "=1+1;x"), ("\\u0000 no", HOSTILE["positive"])
    roles = [HOSTILE[role] for role in ("label", "sensitive", "prediction", "score", "sets")]
    lines = [[*_FEATURES, "=1+1 points", *roles]]
    for i in range(n):
        group = int(chance.random() < 0.4)
        label = int(chance.random() < (0.55 if group else 0.35))
        score = round(0.4 * label + 0.1 * group + 0.5 * chance.random(), 3)
        features = [values[(chance.randrange(len(values)) + label) % len(values)] for values in _FEATURES.values()]
        points = chance.randrange(40) + 10 * label
        split = ("train", "ATTACK", "Test")[i % 3]
        lines.append([*features, points, answers[label], groups[group], answers[score >= 0.5], score, split])
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows(lines)
    return buffer.getvalue().encode()
