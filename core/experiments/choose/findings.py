"""What a choice shows, worded once for page, command and report: the model, why this one, what choosing costs.

Names of groups and columns stand as they are in the table: a page or report that shows a sentence makes them harmless.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...auditing.policy import (
    CHECKS,
    VERDICT_TITLES,
    CheckVerdict,
    Status,
    estimate_text,
    next_step,
)
from ...auditing.policy.limits import check_title
from ...auditing.policy.verdict import times_more_records
from ...auditing.result import StudyFindings
from ...models import PRIVATE_METHODS, instead_of_constant
from ...stats.estimates import (
    Quantity,
    change_decimals,
    count,
    ends_text,
    epsilon_text,
    interval,
    number_text,
    percent,
    point_interval,
    points,
    share,
)
from ...studies.study import Finding, Row
from ...studies.two_models import WARNING
from .candidates import PREFERENCES
from .choose import Candidate, Choice, ChoiceOutcome, Side

_SHORT = {
    "unfairness": "unfairness",
    "four_fifths": "selection-rate ratio",
    "attribute_excess": "{attribute}",
    "attribute_balanced": "{attribute} (balanced)",
    "attribute_bits": "{attribute} (bits)",
    "correction_gain": "constraint",
    "membership_caught": "membership (1% FPR)",
    "membership_auc": "membership (AUC)",
    "membership_advantage": "membership (advantage)",
    "membership_gap": "membership gap",
    "absence": "people without an answer",
}
"""Check -> its short name."""


def short_check(check: str, attribute: str) -> str:
    """Return the short name of a check."""
    if check in _SHORT:
        name = _SHORT[check]
    elif check in CHECKS:
        name = CHECKS[check].title
    else:
        name = "no attack"
    return name.replace("{attribute}", attribute)


def leak_text(leak: float) -> str:
    """Write a result relative to its limit: "0.72"."""
    return f"{leak:.2f}"


def finding(choice: Choice, *, running: bool = False) -> Finding:
    """Return which model to choose, or what holds the nearest back; what that costs, and what to do.

    `running` is whether more models are still to come.
    """
    side = choice.chosen.judging
    passing = len(choice.eligible)
    evidence = (
        f"On the half that judges: test accuracy {percent(side.accuracy)} (95% CI {interval(side.accuracy)}), "
        f"majority class {percent(side.majority)}. Worst leak: {leak_text(side.leak)} of its limit "
        f"on the people who judge, {leak_text(choice.chosen.choosing.leak)} on those who chose; "
        f"{_leak(side, choice.attribute)}. "
        f"{_leak_comparison(choice)}{_compared(choice, passing)}"
    )
    return Finding(
        point=_point(choice, passing),
        evidence=evidence,
        so_what=_so_what(choice),
        to_do=_to_do(choice),
        caveats=(*cost_of_choosing_texts(choice), *unconsidered_texts(choice, running=running)),
        estimate=side.accuracy,
    )


def _leak_comparison(choice: Choice) -> str:
    """Return how many others leak more than the one chosen for its leak, beyond chance."""
    n = len(choice.candidates) - 1
    more = len(choice.shown_leakier)
    if choice.prefer != "leak" or n == 0:
        return ""
    sentence = f"Others shown to leak more: {more} of {n} (95%, comparisons adjusted for: {n}). "
    return f"{sentence}Others that may differ by chance: {n - more}. "


def _leak(side: Side, attribute: str) -> str:
    """Return the worst leak with its interval: "membership 0.51 (95% CI 0.46 to 0.55), allowed is at most 0.6"."""
    for row in side.verdict.rows:
        estimate = row.attempt.estimate
        if row.check == side.leaking and row.limit is not None and estimate is not None:
            value, ends = estimate_text(row.check, estimate, limit=row.limit.value)
            text = f"{short_check(row.check, attribute)} {value} ({ends.replace(':', ' CI', 1)})"
            return f"{text}, allowed is {row.limit_label}"
    return short_check(side.leaking, attribute)


def _compared(choice: Choice, passing: int) -> str:
    unclear = len(choice.with_status(Status.INCONCLUSIVE))
    within = len(choice.with_status(Status.PASS))
    accurate = ""
    if within:
        accurate = f" Accurate enough of these: {count(passing)}."
    return (
        f"Models compared: {count(len(choice.candidates))}. Within all limits on the half that chooses: "
        f"{count(within)}.{accurate} Inconclusive: {count(unclear)}."
    )


SECTION = "choose"
"""What files call the section of a report that says how its model was chosen."""

_MOST_LISTED = 5
"""Models that a section or sentence names."""


def report_section(choice: Choice, audited: Candidate | None = None) -> StudyFindings:
    """Return how the model was chosen, as a section of its report; `audited` is another one, picked by hand."""
    by_hand = ""
    if audited is not None and audited is not choice.chosen:
        by_policy = candidate_label(choice.chosen)
        by_hand = f"Audited is {candidate_label(audited)}, picked by hand. By the policy it would be {by_policy}. "
    best = [
        f"{candidate.title}: accuracy {percent(candidate.choosing.accuracy)}, worst leak "
        f"{leak_text(candidate.choosing.leak)} of its limit, {VERDICT_TITLES[candidate.choosing.status].lower()}."
        for candidate in choice.candidates[:_MOST_LISTED]
    ]
    compared = Finding(
        point=f"Models compared, the best first on the half that chooses: {count(len(choice.candidates))}.",
        evidence=by_hand + choice_reason(choice),
        caveats=tuple(best),
    )
    return StudyFindings(
        study=SECTION, title="How this model was chosen", findings=(finding(choice), compared)
    )


def _point(choice: Choice, passing: int) -> str:
    name = candidate_label(choice.chosen)
    nearest = "Smallest measured leak" if choice.leaks_least else "Nearest"
    qualities = _qualities(choice)
    if choice.outcome == ChoiceOutcome.RECOMMENDED:
        if choice.leaks_least:
            best = "smallest measured leak"
        else:
            best = "best"
        passing -= sum(
            choice.leaks_least and not candidate.is_complete for candidate in choice.eligible
        )
        among = f"{best} of {passing}" if passing else "nearest, and"
        where = "" if passing else " where it is judged"
        return f"Choose {name}: {among} {', '.join([f'within all limits{where}', *qualities])}."
    enough = ""
    if qualities:
        enough = f" of those {', '.join(qualities)}"
    if choice.outcome == ChoiceOutcome.NOT_CONFIRMED:
        return f"Not confirmed on fresh people: {name}."
    within = choice.with_status(Status.PASS)
    if choice.chosen.constant or any(
        candidate.choosing.accuracy.value >= choice.least_accuracy for candidate in within
    ):
        return f"No useful model is within all limits. {nearest}: {name}."
    if within or not _held_back(choice):
        return f"No model within all limits is accurate enough. {nearest}{enough}: {name}."
    fails = Status.FAIL in (choice.chosen.choosing.status, choice.chosen.judging.status)
    certain = ""
    if choice.with_status(Status.INCONCLUSIVE):
        certain = " for certain"
    return f"No model is within all limits{certain}. {nearest}{enough}: {name}{', which fails' * fails}."


def _qualities(choice: Choice) -> list[str]:
    """Return what the chosen model is, and others are not that measure less leak, or are within all limits as it is."""
    leak = choice.chosen.choosing.leak
    recommended = choice.outcome == ChoiceOutcome.RECOMMENDED
    rivals = [
        candidate
        for candidate in choice.candidates
        if choice.leaks_least and candidate.choosing.leak < leak
    ]
    if recommended:
        rivals += choice.with_status(Status.PASS)
    useful = [candidate for candidate in rivals if candidate.useful(choice.least_accuracy)]
    partly = choice.leaks_least and not all(candidate.is_complete for candidate in useful)
    return ["accurate enough"] * (len(useful) < len(rivals)) + ["measured whole"] * partly


def candidate_label(candidate: Candidate) -> str:
    """Return what a sentence calls a candidate: "exponentiated gradient (tolerance 0.05, depth 4)"."""
    if candidate.points[0].name:
        return candidate.title
    method, *parts = candidate.title.split(", ")
    return f"{method[:1].lower()}{method[1:]} ({', '.join(parts)})"


def _held_back(choice: Choice) -> tuple[CheckVerdict, ...]:
    """Return the required checks that hold the chosen model back, on either half."""
    return choice.chosen.choosing.blocking or choice.chosen.judging.blocking


def _so_what(choice: Choice) -> str:
    useless = "Its accuracy is not shown to be above that of one answer for everybody. "
    return useless * (not _beats_majority(choice.chosen)) + _unfair(choice) + _meaning(choice)


def _beats_majority(candidate: Candidate) -> bool:
    """Whether a candidate is more accurate than one answer for everybody, on both halves."""
    return candidate.choosing.beats_majority and candidate.judging.beats_majority


def _below_majority(choice: Choice) -> str:
    """Say on which half the model is not shown to be more accurate than one answer for everybody; "" if it is."""
    for half, side in (("chooses", choice.chosen.choosing), ("judges", choice.chosen.judging)):
        if not side.beats_majority:
            decimals = change_decimals(side.majority, side.accuracy, side.gain)
            accuracy, majority = (
                percent(rate, decimals=decimals) for rate in (side.accuracy, side.majority)
            )
            return (
                f"On the half that {half}, its accuracy ({accuracy}) is not shown to be above the "
                f"majority class's ({majority}): difference {points(side.gain, decimals=decimals)} "
                f"({point_interval(side.gain)})."
            )
    return ""


def _unfair(choice: Choice) -> str:
    """Return that the one that leaks least is unfair, and which one is next that is not."""
    if not (choice.leaks_least and choice.chosen.unfair):
        return ""
    fair = [
        candidate
        for candidate in choice.candidates
        if candidate.useful(choice.least_accuracy) and not candidate.unfair
    ]
    alternative = ""
    if fair:
        alternative = f"; of those within it and accurate enough, the smallest is that of {candidate_label(fair[0])}"
    return f"Its measured unfairness is above the limit{alternative}. "


def _meaning(choice: Choice) -> str:
    free = choice.unconstrained
    recommended = choice.outcome == ChoiceOutcome.RECOMMENDED
    names = _names(choice, _held_back(choice))
    if recommended or not names:
        obstacles = ""
    else:
        obstacles = f"Held back by: {', '.join(names)}."
    if free is None or free is choice.chosen or not choice.chosen.accuracy_lead(free).n:
        within = f"Its whole interval is within every limit that is judged here, {_where(choice)}."
        if recommended:
            return within
        return obstacles or held_back(choice)
    return f"{obstacles} {_cost(choice.chosen, free)}".strip()


def _where(choice: Choice) -> str:
    """Return on which people a recommended model is within all limits."""
    unclear = _names(choice, choice.chosen.choosing.blocking)
    if not unclear:
        return "on both halves of the people"
    return f"on the half that judges; inconclusive on the half that chooses: {', '.join(unclear)}"


def _cost(chosen: Candidate, free: Candidate) -> str:
    """Return what a model costs in accuracy, on the half that judges, against one without a fairness constraint."""
    lead = chosen.accuracy_lead(free)
    leak = leak_text(free.judging.leak)
    rival = candidate_label(free)
    cost = number_text(-100 * lead.value, ".1f")
    if free.unfair:
        also = "is beyond the unfairness limit"
    else:
        also = f"leaks {leak} of its limit"
    if lead.value >= 0:
        return f"On the half that judges, it costs no accuracy against {rival} ({points(lead)}), which {also}."
    ends = ends_text(-100 * lead.high, -100 * lead.low, ".1f")
    return f"On the half that judges, it costs {cost} points of accuracy (95% CI {ends}) against {rival}, which {also}."


def held_back(choice: Choice) -> str:
    """Return what holds the chosen model back, a limit a sentence."""
    chosen = choice.chosen
    half = "judges"
    side = chosen.judging
    if chosen.choosing.blocking:
        half = "chooses"
        side = chosen.choosing
    sentences = [_against(row, choice.attribute) for row in side.blocking[:2]]
    if sentences:
        first, *rest = sentences
        further = [sentence[:1].upper() + sentence[1:] for sentence in rest]
        sentences = [f"On the half that {half}, {first}", *further]
    listed = _names(choice, side.blocking[:2])
    if unlisted := [name for name in _names(choice, side.blocking) if name not in listed]:
        sentences.append(f"Also held back by: {', '.join(unlisted)}.")
    if choice.chosen.choosing.accuracy.value < choice.least_accuracy:
        sentences.insert(
            0, f"Its accuracy is below the least accepted ({percent(choice.least_accuracy)})."
        )
    if choice.chosen.constant:
        sentences.insert(0, "It gives everybody the same answer, so it decides nothing.")
    elif below := _below_majority(choice):
        sentences.insert(0, below)
    if choice.prefer == "balanced" and not choice.eligible:
        sentences.append(
            f"{PREFERENCES['balanced']} weighs models within all limits; without any, the nearest is named."
        )
    return (
        " ".join(sentences) or "Its limits hold where it was chosen, and not where it was judged."
    )


def _against(row: CheckVerdict, attribute: str) -> str:
    name = short_check(row.check, attribute)
    estimate = row.attempt.estimate
    if estimate is None or row.limit is None:
        return f"{name}: {row.why}"
    value, ends = estimate_text(row.check, row.decided or estimate, limit=row.limit.value)
    adjusted = ""
    if row.decided and row.decided.level > estimate.level:
        adjusted = ", adjusted for several limits"
    ends = ends.replace(":", " CI", 1) + adjusted
    if row.verdict == Status.FAIL:
        does = "is beyond its limit"
    else:
        does = f"is {VERDICT_TITLES[row.verdict].lower()}"
    return f"{name} {value} ({ends}) {does}: allowed is {row.limit_label}."


def _to_do(choice: Choice) -> str:
    if choice.outcome == ChoiceOutcome.RECOMMENDED:
        advice = "Audit it whole before you sign: its Report has the attacks that are not run here."
        best = choice.chosen.choosing.accuracy.value
        unclear = sum(
            candidate.choosing.accuracy.value > best
            for candidate in choice.with_status(Status.INCONCLUSIVE)
        )
        more = f" Models more accurate but inconclusive: {count(unclear)}. More test records may settle this."
        return advice + more * bool(unclear)
    if choice.chosen.points[0].name:
        return _other_models(choice)
    if choice.chosen.constant:
        return instead_of_constant(choice.chosen.points[0].config.method)
    if not _beats_majority(choice.chosen):
        return "Try other methods, depths or features, or test on more people: one answer for everybody may do as well."
    held = {row.check for row in _held_back(choice)}
    if not held:
        return "Accept a lower accuracy, or try other methods and depths."
    blocking = (*choice.chosen.choosing.blocking, *choice.chosen.judging.blocking)
    if all(row.verdict == "inconclusive" for row in blocking):
        return f"It exceeds no limit for certain: its intervals are too wide. {_settling(choice)}"
    if held & {"unfairness", "four_fifths"}:
        if choice.chosen.points[0].config.method == "unmitigated":
            return "Take a model with a fairness constraint, or test on more people."
        return "Try stricter tolerances, or test on more people: unclear results often need more test records."
    return "Try smaller depths or a private tree, or release fewer digits; then choose again."


def _settling(choice: Choice) -> str:
    """Return what would settle the inconclusive check that takes most records."""
    chosen = choice.chosen
    sides = (("chooses", chosen.choosing), ("judges", chosen.judging))
    half, hardest = max(
        ((half, row) for half, side in sides for row in side.blocking),
        key=lambda pair: _times(pair[1]),
    )
    name = short_check(hardest.check, choice.attribute)
    more = next_step(hardest, table=True)
    return f"The hardest limit to settle is {name}, on the half that {half}. {more}"


def _times(row: CheckVerdict) -> float:
    if row.decided is None or row.limit is None:
        return 0.0
    return times_more_records(row.decided, row.limit.value)


def _other_models(choice: Choice) -> str:
    """Return what to do where answers are given, so that nothing can be trained."""
    if len(choice.candidates) == 1:
        advice = (
            "Ask for predictions of other models as further columns (role Leave out), then "
            "tick them under Columns."
        )
    else:
        advice = "Ask for other models, such as fairer or simpler ones, and compare them too."
    unclear = choice.chosen.choosing.status == Status.INCONCLUSIVE
    return advice + " More test records may settle what is inconclusive." * unclear


def choice_reason(choice: Choice) -> str:
    """Return why this model and not the next: what passes, what the more accurate ones fail, and the lead."""
    chosen = choice.chosen
    if choice.outcome != ChoiceOutcome.RECOMMENDED:
        judging_verdict = f" On the half that judges, its verdict is: {VERDICT_TITLES[chosen.judging.status].lower()}."
        return held_back(choice) + judging_verdict * bool(chosen.choosing.blocking)
    required = sum(row.is_decisive for row in chosen.judging.verdict.rows)
    sentences = [f"Required checks: Pass {required} of {required} {_where(choice)}."]
    better = [
        c for c in choice.candidates if c.choosing.accuracy.value > chosen.choosing.accuracy.value
    ]
    nearest = min(better, key=lambda candidate: candidate.choosing.accuracy.value, default=chosen)
    if nearest is not chosen and nearest.choosing.status != Status.PASS:
        names = _names(choice, nearest.choosing.blocking)
        does = {Status.FAIL: "fails on", Status.INCONCLUSIVE: "is inconclusive on"}
        word = does.get(nearest.choosing.status, "was not measured on")
        sentences.append(
            f"The next more accurate model ({percent(nearest.choosing.accuracy)}) {word} {', '.join(names[:2])}."
        )
    if (runner_up := choice.runner_up) is not None and (lead := chosen.accuracy_lead(runner_up)).n:
        chance = lead.low <= 0.0 <= lead.high
        fair = ""
        if chance:
            fair = " Not significant, so that one is a fair choice too."
        sentences.append(
            f"The recommended model's lead over {candidate_label(runner_up)}: {points(lead)} "
            f"({point_interval(lead)}).{fair}"
        )
    return " ".join(sentences)


def cost_of_choosing_texts(choice: Choice) -> tuple[str, ...]:
    """Return what choosing among many costs: how the best flatters itself, and the privacy budget of the choice."""
    k = len(choice.eligible)
    sentences = []
    if k > 1 and choice.prefer != "leak":
        better = number_text(100 * choice.selection_optimism, ".1f")
        sentences.append(
            f"Choosing the best of {k} flatters its accuracy by about {better} points, on the half that chooses. "
            "Its test accuracy is from the half that judges."
        )
    private = sum(
        p.config.method in PRIVATE_METHODS
        for candidate in choice.candidates
        for p in candidate.points
    )
    if private > 1:
        sentences.append(
            f"Private trees trained on these records: {count(private)}. A choice among them costs "
            f"ε = {epsilon_text(choice.spent)} together (basic composition)."
        )
        sentences.append(
            f"ε = {epsilon_text(choice.spent)} does not cover the attacks' numbers: they have no DP noise."
        )
    return tuple(sentences)


def unconsidered_texts(choice: Choice, *, running: bool = False) -> tuple[str, ...]:
    """Return what was not measured, not tried or not considered, such as the release of two models."""
    sentences = []
    if not all(candidate.points[0].name for candidate in choice.candidates):
        sentences.append(
            "Depth: levels of the decision trees trained here; your own model may be of another kind."
        )
    if (
        not running
        and len(choice.candidates) > 1
        and all(
            len(candidate.points) == 1 and not candidate.points[0].name
            for candidate in choice.candidates
        )
    ):
        sentences.append(
            "One seed a model: with another the order can change. Set more under Sweep settings."
        )
    if same := sum(candidate.constant for candidate in choice.candidates):
        sentences.append(f"Models never recommended, the same answer for everybody: {count(same)}.")
    if below := sum(
        not candidate.constant and not _beats_majority(candidate) for candidate in choice.candidates
    ):
        why = "not shown to be more accurate than one answer for everybody (95%)"
        sentences.append(f"Models never recommended, {why}: {count(below)}.")
    if choice.fair_and_biased:
        sentences.append(WARNING)
    if choice.left_out:
        names = "; ".join(check_title(name, choice.attribute) for name in choice.left_out)
        sentences.append(f"Not measured for candidates: {names}.")
    for check in dict.fromkeys(
        check for candidate in choice.candidates for check in candidate.missing
    ):
        labels = [
            candidate_label(candidate)
            for candidate in choice.candidates
            if check in candidate.missing
        ]
        listed = "; ".join([*labels[:_MOST_LISTED], *["others"] * (len(labels) > _MOST_LISTED)])
        what = short_check(check, choice.attribute)
        sentences.append(
            f"Not measured, so that the worst leak is without it: {what}, for {listed}."
        )
    if choice.untried:
        if running:
            which = "still to come"
        else:
            which = "not tried for this choice"
        sentences.append(f"Models {which}: {count(choice.untried)} of {count(choice.planned)}.")
    return tuple(sentences)


def _names(choice: Choice, rows: Iterable[CheckVerdict]) -> list[str]:
    return list(dict.fromkeys(short_check(row.check, choice.attribute) for row in rows))


def order_texts(choice: Choice) -> tuple[str, str]:
    """Return a title for the table of candidates that says their order, and the order in full."""
    last = "; last those that are not accurate enough"
    if choice.prefer == "leak":
        full = "those within all limits, then the others, each by worst leak"
        return "Models, smallest leak first", full + last
    full = (
        "those within all limits by accuracy, then those whose intervals reach least beyond a limit"
    )
    return "Models, nearest to the limits first", full + last


def rows(choice: Choice) -> tuple[Row, ...]:
    """Return the candidates in their order, as they are on the half that chooses and on the half that judges."""
    return tuple(_row(choice, candidate) for candidate in choice.candidates)


def _row(choice: Choice, candidate: Candidate) -> Row:
    is_chosen = candidate is choice.chosen
    chosen = "chosen" if is_chosen else ""
    cells: dict[str, Any] = {
        "Model": candidate.title,
        "Choice": chosen,
        "Verdict": VERDICT_TITLES[candidate.choosing.status],
        "Accuracy": share(candidate.choosing.accuracy),
        "Worst leak": round(candidate.choosing.leak, 3),
        "Attack": short_check(candidate.choosing.leaking, choice.attribute),
        "Held back by": ", ".join(_obstacles(choice, candidate)),
    }
    if choice.prefer == "leak":
        cells["Leaks more"] = "shown" if candidate in choice.shown_leakier else ""
    if is_chosen:
        cells["Judged"] = VERDICT_TITLES[candidate.judging.status]
        cells["Judged accuracy"] = share(candidate.judging.accuracy)
    cells["Seeds"] = len(candidate.points)
    return cells


def _obstacles(choice: Choice, candidate: Candidate) -> list[str]:
    """Return what keeps a candidate from being recommended on the half that chooses."""
    names = _names(choice, candidate.choosing.blocking)
    if candidate.constant:
        return ["same answer", *names]
    if not candidate.choosing.beats_majority:
        return ["majority class", *names]
    return names


def numbers(choice: Choice) -> tuple[Row, ...]:
    """Return every number of every candidate, by half and check."""
    return tuple(
        {
            "Model": candidate.title,
            "Half": half,
            "Check": row.check,
            "Value": Quantity(row.attempt.estimate),
            "Limit": row.limit.value,
            "Verdict": VERDICT_TITLES[row.verdict],
        }
        for candidate in choice.candidates
        for half, side in (("chooses", candidate.choosing), ("judges", candidate.judging))
        for row in side.verdict.rows
        if row.limit is not None
    )
