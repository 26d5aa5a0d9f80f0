"""What two reports say differently of data, model, plan, policy, code and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.policy import limit_text
from core.policy.checks import check_title
from core.release_audit import same_numbers
from core.serialize import Result

_NO_LIMIT = "no limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Result):
    """One thing that is not the same; `part` is "Data", "Model", "Plan", "Policy", "Code" or "Seeds"."""

    part: str
    what: str
    before: str
    after: str


def changed_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Changed, ...]:
    """Return everything that is not the same, part by part.

    What an external edition withholds (fingerprints, seeds, files) is left out of the comparison.
    """
    parts = (_data, _model, _plan, _policy, _code, _seeds)
    return tuple(one for part in parts for one in part(before, after))


def same_people(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool | None:
    """Return whether two audits judge the same people; None where the reports do not tell.

    They do if records and split are the same. Given predictions are part of the records' fingerprint, so that two
    models' predictions of the same people do not show that they are the same.
    """
    digits = [told["data"]["fingerprint"] for told in (before, after)]
    if not all(digits):
        return None
    if digits[0] == digits[1]:
        return _split(before) == _split(after)
    return None if "predictions" in (before["plan"]["model"]["kind"], after["plan"]["model"]["kind"]) else False


def _split(document: Mapping[str, Any]) -> tuple[Any, ...]:
    config = document["plan"]["config"]
    return config["seed"], config["train_share"], document["data"]["sets"]


def _pair(part: str, what: str, before: Any, after: Any) -> Iterator[Changed]:
    """Yield a change, where both reports tell the thing and it is not the same."""
    if before != after and before not in (None, "") and after not in (None, ""):
        yield Changed(part=part, what=what, before=_words(before), after=_words(after))


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(digits: str) -> str:
    return f"{digits[:4]} {digits[4:8]}" if digits else ""


def _data(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    was, now = before["data"], after["data"]
    yield from _pair("Data", "table", was["title"], now["title"])
    yield from _pair("Data", "fingerprint", _short(was["fingerprint"]), _short(now["fingerprint"]))
    yield from _pair("Data", "records", was["n"], now["n"])
    for name in ("train", "attack", "validation", "test"):
        yield from _pair("Data", f"{name} records", was["sets"].get(name), now["sets"].get(name))
    gone = [name for name in was["features"] if name not in now["features"]]
    more = [name for name in now["features"] if name not in was["features"]]
    if gone or more:
        yield Changed(part="Data", what="columns", before=_listed(gone), after=_listed(more))
    yield from _pair("Data", "sensitive attribute", was["attribute"], now["attribute"])
    yield from _pair("Data", "label", was["label"], now["label"])
    yield from _settings("Data", _roles(before), _roles(after), prefix="role of ")


def _listed(names: list[str]) -> str:
    return f"only here: {', '.join(names)}" if names else "none of its own"


def _roles(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return document["plan"]["config"]["roles"] or {}


def _model(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    was, now = before["model"], after["model"]
    for name in ("title", "kind"):
        yield from _pair("Model", name, was[name], now[name])
    yield from _pair("Model", "answers (fingerprint)", _short(was["fingerprint"]), _short(now["fingerprint"]))


def _settings(part: str, before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[Changed]:
    """Yield the settings that are not the same, by their place in the plan's file."""
    for one in same_numbers({"settings": before}, {"settings": after}).differences:
        what = one.path.removeprefix("settings.").replace("config.", "model.")
        yield from _pair(part, f"{prefix}{what}", one.old, one.new)


def _plan(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    """Yield what the plans ask for otherwise; files, which may have any name, roles and seed aside."""
    yield from _settings("Plan", _none_in_words(_asked(before["plan"])), _none_in_words(_asked(after["plan"])))


def _none_in_words(value: Any) -> Any:
    """Return settings with a word where there is none, so that a change from or to none is seen."""
    if isinstance(value, Mapping):
        return {name: _none_in_words(one) for name, one in value.items()}
    return "none" if value in (None, "") else value


def _asked(plan: Mapping[str, Any]) -> dict[str, Any]:
    config = {name: value for name, value in plan["config"].items() if name not in ("roles", "seed", "dataset")}
    studies = {name: values for name, values in plan.get("studies", ())}
    parts = {name: plan[name] for name in ("outputs", "answers", "membership", "guard") if name in plan}
    features = {"features": list(plan["model"]["features"])} if plan["model"]["features"] else {}
    return {"config": config, **parts, **({"studies": studies} if studies else {}), **features}


def _policy(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    was, now = before["policy"], after["policy"]
    for name in ("name", "version", "level"):
        yield from _pair("Policy", name, was[name], now[name])
    yield from _pair("Policy", "fingerprint", *(_short(told["provenance"]["policy"]) for told in (before, after)))
    limits = [{limit["check"]: limit for limit in policy["limits"]} for policy in (was, now)]
    for check in dict.fromkeys((*limits[0], *limits[1])):
        title = check_title(check, after["data"]["attribute"] or "the attribute")
        old, new = (found.get(check) for found in limits)
        value = [_NO_LIMIT if one is None else limit_text(check, one["value"]) for one in (old, new)]
        yield from _pair("Policy", f"limit: {title}", *value)
        if old is not None and new is not None:
            yield from _pair("Policy", f"required: {title}", old["required"], new["required"])
            yield from _pair("Policy", f"source: {title}", *(one["source"] or "no source" for one in (old, new)))


def _code(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    was, now = before["provenance"], after["provenance"]
    yield from _pair("Code", "FairLeak", was["fairleak"], now["fairleak"])
    yield from _pair("Code", "code (fingerprint)", _short(was["code"]), _short(now["code"]))
    yield from _pair("Code", "Python", was["python"], now["python"])
    yield from _pair("Code", "machine", was["platform"], now["platform"])
    for name in dict.fromkeys((*was["packages"], *now["packages"])):
        versions = [told["packages"].get(name, "not installed") for told in (was, now)]
        yield from _pair("Code", name, *versions)


def _seeds(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Changed]:
    yield from _pair("Seeds", "audit", *(document["plan"]["config"]["seed"] for document in (before, after)))
