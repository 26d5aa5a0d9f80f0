"""Sign-in: who gets in, what each role may open, and how a sign-in ends."""

import base64
import http.client
import json
import time
from contextlib import closing
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from pages.shell.signin import ANONYMOUS, Role
from tests.browser.signing_in import PEOPLE, SECRET, addresses, back, provider, secrets, sign_in, title
from tests.browser.tables import people

USER = "_streamlit_user"

MEMBERS = {"olga": Role.OFFICER, "anna": Role.AUDITOR, "aske": Role.ASKER}

BRIEF = 55
"""Seconds for which a provider's word holds that is to expire."""

TO_FIRST = {"", "overview", "nowhere"}
"""Addresses of the first page, which for an asker is the desk."""


@pytest.fixture(scope="module")
def at():
    with provider() as address:
        yield address


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("secrets") / "secrets.toml"


@pytest.fixture(scope="module")
def server(start_server, at, file):
    return start_server(STREAMLIT_SECRETS_FILES=secrets(file, at))


@pytest.fixture
def rules(file, at):
    """The secrets file, to be changed and put back."""
    yield file
    secrets(file, at)


def status(server, path, method="GET", **headers):
    with closing(http.client.HTTPConnection("localhost", server.port, timeout=60)) as connection:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status


def test_a_deep_link_leads_through_sign_in_to_its_page_and_nobody_unlisted_gets_in(look):
    officer = look("glossary?word=epsilon")
    expect(officer.sidebar.get_by_role("link")).to_have_count(0)
    sign_in(officer, "olga")
    title(officer, "Glossary")
    assert officer.page.url.endswith("/glossary?word=epsilon")
    expect(officer.sidebar).to_contain_text("Olga@example.org")
    for who in ("urs", "vera"):
        stranger = look("glossary")
        sign_in(stranger, who)
        title(stranger, "No role")
        name = PEOPLE[who]["email"] if who == "urs" else f"subject {who}"
        expect(stranger.page.get_by_text(f"Signed in as {name}.")).to_be_visible()
        assert "Glossary" not in stranger.text()


def test_every_address_asks_for_sign_in_also_on_a_server_that_has_shown_nothing_yet(look, start_server, at, tmp_path):
    cold = start_server(STREAMLIT_SECRETS_FILES=secrets(tmp_path / "secrets.toml", at))
    view = look(None, at=cold)
    for address in reversed(addresses()):
        view.open(f"{address}?tolerance=0.2")
        title(view, "Sign in")
        expect(view.page.get_by_role("button", name="Sign in")).to_be_visible()
        assert view.steady(lambda: " ".join(view.text().split()), address) == f"Sign in {ANONYMOUS} Sign in"


@pytest.mark.parametrize("who", MEMBERS)
def test_each_role_opens_its_pages_and_no_other_address(look, who):
    view = look("desk")
    sign_in(view, who)
    title(view, "Private query desk")
    for address in addresses():
        view.open(f"{address}?tolerance=0.2")
        opened = MEMBERS[who] is not Role.ASKER or address == "desk" or address in TO_FIRST
        title_of_page = view.page.locator(".st-key-head h1")  # drawn by who runs the page, next
        refused = view.page.get_by_text(f"This page is not open to the role {MEMBERS[who]}")
        expect(title_of_page.or_(refused).first).to_be_visible()
        assert (title_of_page.count(), refused.count()) == (opened, not opened), address
        if MEMBERS[who] is Role.ASKER:
            expect(view.sidebar.get_by_role("link")).to_have_count(0)  # a single page needs no navigation
            if address in TO_FIRST:
                title(view, "Private query desk")


def test_sign_out_ends_the_sign_in_in_every_tab_and_for_a_copy_of_its_cookie(look, at):
    view = look("glossary")
    sign_in(view, "olga")
    title(view, "Glossary")
    copied = view.context.cookies()
    second_tab = view.context.new_page()
    second_tab.goto(f"{view.address}/learn")
    expect(second_tab.locator("h1").first).to_contain_text("Worked examples")
    view.keyed("sign_out").get_by_role("button").click()
    view.page.get_by_role("button").first.click()  # the provider asks whether to end its own session too
    back(view)
    title(view, "Sign in")
    expect(second_tab.locator("h1").first).to_contain_text("Sign in")  # by itself
    thief = look(None)
    thief.context.add_cookies(copied)
    thief.open("glossary")
    title(thief, "Sign in")
    expect(thief.page.get_by_text("This sign-in has ended")).to_be_visible()
    sign_in(thief, "olga")  # who can prove who they are gets in again
    title(thief, "Glossary")


