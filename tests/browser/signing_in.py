"""A provider that signs people in, the people it knows, and the secrets file of a server that believes it."""

import json
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from playwright.sync_api import expect

from pages.shell import shell
from pages.shell.signin import Access, Role
from tests.browser.driver import free_port, wait_for_answer
from tests.browser.view import FRESH

SECRET = "a secret of the tests, which nobody else uses"

PEOPLE = {
    "olga": {"email": "Olga@example.org", "email_verified": True},
    "anna": {"email": "anna@example.org", "email_verified": True},
    "aske": {"groups": ["staff", "fairleak-askers"]},
    "urs": {"email": "urs@example.org", "email_verified": True},
    "vera": {"email": "olga@example.org", "email_verified": False},
}
"""Subject -> what the provider says: an officer, an auditor, an asker by a claim, one unlisted, one who pretends."""


@contextmanager
def provider(*, seconds=3600):
    """Run a provider whose word holds for so many seconds; gives its address."""
    port = free_port()
    people = [json.dumps({"sub": name, **claims}) for name, claims in PEOPLE.items()]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "-p", str(port), "-e", str(seconds)]
    claim_options = [part for person in people for part in ("--user-claims", person)]
    process = subprocess.Popen([*command, *claim_options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://localhost:{port}"
    try:
        wait_for_answer(process, address)
        yield address
    finally:
        process.terminate()
        process.wait(15)


def secrets(file, provider, redirect="http://localhost:{port}"):
    """Write a secrets file; returns its path, for STREAMLIT_SECRETS_FILES."""
    file.write_text(f"""
[auth]
redirect_uri = "{redirect}/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "fairleak"
client_secret = "whatever"
server_metadata_url = "{provider}/.well-known/openid-configuration"

[roles]
claim = "groups"
officer = ["olga@example.org"]
auditor = ["anna@example.org"]
asker = ["fairleak-askers"]
""")
    return str(file)


def addresses():
    """Return every address that the navigation makes, hidden ones too, "" for the first page, and one it does not."""
    paths = []

    def page(_, *, url_path, default=False, **__):
        paths.append("" if default else url_path)
        return SimpleNamespace(url_path=url_path)

    everybody, current = Access(Role.OFFICER), SimpleNamespace(url_path="glossary")
    streamlit = SimpleNamespace(Page=page, navigation=lambda *_, **__: current, session_state={})
    with patch.object(shell, "st", streamlit), patch.object(shell.signin, "enter", lambda: everybody):
        shell.navigation()
    return [*paths, "nowhere"]


def title(view, text):
    expect(view.page.locator(f"{FRESH} h1").first).to_contain_text(text)


def sign_in(view, who):
    """Press the button, be somebody at the provider, and come back."""
    title(view, "Sign in")
    view.page.get_by_role("button", name="Sign in").click()
    view.page.get_by_role("button", name=who, exact=True).first.click()
    back(view)


def back(view):
    """Come back from the provider, whose own pages (not FairLeak's) ask elsewhere for their looks."""
    view.page.wait_for_url(f"{view.address}/**")
    view.hosts.discard("cdn.jsdelivr.net")
