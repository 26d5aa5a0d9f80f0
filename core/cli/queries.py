"""``python -m core queries``: the desk that answers fairness questions within a budget."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from core.cli.console import Console, table
from core.desk import (
    AskSettings,
    Columns,
    Ledger,
    LedgerStatus,
    Quote,
    RegisterSettings,
    Registration,
    TestSet,
    default_ledger,
    frame_of,
    open_ledger,
    predictions_of,
    test_set_of,
    verify_export,
)
from core.desk.findings import FREE, counted, earlier, everybody_else, gap_title, older_form, sides, together, verified
from core.desk.noise import epsilon_of, millionths
from core.errors import InputError
from core.estimates import Estimate
from core.files import check_place, content_of
from core.settings import add_arguments as add_settings
from core.settings import from_arguments, values_of

NAME = "queries"
HELP = "answer fairness queries about a test set within a total privacy budget, and keep the record"

_DESCRIPTION = """\
A desk for a compliance team. Developers without access to a sensitive attribute hand in predictions for a registered
test set and get the gap between the groups, with noise that protects each person's attribute (differential privacy).
Everything ever answered about one test set and attribute shares one budget (epsilon), which cannot be raised.
A question that was answered before costs nothing. The ledger never holds the attribute, so each question needs the
test set's file again.

Whoever can run this command, or reach the desk's page, is trusted with the attribute: developers hand in files of
predictions, the compliance team runs the desk. A file about the registered people that is not the registered one is put
on record."""

_EPILOG = """\
an example:
  python -m core queries register loans --test-set people.csv --id person --attribute sex --advantaged Male --budget 2
  python -m core queries ask loans --test-set people.csv --predictions model.csv --epsilon 0.2 --asker "team A, model 7"
  python -m core queries status loans
  python -m core queries export ledger.jsonl
  python -m core queries verify ledger.jsonl --noted HASH

A budget of epsilon moves anybody's odds of knowing one person's attribute by at most a factor of e^epsilon (its square
for one who knows the true group sizes), whatever is asked: 1 is cautious, 10 is not. An answer's standard error is
about 0.7 x (1/N0 + 1/N1) / epsilon in groups of N0 and N1 people, and more if the count was cheap or a model accepts
nearly all or nobody; ask --quote says it beforehand, for free. A question offers a thousandth of the budget at least.

verify follows the chain of hashes, adds up every budget, and computes every gap and standard error again from the
released numbers. The bounds of the intervals, the totals of the scores and the reach of the noise follow from the
predictions, which an export does not hold, and are taken as written.

The first question about equal opportunity costs its --epsilon and, once, the price of the noisy size of the group
among the people with a positive label: as much as the size of the whole group cost at registration. A question that
was answered before is free, whatever --epsilon says; it gets its most precise answer, as coarse as what was paid for.
--again pays for a new noisy answer.

Everybody whose attribute is not the --advantaged value is one group; register names the values taken together.
The record has no field for the model: --asker should name it with whoever asks, as in "team A, model 7".

people.csv has a line a person: identifier, attribute, and if wanted the true label. model.csv has a line a person, in
any order: the same identifier, and a score in [0, 1].

