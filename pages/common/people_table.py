"""The people found, as a table on screen: a row a person, a column an attack, the smallest fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from core.charts.people import SHORT
from core.charts.theme import Palette, group_style
from core.people import PeopleAtRisk
from core.people.tables import fix_text

MOST = 200
"""Rows that are drawn; the file has all."""

_STYLE = """<style>
.fl-people {overflow: auto; max-height: 350px; border-bottom: 1px solid var(--fl-line)}
.fl-people table {border-collapse: collapse; width: 100%; font-size: .875rem; line-height: 1.3}
.fl-people th {font-weight: 400; text-align: center; position: sticky; top: 0; z-index: 1; padding: .3rem .45rem}
.fl-people td {border-top: 1px solid var(--fl-line); padding: .27rem .45rem; text-align: center; white-space: nowrap}
.fl-people :is(th, td):is(:first-child, :nth-child(2), :last-child) {text-align: left}
.fl-people td:last-child {white-space: normal; min-width: 11rem}
.fl-people :is(th, td):first-child {font-variant-numeric: tabular-nums; padding-left: 0}
</style>"""


def people_html(result: PeopleAtRisk, places: Sequence[int], colours: Palette) -> str:
    """Return the table of some people in a theme's colours; names of a user's table are harmless."""
    attacks = "".join(_head(SHORT[attack.attack], colours) for attack in result.attacks)
    ends = [_head(name, colours) for name in ("Record", "Group", "Attacks", "Imputation", "Smallest fix")]
    head = "".join((*ends[:2], attacks, *ends[2:]))
    rows = "".join(f"<tr>{''.join(_cells(result, place, colours))}</tr>" for place in places)
    body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'{_STYLE}<div class="fl-people" tabindex="0"><table>{body}</table></div>'


def _head(name: str, colours: Palette) -> str:
    return f'<th scope="col" style="color: {colours.grey}; background: {colours.background}">{escape(name)}</th>'


def _cells(result: PeopleAtRisk, place: int, colours: Palette) -> Iterator[str]:
    yield f"<td>{int(result.rows[place])}</td>"
    yield f"<td>{_group(result, place, colours)}</td>"
    for attack, leak, found in zip(result.attacks, result.leaks[place], result.found[place], strict=True):
        if attack.reason:
            yield _mark("–", colours.grey, "not run")
        elif leak:
            yield _mark("●", colours.leak, "found")
        else:
            yield (
                _mark("○", colours.strongest, "found, imputation too")
                if found
                else _mark("·", colours.grey, "not found")
            )
    yield f"<td><strong>{int(result.number[place])}</strong></td>"
    yield (
        _mark("○ too", colours.strongest, "imputation finds this person too") if result.imputed[place] else "<td></td>"
    )
    fix = fix_text(result, place)
    quiet = f' style="color: {colours.grey}"' if fix.startswith("none") else ""
    yield f"<td{quiet}>{escape(fix[:1].upper() + fix[1:])}</td>"


def _mark(sign: str, color: str, meaning: str) -> str:
    return f'<td style="color: {color}"><span role="img" aria-label="{meaning}">{sign}</span></td>'


def _group(result: PeopleAtRisk, place: int, colours: Palette) -> str:
    """Return a person's group in its colour, of more than two by name alone."""
    code, name = int(result.groups[place]), escape(result.group_names[result.groups[place]])
    if len(result.group_names) > 2:
        return name
    style = group_style(code)
    sign = "●" if style.symbol == "circle" else "◆"
    named = f'<span aria-hidden="true">{sign}</span> <strong>{name}</strong>'
    return f'<span style="color: {colours.color(style.color)}">{named}</span>'
