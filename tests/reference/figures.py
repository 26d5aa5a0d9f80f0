"""Figures of README and docs: what was recorded, and the places in the texts that show it.

``python -m tests.reference.figures`` writes the recorded figures into their places, as ``make docs`` does.
``--record NAME ...`` measures a group of figures again and records it, ``--list`` says how each group is measured.

A place in a text is <!-- figure:NAME.KEY -->…<!-- /figure -->, with /value behind the key for the number without its
interval; a table stands between <!-- table:NAME.KEY --> and <!-- /table -->, on lines of their own. Neither is seen
where the Markdown is shown. A place may not begin a line: Markdown would take the line for HTML.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import core
from core.stats.estimates import Estimate, count, gap, interval, percent, point_interval, points
from tests.hermetic import ROOT

RECORDED = ROOT / "docs" / "results" / "recorded"

FIGURE_MARK = re.compile(r"<!-- figure:([\w]+)\.([\w]+)(/value)? -->(.*?)<!-- /figure -->", re.DOTALL)
TABLE = re.compile(r"<!-- table:([\w]+)\.([\w]+) -->\n\n?(.*?)\n\n<!-- /table -->", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One recorded number; `low` and `high` are None without an interval, `value` is a text of the form "text".

    The forms: "+2.0 points (+1.2 to +2.8)", percent "81.2% (80.9 to 81.5%)", rate "0.502", gap "+0.132", count "7,270",
    text as it is.
    """

    form: str
    value: float | str
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, form, row, name):
        return cls(form=form, value=row[name], low=row.get(f"{name}, low"), high=row.get(f"{name}, high"))

    @classmethod
    def of_estimate(cls, form, estimate):
        return cls(form=form, value=estimate.value, low=estimate.low, high=estimate.high)

    def text(self, *, bare=False):
        """Return the number as a text shows it; `bare` leaves out the interval."""
        value, ends = self._parts()
        return value if bare or not ends else f"{value} ({ends})"

    def _parts(self):
        """Return the number and its interval; "" where it has none."""
        if self.form == "text" or isinstance(self.value, str):
            return str(self.value), ""
        if self.form == "count":
            return count(round(self.value)), ""
        has_interval = self.low is not None and self.high is not None and self.low < self.high
        low, high = (self.low or 0.0, self.high or 0.0) if has_interval else (self.value, self.value)
        estimate = Estimate(value=self.value, low=low, high=high, n=0)
        value, ends = {
            "points": (points(estimate), point_interval(estimate)),
            "percent": (percent(estimate), interval(estimate)),
            "rate": (f"{self.value:.3f}", f"{low:.3f} to {high:.3f}"),
            "gap": (gap(self.value), f"{gap(low)} to {gap(high)}"),
        }[self.form]
        return value, ends if has_interval else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What one command measured; `measured` is "by this command", or "earlier" where the page had it already."""

    command: str
    version: str
    seed: str
    measured: str
    figures: Mapping[str, Figure]
    tables: Mapping[str, list[list[str]]]

    def to_json(self):
        """Return the record as JSON, without the ends of an interval that a figure has not."""
        content = asdict(self)
        for key, figure in content["figures"].items():
            content["figures"][key] = {name: _rounded(value) for name, value in figure.items() if value is not None}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _rounded(value):
    return round(value, 6) if isinstance(value, float) else value


def recorded():
    groups = {}
    for path in sorted(RECORDED.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        figures = {key: Figure(**value) for key, value in content.pop("figures").items()}
        groups[path.stem] = Group(figures=figures, **content)
    return groups


def texts():
    """Yield the files that may have places."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def filled(text, groups):
    """Return a text with every place showing what is recorded; KeyError for a place of which nothing is."""

    def figure(match):
        name, key, bare, _ = match.groups()
        replacement = groups[name].figures[key].text(bare=bool(bare))
        return f"<!-- figure:{name}.{key}{bare or ''} -->{replacement}<!-- /figure -->"

    def table(match):
        name, key, _ = match.groups()
        head, *rows = groups[name].tables[key]
        lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        lines += [f"| {' | '.join(cells)} |" for cells in rows]
        body = "\n".join(lines)
        return f"<!-- table:{name}.{key} -->\n\n{body}\n\n<!-- /table -->"

    return TABLE.sub(table, FIGURE_MARK.sub(figure, text))


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.reference.figures", description=__doc__)
    parser.add_argument("--record", nargs="+", metavar="NAME", default=[], help="groups to measure again")
    parser.add_argument("--list", action="store_true", help="how each group is measured")
    options = parser.parse_args()
    if options.list or options.record:
        from tests.reference.recordings import RECORDINGS

        if options.list:
            for name, recording in RECORDINGS.items():
                print(f"{name}: {recording.command}")
            return
        if unknown := sorted(set(options.record) - set(RECORDINGS)):
            sys.exit(f"There is no group {unknown[0]!r}; there are {', '.join(RECORDINGS)}.")
        RECORDED.mkdir(parents=True, exist_ok=True)
        for name in options.record:
            recording = RECORDINGS[name]
            figures, tables = recording.measure()
            group = Group(
                command=recording.command,
                version=core.__version__,
                seed=recording.seed,
                measured="by this command",
                figures=figures,
                tables=tables,
            )
            (RECORDED / f"{name}.json").write_text(group.to_json(), encoding="utf-8")
    groups = recorded()
    for path in texts():
        path.write_text(filled(path.read_text(encoding="utf-8"), groups), encoding="utf-8")


if __name__ == "__main__":
    main()
