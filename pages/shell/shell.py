"""The frame around every page: settings, navigation, the guard for cold deep links, headings and links."""

from __future__ import annotations

import re
import runpy
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.shell import signin

if TYPE_CHECKING:
    from core.charts import Palette


_ROOT = Path(__file__).resolve().parents[2]
_STARTED: ContextVar[bool] = ContextVar("started_by_app", default=False)

_HEAD_START = 0.1
"""Seconds, once a session, in which the browser paints the title before it builds the rest."""


@dataclass(frozen=True, slots=True)
class PageHead:
    """What the navigation calls a page, its icon, the question it answers, and its title where that is another."""

    label: str
    icon: str
    question: str
    title: str = ""


_PAGES = {
    "": {
        "overview": PageHead("Overview", "flag", "What does a fair model reveal about people?"),
    },
    "Decide": {
        "data": PageHead("Data", "table_rows", "Which table, and what are its columns?"),
        "report": PageHead(
            "Report", "fact_check", "May this model be released?", title="Release report"
        ),
        "models": PageHead(
            "Models", "inventory_2", "Which models are in use, and what was decided about each?"
        ),
        "choose": PageHead(
            "Choose a model",
            "compare_arrows",
            "Which of many models gives the best accuracy within all limits?",
        ),
    },
    "Explore": {
        "model": PageHead(
            "Model", "balance", "Is the model fair, also for people it was not trained on?"
        ),
        "correction": PageHead(
            "Correction",
            "tune",
            "Does a published fairness tolerance help to infer a sensitive attribute?",
        ),
        "bias_queries": PageHead(
            "Bias queries", "quiz", "How much do answers about fairness reveal about individuals?"
        ),
        "membership": PageHead(
            "Membership",
            "group",
            "Who was in the training data, and is it easier to infer for some groups?",
            title="Membership inference",
        ),
        "model_card": PageHead(
            "Model card",
            "contact_page",
            "What can an attacker infer from published fairness numbers?",
        ),
        "people": PageHead(
            "People at risk", "person_search", "Whom do the attacks find, and what would stop it?"
        ),
        "attriguard": PageHead(
            "AttriGuard", "shield", "Can noise on a person's record stop attribute inference?"
        ),
        "desk": PageHead(
            "Query desk",
            "account_balance",
            "How can others ask about fairness without learning about a person?",
            title="Private query desk",
        ),
        "experiment": PageHead(
            "Experiment",
            "science",
            "How do leaks change with what is trained and what is released?",
        ),
    },
    "Teach": {
        "learn": PageHead("Worked examples", "school", "How does each method work, step by step?"),
        "glossary": PageHead("Glossary", "menu_book", "What do the words mean?"),
    },
}
"""Section of the navigation -> file of a page -> its head."""

_HEADS = {name: head for pages in _PAGES.values() for name, head in pages.items()}

_FIRST = "overview"
"""The page at the bare address."""

_STUDY_ICONS = {"attribute": "output", "measured_epsilon": "straighten", "two_models": "difference"}
"""Study without a page of its own -> the icon of the one made for it; another one has a magnifying glass."""

_STUDY_PAGES = {"fairness": "model"}
"""Study -> the page about it, where that has another name."""

