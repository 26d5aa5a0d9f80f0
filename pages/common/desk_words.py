"""The sentences of the query desk."""

from __future__ import annotations

from core.desk import LedgerAnswer, LedgerStatus, LoggedAnswer, Quote, Registration, Verification
from core.desk.prices import EXACT, count_price, gap_title, older_form
from core.estimates import count, gap
from pages.common.shell import escape

STORED = (
    "The ledger is the only thing written to disk. It holds names, prices, who asked what and when, the predictions "
    "asked about and the noisy answers, but nobody's attribute. Files you add stay in this session's memory. Whoever "
    "can reach this page is trusted with the attribute: developers hand in predictions, the compliance team runs the "
    "desk. Unless FAIRLEAK_LEDGER pins the ledger's place, they can have the server open any file or database it "
    "reaches."
)

GUIDE = (
    "Developers who must not know a sensitive attribute still need to hear how fair their model is. The desk answers "
    "them from one **lifetime budget** ε for a test set and an attribute, whoever asks. Everything it ever tells "
    "together is ε-differentially private: whatever one person's attribute is, no answer becomes more than e^ε times "
    "as likely (e^2ε for readers who know the group sizes). A budget cannot be raised, and people with the same "
    "identifiers cannot be registered for the same attribute again, however these are written: case, blanks, accents, "
    "look-alike letters and zeros before a number do not count. A part of the people is not recognised.\n\n"
    "**How an answer is made.** Noise is added to the sum of the disadvantaged group's scores; the group's noisy size "
    "was paid for at registration (for equal opportunity, with the first question). The gap, advantaged minus "
    "everybody else, and its 95% interval follow from these public numbers alone. Half the ε means twice the noise.\n\n"
    "**What is free.** A question asked before, its complement, and whatever is a weighted sum of answered questions "
    "follow from the past, and cost nothing. A question about the registered file is refused for its price only, never "
    "for what its answer would be. It offers a thousandth of the budget at least.\n\n"
    "**Who runs it.** Whoever can reach this page, or the command, is trusted with the attribute, and could try "
    "guesses of it as test-set files. A file about the registered people that is not the registered one goes on "
    "record; after 20 within a day no file is looked at until a day has passed.\n\n"
    "**What is on record.** Each answer is charged and written before anybody sees it, and sealed by a hash over all "
    "entries before it. Note the last hash elsewhere: an export that does not contain it was written anew. Whoever can "
    "read the ledger itself holds the key of its seals and is trusted with the attribute; an export holds no key. "
    "Refused questions leave no trace in the ledger; those of this session are counted here."
)


def moment(time: str) -> str:
    """Write a time of the ledger as "2026-11-21 08:30 UTC"."""
    return f"{time[:10]} {time[11:16]} UTC"


def _epsilon(value: float) -> str:
    return f"ε\N{NO-BREAK SPACE}{value:g}"


def example(status: LedgerStatus, worst: float) -> tuple[str, str]:
    """Return the finding of the example shown while there is no ledger."""
    point = (
        f"An example: four questions about {count(status.registration.n_people)} invented people cost "
        f"{_epsilon(status.spent)}, and every answer is right to within {worst:.3f}."
    )
    quantity = (
        "Two were paid for, two followed from them and were free. Of a "
        f"lifetime budget of {_epsilon(status.registration.budget)}, {_epsilon(status.remaining)} is left. Computed "
        "now, in memory, on the built-in demo."
    )
    return point, quantity


def example_story(budget: float) -> str:
    """Say in a few sentences what the desk is for."""
    return (
        "Developers hand in predictions and hear how much a model's mean score differs between two groups, with noise "
        f"that hides each person's attribute. All answers share one budget (here {_epsilon(budget)}), which is charged "
        "before an answer is shown and cannot be raised. Open a ledger, or create one, to begin."
    )


def finding(status: LedgerStatus) -> tuple[str, str]:
    """Return the finding of a test set: its latest answer, or its budget while there is none."""
    made, left = status.registration, _epsilon(status.remaining)
    name = escape(made.name)
    budget = f"{left} of {made.budget:g} is left for {name}."
    if not status.answers:
        group = made.n_disadvantaged
        size, low, high = (count(round(x)) for x in (group.value, group.low, group.high))
        return (
            f"{left} of {made.budget:g} is left for {name}; nothing was asked yet.",
            f"{count(made.n_people)} people, registered {moment(made.registered)}. Their noisy count of the "
            f"disadvantaged group, {size} (95%: {low} to {high}), cost {_epsilon(made.count_epsilon)}.",
        )
    last = status.answers[-1]
    return _point(last), f"{_circumstances(last, made)} {budget}"


def _point(last: LoggedAnswer) -> str:
    found, low, high = (gap(value) for value in (last.gap.value, last.gap.low, last.gap.high))
    cost = "free of charge" if last.charged == 0 else f"for {_epsilon(last.charged)}"
    if last.gap.low <= 0 <= last.gap.high:
        return f"The last answer, {found} {cost}, cannot be told from no gap ({low} to {high})."
    return f"The last answer: a gap of {found}, between {low} and {high}, {cost}."


def _circumstances(last: LoggedAnswer, made: Registration) -> str:
    advantaged = escape(made.columns.advantaged or "advantaged group")
    return (
        f"{gap_title(last.metric)}, {advantaged} minus everybody else, over {count(last.gap.n)} people of "
        f"{escape(made.name)}; 95% interval on a scale from −1 to 1. Asked by {escape(last.asker)}, "
        f"{moment(last.asked)}."
    )


