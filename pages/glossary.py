"""Glossary: every technical term, with a search."""

from pages.common import shell

shell.guard()

import streamlit as st

from core.glossary import chapters
from core.membership import REGISTRY

shell.head(badge="")
wanted = st.text_input(
    "Search", key="term", bind="query-params", placeholder="for example TPR", help="Looks in terms and meanings."
).casefold()
found = {
    chapter: {term: text for term, text in terms.items() if wanted in f"{term} {text}".casefold()}
    for chapter, terms in chapters(REGISTRY).items()
}
if not any(found.values()):
    st.info(f"No term or meaning contains “{shell.escape(wanted)}”.")
for chapter, terms in found.items():
    if terms:
        st.markdown(f"### {chapter}")
        st.table({shell.escape(term): shell.escape(text) for term, text in terms.items()}, border="horizontal")
