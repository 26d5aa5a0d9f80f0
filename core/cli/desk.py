"""``fairleak desk``: the desk that answers fairness queries within a total privacy budget."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

from core.cli.arguments import Action, add_path
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
from core.desk.findings import (
    FREE,
    ceiling,
    counted,
    earlier,
    everybody_else,
    gap_title,
    sides,
    together,
    verified,
)
from core.desk.noise import epsilon_of, millionths
from core.errors import InputError
from core.estimates import Estimate
from core.files import check_place, content_of
from core.settings import add_arguments as add_settings
from core.settings import from_arguments, values_of

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

_PLACE = (
    "File of the ledger, or postgresql://user@host/database for several machines (default: $FAIRLEAK_LEDGER, or else a "
    "file in your data folder)."
)


def _add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="PLACE", help=_PLACE)


def _add_register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="Name of the test set, for askers.")
    add_path(parser, "--test-set", required=True, help="CSV with a line a person.")
    add_settings(parser, Columns, "attribute", "advantaged", "id", "label", "positive")
    add_settings(parser, RegisterSettings)
    _add_ledger(parser)


def _add_ask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="Registered test set.")
    add_path(parser, "--test-set", required=True, help="File of its registration.")
    add_path(parser, "--predictions", required=True, help="CSV: identifier and score.")
    parser.add_argument("--score", metavar="COLUMN", help="Column of the scores, if the file has further columns.")
    add_settings(parser, AskSettings)
    asker = 'Asker and model, for the record ("team A, model 7"); required unless --quote is given.'
    parser.add_argument("--asker", metavar="WHO", help=asker)
    parser.add_argument("--quote", action="store_true", help="Only the price and the precision, at no charge.")
    _add_ledger(parser)


def _add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="One registration (default: all of them).")
    _add_ledger(parser)


def _add_export(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "file", help="New file for the record.")
    _add_ledger(parser)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "file", help="Export of a record.")
    noted = "Hash noted earlier (32 digits or more) that the record must contain."
    parser.add_argument("--noted", metavar="HASH", help=noted)


def _opened(arguments: argparse.Namespace, *, create: bool = False) -> Ledger:
    place = arguments.ledger or os.environ.get("FAIRLEAK_LEDGER") or default_ledger()
    return open_ledger(place, create=create)


def _test_set(arguments: argparse.Namespace, columns: Columns) -> tuple[TestSet, bytes]:
    """Return the test set, and its file's content."""
    content = content_of(arguments.test_set, what="The test set")
    return test_set_of(content, arguments.test_set.name, columns), content