def row(answer: LoggedAnswer) -> str:
    """Name an answer in the chart."""
    return f"{gap_title(answer.metric)}, {answer.asker}"


def told_budget(status: LedgerStatus, refused: int) -> str:
    """Say what a budget was spent on."""
    free = sum(answer.from_past for answer in status.answers)
    told = f"{len(status.answers)} answered" + (f", {free} of them free" if free else "")
    wrong = f", {_many(status.wrong_files, 'wrong file', 'wrong files')} tried" if status.wrong_files else ""
    form = f"; {older}" if (older := older_form(status.registration.form)) else ""
    return told + wrong + (f", {refused} refused in this session" if refused else "") + form


def price_of_size(budget: float) -> str:
    """Say what registering costs at once."""
    return (
        f"The noisy size of the disadvantaged group costs a tenth of it at once, {_epsilon(round(budget / 10, 6))}. A "
        "budget is for a lifetime: it cannot be raised, and these people cannot be registered for this attribute again."
    )


def drawn(answers: int, most: int) -> str:
    """Say what the chart of answers shows."""
    part = f" The last {most} of {count(answers)}." if answers > most else ""
    return f"Gap with its 95% interval, latest first.{part} Diamond: free, from earlier answers"


def price(quote: Quote, epsilon: float) -> tuple[str, str]:
    """Return what a question costs at the price on the slider, and what it leaves."""
    if quote.from_past:
        stays = f"Nothing is charged; {_epsilon(quote.remaining)} stays."
        if quote.standard_error > EXACT:
            stays += (
                f" This is what earlier answers tell, accurate to about ±{quote.standard_error:.4f}, and not a new "
                f"answer at {_epsilon(epsilon)}: for a fresh look at that price turn on the switch above."
            )
        return "Free: the past answers it", stays
    left = round(quote.remaining - quote.charged, 6)
    after = f"{_epsilon(quote.remaining)} is left now, {_epsilon(left)} afterwards."
    return f"Costs {_epsilon(quote.charged)}", "" if quote.refused else after


def counted(charged: float, epsilon: float) -> str:
    """Say what a price is made of, where the count of a group is in it; "" otherwise."""
    size = count_price(charged, epsilon)
    if not size:
        return ""
    return (
        f"{_epsilon(round(charged - size, 6))} for the answer, and {_epsilon(size)}, once, for the noisy size of the "
        "group among people with the good outcome."
    )


def sure(quote: Quote) -> str:
    """Ask for a decision of its own where much is spent."""
    return f"Yes, spend {_epsilon(quote.charged)} of the {_epsilon(quote.remaining)} that is left"


def coarse(quote: Quote, epsilon: float) -> str:
    """Say that paying would tell far more."""
    return (
        f"The past knows this coarsely. A fresh look for {_epsilon(epsilon)} would have a typical error of "
        f"±{quote.fresh_error or 0:.4f}."
    )


def button(quote: Quote | None) -> str:
    """Name the button by what it costs."""
    if quote is None:
        return "Ask"
    return "Ask, free" if quote.charged == 0 else f"Ask for {_epsilon(quote.charged)}"


def expected(quote: Quote) -> tuple[str, str]:
    """Return about how far an answer would be from the truth."""
    error = quote.standard_error
    if error > 1:
        return (
            "Typical error above 1",
            "The answer would say nothing: a gap lies between −1 and 1. Pay more, or ask about more people.",
        )
    return (
        f"Typical error ±{error:.4f}",
        "On a scale from −1 to 1. The answer comes with its 95% interval, which may be wider on one side.",
    )


def answered(answer: LedgerAnswer, epsilon: float) -> str:
    """Say the answer beside the button, and what its price was made of."""
    told = f"{_found(answer)}, entry {answer.number} of the ledger; {_epsilon(answer.remaining)} is left."
    made_of = counted(answer.charged, epsilon)
    return f"{told}\n\n{made_of}" if made_of else told


def last_answer(answer: LedgerAnswer) -> str:
    """Say the last answer under another question."""
    short = gap_title(answer.metric)
    return f"Last answer, to question {answer.number} ({short}, {escape(answer.asker)}): {_found(answer)}."


def _found(answer: LedgerAnswer) -> str:
    assert answer.gap is not None
    cost = "at no cost" if answer.charged == 0 else f"for {_epsilon(answer.charged)}"
    return f"**{gap(answer.gap.value)}** ({gap(answer.gap.low)} to {gap(answer.gap.high)}) {cost}"


def _many(number: int, one: str, many: str) -> str:
    return f"{count(number)} {one if number == 1 else many}"


def holds(found: Verification, file: str) -> tuple[bool, str]:
    """Return whether an export holds, and a sentence with the verdict."""
    if not found.ok:
        good = f" The first {count(found.n_entries)} entries are good." if found.n_entries else ""
        return False, f"{found.reason or 'The export does not hold.'}{good}"
    entries = _many(found.n_entries, "entry", "entries")
    answers = _many(sum(budget.n_answers for budget in found.budgets), "answer", "answers")
    budgets = _many(len(found.budgets), "budget", "budgets")
    return True, (
        f"{file} holds: {entries}, {answers}, {budgets}, none overspent. Its last hash is {found.seal or ''}."
        + "".join(f" {one.name}: {told}." for one in found.budgets if (told := older_form(one.form)))
    )
