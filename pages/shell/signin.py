"""Sign-in: who is signed in, in which role, and what that role may open; off unless secrets have `[auth]`.

Streamlit signs people in with an OpenID Connect provider and keeps what it said of them in a signed cookie. Here is
only who may do what. Roles are judged in every run, so that a change of secrets counts at once.
"""

from __future__ import annotations

import os
import string
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NoReturn

import streamlit as st
from streamlit import config
from streamlit.errors import StreamlitAuthError
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.secrets import secrets_singleton


class Role(StrEnum):
    """What a person may do: each may also do what those before may."""

    ASKER = "asker"
    AUDITOR = "auditor"
    OFFICER = "officer"


_ASKERS_PAGES = ("desk",)
"""All that an asker may open; a new page is not among them."""

_TITLES = {
    Role.ASKER: "Asker: asks at the Query desk",
    Role.AUDITOR: "Auditor: audits, sets no limits",
    Role.OFFICER: "Officer: limits, decisions, ledgers",
}

_NAME_ROOM = 60
"""Characters of a name on record."""

ROLE = "role_before"
"""Where a session keeps the role in which its page was drawn, if people sign in."""

_PROBLEM = "signin_problem"


@dataclass(frozen=True, slots=True)
class Access:
    """A person's role, None while they have none and the reason why; the name the provider vouches for, "" if none."""

    role: Role | None
    name: str = ""
    reason: str = ""
    until: float = 0.0  # seconds since 1970; 0 where nobody has to sign in

    def opens(self, page: str) -> bool:
        """Whether they may open a page, by the name of its file or its address."""
        return self.role is not None and (self.role is not Role.ASKER or page in _ASKERS_PAGES)


ANONYMOUS = "Only people with a role on this server may use it."
ENDED = "This sign-in has ended, and what was in this session's memory is gone."
UNLISTED = "No role on this server is given to you. Ask the person who runs it for one."


@dataclass(slots=True)
class _Server:
    """What is true of all sessions until the server ends."""

    was_on: bool = False
    """Once on, sign-in stays on: a secrets file that is gone or broken lets nobody in."""
    ended: dict[tuple[str, ...], float] = field(default_factory=dict)
    """Sign-ins that Sign out has ended -> when they would have: their cookies, copies too, count no longer."""
    stamps: list[tuple[int, int, int] | None] = field(default_factory=list)
    """The secrets files as they were when they were read."""


_server = _Server()


def _secrets() -> Mapping[str, Any] | None:
    """Return what the secrets file holds, nothing if there is none; None if it cannot be read.

    Streamlit looks for changes too, but stops once the file was gone or broken, and misses one with an older date.
    """
    now = [_stamp(path) for path in config.get_option("secrets.files")]
    if now != _server.stamps:
        secrets_singleton._reset()
        _server.stamps = now
    if secrets_singleton.load_if_toml_exists():
        return st.secrets.to_dict()
    if any(os.path.exists(path) for path in config.get_option("secrets.files")):
        return None
    return {}


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _rules() -> Mapping[str, Any] | None:
    """Return the roles' rules of the secrets file; None while sign-in is off."""
    secrets = _secrets()
    _server.was_on = _server.was_on or secrets is None or "auth" in secrets
    if not _server.was_on:
        return None
    rules = (secrets or {}).get("roles")
    if isinstance(rules, Mapping):
        return rules
    return {}


def is_on() -> bool:
    """Whether people have to sign in."""
    return _rules() is not None


def standing_of(claims: Mapping[str, Any]) -> Access:
    """Return the standing, now, of a person of whom the provider said `claims`."""
    rules = _rules()
    if rules is None:
        return Access(Role.OFFICER)
    return access_from_claims(claims, rules, time.time())


def access_from_claims(claims: Mapping[str, Any], rules: Mapping[str, Any], now: float) -> Access:
    """Return what `claims` are worth under the rules of `[roles]` in the secrets file.

    Each role lists verified addresses and, without an @, values of the claim that `claim` names. Of several roles the
    last counts. A sign-in ends when the provider's word expires or, if the rules have `hours`, so long after it began.
    """
    if claims.get("is_logged_in") is not True:
        return Access(None, reason=ANONYMOUS)
    address = str(claims.get("email") or "").strip()
    verified = bool(address) and str(claims.get("email_verified")).lower() == "true"
    verified_address = address if verified else ""
    name = _name(claims, verified_address)
    until = _until(claims, rules)
    if until <= now or _mark(claims) in _server.ended:
        return Access(None, name, ENDED, until)
    held = {value for value in _listed(claims, rules.get("claim")) if "@" not in value}
    if verified:
        held.add(_without_case(address))
    for role in reversed(Role):
        texts = _texts(rules.get(role.value))
        names = {text for text in texts if "@" not in text}
        names |= {_without_case(text) for text in texts if "@" in text}
        if names & held:
            return Access(role, name, until=until)
    reason = UNLISTED
    if address and not verified:
        reason += f" The provider does not say that {address} is verified, so the address counts for nothing."
    return Access(None, name, reason, until)