_STYLE = """<style>
.stMainBlockContainer {max-width: 1140px; padding: 3.1rem 45px 2rem}
.stMain {container-type: inline-size}
@container (max-width: 940px) {
  [data-testid=stHorizontalBlock]:has(.stPlotlyChart), .st-key-people_controls [data-testid=stHorizontalBlock]
    {flex-wrap: wrap}
  [data-testid=stColumn]:has(.stPlotlyChart, [data-testid=stColumn] [data-testid=stSelectbox]) {min-width: 100%}
  .st-key-people_controls [data-testid=stColumn] {min-width: 30%}
}
.stMainBlockContainer [data-testid=stVerticalBlock] {row-gap: .6rem}
[data-testid=stMultiSelect] [data-tag] {background: #1F5FA8}
.st-key-head {min-height: 30px; gap: .5rem}
.st-key-head [data-testid=stMarkdownContainer]
  {display: flex; flex-wrap: wrap; align-items: baseline; column-gap: .7rem}
.st-key-head [data-testid=stMarkdownContainer], .st-key-finding [data-testid=stMarkdownContainer] {margin-bottom: 0}
.st-key-head p {color: var(--fl-grey); margin: 0}
.st-key-head button p {color: inherit}
.st-key-head h1 + p {border-left: 1px solid var(--fl-line); padding-left: .7rem}
.stMainBlockContainer .st-key-finding {row-gap: .4rem}
.st-key-finding p {line-height: 1.4}
.st-key-finding [data-testid=stColumn] {border-top: 1px solid var(--fl-line); padding-top: .4rem}
.st-key-finding [data-testid=stColumn] p {margin: 0}
.st-key-finding [data-testid=stColumn] [data-testid=stVerticalBlock] {row-gap: 0}
[data-testid=stSidebarHeader] {margin-bottom: .4rem}
[data-testid=stSidebarCollapseButton] {visibility: visible !important}
[data-testid=stNavSectionHeader] {margin-block: .2rem .1rem}
[data-testid=stSidebarNavLink] {padding-block: .1rem; line-height: 1.5}
:is(.st-key-folded_links, .st-key-open_links) [data-testid=stVerticalBlock] {row-gap: .5rem}
[data-testid=stHeader] {height: 2.75rem; min-height: 0}
[data-testid=stPageLink] a {padding-block: 0}
[class*=st-key-door_] a, .st-key-finding a {padding-inline: 0}
.stSidebar h4 ~ p {font-size: .85rem; margin: 0}
.stSidebar h4 ~ p:last-child {margin-bottom: .6rem}
.st-key-unseen_settings {display: none}
@media (max-width: 760px) {
  .stMainBlockContainer {padding: 4rem 1rem 2rem}
  .st-key-head h1 + p {border: 0; padding: 0}
  [data-testid=stButtonGroup] > div {flex-wrap: wrap}
  [data-testid=stHorizontalBlock] {row-gap: 1rem}
  .st-key-people_controls [data-testid=stColumn] {min-width: 100%}
}
.st-key-cancel_update {visibility: hidden}
[data-test-script-state=running] .st-key-cancel_update {visibility: visible; transition: visibility 0s .5s}
.st-key-cancel_update button {min-height: 0; padding-block: 0}
.stMainBlockContainer [data-stale=true] {opacity: 1}
.stMainBlockContainer [data-stale=true] :is(h2, h3, p, li, strong) {color: var(--fl-grey); transition: color .3s .3s}
.stMainBlockContainer [data-stale=true] .stPlotlyChart {opacity: .5; transition: opacity .3s .3s}
.stMainBlockContainer h1 {padding: 0 0 .1rem}
h1 .stMarkdownBadge {font-family: "Source Sans", sans-serif; font-weight: 400; font-size: .85rem}
.stMainBlockContainer h2 {padding: 0 0 .15rem; line-height: 1.3; text-wrap: pretty}
.stMainBlockContainer h3 {padding: .3rem 0 0}
[data-testid=stMarkdownContainer]:has(h2) p, [data-testid=stMarkdownContainer]:has(h3) p
  {color: var(--fl-grey); text-wrap: pretty}
[data-testid=stMarkdownContainer]:has(h3) {margin-bottom: 0}
[data-testid=stMarkdownContainer]:has(h3) p {font-size: .9rem; line-height: 1.35; margin: 0}
.stSidebar h4 {padding: 0 0 .2rem}
[data-testid^=stBaseButton-primary] {background-color: var(--fl-press); border-color: var(--fl-press)}
[data-testid=stButtonGroup] :is([aria-checked=true], [aria-pressed=true]) p, [data-testid=stSliderThumbValue] p
  {color: var(--fl-chosen)}
[data-testid=stCaptionContainer], [data-testid=stCaptionContainer] p {color: var(--fl-grey); opacity: 1}
.st-key-choose_table :is(td, th) {padding: .25rem .3rem; font-size: .85rem; line-height: 1.3; border-inline: 0}
.st-key-choose_table :is(td, th) p {font-size: .85rem; margin: 0}
@media (min-width: 1000px) {.st-key-choose_table td:first-child p {white-space: nowrap}}
.st-key-told, .st-key-guard_budget, [class*=st-key-answered_], [class*=st-key-release_count_]
  {box-sizing: border-box; padding: 0 132px 0 46px}
.st-key-guard_budget {padding-right: 150px}
[class*=st-key-answered_] {padding-right: 176px}
</style>"""

_COLOURS = {
    "ink": ("#22262D", "#E9E7E2"),
    "leak": ("#B84A00", "#F5965A"),
    "grey": ("#5B626D", "#A9B0BA"),
    "line": ("#DDD9D1", "#353A44"),
    "bad": ("#A01A13", "#F2877E"),
    "press": (
        "#1F5FA8",
        "#3B72C0",
    ),  # white words on the theme's own dark blue have a contrast of 3.8 only
    "chosen": ("#1F5FA8", "#7FB2F0"),  # so have words in that blue on a ground tinted with it: 3.7
}
"""By what they stand for, in the light and in the dark theme."""

