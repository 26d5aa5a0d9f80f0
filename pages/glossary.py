"""Glossary: every technical term, with a search."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.glossary import chapters
from core.membership import REGISTRY
from pages.common import state

shell.head(badge="")
opening = st.container()
wanted = st.text_input(
    "Search", key="term", placeholder="for example TPR", help="Looks in terms and meanings.", **state.bind("term")
).casefold()
found = {
    chapter: {term: text for term, text in terms.items() if wanted in f"{term} {text}".casefold()}
    for chapter, terms in chapters(REGISTRY).items()
}
n = sum(map(len, found.values()))
with opening:
    shell.finding(
        f"{n} term{'s' * (n != 1)}" + (f" with “{shell.escape(wanted)}” in term or meaning." if wanted else "."),
        "Pages, commands and reports use these words in these meanings.",
    )
for chapter, terms in found.items():
    if terms:
        st.markdown(f"### {chapter}")
        st.table({shell.escape(term): shell.escape(text) for term, text in terms.items()}, border="horizontal")
