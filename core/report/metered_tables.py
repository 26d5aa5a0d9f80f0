"""The release meter's rows in a report, for files and for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.report.metered_words import FORM_TITLES
from core.report.numbers import estimate_of, number_of
from core.report.table import ReportTable, ends, three
from core.wording import count


def is_metered(document: Mapping[str, Any]) -> bool:
    """Whether a report says what its own numbers give away; those of earlier versions have no such key."""
    return bool((document.get("release_meter") or {}).get("forms"))


_METERED = ("df_bits", "joint_bits", "prior_bits", "person_bits")


def meter_numbers(document: Mapping[str, Any]) -> ReportTable:
    """Return the release meter with plain numbers, a row a form."""
    meter = document["release_meter"]
    columns = (
        "form", "group", "people", "numbers", "bits predicted", "joint bits", "prior bits", "bits person by person",
        *three("bits measured"), "unsure before", "pinned", "pinned rightly", *three("accuracy"),
        *three("accuracy before"), *three("majority"), "projection",
    )  # fmt: skip
    control = (*ends(meter["accuracy_before"]), *ends(meter["majority"]))
    rows = tuple(
        (
            f["form"], f["group"], meter["people"], f["numbers"], *(f[name] for name in _METERED), *ends(f["bits"]),
            f["unsure"], f["pinned"], f["pinned_right"], *ends(f["accuracy"]), *control, f["status"],
        )
        for f in meter["forms"]
    )  # fmt: skip
    return ReportTable(name="release-meter", title="What the numbers give away", columns=columns, rows=rows)


def meter_words(document: Mapping[str, Any]) -> ReportTable:
    """Return the release meter for the page, a row a form."""
    columns = (
        "Numbers of",
        "Group, against the rest",
        "Numbers",
        "Bits predicted",
        "Bits measured",
        "About all together",
        "Pinned down",
    )
    rows = []
    for f in document["release_meter"]["forms"]:
        bits, joint, prior = estimate_of(f["bits"]), number_of(f["joint_bits"]), number_of(f["prior_bits"])
        assert bits is not None
        span = f"{_tenth(bits.value)} ({_tenth(bits.low)} to {_tenth(bits.high)})"
        right = f", {count(f['pinned_right'])} rightly" if f["pinned"] else ""
        pinned = f"{count(f['pinned'])} of {count(f['unsure'])} unsure before{right}"
        together = f"{_tenth(joint)} of {_tenth(prior)}"
        predicted = _tenth(number_of(f["df_bits"]))
        rows.append((FORM_TITLES[f["form"]], f["group"], f["numbers"], predicted, span, together, pinned))
    return ReportTable(name="release-meter", title="Bits beyond the features", columns=columns, rows=tuple(rows))


def _tenth(bits: float) -> str:
    return f"{bits:,.1f}".replace("-", "−")
