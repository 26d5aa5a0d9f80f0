"""``fairleak desk``: the desk that answers fairness queries within a total privacy budget."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from ..base.errors import InputError
from ..base.files import check_writable, content_of
from ..base.settings import values_of
from ..base.settings_text import add_arguments as add_settings
from ..base.settings_text import from_arguments
from ..datasets.dataset import Table
from ..datasets.roles import Roles
from ..desk import (
    AskSettings,
    Ledger,
    LedgerAnswer,
    LedgerStatus,
    Quote,
    RegisterSettings,
    default_ledger,
    desk_roles,
    input_facts,
    open_ledger,
    people_table,
    predictions_of,
    roles_in,
    suggested_roles,
    test_set_of,
    verify_export,
)
from ..desk.findings import (
    FREE,
    ceiling,
    counted,
    earlier,
    error_text,
    everybody_else,
    gap_title,
    sides,
    together,
    verified,
)
from ..desk.noise import epsilon_amount, epsilon_of, millionths
from ..stats.estimates import Quantity, count, number_text
from .arguments import Action, add_path
from .console import Console, table

DESCRIPTION = """\
A desk for a compliance team. Developers without access to a sensitive attribute hand in predictions for a registered
test set and get the gap between the groups, with noise that protects each person's attribute (differential privacy).
All answers about one test set and attribute share one total budget (epsilon), which cannot be increased. A question
with an earlier answer costs nothing. The ledger never holds the attribute, so each question needs the test set's file
again.

Everybody who can run this command, or reach the desk's page, is trusted with the attribute: developers hand in files of
predictions, the compliance team runs the desk. A file about the registered people that is not the registered one is put
on record."""

EPILOG = """\
an example:
  fairleak desk register loans --test-set people.csv --id person --attribute sex --advantaged Male --budget 2
  fairleak desk ask loans --test-set people.csv --predictions model.csv --answer-epsilon 0.2 --asker "team A, model 7"
  fairleak desk status loans
  fairleak desk export ledger.jsonl
  fairleak desk verify ledger.jsonl --noted HASH

A budget of epsilon changes anybody's odds of inferring one person's attribute by at most a factor of e^epsilon (its
square if the true group sizes are known): 1 is cautious, 10 is not. An answer's standard error is about
0.7 x (1/N0 + 1/N1) / epsilon in groups of N0 and N1 people. It is larger if the count was cheap, or if a model selects
nearly all or nobody. ask --quote gives it beforehand, at no charge. A question costs at least 1/1000 of the budget.

verify checks the chain of hashes, adds up every budget, and computes every gap and standard error again from the
released numbers. The bounds of the intervals, the totals of the scores and the reach of the noise follow from the
predictions, which are not in an export, and are taken as written.

The first question about equal opportunity costs its --answer-epsilon and, once, the price of the noisy size of the
group among the people with a positive label: as much as the size of the whole group cost at registration. A question
with an earlier answer is free at any --answer-epsilon; it gets its most precise answer so far. --fresh pays for a new
noisy answer.

Everybody without the --advantaged value is one group; register lists the values taken together. The record has no field
for the model: --asker should have it besides the asker, as in "team A, model 7".

people.csv has a line a person: identifier, attribute, and if wanted the true label. model.csv has a line a person, in
any order: the same identifier, and a score in [0, 1].

exit codes: 0 done or pass, 1 refused because the budget does not suffice (ask) or fail (verify), 3 input that cannot
be used."""

_LEDGER_HELP = (
    "File of the ledger, or postgresql://user@host/database for several machines (default: $FAIRLEAK_LEDGER, or else a "
    "file in your data folder)."
)


_ADVANTAGED = "Value of the advantaged group; everybody else is the other one. Not needed if the column holds 1 and 0."


def _add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="PLACE", help=_LEDGER_HELP)


def _add_register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="Name of the test set, for askers.")
    add_path(
        parser, "--test-set", required=True, help="CSV or Parquet file with a record a person."
    )
    parser.add_argument(
        "--attribute", required=True, metavar="COLUMN", help="Column of the sensitive attribute."
    )
    parser.add_argument("--advantaged", metavar="VALUE", help=_ADVANTAGED)
    parser.add_argument(
        "--id", metavar="COLUMN", help="Column of the people's identifiers (default: a guess)."
    )
    label = "Column of the true outcome, for equal opportunity; it counts as public."
    parser.add_argument("--label", metavar="COLUMN", help=label)
    positive = "Positive value of the true outcome; not needed if the column holds 1 and 0."
    parser.add_argument("--positive", metavar="VALUE", help=positive)
    add_settings(parser, RegisterSettings)
    _add_ledger(parser)


def _add_ask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="Registered test set.")
    add_path(parser, "--test-set", required=True, help="File of its registration.")
    add_path(parser, "--predictions", required=True, help="CSV: identifier and score.")
    parser.add_argument(
        "--score", metavar="COLUMN", help="Column of the scores, if the file has further columns."
    )
    add_settings(parser, AskSettings)
    asker = 'Asker and model, for the record ("team A, model 7"); required unless --quote is given.'
    parser.add_argument("--asker", metavar="WHO", help=asker)
    parser.add_argument(
        "--quote", action="store_true", help="Only the price and the precision, at no charge."
    )
    _add_ledger(parser)


def _add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="One registration (default: all of them)."
    )
    _add_ledger(parser)


def _add_export(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "file", help="New file for the record.")
    _add_ledger(parser)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "file", help="Export of a record.")
    noted = "Hash noted earlier (32 digits or more) that the record must contain."
    parser.add_argument("--noted", metavar="HASH", help=noted)


def _opened(arguments: argparse.Namespace, *, create: bool = False) -> Ledger:
    location = arguments.ledger or os.environ.get("FAIRLEAK_LEDGER") or default_ledger()
    return open_ledger(location, create=create)


def _people(arguments: argparse.Namespace) -> Table:
    """Table of the test set's file."""
    return people_table(
        content_of(arguments.test_set, what="The test set"), arguments.test_set.name
    )


