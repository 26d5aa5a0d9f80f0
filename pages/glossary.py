"""Glossary: every technical term, with a search."""

from pages.shell import shell

shell.guard()

import streamlit as st

from core.learn.glossary import chapters
from core.studies.membership import REGISTRY
from pages.shell import state

shell.head(badge="")
opening = st.container()
query = st.text_input(
    "Search",
    key="term",
    placeholder="for example TPR",
    help="Looks in terms and meanings.",
    **state.bind("term"),
).casefold()
matches = {
    chapter: {term: text for term, text in terms.items() if query in f"{term} {text}".casefold()}
    for chapter, terms in chapters(REGISTRY).items()
}
n = sum(map(len, matches.values()))
with opening:
    counted = f"{n} term{'s' * (n != 1)}"
    if query:
        counted += f" with “{shell.escape(query)}” in term or meaning"
    shell.finding(
        f"{counted}.",
        "Pages, commands and reports use these words in these meanings.",
    )
for chapter, terms in matches.items():
    if terms:
        st.markdown(f"### {chapter}")
        st.table(
            {shell.escape(term): shell.escape(text) for term, text in terms.items()},
            border="horizontal",
        )
