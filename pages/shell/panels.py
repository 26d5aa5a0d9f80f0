"""Parts of pages: a chart with its text and numbers, an explanation, a problem in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import streamlit as st

from core.base.errors import FairLeakError
from core.base.files import csv_of_frame
from core.stats.estimates import Row, Tables, formatted_table, plain_row
from pages.shell import shell

if TYPE_CHECKING:
    import pandas

    from core.charts import Drawing
    from core.studies.study import Finding


T = TypeVar("T", bound=tuple[Any, ...])

TOO_LARGE = "There is not enough memory for this; use fewer records or columns."

_MOST_OF_A_NAME = 60
"""Characters of a table's title in the name of its file."""


def problem(sentence: str, *, point: str = "") -> None:
    """Say what is wrong, in one sentence, or with its point in bold before it."""
    bold = f"**{shell.escape(point)}** " if point else ""
    st.warning(bold + shell.escape(sentence), icon=":material/error:")


def kept_problem(key: str) -> None:
    """Say what is wrong as the session has kept it, if there is anything."""
    if sentence := st.session_state.get(key):
        problem(sentence)


@contextmanager
def keeping_problem(key: str) -> Iterator[None]:
    """Keep for the session, in one sentence, what goes wrong within; what was kept before is forgotten."""
    forget(key)
    try:
        yield
    except FairLeakError as error:
        st.session_state[key] = str(error)
    except MemoryError:
        st.session_state[key] = TOO_LARGE


def upload(
    label: str,
    key: str,
    take: Callable[[Any], None],
    *,
    doing: str = "",
    again: bool = False,
    **arguments: Any,
) -> Any:
    """Draw an upload box, let `take` read what is new in it, or lost and wanted `again`, and say what is wrong with it.

    Until another file comes the session keeps what is wrong, under the key and "_problem"; under "_removed", that the
    user removed what was read, which is not lost. `options` are further arguments of the box, and `forgets` what the
    session forgets when a file comes or goes. Returns what is in the box.
    """
    read = f"{key}_read"
    wrong = f"{key}_problem"
    removed = f"{key}_removed"
    args = (wrong, *arguments.pop("forgets", ()))
    upload_value = st.file_uploader(label, key=key, on_change=forget, args=args, **arguments)
    mark = upload_value and upload_value.file_id
    lost = again and wrong not in st.session_state and not st.session_state.get(removed)
    if upload_value and (lost or st.session_state.get(read) != mark):
        st.session_state[read] = mark
        st.session_state[removed] = False
        spinner = st.spinner(doing) if doing else nullcontext()
        with keeping_problem(wrong), spinner:
            take(upload_value)
    kept_problem(wrong)
    return upload_value


def forget(*keys: str) -> None:
    """Let the session forget what it has kept under some keys."""
    for key in keys:
        st.session_state.pop(key, None)


def needs_training(what: str) -> None:
    """Say that something cannot be done with predictions that came with the table."""
    st.info(f"{what} need a model that is trained here; your table brings its predictions.")


def choose_columns() -> NoReturn:
    """Send the user of a fresh table to the Data page."""
    st.info(
        "Your table is here. Say on the Data page which column is the label and which the sensitive attribute."
    )
    st.page_link("pages/data.py", label="Choose the columns", icon=":material/table_rows:")
    st.stop()


def finding(result: Finding, *links: str) -> None:
    """Write what a page found: its point, under it what it is based on, what it means and what can be done about it."""
    shell.finding(
        shell.escape(result.point),
        shell.escape(" ".join((result.evidence, *result.caveats))),
        so_what=shell.escape(result.so_what),
        to_do=shell.escape(result.to_do),
        links=links,
    )


def statement(result: Finding) -> None:
    """Write a smaller finding as one paragraph, its point in bold."""
    rest = result.text.removeprefix(result.point)
    st.markdown(f"**{shell.escape(result.point)}**{shell.escape(rest)}")


def whisper(result: Finding) -> None:
    """Write a finding as the point over what follows, and under it in grey what it is based on."""
    shell.whisper(shell.escape(result.point), shell.escape(result.evidence))


def chart(drawing: Drawing, key: str) -> None:
    """Show a chart with its alternative text."""
    st.plotly_chart(
        drawing.figure(shell.palette()),
        theme=None,
        key=key,
        alt=drawing.alt,
        config={"displayModeBar": False, "scrollZoom": False},
    )


def titled(
    heading: str, quantity: str, drawing: Drawing, key: str, *, container: Any = None
) -> Drawing:
    """Show a chart under its point and, in grey, what is drawn, here or in a place of the page; return it."""
    column = nullcontext() if container is None else container
    with column:
        shell.whisper(heading, quantity)
        chart(drawing, key)
    return drawing