def _roles(arguments: argparse.Namespace, people: Table) -> Roles:
    """Roles of the test set's columns, as its table writes them."""
    person = arguments.id or suggested_roles(people).person
    group = filter(None, [arguments.advantaged])
    outcome = {"label": arguments.label or "", "positive": arguments.positive or ""}
    return roles_in(
        people, desk_roles(arguments.attribute, person=person, group=tuple(group), **outcome)
    )


def _line(name: str, text: str) -> str:
    """Return a line of a name and what it is."""
    return f"{name:<16}{text}"


def _register(arguments: argparse.Namespace, console: Console) -> None:
    settings = from_arguments(arguments, RegisterSettings)
    people = _people(arguments)
    roles = _roles(arguments, people)
    facts = input_facts(people, roles)
    test_set = test_set_of(people, roles)
    ledger = _opened(arguments, create=True)
    if settings.count_epsilon is not None:
        budget = millionths(settings.budget, name="budget")
        if millionths(settings.count_epsilon, name="count_epsilon") == budget:
            console.alert(
                "Note: the noisy group size takes the whole budget; no question can be answered afterwards."
            )
    for note in (*people.notes, *(fact.text for fact in facts)):
        console.note(f"Note: {note}")
    if values := together(everybody_else(people, roles)):
        console.note(f"Note: the disadvantaged group takes together {values}.")
    status = ledger.register(arguments.name, test_set, roles=roles, **values_of(settings))
    console.results(_registration(status))
    console.note(f"The ledger is {ledger.location}.")


def _ask(arguments: argparse.Namespace, console: Console) -> str | None:
    if arguments.asker is None and not arguments.quote:
        raise InputError("--asker must be given, for the record.")
    ledger = _opened(arguments)
    name = arguments.name
    status = ledger.status(name)
    test_set = test_set_of(_people(arguments), status.roles)
    predictions = people_table(
        content_of(arguments.predictions, what="The predictions"), arguments.predictions.name
    )
    scores = predictions_of(
        predictions, test_set, person=status.roles.person, score=arguments.score
    )
    settings = values_of(from_arguments(arguments, AskSettings))
    epsilon = epsilon_of(millionths(settings["epsilon"], name="epsilon"))
    answer = (
        ledger.quote(name, test_set, scores, **settings)
        if arguments.quote
        else ledger.ask(name, test_set, scores, asker=arguments.asker, **settings)
    )
    made_of = counted(answer.charged, epsilon)
    if not isinstance(answer, LedgerAnswer):
        console.results(_quote_lines(answer, status, made_of))
    elif not answer.refused:
        labels = set(scores) <= {0.0, 1.0}
        console.results(_answer_lines(answer, status, made_of, labels=labels))
    if answer.from_past and (old := earlier(answer.standard_error, epsilon)):
        console.note(f"Note: {old} --fresh pays for a new noisy answer.")
    if answer.refused:
        console.alert(f"Refused: {answer.reason}")
        return "refused"
    return None


def _free_note(quote: Quote) -> str:
    if quote.from_past:
        return f" ({FREE})"
    return ""


def _quote_lines(quote: Quote, status: LedgerStatus, made_of: str) -> Iterator[str]:
    """Yield what a question would cost, and how precise its answer would be."""
    charged = epsilon_amount(quote.charged)
    remaining = epsilon_amount(quote.remaining)
    yield _line("cost", f"epsilon {charged} of {remaining} left{_free_note(quote)}")
    if made_of:
        yield made_of
    yield _line("compares", sides(status))
    yield _line("standard error", f"about {error_text(quote.standard_error)}")


def _answer_lines(
    answer: LedgerAnswer, status: LedgerStatus, made_of: str, *, labels: bool
) -> Iterator[str]:
    """Yield an answer, what it cost, and where it is on record."""
    title = gap_title(answer.metric, labels=labels)
    yield f"{title}, advantaged minus disadvantaged: {Quantity(answer.gap, signed=True).text}"
    yield _line("compares", sides(status))
    yield _line("standard error", error_text(answer.standard_error))
    yield _line("charged", f"epsilon {epsilon_amount(answer.charged)}{_free_note(answer)}")
    if made_of:
        yield made_of
    yield _line("left", f"epsilon {epsilon_amount(answer.remaining)}")
    yield _line("on record", f"entry {answer.number}, asked by {answer.asker}, hash {answer.seal}")