def _named(lines: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Return lines of a name and what it is."""
    return (f"{name:<16}{text}" for name, text in lines)


def _register(arguments: argparse.Namespace, console: Console) -> None:
    columns, asked = from_arguments(arguments, Columns), from_arguments(arguments, RegisterSettings)
    test_set, content = _test_set(arguments, columns)
    ledger = _opened(arguments, create=True)
    if asked.count_epsilon is not None:
        budget = millionths(asked.budget, name="budget")
        if millionths(asked.count_epsilon, name="count_epsilon") == budget:
            console.alert("Note: the noisy group size takes the whole budget; no question can be answered afterwards.")
    others = everybody_else(frame_of(content, arguments.test_set.name), columns.attribute, columns.advantaged)
    if values := together(others):
        console.note(f"Note: the disadvantaged group takes together {values}.")
    made = ledger.register(arguments.name, test_set, columns=columns, **values_of(asked))
    console.results(_named(_registration(made)))
    console.note(f"The ledger is {ledger.place}.")


def _ask(arguments: argparse.Namespace, console: Console) -> str | None:
    if arguments.asker is None and not arguments.quote:
        raise InputError("--asker must be given, for the record.")
    ledger, name, model = _opened(arguments), arguments.name, arguments.predictions
    made = ledger.status(name).registration
    test_set, _ = _test_set(arguments, made.columns)
    content = content_of(model, what="The predictions")
    scores = predictions_of(content, model.name, test_set.ids, id_column=made.columns.id, score=arguments.score)
    settings = values_of(from_arguments(arguments, AskSettings))
    epsilon = epsilon_of(millionths(settings["epsilon"], name="epsilon"))
    answer = (
        ledger.quote(name, test_set, scores, **settings)
        if arguments.quote
        else ledger.ask(name, test_set, scores, asker=arguments.asker, **settings)
    )
    free = f" ({FREE})" if answer.from_past else ""
    made_of = [line for line in (counted(answer.charged, epsilon),) if line]
    if isinstance(answer, Quote):
        console.results(_named([("cost", f"epsilon {answer.charged:.10g} of {answer.remaining:.10g} left{free}")]))
        console.results([*made_of, *_named([("compares", sides(made))])])
        console.results(_named([("standard error", f"about {answer.standard_error:.4f}")]))
    elif not answer.refused:
        title = gap_title(answer.metric, labels=set(scores) <= {0.0, 1.0})
        console.result(f"{title}, advantaged minus disadvantaged: {_gap(answer.gap)}")
        console.results(_named([("compares", sides(made)), ("standard error", f"{answer.standard_error:.4f}")]))
        console.results([*_named([("charged", f"epsilon {answer.charged:.10g}{free}")]), *made_of])
        record = f"entry {answer.number}, asked by {answer.asker}, hash {answer.seal}"
        console.results(_named([("left", f"epsilon {answer.remaining:.10g}"), ("on record", record)]))
    if answer.from_past and (old := earlier(answer.standard_error, epsilon)):
        console.note(f"Note: {old} --fresh pays for a new noisy answer.")
    if answer.refused:
        console.alert(f"Refused: {answer.reason}")
    return "refused" if answer.refused else None


def _status(arguments: argparse.Namespace, console: Console) -> None:
    ledger = _opened(arguments)
    if arguments.name is not None:
        _one_status(ledger.status(arguments.name), console)
        return
    rows = []
    for status in ledger.statuses():
        made, free = status.registration, sum(one.from_past for one in status.answers)
        rows.append(
            {
                "name": made.name,
                "attribute": made.columns.attribute,
                "advantaged": made.columns.advantaged or "1",
                "people": f"{made.n_people:,}",
                "budget": f"{made.budget:.10g}",
                "spent": f"{status.spent:.10g}",
                "left": f"{status.remaining:.10g}",
                "charged + free": f"{len(status.answers) - free} + {free}",
            }
        )
    console.result(table(rows, left=3) if rows else "Nothing is registered yet.")


def _one_status(status: LedgerStatus, console: Console) -> None:
    """Print everything about one registration."""
    made = status.registration
    lines = [
        *_registration(made),
        ("spent", f"epsilon {status.spent:.10g}"),
        ("left", f"epsilon {status.remaining:.10g}"),
        ("so far", f"all answers together change the odds of one person's attribute by at most e^{status.spent:.10g}"),
        ("", f"(its square if the true group sizes are known); the budget allows e^{made.budget:.10g}"),
        ("ceiling", ceiling(status)),
        ("rejected files", f"{status.wrong_files} that were not the registered one"),
        ("last hash", status.seal),
    ]
    console.results(_named(lines))
    rows = [
        {
            "entry": str(one.number),
            "asked": one.asked,
            "asker": one.asker,
            "compares": gap_title(one.metric),
            "question": one.question[:12],
            "gap [95%]": _gap(one.gap),
            "charged": f"{one.charged:.10g}",
        }
        for one in status.answers
    ]
    if rows:
        console.results(["", table(rows, left=5)])


def _registration(made: Registration) -> list[tuple[str, str]]:
    size = made.n_disadvantaged
    positives = "" if made.n_positive is None else f", {made.n_positive:,} with a positive label"
    sized = f"about {size.value:.0f}, {size.low:.0f} to {size.high:.0f} (95%), for epsilon {made.count_epsilon:.10g}"
    return [
        ("registered", f"{made.name} ({made.registered})"),
        ("attribute", made.columns.attribute),
        ("compares", sides(made)),
        ("people", f"{made.n_people:,}{positives}"),
        ("budget", f"epsilon {made.budget:.10g} in total; cannot be increased"),
        ("disadvantaged", sized),
    ]


def _export(arguments: argparse.Namespace, console: Console) -> None:
    check_place(arguments.file, what="FILE")
    seal = _opened(arguments).export(arguments.file)
    console.result(seal)
    console.note(f"The record is in {arguments.file}; note the hash elsewhere: it proves that nothing is rewritten.")


def _verify(arguments: argparse.Namespace, console: Console) -> str:
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
            "name": one.registration.name,
            "budget": f"{one.registration.budget:.10g}",
            "spent": f"{one.spent:.10g}",
            "answers": str(len(one.answers)),
            "charged": str(sum(not answer.from_past for answer in one.answers)),
        }
        for one in found.budgets
    ]
    if rows:
        console.results(["", table(rows)])
    return "pass" if found.ok else "fail"


def _gap(gap: Estimate) -> str:
    return f"{gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"


COMMANDS = {
    "register": Action("Register a test set and an attribute with a total budget.", _add_register, _register),
    "ask": Action("Answer one question, or quote its price.", _add_ask, _ask),
    "status": Action("Print what is left of the budgets, and the answers so far.", _add_status, _status),
    "export": Action("Write the record to a new file that anybody can verify.", _add_export, _export),
    "verify": Action("Verify an export: hashes, budgets, gaps and standard errors.", _add_verify, _verify),
}
"""Name -> command of the desk."""