def test_a_sign_in_ends_when_the_providers_word_expires(look, start_server, tmp_path):
    with provider(seconds=BRIEF) as brief:
        server = start_server(STREAMLIT_SECRETS_FILES=secrets(tmp_path / "secrets.toml", brief))
        view = look("data", at=server)
        expires = time.monotonic() + BRIEF
        sign_in(view, "olga")
        title(view, "Data")
        view.give("upload", "mine.csv", people())
        expect(view.page.get_by_text("mine.csv").first).to_be_visible()
        view.until(lambda: time.monotonic() > expires, "the end of the sign-in's time")
        title(view, "Sign in")
        expect(view.page.get_by_text("This sign-in has ended")).to_be_visible()
        sign_in(view, "olga")
        title(view, "Data")
        view.idle()
        assert "mine.csv" not in view.page.content()


def test_a_role_that_is_taken_away_or_changed_counts_at_once(look, rules):
    view = look("report")
    sign_in(view, "olga")
    title(view, "Release report")
    text = rules.read_text()
    rules.write_text(text.replace('officer = ["olga@example.org"]', "").replace('["fair', '["olga@example.org", "fair'))
    expect(view.page.get_by_text("This page is not open to the role asker")).to_be_visible()
    rules.write_text(text.replace("olga@example.org", "nobody@example.org"))
    title(view, "No role")
    rules.write_text(text)
    title(view, "Release report")
    rules.write_text(f"{text}\n[broken")
    title(view, "No role")
    title(look("glossary"), "Sign in")
    rules.unlink()
    title(look("glossary"), "Sign in")


def signed(claims, secret=SECRET):
    return create_signed_value(secret, USER, json.dumps(claims)).decode()


def test_a_forged_cookie_opens_nothing(look, server):
    now = int(time.time())
    claims = {"is_logged_in": True, "origin": server.address, "sub": "olga", **PEOPLE["olga"]}
    claims |= {"iat": now, "exp": now + 3600}
    true = signed(claims)
    body, mark = true.rsplit(".", 1)
    refused = {
        signed(claims, f"{SECRET}?"): "Sign in",
        base64.b64encode(json.dumps(claims).encode()).decode(): "Sign in",  # no signature
        f"{body}.{mark[::-1]}": "Sign in",
        signed(claims | {"exp": now - 1}): "Sign in",
        signed({name: claim for name, claim in claims.items() if name != "exp"}): "Sign in",
        signed(claims | {"origin": "https://elsewhere.example.org"}): "Sign in",
        signed(claims | {"email_verified": False}): "No role",
        signed({name: claim for name, claim in claims.items() if name != "email"}): "No role",
        signed(claims | {"email": "x@example.org", "groups": ["olga@example.org"]}): "No role",
    }
    for cookie, heading in {true: "Glossary", **refused}.items():
        view = look(None)
        view.context.add_cookies([{"name": USER, "value": cookie, "url": server.address}])
        view.open("glossary")
        title(view, heading)


def test_files_are_for_people_with_a_role_and_health_for_everybody(server, look):
    assert status(server, "/_stcore/health") == 200
    assert status(server, "/media/0.csv") == 403
    assert status(server, "/_stcore/upload_file/a/b", method="PUT") == 403
    assert status(server, "/_stcore/metrics") == 404
    view = look("desk")
    sign_in(view, "aske")
    title(view, "Private query desk")
    cookie = "; ".join(f"{item['name']}={item['value']}" for item in view.context.cookies())
    assert status(server, "/media/0.csv", Cookie=cookie) == 404  # no such file, which only members are told


def test_the_page_asked_for_is_never_another_servers(look, server):
    for address in ("//elsewhere.example.org", "/\\elsewhere.example.org", "https://elsewhere.example.org"):
        view = look(None)
        view.context.add_cookies([{"name": "fairleak_page", "value": quote(address, safe=""), "url": server.address}])
        answer = view.context.request.get(f"{server.address}/oauth2callback", max_redirects=0)
        assert answer.headers["location"] in ("/", ""), answer.headers["location"]
