"""Streamlit with nothing of FairLeak's in it: an empty page in a sidebar with sections, and a box for a file."""

import streamlit as st


def empty():
    st.title("Empty")
    st.file_uploader("A file")


first, second = st.Page(empty, title="Empty", default=True), st.Page(lambda: None, title="Other", url_path="other")
st.navigation({"One": [first], "Two": [second]}).run()
