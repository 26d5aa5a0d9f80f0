"""The golden texts: what a command prints, a report says and a page shows, without what changes from run to run."""

import argparse
import base64
import contextlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

import core

FILES = Path(__file__).with_name("files")
"""Where the golden files lie."""

_PACKAGES = (
    "numpy|scipy|scikit-learn|pandas|pyarrow|fairlearn|PuLP|cvxpy|clarabel|osqp|scs|onnxruntime|skops|streamlit|plotly"
)
_VOLATILE = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00| UTC)?", "<time>"),
    (r"\b[0-9a-f]{64}\b", "<hash>"),
    (r"\bfairleak-\d+\.\d+\.\d+-[0-9a-f]{8}\b", "<environment>"),
    (rf"\b({_PACKAGES})([^\w<>]{{1,6}})\d+(\.\w+)+", r"\1\2<version>"),
    (r"CPython \d+(\.\w+)+", "<python>"),
    (r"Linux [^\n\"|;]*", "<machine>"),
    (r", about [\d.]+ (s|min|h) left", ""),
    (r"(solver, )[\d.]+ m?s\b", r"\1<seconds>"),
    (r"(Seconds\W+)[\d.]+", r"\1<seconds>"),
    (r"(Started\W+|edition )\d{4}-\d\d-\d\d", r"\1<day>"),
    (r"(Fingerprint of the internal report )[0-9a-f]{4} [0-9a-f]{4} · [-\d]+", r"\1<digits> · <day>"),
    (r'(\bDay(?:: |\s+)|"day": ")\d{4}-\d\d-\d\d', r"\1<day>"),
    (r"\d{1,2} [A-Z][a-z]{2} \d{4} · [0-9a-f]{4} [0-9a-f]{4}", "<day> · <digits>"),
    (r"\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d UTC", "<time>"),
    (r"(INTERNAL )\d{1,2} [A-Z][a-z]{2} \d{4}", r"\1<day>"),
    (r"\b[0-9a-f]{16}( [0-9a-f]{16}){3}\b", "<hash>"),
    (r"(signed on )[0-9a-f]{4} [0-9a-f]{4}, [-\d\\]+", r"\1<digits>, <day>"),
    (r"(Fingerprint of this report: )[0-9a-f]{8} [0-9a-f]{8}", r"\1<digits>"),
    (r"(Sign report )[0-9a-f]{4} [0-9a-f]{4}", r"\1<digits>"),
    (r"(covers the fingerprint )[0-9a-f]{4} [0-9a-f]{4}, [-\d\\]+", r"\1<digits>, <day>"),
    (r"(has the fingerprint |in the report )[0-9a-f]{16}", r"\1<digits>"),
    (r"--fingerprint [0-9a-f]+", "--fingerprint <digits>"),
    (rf"\b{re.escape(core.__version__)}\b", "<fairleak>"),
    (r"(audit (?:internal report|public summary) |FairLeak <fairleak>, )\d{4}-\d\d-\d\d", r"\1<day>"),
)
"""What differs between two runs of the same work, and what stands for it."""

_LONG_NUMBER = re.compile(r"-?\d+\.\d{7,}(e[-+]?\d+)?|-?\d+(\.\d+)?e-\d+")


def normal(text, folder=None):
    """Return a text with placeholders for paths, times, versions and digests, and numbers of six digits."""
    for prefix in [] if folder is None else sorted({str(folder), str(folder.resolve())}, key=len, reverse=True):
        text = text.replace(prefix, "<folder>")
    for pattern, stands_for in _VOLATILE:
        text = re.sub(pattern, stands_for, text)
    text = _LONG_NUMBER.sub(_six_digits, text)
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip("\n") + "\n"


def _six_digits(match):
    value = float(match.group())
    return "0" if abs(value) < 1e-9 else f"{value:.6g}"


def printed(arguments, folder):
    """Run one command and return what it was, what it printed on both streams, and its exit code."""
    from core.__main__ import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as left:
            code = int(left.code or 0)
    parts = [f"$ {' '.join(arguments)}", out.getvalue()]
    if err.getvalue():
        parts += ["--- beside it", err.getvalue()]
    return normal("\n".join([*parts, f"--- exit code {code}"]), folder)


def helps():
    """Yield the name and the help of the command line, of every command, and of what commands consist of."""
    from core.__main__ import parser

    yield from _helps("fairleak", parser())


def _helps(name, parser):
    yield name, normal(parser.format_help())
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part, subparser in action.choices.items():
                yield from _helps(f"{name}-{part}", subparser)


def json_text(text, folder=None):
    """Return JSON a value a line, without what differs between two runs."""
    document = json.loads(text)
    if "provenance" in document:
        document["provenance"] |= {name: f"<{name}>" for name in ("python", "platform", "packages")}
        document["times"] = dict.fromkeys(document["times"], "<time>")
    return normal(json.dumps(document, indent=1, ensure_ascii=False), folder)


