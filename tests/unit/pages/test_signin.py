"""What a provider's word is worth: roles, expiry, sign out, and a secrets file that is broken."""

import os

import pytest
from streamlit import config

from pages.shell import signin
from pages.shell.signin import ANONYMOUS, ENDED, UNLISTED, Role, access_from_claims

NOW = 1_800_000_000.0
OLGA = {"is_logged_in": True, "sub": "7", "email": "Olga@Example.org", "email_verified": True}
OLGA |= {"iat": NOW - 60, "exp": NOW + 60}
RULES = {
    "claim": "groups",
    "officer": ["olga@example.org", "officers"],
    "auditor": ["auditors", "both"],
    "asker": ["askers", "both", "sam@example.org", "mike@example.org", "strasse@example.org"],
}


def without(*names, **more):
    return {name: value for name, value in OLGA.items() if name not in names} | more


CLAIMS = {
    Role.OFFICER: [OLGA, without(email_verified="true"), without(groups=["askers"])],
    Role.AUDITOR: [without("email", groups=["x", "auditors"]), without("email", groups=["both"])],
    Role.ASKER: [without("email", groups="askers"), without(email="SAM@EXAMPLE.ORG")],
    None: [
        *({}, *map(without, ("email_verified", "email", "is_logged_in", "exp"))),
        *(without(email_verified=False), without(email_verified=1), without(email=None)),
        *(without("email", groups=["olga@example.org"]), without("email", groups={"officers": True})),
        *(without(is_logged_in="true"), without(exp=NOW), without(exp="never")),
        without(email="olga@example.org.evil.net"),
        without(email="\N{LATIN SMALL LETTER LONG S}am@example.org"),
        without(email="mi\N{KELVIN SIGN}e@example.org"),
        without(email="stra\N{LATIN SMALL LETTER SHARP S}e@example.org"),
    ],
}


@pytest.mark.parametrize(("claims", "role"), [(claims, role) for role, many in CLAIMS.items() for claims in many])
def test_roles_are_for_whom_the_provider_vouches(claims, role):
    assert access_from_claims(claims, RULES, NOW).role is role


@pytest.mark.parametrize("rules", [{}, {"officer": []}, {"oficer": ["olga@example.org"]}, {"officer": [7, ""]}])
def test_who_is_not_listed_has_no_role(rules):
    access = access_from_claims(OLGA, rules, NOW)
    assert access.role is None and access.reason == UNLISTED


def test_a_claim_may_be_within_another():
    rules = {"claim": "realm_access.roles", "auditor": ["fl"]}
    assert access_from_claims(without("email", realm_access={"roles": ["fl"]}), rules, NOW).role is Role.AUDITOR
    assert access_from_claims(without("email", realm_access="fl"), rules, NOW).role is None


def test_hours_count_from_the_beginning_whatever_the_provider_says():
    assert access_from_claims(without(exp=NOW - 1), RULES | {"hours": 8}, NOW).role is Role.OFFICER
    assert access_from_claims(without(iat=NOW - 3601), RULES | {"hours": 1}, NOW).reason == ENDED
    assert access_from_claims(without("iat"), RULES | {"hours": 1}, NOW).reason == ENDED


def test_an_asker_opens_the_desk_alone_and_nobody_without_a_role_anything():
    asker, officer, nobody = (
        access_from_claims(claims, RULES, NOW) for claims in (without("email", groups="askers"), OLGA, {"sub": "7"})
    )
    pages = ("desk", "report", "overview", "", "a page of tomorrow")
    assert [asker.opens(page) for page in pages] == [True, False, False, False, False]
    assert all(officer.opens(page) for page in pages)
    assert not any(nobody.opens(page) for page in pages) and nobody.reason == ANONYMOUS


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "secrets.toml"
    before = config.get_option("secrets.files")
    config.set_option("secrets.files", [str(path)])
    monkeypatch.setattr(signin, "_server", signin._Server())
    yield path
    config.set_option("secrets.files", before)


def test_without_auth_nobody_signs_in(file):
    assert not signin.is_on()
    file.write_text("[other]\nkey = 1\n")
    assert not signin.is_on()
    assert signin.standing_of({}) == signin.Access(Role.OFFICER)


LATER = OLGA | {"exp": 2e12}
SECRETS = '[auth]\ncookie_secret = "x"\n[roles]\n{} = ["olga@example.org"]\n'


def test_the_secrets_file_counts_as_it_is_now_and_lets_nobody_in_when_broken_or_lost(file):
    def role(text):
        file.write_text(text)
        return signin.standing_of(LATER).role

    assert role("[auth\n") is None  # from the beginning
    assert role(SECRETS.format("officer")) is Role.OFFICER
    assert role(SECRETS.format("officer") + "[broken") is None
    assert role(SECRETS.format("asker")) is Role.ASKER
    assert role("[other]\nkey = 1\n") is None  # no longer with [auth]: still nobody
    file.unlink()
    assert signin.is_on() and signin.standing_of(LATER).role is None


def test_an_older_secrets_file_in_its_place_counts(file):
    file.write_text(SECRETS.format("officer"))
    assert signin.standing_of(LATER).role is Role.OFFICER
    older = file.with_name("older.toml")
    older.write_text(SECRETS.format("asker"))
    os.utime(older, (1, 1))
    older.replace(file)
    assert signin.standing_of(LATER).role is Role.ASKER