exit codes: 0 done, 1 refused because the budget does not suffice (ask) or verification failed (verify),
3 input that cannot be used."""

_PLACE = (
    "a file, or postgresql://user@host/database for several machines "
    "(default: $FAIRLEAK_LEDGER, or else a file in your data folder)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add register, ask, status, export and verify."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    parsers = {}
    for name, (told, do) in _ACTIONS.items():
        parsers[name] = actions.add_parser(name, help=told, description=told, allow_abbrev=False)
        parsers[name].set_defaults(action_run=do)
    register, ask, status, export, verify = parsers.values()

    register.add_argument("name", metavar="NAME", help="what askers will call the test set")
    register.add_argument("--test-set", type=Path, required=True, metavar="FILE", help="CSV with a line a person")
    add_settings(register, Columns, "attribute", "advantaged", "id", "label", "positive")
    add_settings(register, RegisterSettings)

    ask.add_argument("name", metavar="NAME", help="a registered test set")
    ask.add_argument("--test-set", type=Path, required=True, metavar="FILE", help="the file it was registered with")
    ask.add_argument("--predictions", type=Path, required=True, metavar="FILE", help="CSV: identifier and score")
    ask.add_argument("--score", metavar="COLUMN", help="the scores, if the file has further columns")
    add_settings(ask, AskSettings)
    who = 'who asks, and about which model, for the record ("team A, model 7"); needed unless --quote is given'
    ask.add_argument("--asker", metavar="WHO", help=who)
    ask.add_argument("--quote", action="store_true", help="only say what it would cost and how precise it would be")

    status.add_argument("name", nargs="?", metavar="NAME", help="one registration; all of them when left out")
    export.add_argument("file", type=Path, metavar="FILE")
    verify.add_argument("file", type=Path, metavar="FILE")
    noted = "a hash noted earlier (32 digits or more) the record must contain"
    verify.add_argument("--noted", metavar="HASH", help=noted)
    for one in (register, ask, status, export):
        one.add_argument("--ledger", metavar="PLACE", help=_PLACE)


def run(arguments: argparse.Namespace, console: Console) -> int | None:
    """Do what was asked for."""
    code: int | None = arguments.action_run(arguments, console)
    return code


def _opened(arguments: argparse.Namespace, *, create: bool = False) -> Ledger:
    place = arguments.ledger or os.environ.get("FAIRLEAK_LEDGER") or default_ledger()
    return open_ledger(place, create=create)


def _test_set(arguments: argparse.Namespace, columns: Columns) -> tuple[TestSet, bytes]:
    """Return the test set, and its file's content."""
    content = content_of(arguments.test_set, what="The test set")
    return test_set_of(content, arguments.test_set.name, columns), content