_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _without_case(address: str) -> str:
    """Return an address with A to Z in lower case; other letters are different ones, however alike they look."""
    return address.translate(_LOWER)


def _name(claims: Mapping[str, Any], address: str) -> str:
    """Return the verified address or, without one, their identifier: a name of their own choice proves nothing."""
    return (address or f"subject {claims.get('sub') or 'unknown'}")[:_NAME_ROOM]


def _until(claims: Mapping[str, Any], rules: Mapping[str, Any]) -> float:
    """Return when a sign-in ends; at once if the provider does not say when it began or expires."""
    hours = rules.get("hours")
    if isinstance(hours, (int, float)) and not isinstance(hours, bool):
        return _seconds(claims.get("iat")) + 3600 * hours
    return _seconds(claims.get("exp"))


def _seconds(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return -float("inf")


def _mark(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what tells one sign-in from all others."""
    return tuple(str(claims.get(name)) for name in ("iss", "sub", "iat", "nonce"))


def _listed(claims: Mapping[str, Any], claim: Any) -> list[str]:
    """Return the values of a claim; a dot in its name leads into a claim that holds others."""
    if not claim:
        return []
    value: Any = claims
    for part in str(claim).split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return _texts(value)


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [text.strip() for text in values if isinstance(text, str) and text.strip()]


# What pages ask -------------------------------------------------------------------------------------------------------


def current_access() -> Access:
    """Return the standing of the person in this session; an officer's, without a name, while sign-in is off."""
    return standing_of(st.user.to_dict())


def enter() -> Access:
    """Return the standing at the beginning of a run; what a session did in another role than it has now is gone."""
    now = current_access()
    if is_on():
        if st.session_state.get(ROLE, now.role) is not now.role:
            st.session_state.clear()
            if (context := get_script_run_ctx()) is not None:
                context.fragment_storage.clear()  # a refused run would leave them, and with them what they show
        st.session_state[ROLE] = now.role
    return now


def role() -> Role | None:
    """Return their role."""
    return current_access().role


def is_officer() -> bool:
    """Whether they may set limits, sign, and look after ledgers."""
    return role() is Role.OFFICER


def name() -> str:
    """Return the name the provider vouches for; "" while sign-in is off."""
    return current_access().name


# What is drawn --------------------------------------------------------------------------------------------------------


def refuse(now: Access, title: str, first: str) -> NoReturn:
    """Draw, in a page's place, why it is not shown; `first` is a page that may be opened. Ends the run."""
    if now.role is not None:
        badge()
        st.markdown(f"# {title}\n\nThis page is not open to the role *{now.role}*.")
        st.page_link(
            f"pages/{first}.py", label="Go to the page that is", icon=":material/arrow_forward:"
        )
        st.stop()
    heading = "No role" if now.reason.startswith(UNLISTED) else "Sign in"
    st.markdown(f"# {heading}")
    if now.name:
        st.text(f"Signed in as {now.name}.")
    st.text(now.reason)
    if now.reason.startswith(UNLISTED):
        st.button("Sign out", key="sign_out", icon=":material/logout:", on_click=_sign_out)
    else:
        for provider, label in _providers().items():
            st.button(
                label,
                key=f"sign_in_{provider}",
                type="primary",
                on_click=_sign_in,
                args=(provider,),
            )
    if problem := st.session_state.pop(_PROBLEM, ""):
        st.warning(problem)
    st.stop()


def badge() -> None:
    """Draw in the sidebar who is signed in, until when, and Sign out; nothing while sign-in is off."""
    now = current_access()
    if not now.name or now.role is None:
        return
    with st.sidebar, st.container(key="signed_in", gap="small"):
        until = time.strftime("%H:%M", time.localtime(now.until))
        st.text(f"{now.name}\n{_TITLES[now.role]}")
        st.caption(f"Signed in until {until}, server time.")
        st.button("Sign out", key="sign_out", icon=":material/logout:", on_click=_sign_out)


def _providers() -> dict[str, str]:
    """Return the providers of the secrets file by name, "" for the one without, and what their buttons say."""
    auth = (_secrets() or {}).get("auth", {})
    names = [
        name
        for name, provider in auth.items()
        if isinstance(provider, Mapping) and "client_id" in provider
    ]
    labels = {name: f"Sign in with {name}" for name in names}
    if "client_id" in auth:
        return {"": "Sign in"} | labels
    return labels


def _sign_in(provider: str) -> None:
    try:
        st.login(provider or None)
    except StreamlitAuthError:
        st.session_state[_PROBLEM] = (
            "Sign-in is not set up: the secrets file lacks a key, or FairLeak was installed without its extra signin."
        )


def _sign_out() -> None:
    """End this sign-in, in every tab and for every copy of its cookie."""
    claims = st.user.to_dict()
    now = time.time()
    _server.ended[_mark(claims)] = current_access().until
    _server.ended = {mark: until for mark, until in _server.ended.items() if until > now}
    st.logout()