def _status(arguments: argparse.Namespace, console: Console) -> None:
    ledger = _opened(arguments)
    if arguments.name is not None:
        _one_status(ledger.status(arguments.name), console)
        return
    rows = []
    for status in ledger.statuses():
        free = sum(answer.from_past for answer in status.answers)
        rows.append(
            {
                "name": status.name,
                "attribute": status.roles.sensitive,
                "advantaged": " or ".join(status.roles.group) or "1",
                "people": count(status.n_people),
                "budget": epsilon_amount(status.budget),
                "spent": epsilon_amount(status.spent),
                "left": epsilon_amount(status.remaining),
                "charged + free": f"{len(status.answers) - free} + {free}",
            }
        )
    if rows:
        console.result(table(rows, left=3))
    else:
        console.result("Nothing is registered yet.")


def _one_status(status: LedgerStatus, console: Console) -> None:
    """Print everything about one registration."""
    console.results(_registration(status))
    console.results(_state_lines(status))
    rows = [
        {
            "entry": str(answer.number),
            "asked": answer.time,
            "asker": answer.asker,
            "compares": gap_title(answer.metric),
            "question": answer.question[:12],
            "gap [95%]": Quantity(answer.gap, signed=True).text,
            "charged": epsilon_amount(answer.charged),
        }
        for answer in status.answers
    ]
    if rows:
        console.results(["", table(rows, left=5)])


def _state_lines(status: LedgerStatus) -> Iterator[str]:
    """Yield what is spent and left of a budget, and what that means."""
    spent = epsilon_amount(status.spent)
    budget = epsilon_amount(status.budget)
    odds = f"all answers together change the odds of one person's attribute by at most e^{spent}"
    yield _line("spent", f"epsilon {spent}")
    yield _line("left", f"epsilon {epsilon_amount(status.remaining)}")
    yield _line("so far", odds)
    yield _line("", f"(its square if the true group sizes are known); the budget allows e^{budget}")
    yield _line("ceiling", ceiling(status))
    yield _line("rejected files", f"{status.wrong_files} that were not the registered one")
    yield _line("last hash", status.seal)


def _registration(status: LedgerStatus) -> Iterator[str]:
    """Yield what was registered."""
    size = status.n_disadvantaged
    positives = ""
    if status.n_positive is not None:
        positives = f", {count(status.n_positive)} with a positive label"
    value, low, high = (number_text(number, ",.0f") for number in (size.value, size.low, size.high))
    price = epsilon_amount(status.count_epsilon)
    budget = epsilon_amount(status.budget)
    yield _line("registered", f"{status.name} ({status.registered})")
    yield _line("attribute", status.roles.sensitive)
    yield _line("compares", sides(status))
    yield _line("people", f"{count(status.n_people)}{positives}")
    yield _line("budget", f"epsilon {budget} in total; cannot be increased")
    yield _line("disadvantaged", f"about {value}, {low} to {high} (95%), for epsilon {price}")


def _export(arguments: argparse.Namespace, console: Console) -> None:
    check_writable(arguments.file, what="FILE")
    seal = _opened(arguments).export(arguments.file)
    console.result(seal)
    console.note(
        f"The record is in {arguments.file}; note the hash elsewhere: it proves that nothing is rewritten."
    )


def _verify(arguments: argparse.Namespace, console: Console) -> str:
    verification = verify_export(arguments.file, noted=arguments.noted)
    console.result(verified(verification, arguments.file.name))
    if verification.ok and arguments.noted:
        console.result("It contains the noted hash.")
    elif verification.ok:
        console.result(
            "Compare a hash with one noted earlier (--noted): a record rewritten as a whole would pass, too."
        )
    rows = []
    for budget in verification.budgets:
        charged = sum(not answer.from_past for answer in budget.answers)
        rows.append(
            {
                "name": budget.name,
                "budget": epsilon_amount(budget.budget),
                "spent": epsilon_amount(budget.spent),
                "answers": str(len(budget.answers)),
                "charged": str(charged),
            }
        )
    if rows:
        console.results(["", table(rows)])
    if verification.ok:
        return "pass"
    return "fail"


COMMANDS = {
    "register": Action(
        "Register a test set and an attribute with a total budget.", _add_register, _register
    ),
    "ask": Action("Answer one question, or quote its price.", _add_ask, _ask),
    "status": Action(
        "Print what is left of the budgets, and the answers so far.", _add_status, _status
    ),
    "export": Action(
        "Write the record to a new file that anybody can verify.", _add_export, _export
    ),
    "verify": Action(
        "Verify an export: hashes, budgets, gaps and standard errors.", _add_verify, _verify
    ),
}
"""Name -> command of the desk."""