def _told(lines: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Return lines of a name and what it is."""
    return (f"{name:<16}{text}" for name, text in lines)


def _register(arguments: argparse.Namespace, console: Console) -> None:
    columns, asked = from_arguments(arguments, Columns), from_arguments(arguments, RegisterSettings)
    test_set, content = _test_set(arguments, columns)
    ledger = _opened(arguments, create=True)
    if asked.count_epsilon is not None:
        budget = millionths(asked.budget, name="budget")
        if millionths(asked.count_epsilon, name="count_epsilon") == budget:
            console.note("Note: the noisy group size takes the whole budget; nothing can be asked afterwards.")
    others = everybody_else(frame_of(content, arguments.test_set.name), columns.attribute, columns.advantaged)
    if told := together(others):
        console.note(f"Note: the disadvantaged group takes together {told}.")
    made = ledger.register(arguments.name, test_set, columns=columns, **values_of(asked))
    console.results(_told(_registration(made)))
    console.note(f"The ledger is {ledger.place}.")


def _ask(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.asker is None and not arguments.quote:
        raise InputError("--asker must say who asks, for the record.")
    ledger, name, model = _opened(arguments), arguments.name, arguments.predictions
    made = ledger.registration(name)
    test_set, _ = _test_set(arguments, made.columns)
    content = content_of(model, what="The predictions")
    scores = predictions_of(content, model.name, test_set.ids, id_column=made.columns.id, score=arguments.score)
    settings = values_of(from_arguments(arguments, AskSettings))
    epsilon = epsilon_of(millionths(settings["epsilon"], name="epsilon"))
    told = (
        ledger.quote(name, test_set, scores, **settings)
        if arguments.quote
        else ledger.ask(name, test_set, scores, asker=arguments.asker, **settings)
    )
    free = f" ({FREE})" if told.from_past else ""
    made_of = [line for line in (counted(told.charged, epsilon),) if line]
    if isinstance(told, Quote):
        console.results(_told([("cost", f"epsilon {told.charged:g} of {told.remaining:g} left{free}")]))
        console.results([*made_of, *_told([("compares", sides(made))])])
        console.results(_told([("standard error", f"about {told.standard_error:.4f}")]))
    elif not told.refused:
        title = gap_title(told.metric, labels=set(scores) <= {0.0, 1.0})
        console.result(f"{title}, advantaged minus disadvantaged: {_gap(told.gap)}")
        console.results(_told([("compares", sides(made)), ("standard error", f"{told.standard_error:.4f}")]))
        console.results([*_told([("charged", f"epsilon {told.charged:g}{free}")]), *made_of])
        record = f"entry {told.number}, hash {told.seal}"
        console.results(_told([("left", f"epsilon {told.remaining:g}"), ("on record", record)]))
    if told.from_past and (old := earlier(told.standard_error, epsilon)):
        console.note(f"Note: {old} --again pays for a new noisy answer.")
    if told.refused:
        console.note(f"Refused: {told.reason}")
    return int(told.refused)


def _status(arguments: argparse.Namespace, console: Console) -> None:
    ledger = _opened(arguments)
    if arguments.name is not None:
        _one_status(ledger.status(arguments.name), console)
        return
    rows, statuses = [], ledger.statuses()
    for status in statuses:
        made, free = status.registration, sum(one.from_past for one in status.answers)
        rows.append(
            {
                "name": made.name,
                "attribute": made.columns.attribute,
                "advantaged": made.columns.advantaged or "1",
                "people": f"{made.n_people:,}",
                "budget": f"{made.budget:g}",
                "spent": f"{status.spent:g}",
                "left": f"{status.remaining:g}",
                "charged + free": f"{len(status.answers) - free} + {free}",
            }
        )
    console.result(table(rows, left=3) if rows else "Nothing is registered yet.")
    for status in statuses:
        if told := older_form(status.registration.form):
            console.note(f"Note: {status.registration.name}: {told}.")


def _one_status(status: LedgerStatus, console: Console) -> None:
    """Print everything about one registration."""
    made = status.registration
    lines = [
        *_registration(made),
        ("spent", f"epsilon {status.spent:g}"),
        ("left", f"epsilon {status.remaining:g}"),
        ("so far", f"all answers together move the odds about one person's attribute by at most e^{status.spent:g}"),
        ("", f"(its square for a reader who knows the true group sizes); the budget allows e^{made.budget:g}"),
        ("rejected files", f"{status.wrong_files} that were not the registered one"),
        ("last hash", status.seal),
    ]
    console.results(_told(lines))
    rows = [
        {
            "entry": str(one.number),
            "asked": one.asked,
            "asker": one.asker,
            "compares": gap_title(one.metric),
            "question": one.question[:12],
            "gap [95%]": _gap(one.gap),
            "charged": f"{one.charged:g}",
        }
        for one in status.answers
    ]
    if rows:
        console.results(["", table(rows, left=5)])


def _registration(made: Registration) -> list[tuple[str, str]]:
    size = made.n_disadvantaged
    positives = "" if made.n_positive is None else f", {made.n_positive:,} with a positive label"
    form = older_form(made.form) or f"identifiers in form {made.form}"
    sized = f"about {size.value:.0f}, {size.low:.0f} to {size.high:.0f} (95%), for epsilon {made.count_epsilon:g}"
    return [
        ("registered", f"{made.name} ({made.registered})"),
        ("attribute", made.columns.attribute),
        ("compares", sides(made)),
        ("people", f"{made.n_people:,}{positives}; {form}"),
        ("budget", f"epsilon {made.budget:g} in total; cannot be increased"),
        ("disadvantaged", sized),
    ]


def _export(arguments: argparse.Namespace, console: Console) -> None:
    check_place(arguments.file, what="FILE")
    seal = _opened(arguments).export(arguments.file)
    console.result(seal)
    console.note(f"The record is in {arguments.file}; note the hash elsewhere: it proves that nothing is rewritten.")


def _verify(arguments: argparse.Namespace, console: Console) -> int:
    found = verify_export(arguments.file, noted=arguments.noted)
    console.result(verified(found, arguments.file.name))
    if found.ok and arguments.noted:
        console.result("It contains the noted hash.")
    elif found.ok:
        console.result(
            "Compare a hash with one noted earlier (--noted): a record rewritten as a whole would pass, too."
        )
    rows = [
        {
            "name": one.name,
            "budget": f"{one.budget:g}",
            "spent": f"{one.spent:g}",
            "answers": str(one.n_answers),
            "charged": str(one.n_charged),
        }
        for one in found.budgets
    ]
    if rows:
        console.results(["", table(rows)])
    return int(not found.ok)


def _gap(gap: Estimate) -> str:
    return f"{gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"


_ACTIONS = {
    "register": ("give a test set and an attribute their one budget", _register),
    "ask": ("answer one question, or say what it would cost", _ask),
    "status": ("print what is left of the budgets and what was answered", _status),
    "export": ("write the record to a new file that anybody can verify", _export),
    "verify": ("check an export: the chain of hashes, every budget's sum, every gap and standard error", _verify),
}