def under(result: Finding, drawing: Drawing, key: str, *, container: Any = None) -> Drawing:
    """Show a chart under a finding; return it."""
    return titled(
        shell.escape(result.point), shell.escape(result.evidence), drawing, key, container=container
    )


def notes(*sentences: str, container: Any = st) -> None:
    """Write sentences in grey, each on a line of its own; an empty one is left out."""
    for sentence in filter(None, sentences):
        container.caption(shell.escape(sentence))


def how_to_read(text: str) -> None:
    """Offer an explanation, folded."""
    with st.expander("How to read this", icon=":material/help:"):
        st.markdown(text)


def foot(guide: str, tables: dict[str, pandas.DataFrame], key: str) -> None:
    """Offer an explanation and, beside it, the numbers behind the charts."""
    left, right = st.columns(2, gap="large")
    with left:
        how_to_read(guide)
    with right:
        numbers(tables, key)


def further(sections: Mapping[str, T], key: str) -> T | None:
    """Choose what is shown below a page by its title, the first of each; None, until somebody chooses."""
    chosen = st.segmented_control(
        "More analyses",
        list(sections),
        key=key,
        format_func=lambda name: sections[name][0],
        persist_state="session",
    )
    if chosen is None:
        return None
    return sections[chosen]


def choose(
    label: str, titles: Mapping[Any, str], *, key: str, container: Any = st, **arguments: Any
) -> Any:
    """Choose one of several things from a list, named by `titles`; the session keeps it."""
    arguments |= {"format_func": lambda name: titles.get(name, name), "persist_state": "session"}
    return container.selectbox(label, list(titles), key=key, **arguments)


def frame(rows: Iterable[Row]) -> pandas.DataFrame:
    """Return rows as a table of plain numbers."""
    import pandas as pd

    return pd.DataFrame(list(map(plain_row, rows)))


def worded(rows: Iterable[Row]) -> pandas.DataFrame:
    """Return rows as a table in words, to be read beside a chart."""
    import pandas as pd

    header, cells, _ = formatted_table(rows)
    return pd.DataFrame(cells, columns=header)


def frames(tables: Tables) -> dict[str, pandas.DataFrame]:
    """Return tables that have rows, by their titles."""
    return {title: frame(rows) for title, rows in tables.items() if rows}


def numbers(tables: dict[str, pandas.DataFrame], key: str) -> None:
    """Offer the numbers behind the charts as tables and CSV, folded; drawn only once unfolded."""
    box = st.expander(
        "Data table and CSV", icon=":material/table:", key=f"numbers_{key}", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        for i, (name, table) in enumerate(tables.items()):
            st.markdown(f"**{shell.escape(name)}**")
            st.dataframe(table, hide_index=True, height=table_height(table, 8, 300))
            download("CSV", partial(csv_of_frame, table), csv_name(key, name), key=f"csv_{key}_{i}")


def table_height(rows: Sized, most: int, pixels: int) -> Any:
    """Return the height of a table: that of its rows up to so many; beyond, pixels in which they scroll."""
    if len(rows) <= most:
        return "content"
    return pixels


def csv_name(key: str, title: str) -> str:
    """Return what the file of a page's table is called: "fairleak-data-first-20-rows.csv"."""
    slug = re.sub(r"\W+", "-", title.casefold())[:_MOST_OF_A_NAME].strip("-")
    return f"fairleak-{key}-{slug}.csv"


def pick(
    label: str,
    titles: Mapping[str, str] | Sequence[Any],
    *,
    key: str,
    default: Any,
    **arguments: Any,
) -> Any:
    """Choose one of a few things that stand side by side, named by `titles` or by themselves; the session keeps it.

    `arguments` are further arguments of the widget, and the `container` it stands in.
    """
    if isinstance(titles, Mapping):
        name = titles.__getitem__
    else:
        name = str
    arguments = {"persist_state": "session", "format_func": name, "required": True, **arguments}
    value = arguments.pop("container", st).segmented_control(
        label, list(titles), default=default, key=key, **arguments
    )
    if value is None:
        return default
    return value


def download(
    label: str,
    content: Callable[[], bytes],
    file_name: str,
    *,
    key: str,
    mime: str = "text/csv",
    icon: str = ":material/download:",
    **arguments: Any,
) -> None:
    """Offer a file that is made when it is asked for."""
    st.download_button(
        label,
        data=content,
        file_name=file_name,
        mime=mime,
        key=key,
        icon=icon,
        on_click="ignore",
        **arguments,
    )
