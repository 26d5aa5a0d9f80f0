"""What the desk says, worded once for page and command: prices, answers, budgets, and the check of an export.

Nothing here looks at noise; prices are public, and values are shown to people with the test set's file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..datasets.columns import as_text, quoted
from ..datasets.dataset import Table
from ..datasets.roles import Roles
from ..stats.estimates import at_most, count, gap, number_text, percent
from ..studies.model_card.meter import accuracy_under
from ..studies.study import Finding
from .books import ExportVerification, LedgerAnswer, LedgerStatus, Quote
from .noise import epsilon_amount

EXACT = 1e-6
"""An answer this close to the truth gains nothing from a new one: only constant predictions are."""

_STEPS = (1, 2, 3, 5, 7)

_MOST_VALUES = 6
"""Values of the disadvantaged group that a sentence names."""

_LABEL_GAPS = {
    "statistical_parity": "Statistical parity gap",
    "equal_opportunity": "Equal opportunity gap",
}
_SCORE_GAPS = {
    "statistical_parity": "Difference of mean scores",
    "equal_opportunity": "Difference of mean scores, positive label",
}

FREE = "no charge: reveals nothing new"

SHARED = (
    "Noise in each answer protects every person. All answers share one privacy budget, charged before the answer is "
    "shown."
)


def gap_title(metric: str, *, labels: bool = False) -> str:
    """Return what an answer is: of scores a difference of their means, of labels (0 or 1) the gap of that name.

    The ledger does not keep what it was asked about; of labels the difference of their means is the same number.
    """
    if labels:
        return _LABEL_GAPS[metric]
    return _SCORE_GAPS[metric]


def advantaged(roles: Roles) -> str:
    """Values of the advantaged group."""
    return ", ".join(quoted(value) for value in roles.group or ("1",))


def everybody_else(table: Table, roles: Roles) -> dict[str, int]:
    """Count the people with each value that is not an advantaged one, the most frequent first."""
    sizes = as_text(table.frame[roles.sensitive]).value_counts()
    return {str(value): int(size) for value, size in sizes.items() if str(value) not in roles.group}


def together(sizes: Mapping[str, int]) -> str | None:
    """Name the values that are taken together, with their people; None if there is only one."""
    if len(sizes) < 2:
        return None
    parts = [f"{count(n)} {quoted(value)}" for value, n in list(sizes.items())[:_MOST_VALUES]]
    if len(sizes) > _MOST_VALUES:
        remaining = list(sizes.values())[_MOST_VALUES:]
        parts.append(f"{count(sum(remaining))} with {len(remaining)} more values")
    return ", ".join(parts)


def prices(remaining: float, *, least: float) -> tuple[float, ...]:
    """Return round prices over two decades up to what remains, the last one; () if less remains than `least`."""
    if remaining < least:
        return ()
    top = math.floor(math.log10(remaining))
    grid = (round(step * 10.0**power, 6) for power in range(top - 3, top + 1) for step in _STEPS)
    return (
        *sorted({price for price in grid if max(least, remaining / 200) <= price < remaining}),
        remaining,
    )


def suggested_price(remaining: float, *, least: float) -> float:
    """Return the round price nearest to a twentieth of what remains."""
    return min(
        prices(remaining, least=least) or (least,), key=lambda price: abs(price - 0.05 * remaining)
    )


def counted(charged: float, epsilon: float) -> str:
    """Say what a price is made of, where the count of a group is in it; "" otherwise."""
    size = round(max(charged - epsilon, 0.0), 6)
    if not size:
        return ""
    return (
        f"{_epsilon(round(charged - size, 6))} for the answer, and {_epsilon(size)}, once, for the noisy size of the "
        "group among people with a positive label."
    )


def price(quote: Quote, epsilon: float) -> tuple[str, str]:
    """Return what a question costs at a price, and what it leaves."""
    if quote.from_past:
        stays = f"Nothing is charged; {_epsilon(quote.remaining)} stays."
        old = earlier(quote.standard_error, epsilon)
        return f"Free ({FREE})", f"{stays} {old}".rstrip()
    left = ""
    if not quote.refused:
        remaining = _epsilon(round(quote.remaining - quote.charged, 6))
        left = f"{_epsilon(quote.remaining)} is left now, {remaining} afterwards."
    return f"Costs {_epsilon(quote.charged)}", left


def earlier(error: float, epsilon: float) -> str:
    """Say that a free answer is an old one; exact ones have no need of it."""
    if error <= EXACT:
        return ""
    return f"Earlier answers give it to about ±{error_text(error)}; it is not a new answer at {_epsilon(epsilon)}."


def coarse(quote: Quote, epsilon: float) -> str:
    """Say that paying would tell far more."""
    error = error_text(quote.fresh_error or 0.0)
    return f"A new noisy answer for {_epsilon(epsilon)} would have a typical error of ±{error}."


def expected(quote: Quote) -> tuple[str, str]:
    """Return about how far an answer would be from the truth."""
    if quote.standard_error >= 1:
        return (
            "Typical error 1 or more",
            "The answer would say nothing: a gap lies between −1 and 1. Pay more, or ask about more people.",
        )
    return (
        f"Typical error ±{error_text(quote.standard_error)}",
        "On a scale from −1 to 1. The answer comes with its 95% CI, which may be wider on one side.",
    )


def button(quote: Quote | None) -> str:
    """Name the button by what it costs."""
    if quote is None:
        return "Ask"
    if quote.charged == 0:
        return "Ask, free"
    return f"Ask for {_epsilon(quote.charged)}"


def sure(quote: Quote) -> str:
    """Ask for a decision of its own where much is spent."""
    return f"Yes, spend {_epsilon(quote.charged)} of the {_epsilon(quote.remaining)} that is left"


def price_of_size(budget: float) -> str:
    """Say what registering costs at once."""
    return (
        f"The noisy size of the disadvantaged group costs a tenth of it at once, {_epsilon(round(budget / 10, 6))}. "
        "The budget is total: it cannot be increased, and these people cannot be registered for this attribute again."
    )


def answered(answer: LedgerAnswer, epsilon: float) -> str:
    """Say the answer beside the button, and what its price was made of."""
    sentence = f"{_gap_and_cost(answer)}, entry {answer.number} of the ledger; {_epsilon(answer.remaining)} is left."
    made_of = counted(answer.charged, epsilon)
    if made_of:
        return f"{sentence}\n\n{made_of}"
    return sentence


def last_answer(answer: LedgerAnswer) -> tuple[str, str]:
    """Return, under another question, which one the last answer was to, and the answer."""
    return f"Last answer, to question {answer.number} ({row(answer)}):", f"{_gap_and_cost(answer)}."


def _gap_and_cost(answer: LedgerAnswer) -> str:
    if answer.charged == 0:
        cost = "at no charge"
    else:
        cost = f"for {_epsilon(answer.charged)}"
    return f"**{gap(answer.gap.value)}** ({gap(answer.gap.low)} to {gap(answer.gap.high)}) {cost}"


def example(status: LedgerStatus, worst: float) -> Finding:
    """Return the finding of the example shown while there is no ledger."""
    largest_error = number_text(worst, ".3f")
    charged = status.spent - status.count_epsilon
    return Finding(
        point=f"Example: a group size and 3 fairness queries about {count(status.n_people)} synthetic people "
        f"used {_epsilon(status.spent)} of {epsilon_amount(status.budget)}; the largest error was "
        f"{largest_error}.",
        evidence=f"Group size {_epsilon(status.count_epsilon)}, 2 queries {_epsilon(charged)} together, 1 asked "
        "before and free. Computed in memory on the demo.",
        so_what=SHARED,
        to_do="Create or open a ledger below. Developers then submit predictions and receive noisy gaps.",
    )


def finding(status: LedgerStatus) -> Finding:
    """Return the finding of a test set: its latest answer, or its budget while there is none."""
    left = _epsilon(status.remaining)
    budget = f"{left} of {epsilon_amount(status.budget)} is left for {status.name}"
    if not status.answers:
        group = status.n_disadvantaged
        size, low, high = (count(round(x)) for x in (group.value, group.low, group.high))
        return Finding(
            point=f"{budget}; no query was asked yet.",
            evidence=f"{count(status.n_people)} people, registered {moment(status.registered)}. "
            f"The noisy size of the disadvantaged group, {size} (95% CI {low} to {high}), "
            f"cost {_epsilon(status.count_epsilon)}.",
            so_what=SHARED,
            to_do="Ask the first query below, with a file of predictions.",
        )
    last = status.answers[-1]
    estimate, low, high = (gap(value) for value in (last.gap.value, last.gap.low, last.gap.high))
    if last.charged == 0:
        cost = FREE
    else:
        cost = f"for {_epsilon(last.charged)}"
    none = last.gap.low <= 0 <= last.gap.high
    if none:
        answer = f", {estimate}, is not significantly different from no gap"
    else:
        answer = f" is a gap of {estimate}"
    first_group = " or ".join(status.roles.group) or "advantaged group"
    return Finding(
        point=f"The last answer{answer} (95% CI {low} to {high}; {cost}).",
        evidence=f"{gap_title(last.metric)}, {first_group} minus everybody else, over {count(last.gap.n)} people of "
        f"{status.name}, on a scale from −1 to 1. Asked by {last.asker}, {moment(last.time)}. {budget}.",
        so_what=SHARED,
        to_do="Choose ε for the next answer: a larger ε gives a smaller error and leaves less for later queries.",
    )


def budget_text(status: LedgerStatus, refused: int = 0) -> str:
    """Say what a budget was spent on."""
    free = sum(answer.from_past for answer in status.answers)
    numbers = {
        "Of these free": free,
        "Test-set files rejected": status.wrong_files,
        "Refused in this session": refused,
    }
    parts = [f"{title} {number}" for title, number in numbers.items() if number]
    return " · ".join([f"Answered {len(status.answers)}", *parts])


def ceiling(status: LedgerStatus) -> str:
    """Say what no attacker can exceed about a person, of what is spent and of the whole budget."""
    spent = status.spent
    budget = status.budget
    how = f"{_epsilon(spent)} spent; {_of(2 * spent)} if the attacker knows the group sizes"
    now = at_most(_share(spent), how, of=" accuracy about a person")
    later = f"Once the budget is spent: {_of(budget)}, and {_of(2 * budget)} with the sizes."
    return f"{now} {later} A prior that gives more by itself is the ceiling."


def _share(epsilon: float) -> float:
    return accuracy_under([0.5], epsilon)


def _of(epsilon: float) -> str:
    return percent(_share(epsilon))


def verified(verification: ExportVerification, name: str) -> str:
    """Say whether an export passes verification, and what is in it."""
    if not verification.ok:
        good = ""
        if verification.n_entries:
            good = f" Good entries before: {count(verification.n_entries)}."
        return f"{verification.reason or 'Verification failed.'}{good}"
    answers = sum(len(budget.answers) for budget in verification.budgets)
    return (
        f"Verification of {name} passed. Entries {count(verification.n_entries)} · Answers {count(answers)} · "
        f"Budgets {count(len(verification.budgets))} · Overspent 0. Its last hash is {verification.seal or 'none'}."
    )


def row(answer: LedgerAnswer) -> str:
    """Name an answer in the chart."""
    return f"{gap_title(answer.metric)}, {answer.asker}"


def moment(time: str) -> str:
    """Write a time of the ledger as "2026-11-21 08:30 UTC"."""
    return f"{time[:10]} {time[11:16]} UTC"


def sides(status: LedgerStatus) -> str:
    """Say who is compared with whom."""
    return f"{advantaged(status.roles)} (advantaged) with everybody else"


def error_text(error: float) -> str:
    """Write the standard error of a gap: "0.0123"."""
    return number_text(error, ".4f")


def _epsilon(value: float) -> str:
    return f"ε\N{NO-BREAK SPACE}{epsilon_amount(value)}"
