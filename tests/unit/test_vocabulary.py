"""The words that people read: standard terms, short sentences."""

import ast
import re

import pytest

from core.learn.glossary import GLOSSARY
from tests.hermetic import ROOT
from tests.unit.test_architecture import relative_name

AVOID = {
    r"told|tells? (?:who|apart|them|how|which)|hears? nothing": "disclosed, distinguished, says",
    r"rightly|right for|right predictions?": "correctly, accuracy",
    r"names? (?:them|her|him|people|(?:no|any|every|some)(?:body|one))": "infers … correctly",
    r"names? the (?:sex|group|attribute|larger|women|men)": "infers … correctly",
    r"(?:people|person|who|whom) (?:is|are|was|were|be) named": "inferred",
    r"(?:correctly|wrongly) named|named (?:correctly|wrongly|right)": "inferred",
    r"called (?:a member|members?|kept|broken)|calling everybody|calls (?:a person|people|everybody)": (
        "inferred, classified as"
    ),
    r"recogni[sz]ed|found out|caught": "inferred, identified",
    r"pinn?(?:ed|s)(?: down)?|settled after": "near-certain inference",
    r"paper's attacker": "published attack",
    r"strong(?:er|est)? attackers?": "imputation baseline; best attack",
    r"promis(?:e|es|ing)": "fairness constraint; guarantee",
    r"being told|a falsehood": "disclosing; does not hold for this model",
    r"price of changing": "correction cost",
    r"dealt|anew": "shuffled, again",
    r"majority guess|naming the larger": "majority-class baseline",
    r"coin(?: toss)?|at a guess": "random guessing",
    r"nothing measurable": "no statistically significant effect",
    r"cannot be told": "not significantly different from",
    r"knows? (?:nothing|something) of the noise": "defense-unaware; adaptive",
    r"the people that chose": "the tuning set",
    r"look further": "more analyses",
    r"outsiders?": "non-members",
    r"false alarms?": "false positives",
    r"more exposed": "higher TPR",
    r"where the flags fall|attack any good": "VD by predicted probability; precision and recall",
    r"muted": "greyed out",
    r"ruins?|worth having": "makes the answers useless; error of the answers",
    r"the past (?:answers|knows)|from the past|fresh look": "post-processing; a new noisy answer",
    r"for good": "cannot be increased",
    r"good outcome": "positive outcome",
    r"export (?:holds|does not hold)|holds the limit|keeps to (?:the|its) limit|breaks the limit": (
        "verification passed; is within, exceeds, contains the limit"
    ),
    r"who still knows|drops noisy|noise made against|should read as": "adaptive; surrogate classifier; target",
    r"who is in it|learn(?:ed|s|t)? from (?:people|them)": "group sizes and base rates; training set",
    r"groups' shares|share of (?:women|men)(?= is| are|,)": "group proportions",
    r"(?:of|over|mean of|per|each|every|one|more|\d+|20|these|the) draws?": "random draws, repetitions",
    r"the meter|meters? a|metered": "leakage estimate",
    r"beyond the features|what there was to know": "information gain; remaining uncertainty",
    r"not asked by|what was attacked|taken for granted|rests on|its source|it broke": (
        "not covered; check; assumptions; evidence; source; stopped with an error"
    ),
    r"whoever|about whom": "the attacker; whose",
    r"she|he|her|him|his|hers|herself|himself": "they, their",
    r"edition(?:s)? for|this edition|external reports?": "public summary, internal report",
    r"undecided": "inconclusive",
    r"invented people": "synthetic records",
    r"gives? away|given away": "reveals",
}
"""Phrase that is avoided, a regular expression of whole words in any case -> the standard term."""

AVOIDED = {re.compile(rf"(?<!\w)(?:{phrase})(?!\w)", re.IGNORECASE): better for phrase, better in AVOID.items()}
QUOTED = re.compile(
    r"(?m:^\s*[\w*]+(?:, [\w*]+)* : )|``[^`]*``|`[^`\n]*`|“[^”]*”|https?://\S+|\{[^{}]*\}|[\w-]+\.(?:py|toml|md|json|csv|html)\b"
)
"""Names of the code, quotations, addresses, and what a text has filled in."""

STREAMS = ("child_generator", "child_seed")
"""Functions whose texts are the names of random streams: other words would change the numbers."""


def files(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


SOURCES = files("*.py", "core/**/*.py", "pages/**/*.py")
TEXTS = files("*.md", "docs/**/*.md", "core/**/*.toml", "core/**/*.html")
SCREEN_SOURCES = files("pages/**/*.py", "core/**/findings.py", "core/**/tables.py", "core/learn/examples/**/*.py")
"""Files whose texts, but for docstrings, are on screen."""


def strings(path, *, docstrings=True):
    """Yield the texts of a file of Python with their lines.

    Names and keys, which have no space, are left out, and so are the names of random streams, which are seeds.
    """
    tree = ast.parse(path.read_text("utf-8"))
    parts = [part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)]
    left_out = {id(part) for part in parts if not isinstance(part, ast.JoinedStr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in STREAMS]
    left_out |= {id(part) for call in calls for part in ast.walk(call)}
    if not docstrings:
        blocks = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        left_out |= {id(part.value) for node in blocks for part in node.body if isinstance(part, ast.Expr)}
    for node in (node for node in ast.walk(tree) if id(node) not in left_out):
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        if " " in text.strip() and not text.lstrip().startswith("<"):
            yield node.lineno, text


def prose(path):
    """Yield the lines of a text but for blocks of code."""
    code = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if not code and not line.startswith("    "):
            yield number, line


def hits(text):
    plain = QUOTED.sub("_", text)
    return [f"“{match[0]}”: {better}" for phrase, better in AVOIDED.items() for match in phrase.finditer(plain)]


def long_sentences(text):
    """Return the sentences of a text that have more than 25 words; a row of a list or of a table ends one."""
    sentences = re.split(r"(?<=[.!?:;])\s+|\n\n|\n[-*|] ", text)
    return [sentence for sentence in sentences if len(re.findall(r"\S*[\w{]\S*", sentence)) > 25]


@pytest.mark.parametrize("path", [*SOURCES, *TEXTS], ids=relative_name)
def test_texts_use_the_standard_terms(path):
    texts = strings(path) if path.suffix == ".py" else prose(path)
    assert [f"line {line}: {hit}" for line, text in texts for hit in hits(text)] == []


@pytest.mark.parametrize("path", SCREEN_SOURCES, ids=relative_name)
def test_sentences_on_screen_are_short(path):
    texts = strings(path, docstrings=False)
    assert [(line, sentence) for line, text in texts for sentence in long_sentences(text)] == []


def test_every_term_has_one_meaning():
    meanings = [entry for chapter in GLOSSARY.values() for entry in chapter.items()]
    assert len(dict(meanings)) == len(meanings)
    assert all(meaning.endswith(".") for _, meaning in meanings)