_SCALES = """<g stroke="{ink}" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">
<path d="M16 4v4M5 8h22M8 8l-4 9h8zM24 8l-4 9h8z"/></g>
<path d="M24 21c2.4 3.2 3.6 4.9 3.6 6.5a3.6 3.6 0 0 1-7.2 0c0-1.6 1.2-3.3 3.6-6.5z" fill="{drop}"/>"""

_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 34 34" fill="none">'
    + _SCALES.format(ink="#6A7585", drop="#B84A00")
    + "</svg>"
)

_LOGO = """<svg xmlns="http://www.w3.org/2000/svg" width="146" height="34" viewBox="0 0 146 34" fill="none">{scales}
<text x="38" y="24" font-family="Source Sans, Source Sans Pro, Helvetica, Arial, sans-serif" font-size="21"
 font-weight="700" fill="{ink}">FairLeak</text></svg>"""


def configure() -> None:
    """Set the page's title, icon, width and style.

    Without an icon of its own a page would get the one of its link, which Streamlit fetches from elsewhere.
    """
    st.set_page_config(
        page_title="FairLeak", page_icon=_ICON, layout="wide", initial_sidebar_state="auto"
    )
    colours = {name: pair[_is_dark()] for name, pair in _COLOURS.items()}
    variables = "; ".join(
        f"--fl-{name}: {colour}" for name, colour in colours.items() if name != "ink"
    )
    st.html(f"{_STYLE}<style>:root {{{variables}}}</style>")


def _wordmark() -> None:
    ink, drop = (_COLOURS[name][_is_dark()] for name in ("ink", "leak"))
    st.logo(_LOGO.format(ink=ink, scales=_SCALES.format(ink=ink, drop=drop)), size="large")


def navigation() -> Any:
    """Return the page to show; url paths equal the file names, which keeps deep links valid on a cold server.

    A study that no page is about has one made of what it declares. The first page's name leads to the bare address,
    with all that the link sets. While a table of one's own is audited, the pages about single methods are folded below
    the others. A page that this person's role does not open says so in its place: no address gets past here.
    """
    from core.studies.registry import STUDIES

    person = signin.enter()
    without = {*STUDIES} - {*_HEADS, *_STUDY_PAGES}
    explored = {*_PAGES["Explore"], *without}
    is_folded = _is_own_table_audited()

    def page(name: str, title: str, icon: str, file: str = "", **more: Any) -> Any:
        path = _ROOT / "pages" / f"{file or name}.py"
        options = {"title": title, "icon": f":material/{icon}:", "url_path": name, **more}
        if not person.opens(name) or (is_folded and name in explored):
            options["visibility"] = "hidden"
        return st.Page(path, **options)

    sections = {
        section: [page(name, head.label, head.icon) for name, head in pages.items()]
        for section, pages in _PAGES.items()
    }
    home = page("home", _HEADS[_FIRST].label, _HEADS[_FIRST].icon, _FIRST, default=True)
    sections["Explore"] += [
        page(name, study.title, _study_icon(name), "study")
        for name, study in STUDIES.items()
        if name in without
    ]
    alias = page(_FIRST, _HEADS[_FIRST].label, "link", visibility="hidden")
    sections[""] = [home, alias]
    chosen = st.navigation(sections, position="sidebar", expanded=True)
    if is_folded:
        opened = [page for page in sections["Explore"] if person.opens(page.url_path)]
        _folded_links(opened, chosen)
    if chosen == alias:
        st.switch_page(home, query_params=st.query_params.to_dict())
    if not person.opens(chosen.url_path):
        first = next((name for name in _HEADS if person.opens(name)), "")
        if first and not chosen.url_path:  # the bare address
            st.switch_page(f"pages/{first}.py")
        _wordmark()
        signin.refuse(person, chosen.title, first)
    return chosen


def _is_own_table_audited() -> bool:
    """Whether a table of one's own is audited; before the first choice of a table nothing slow is imported for it."""
    if "dataset" not in st.session_state:
        return False
    from pages.shell import state

    return state.dataset_name() == state.UPLOAD


def _folded_links(pages: Sequence[Any], chosen: Any) -> None:
    """Draw the links of "Explore" below the navigation, folded unless one of its pages is open."""
    is_open = chosen in pages
    # Another element for each state, so that leaving the section folds it again.
    key = "open_links" if is_open else "folded_links"
    with st.sidebar.expander(f"Explore {len(pages)}", expanded=is_open, key=key, type="compact"):
        for page in pages:
            st.page_link(page)


