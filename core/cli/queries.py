"""``python -m core queries``: the desk that answers fairness questions within a budget."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from core.cli.console import Console, aligned, table
from core.desk import (
    AskSettings,
    Columns,
    Ledger,
    LedgerAnswer,
    LedgerStatus,
    Quote,
    RegisterSettings,
    Registration,
    Verification,
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

    def action(
        name: str, told: str, do: Callable[[argparse.Namespace, Console], int | None]
    ) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=told, description=told, allow_abbrev=False)
        made.set_defaults(action_run=do)
        return made

    _register_arguments(action("register", "give a test set and an attribute their one budget", _register))
    _ask_arguments(action("ask", "answer one question, or say what it would cost", _ask))
    status = action("status", "print what is left of the budgets and what was answered", _status)
    status.add_argument("name", nargs="?", metavar="NAME", help="one registration; all of them when left out")
    _ledger_argument(status)
    export = action("export", "write the record to a new file that anybody can verify", _export)
    export.add_argument("file", type=Path, metavar="FILE")
    _ledger_argument(export)
    verify = action(
        "verify", "check an export: the chain of hashes, every budget's sum, every gap and standard error", _verify
    )
    verify.add_argument("file", type=Path, metavar="FILE")
    verify.add_argument(
        "--noted", metavar="HASH", help="a hash noted earlier (32 digits or more) the record must contain"
    )


def run(arguments: argparse.Namespace, console: Console) -> int | None:
    """Do what was asked for."""
    code: int | None = arguments.action_run(arguments, console)
    return code


def _ledger_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="PLACE", help=_PLACE)


def _register_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what askers will call the test set")
    parser.add_argument("--test-set", type=Path, required=True, metavar="FILE", help="CSV with a line a person")
    add_settings(parser, Columns, "attribute", "advantaged", "id", "label", "positive")
    add_settings(parser, RegisterSettings)
    _ledger_argument(parser)


def _ask_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a registered test set")
    parser.add_argument("--test-set", type=Path, required=True, metavar="FILE", help="the file it was registered with")
    parser.add_argument("--predictions", type=Path, required=True, metavar="FILE", help="CSV: identifier and score")
    parser.add_argument("--score", metavar="COLUMN", help="the scores, if the file has further columns")
    add_settings(parser, AskSettings)
    parser.add_argument(
        "--asker",
        metavar="WHO",
        help='who asks, and about which model, for the record ("team A, model 7"); needed unless --quote is given',
    )
    parser.add_argument("--quote", action="store_true", help="only say what it would cost and how precise it would be")
    _ledger_argument(parser)


def _opened(arguments: argparse.Namespace, *, create: bool = False) -> Ledger:
    place = arguments.ledger or os.environ.get("FAIRLEAK_LEDGER") or default_ledger()
    return open_ledger(place, create=create)


def _register(arguments: argparse.Namespace, console: Console) -> None:
    columns, asked = from_arguments(arguments, Columns), from_arguments(arguments, RegisterSettings)
    file = arguments.test_set
    test_set = test_set_of(content_of(file, what="The test set"), file.name, columns)
    ledger = _opened(arguments, create=True)
    _warn(file, columns, asked, console)
    made = ledger.register(arguments.name, test_set, columns=columns, **values_of(asked))
    console.results(_registration_lines(made))
    console.note(f"The ledger is {ledger.place}.")


def _warn(file: Path, columns: Columns, asked: RegisterSettings, console: Console) -> None:
    """Say what cannot be taken back once it is registered."""
    if asked.count_epsilon is not None:
        budget = millionths(asked.budget, name="budget")
        if millionths(asked.count_epsilon, name="count_epsilon") == budget:
            console.note("Note: the noisy group size takes the whole budget; nothing can be asked afterwards.")
    frame = frame_of(content_of(file, what="--test-set"), file.name)
    others = everybody_else(frame, columns.attribute, columns.advantaged)
    if told := together(others):
        console.note(f"Note: the disadvantaged group takes together {told}.")


def _ask(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.asker is None and not arguments.quote:
        raise InputError("--asker must say who asks, for the record.")
    ledger = _opened(arguments)
    made = ledger.registration(arguments.name)
    columns = made.columns
    file, model = arguments.test_set, arguments.predictions
    test_set = test_set_of(content_of(file, what="The test set"), file.name, columns)
    told = content_of(model, what="The predictions")
    scores = predictions_of(told, model.name, test_set.ids, id_column=columns.id, score=arguments.score)
    settings = values_of(from_arguments(arguments, AskSettings))
    epsilon = epsilon_of(millionths(settings["epsilon"], name="epsilon"))
    if arguments.quote:
        quote = ledger.quote(arguments.name, test_set, scores, **settings)
        console.result(f"cost            epsilon {quote.charged:g} of {quote.remaining:g} left{_free(quote.from_past)}")
        console.results(filter(None, [counted(quote.charged, epsilon)]))
        console.result(f"compares        {sides(made)}")
        console.result(f"standard error  about {quote.standard_error:.4f}")
        _tell_old(quote, epsilon, console)
        return _refused(quote.reason, console)
    answer = ledger.ask(arguments.name, test_set, scores, asker=arguments.asker, **settings)
    if answer.refused:
        return _refused(answer.reason, console)
    console.results(_answer_lines(answer, made, epsilon, labels=set(scores) <= {0.0, 1.0}))
    _tell_old(answer, epsilon, console)
    return 0


def _status(arguments: argparse.Namespace, console: Console) -> None:
    ledger = _opened(arguments)
    if arguments.name is not None:
        console.results(_status_lines(ledger.status(arguments.name)))
        return
    rows = []
    for name in ledger.names():
        status = ledger.status(name)
        made, free = status.registration, sum(one.from_past for one in status.answers)
        rows.append(
            {
                "name": name,
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
    _tell_forms([ledger.registration(name) for name in ledger.names()], console)


def _export(arguments: argparse.Namespace, console: Console) -> None:
    check_place(arguments.file, what="FILE")
    seal = _opened(arguments).export(arguments.file)
    console.result(seal)
    console.note(f"The record is in {arguments.file}; note the hash elsewhere: it proves that nothing is rewritten.")


def _verify(arguments: argparse.Namespace, console: Console) -> int:
    found = verify_export(arguments.file, noted=arguments.noted)
    console.results(_verification_lines(found, arguments.file.name, arguments.noted))
    return 0 if found.ok else 1


def _tell_forms(registered: Sequence[Registration], console: Console) -> None:
    """Name the registrations whose identifiers are compared in an older form."""
    for one in registered:
        if told := older_form(one.form):
            console.note(f"Note: {one.name}: {told}.")


def _refused(reason: str | None, console: Console) -> int:
    if reason is not None:
        console.note(f"Refused: {reason}")
    return int(reason is not None)


def _registration_lines(made: Registration) -> list[str]:
    size = made.n_disadvantaged
    positives = "" if made.n_positive is None else f", {made.n_positive:,} with a positive label"
    return [
        f"registered      {made.name} ({made.registered})",
        f"attribute       {made.columns.attribute}",
        f"compares        {sides(made)}",
        f"people          {made.n_people:,}{positives}; {older_form(made.form) or f'identifiers in form {made.form}'}",
        f"budget          epsilon {made.budget:g} in total; cannot be increased",
        f"disadvantaged   about {size.value:.0f}, {size.low:.0f} to {size.high:.0f} (95%), for epsilon "
        f"{made.count_epsilon:g}",
    ]


def _answer_lines(answer: LedgerAnswer, made: Registration, epsilon: float, *, labels: bool) -> list[str]:
    return [
        f"{gap_title(answer.metric, labels=labels)}, advantaged minus disadvantaged: {_gap(answer.gap)}",
        f"compares        {sides(made)}",
        f"standard error  {answer.standard_error:.4f}",
        f"charged         epsilon {answer.charged:g}{_free(answer.from_past)}",
        *filter(None, [counted(answer.charged, epsilon)]),
        f"left            epsilon {answer.remaining:g}",
        f"on record       entry {answer.number}, hash {answer.seal}",
    ]


def _status_lines(status: LedgerStatus) -> list[str]:
    odds = f"e^{status.spent:g}"
    lines = [
        *_registration_lines(status.registration),
        f"spent           epsilon {status.spent:g}",
        f"left            epsilon {status.remaining:g}",
        f"so far          all answers together move the odds about one person's attribute by at most {odds}",
        f"                (its square for a reader who knows the true group sizes); the budget allows "
        f"e^{status.registration.budget:g}",
        f"rejected files  {status.wrong_files} that were not the registered one",
        f"last hash       {status.seal}",
    ]
    if status.answers:
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
        lines += ["", table(rows, left=5)]
    return lines


def _verification_lines(found: Verification, name: str, noted: str | None) -> list[str]:
    lines = [verified(found, name)]
    if found.ok and noted:
        lines.append("It contains the noted hash.")
    elif found.ok:
        lines.append("Compare a hash with one noted earlier (--noted): a record rewritten as a whole would pass, too.")
    rows = [
        [one.name, f"{one.budget:g}", f"{one.spent:g}", str(one.n_answers), str(one.n_charged)] for one in found.budgets
    ]
    return [*lines, "", aligned(["name", "budget", "spent", "answers", "charged"], rows)] if rows else lines


def _gap(gap: Estimate) -> str:
    return f"{gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"


def _tell_old(told: Quote | LedgerAnswer, epsilon: float, console: Console) -> None:
    """Say that a free answer is an old one, and how to pay for a new one."""
    if told.from_past and (old := earlier(told.standard_error, epsilon)):
        console.note(f"Note: {old} --again pays for a new noisy answer.")


def _free(from_past: bool) -> str:
    return f" ({FREE})" if from_past else ""
