"""Start: what a fair model reveals, as people of 100, an upload, and three doors. The page computes nothing."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

import base64
import html
from pathlib import Path

import streamlit as st

from core.datasets.catalog import CATALOG
from core.experiments.leak_pictures import LeakPicture, read_pictures
from core.stats.estimates import Estimate
from pages.shell import panels, upload

_DOORS = (  # title, icon, what is behind it, and its links: file and label
    (
        "Decide",
        ":material/fact_check:",
        "May this model be released? A verdict with reasons, limits and a signature.",
        (("report.py", "Report"), ("choose.py", "Choose a model")),
    ),
    (
        "Teach and learn",
        ":material/school:",
        "Worked examples with a few synthetic people, sheets to print, and a lesson of 45 minutes.",
        (("learn.py", "Worked examples"), ("glossary.py", "Glossary")),
    ),
    (
        "Explore",
        ":material/explore:",
        "Change the fairness and privacy settings and watch each attack.",
        (
            ("correction.py", "Correction"),
            ("bias_queries.py", "Bias queries"),
            ("people.py", "People at risk"),
        ),
    ),
)

_STYLE = """<style>
.fl-hundred {display: flex; gap: 1rem; max-width: 560px}
.fl-hundred figure {flex: 1 1 0; margin: 0; min-width: 0; display: flex; flex-direction: column}
.fl-hundred figcaption {padding-bottom: .5rem; line-height: 1.35}
.fl-hundred b {display: block; font-family: "Source Serif", "Source Serif 4", serif; font-size: 2.05rem;
  font-weight: 600; line-height: 1.2}
.fl-hundred img {width: 100%; max-width: 244px; height: auto; margin-top: auto}
.fl-arrow {align-self: center; font-size: 1.4rem; color: var(--fl-grey)}
.fl-people-key {color: var(--fl-grey); font-size: .9rem; margin: .5rem 0 0}
.fl-people-key span {white-space: nowrap; margin-right: .7rem}
</style>"""

_PERSON = '<path d="M{x} {y}m-4.4 4.6a4.4 4.4 0 1 1 8.8 0a4.4 4.4 0 1 1-8.8 0m-4 13.4a8.4 8 0 0 1 16.8 0z" {paint}/>'
"""A head and shoulders, 19 wide and 21 high."""


def hundred(right: int, leaked: int, label: str) -> str:
    """Return 100 people in ten rows: right without the model, then the leak, then wrong."""
    colours = shell.palette()
    paints = (
        [f'fill="{colours.before}"'] * right
        + [f'fill="{colours.leak}"'] * leaked
        + [f'fill="none" stroke="{colours.muted}" stroke-width="1"'] * (100 - right - leaked)
    )
    people = "".join(
        _PERSON.format(x=12 + 25 * (seat % 10), y=1 + 27 * (seat // 10), paint=paint)
        for seat, paint in enumerate(paints)
    )
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 250 268">{people}</svg>'
    content = base64.b64encode(drawing.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{content}" alt="{html.escape(label)}">'


def of_hundred(rate: Estimate) -> int:
    """Return how many of 100 that is."""
    return round(100 * rate.value)


def draw_picture(picture: LeakPicture) -> None:
    """Draw the same 100 people twice: without the release, and with it."""
    colours = shell.palette()
    before = of_hundred(picture.before)
    after = of_hundred(picture.after)
    leaked = max(0, after - before)
    gain = [
        round(100 * (end - picture.before.value)) for end in (picture.after.low, picture.after.high)
    ]
    sides = (
        (
            before,
            hundred(min(before, after), 0, f"{before} of 100 people"),
            picture.before_text,
            colours.before,
        ),
        (
            after,
            hundred(min(before, after), leaked, f"{after} of 100 people"),
            picture.after_text,
            colours.leak,
        ),
    )
    first, second = (
        f'<figure><figcaption><b style="color: {colour}">{number} of 100</b>{html.escape(text)}</figcaption>{svg}'
        "</figure>"
        for number, svg, text, colour in sides
    )
    st.html(f'{_STYLE}<div class="fl-hundred">{first}<span class="fl-arrow">→</span>{second}</div>')
    if not leaked:
        leak = "no more than without it"
    else:
        leak = f"{leaked} more: the leak"
    source = CATALOG["demo"].title
    interval = f"{gain[0]:+d} to {gain[1]:+d}".replace("-", "−")
    st.html(
        f'<p class="fl-people-key"><span><b style="color: {colours.before}">■</b> right without it</span> '
        f'<span><b style="color: {colours.leak}">■</b> {leak} (95% CI {interval})</span> <span>□ wrong</span> '
        f"<span>{html.escape(picture.chance_text)}</span> <span>{html.escape(source)}</span></p>"
    )


def draw_pictures() -> None:
    """Draw the picture of the attack that is chosen."""
    pictures = {picture.title: picture for picture in read_pictures()}
    if not pictures:
        st.caption(
            "The prepared picture of the demo is missing; every page can be used without it."
        )
        return
    titles = list(pictures)
    chosen = panels.pick(
        "Attack", titles, key="overview_attack", default=titles[0], label_visibility="collapsed"
    )
    draw_picture(pictures[chosen])


def draw_upload() -> None:
    """Draw the box for a table, and what comes after it."""
    with st.container(border=True, key="own_model"):
        st.markdown(
            "### Audit your own model\n\n1. Drop a table with a score or predictions.\n2. Check what its columns are.\n"
            "3. Read the verdict on *Report*."
        )
        upload.box()
        st.caption(
            "No scores at hand? Upload a table to train on; *Data* then takes a model file, too."
        )
    if upload.pending() is not None:
        st.switch_page(str(Path(__file__).with_name("data.py")))


shell.head(badge="")
st.markdown(
    "## To be fair, a model must look at who people are. Some of that comes out again.\n\n"
    "FairLeak attacks a model with all that is released, says what it reveals about people, and what to change before "
    "release."
)
left, right = st.columns([11, 8], gap="large")
with left:
    draw_pictures()
with right:
    draw_upload()
for column, (title, icon, text, links) in zip(st.columns(len(_DOORS)), _DOORS, strict=True):
    with column.container(border=True, height="stretch", key=f"door_{title.split()[0].lower()}"):
        st.markdown(f"### {icon} {title}\n\n{text}")
        with st.container(horizontal=True, gap="small"):
            for file, label in links:
                st.page_link(str(Path(__file__).with_name(file)), label=f":primary[{label}]")