def open_page(page: Any) -> None:
    """Write the page's title, then the wordmark; what the page adds to the title comes later."""
    row = st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="head"
    )
    headline = row.empty()
    head = _HEADS.get(page.url_path or _FIRST) or PageHead(page.title, "", "")
    headline.markdown(_headline(head, ""))
    st.session_state["head"] = (row, headline, head, "")
    _wordmark()
    if not st.session_state.get("opened"):
        st.session_state["opened"] = True
        time.sleep(_HEAD_START)


def _headline(head: PageHead, badge: str) -> str:
    badge_text = f" :gray-badge[{badge}]" if badge else ""
    return f"# {head.title or head.label}{badge_text}\n\n{head.question}"


def head(*, badge: str | None = None) -> Any:
    """Put a badge behind the page's title, by itself that of the audited table; return the row it stands in."""
    from pages.shell import state

    row, headline, page_head, _ = st.session_state["head"]
    if badge is None:
        badge = state.BADGES.get(state.dataset_name(), "")
    if badge:
        headline.markdown(_headline(page_head, badge))
    st.session_state["head"] = (row, headline, page_head, badge)
    return row


def offer_cancel(stop: Callable[[], None]) -> None:
    """Put a button into the page's head that is there while something is computed and an earlier result stays."""
    st.session_state["head"][0].button(
        "Cancel", key="cancel_update", type="tertiary", on_click=stop
    )


def update(doing: str) -> None:
    """Say in the place of the page's question what is being computed; "" brings the question back."""
    _, headline, page_head, badge = st.session_state["head"]
    if doing:
        page_head = replace(page_head, question=f"**{doing}**")
    headline.markdown(_headline(page_head, badge))


def run(page: Any) -> None:
    """Run a page and let it know that app.py has started it."""
    from pages.shell import state

    token = _STARTED.set(True)
    try:
        page.run()
        state.note_drawn()
    finally:
        _STARTED.reset(token)


def guard() -> None:
    """Start app.py if this page was opened without it.

    On a fresh server Streamlit runs a page file in a folder named `pages` by itself when its address is opened before
    the front page has been; app.py then runs the page again, with sidebar and settings.
    """
    if not _STARTED.get():
        runpy.run_path(str(_ROOT / "app.py"), run_name="__main__")
        st.stop()


def palette() -> Palette:
    """Return the colours of the theme the user sees."""
    from core.charts import DARK, LIGHT

    if _is_dark():
        return DARK
    return LIGHT


def _is_dark() -> bool:
    return bool(st.context.theme.type == "dark")


def escape(text: str) -> str:
    """Make text from a user's table harmless in Markdown: it is shown as it is.

    An underscore between letters means nothing there and stays, since screen readers speak labels as they are written.
    """
    return re.sub(r"([\\`*{}\[\]()#+!|~$:<>&-]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", str(text))


def finding(
    point: str, evidence: str, *, so_what: str = "", to_do: str = "", links: Sequence[str] = ()
) -> None:
    """Write what a page found, in grey on what evidence, what it means, and what can be done, with links to pages."""
    with st.container(key="finding", gap="small"):
        st.markdown(f"## {point}\n\n{evidence}")
        if not (so_what or to_do):
            return
        meaning, doing = st.columns(2, gap="medium")
        meaning.markdown(f"**So what**\n\n{so_what}")
        if not links:
            if to_do:
                doing.markdown(f"**What you can do**\n\n{to_do}")
            return
        with doing.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown("**What you can do**", width="content")
            for name in links:
                link(name)
        doing.markdown(to_do)


def link(name: str, label: str = "") -> None:
    """Draw a link to a page, by the name of its file, or to the page of a study that has no file of its own."""
    if name in _HEADS:
        page_head = _HEADS[name]
        st.page_link(
            f"pages/{name}.py",
            label=f":primary[{label or page_head.label}]",
            icon=f":material/{page_head.icon}:",
        )
        return
    icon = f":material/{_study_icon(name)}:"
    page = st.Page(_ROOT / "pages" / "study.py", title=label, icon=icon, url_path=name)
    st.page_link(page, label=f":primary[{label}]", icon=icon)


def _study_icon(name: str) -> str:
    return _STUDY_ICONS.get(name, "search")


def whisper(heading: str, quantity: str) -> None:
    """Write a chart's point, and under it in grey what is drawn."""
    st.markdown(f"### {heading}\n\n{quantity}")


def chips(known_items: list[str], unknown: list[str]) -> None:
    """Write what the attacker knows and does not know."""
    yes = " ".join(f":blue-badge[:material/check: {escape(word)}]" for word in known_items)
    no = " ".join(f":gray-badge[:material/close: {escape(word)}]" for word in unknown)
    st.markdown(f"The attacker knows {yes} but not {no}")