class _Reader(HTMLParser):
    """What a reader has of HTML: texts, a line a block, cells side by side, and pictures: names and where marks are."""

    BLOCKS = re.compile(
        "address|article|aside|blockquote|caption|d[dlt]|details|div|fig(caption|ure)|footer|form|h[1-6r]|header|li|main|"
        "nav|[ou]l|p|pre|section|summary|svg|table|tbody|text|tfoot|thead|title|tr"
    )
    UNSEEN = ("style", "script", "template")
    DRAWN = ("circle", "line", "path", "polygon", "polyline", "rect")
    PLACES = ("cx", "cy", "d", "height", "points", "r", "width", "x", "x1", "x2", "y", "y1", "y2")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.lines = [""]
        self.unseen = 0

    def handle_starttag(self, tag, attrs):
        self.unseen += tag in self.UNSEEN
        if self.BLOCKS.fullmatch(tag):
            self.lines.append(f"{tag}: " if re.fullmatch("h[1-6]", tag) else "")
        elif tag in ("td", "th"):
            self.lines[-1] += " | "
        elif tag == "br":
            self.lines.append("")
        if tag in self.DRAWN:
            places = [f"{name}={value}" for name, value in attrs if name in self.PLACES]
            self.lines += [f"{tag} {' '.join(places)}", ""]
        for name, value in attrs:
            if name in ("aria-label", "alt", "title") and value:
                self.lines += [f"[{name}: {value}]", ""]

    def handle_endtag(self, tag):
        self.unseen -= tag in self.UNSEEN
        if self.BLOCKS.fullmatch(tag):
            self.lines.append("")

    def handle_data(self, data):
        if not self.unseen:
            self.lines[-1] += re.sub(r"\s+", " ", data)


def html_text(source, folder=None):
    """Return what a reader has of a page of HTML; its look, its code and the document within it are left out."""
    reader = _Reader()
    reader.feed(source)
    reader.close()
    lines = (line.strip().removeprefix("| ") for line in reader.lines if not line.lstrip().startswith("{"))
    return normal("\n".join(line for line in lines if line), folder)


_TEXT_FIELDS = re.compile("alt|alt_text|body|caption|content|delta|help|label|options|placeholder|text|title|tooltip")
"""Fields of Streamlit's elements that hold words."""
_INPUTS = re.compile("selectbox|slider|number_input|checkbox|toggle|radio|text_input|multiselect|button_group")


def page_text(test, folder=None):
    """Return what a page says: texts, labels, helps, values, tables and charts in their order; the sidebar last."""
    lines = []
    for side in ("main", "sidebar"):
        lines.append(f"======== {side}")
        for node in getattr(test, side):
            lines += _node(node)
    return normal("\n".join(lines), folder)


def _node(node):
    kind = node.type
    if hasattr(node, "children"):  # a container, expander, tab
        if node.proto is not None:
            yield from (f"[{kind}] {word}" for _, word in _texts(node.proto))
    elif kind in ("space", "divider") or getattr(node, "key", None) == "cancel_update":
        return  # this button is hidden but while something is computed, and drawn only after a first result
    elif kind == "html":
        yield from (f"[html] {line}" for line in html_text(node.proto.body).splitlines() if line)
    elif kind in ("plotly_chart", "plotly"):
        yield from _chart(node.proto)
    elif kind in ("arrow_data_frame", "dataframe", "table"):
        yield f"[table]\n{node.value.to_csv(index=False, float_format='%.6g')}".rstrip()
    elif kind in ("markdown", "caption", "warning", "error", "info", "success", "title", "header", "subheader"):
        yield f"[{kind}] {node.value}"
        yield from (f"    help: {node.proto.help}" for _ in [0] if getattr(node.proto, "help", ""))
    else:
        texts = list(_texts(node.proto))
        yield f"[{kind}]{' disabled' if getattr(node.proto, 'disabled', False) else ''}"
        yield from (f"    {name}: {word}" for name, word in texts)
        if _INPUTS.fullmatch(kind):
            yield f"    value: {node.value}"


def _texts(proto):
    """Yield the words in an element, whatever it is: name of the field and content."""
    for field, value in proto.ListFields():
        for element in value if isinstance(value, (list, tuple)) or hasattr(value, "append") else [value]:
            if hasattr(element, "ListFields"):
                yield from _texts(element)
            elif isinstance(element, str) and element and _TEXT_FIELDS.fullmatch(field.name):
                yield field.name, element


def _chart(proto):
    """Yield a chart's alternative text, titles, marks of its axes, legend and words, and where its marks are."""
    yield "[chart]"
    yield from (f"    {name}: {word}" for name, word in _texts(proto))
    spec = json.loads(proto.spec or proto.figure.spec)
    layout = spec.get("layout", {})
    yield from (f"    {name}: {word}" for name, word in _titles(layout))
    for trace in spec.get("data", []):
        if trace.get("name") and trace.get("showlegend", True):
            yield f"    trace: {trace['name']}"
        if "text" in trace.get("mode", "text") and isinstance(text := trace.get("text"), (str, list)):
            yield f"    words: {' | '.join(map(str, [text] if isinstance(text, str) else text))}"
        yield from _places("mark", trace)
    for shape in layout.get("shapes", []):
        yield from _places("shape", shape)
    for note in layout.get("annotations", []):
        if note.get("text"):
            yield f"    note: {note['text']}"


def _places(kind, drawn):
    """Yield where something is drawn, four digits a number."""
    for name in ("base", "x", "y", "x0", "x1", "y0", "y1", "error_x", "error_y"):
        places = json.dumps(_rounded(drawn.get(name)))
        if places != "null" and places.count(",") < 12:
            yield f"    {kind} {name}: {places}"


def _rounded(value):
    if isinstance(value, dict) and "bdata" in value:
        return _rounded(np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"]).tolist())
    if isinstance(value, dict):
        return {name: _rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _titles(layout):
    for name in sorted(layout):
        if name == "title" or re.fullmatch(r"[xy]axis\d*", name):
            title_node = layout[name] if name == "title" else layout[name].get("title")
            text = title_node.get("text") if isinstance(title_node, dict) else title_node
            if text:
                yield name, text
            if ticks := name != "title" and layout[name].get("ticktext"):
                yield name, " | ".join(map(str, ticks))
