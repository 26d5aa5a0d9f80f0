"""The people of the audited table, as membership inference sees them."""

from __future__ import annotations

from dataclasses import replace

from core.fingerprint import fingerprint
from core.models import GIVEN
from pages.common import cached, panels
from pages.common.members.choice import Chosen, People

__all__ = ["attacked_by", "people"]


def people() -> People:
    """Return the people; waits while they are prepared."""
    config, table = cached.audited()
    roles = config.roles or table.roles[0]
    store = cached.store_of(config.dataset)
    key = fingerprint("member people", table.fingerprint, roles)

    def prepare() -> object:
        from core.membership import member_people

        return member_people(table, roles)

    who = panels.need(store, key, "Preparing the people", lambda job: prepare())
    return People(config=config, table=table, people=who, store=store)


def attacked_by(who: People, chosen: Chosen) -> People:
    """Return the people with what else the target needs: the audited model its own arrays, or its predictions."""
    if chosen.target not in ("audited", GIVEN):
        return who
    config = who.config
    return replace(who, dataset=cached.dataset_of(who.table, config.roles or who.table.roles[0]))
