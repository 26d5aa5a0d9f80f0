"""The reference pages made from the code; ``python -m core.learn.reference_pages FOLDER`` writes them."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from ..base.settings import params
from ..base.settings_text import Tables, reference_rows
from .glossary import chapters


def files() -> dict[str, Tables]:
    """Return the files a user writes: what each is called -> its tables."""
    from ..auditing.plan import plan_tables
    from ..auditing.policy.limits import POLICY_TABLES

    return {
        "Plan of a release audit (`fairleak audit`)": plan_tables(),
        "Policy (`fairleak audit --policy`)": POLICY_TABLES,
    }


def studies() -> dict[str, tuple[type, str]]:
    """Return the settings that have flags: what each is called -> its class, and the command that has them."""
    from ..desk import AskSettings, RegisterSettings
    from ..experiments.choose import ChooseSettings
    from ..studies.bias_queries import BiasQueriesSettings
    from ..studies.membership.result import MembershipSettings
    from ..studies.model_card.release import ModelCardSettings
    from ..studies.people import PeopleSettings
    from ..studies.subject import AuditConfig

    return {
        "Audit": (AuditConfig, "attack NAME"),
        "Choose a model": (ChooseSettings, "choose"),
        "Bias queries": (BiasQueriesSettings, "attack bias_queries"),
        "Query desk, a test set": (RegisterSettings, "desk register"),
        "Query desk, a question": (AskSettings, "desk ask"),
        "Membership attacks": (MembershipSettings, "attack membership"),
        "Model card": (ModelCardSettings, "attack model_card"),
        "People at risk": (PeopleSettings, "attack people"),
    }


def settings_reference() -> Iterator[str]:
    """Yield the lines of the page of every setting."""
    yield "# Settings"
    yield ""
    yield "Made from the code by `make docs`. A key that is left out has its default; an unknown one is refused."
    for called, tables in files().items():
        yield from ("", f"## {called}", "", *_head("Key"))
        for title, settings in tables.items():
            yield from (_row(key, *rest) for key, _, *rest in reference_rows(settings, title=title))
    for called, (cls, command) in studies().items():
        yield from ("", f"## {called} (`fairleak {command}`)", "", *_head("Flag"))
        yield from (_row(flag, *rest) for _, flag, *rest in reference_rows(params(cls)))
    yield from _attacks()


def _attacks() -> Iterator[str]:
    """Yield the list of membership attacks, a line each, from what their files declare."""
    from ..studies.membership import NEEDS, REGISTRY

    where = {"scores": "audit of scores", "labels": "audit of labels"}
    yield from (
        "",
        "## Attacks on membership",
        "",
        "| Attack | What it does | It needs | Where it is run |",
    )
    yield "|---|---|---|---|"
    for attack in REGISTRY.values():
        needs = "; ".join(text for need, text in NEEDS.items() if need in attack.needs)
        used = (
            ", ".join(text for use, text in where.items() if use in attack.uses)
            or "where `attacks` names it"
        )
        yield f"| {attack.title} (`{attack.name}`) | {attack.described} | {needs} | {used} |"


def _head(first: str) -> tuple[str, str]:
    return f"| {first} | Default | Must be | What it does |", "|---|---|---|---|"


def _row(name: str, default: str, rule: str, text: str) -> str:
    escaped = text.replace("|", "\\|")
    return f"| `{name}` | {default} | {rule} | {escaped} |"


def glossary_reference() -> Iterator[str]:
    """Yield the lines of the page of the glossary."""
    from ..studies.membership import REGISTRY

    yield from ("# Glossary", "")
    yield "Made from the code by `make docs`. The dashboard and the report show the same texts."
    for chapter, terms in chapters(REGISTRY).items():
        yield from ("", f"## {chapter}", "", "| Term | Meaning |", "|---|---|")
        yield from (f"| **{term}** | {meaning} |" for term, meaning in terms.items())


def command_reference() -> Iterator[str]:
    """Yield the lines of the page of every command with its arguments, from the parsers."""
    from ..__main__ import parser

    yield from (
        "# Commands",
        "",
        "Made from the code by `make docs`. `fairleak COMMAND --help` prints the same.",
        "",
    )
    yield from (
        "`-h` prints help, and `-q` (`--quiet`) leaves out progress and notes, of every command.",
        "",
    )
    yield from ("| Exit code | Meaning |", "|---|---|")
    yield from (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    yield from _commands(parser())


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the section of a command, or of every command of a group."""
    groups = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    for command in (choice for group in groups for choice in group.choices.values()):
        yield from _commands(command)
    if groups:
        return
    yield from ("", f"## {parser.prog}", "", str(parser.description))
    actions = [
        action for action in parser._actions if not {"-h", "-q"} & set(action.option_strings)
    ]
    if actions:
        yield from ("", "| Argument | What it is |", "|---|---|")
    for action in actions:
        value = ""
        if action.nargs != 0:
            value = f" {action.metavar or action.dest.upper()}"
        name = f"{', '.join(action.option_strings)}{value}".strip()
        required = ""
        if action.required and action.option_strings:
            required = " Required."
        help_text = str(action.help).replace("%%", "%").replace("|", "\\|")
        yield f"| `{name}` | {help_text}{required} |"
    if parser.epilog:
        yield from ("", parser.epilog[:1].upper() + parser.epilog[1:])


def regulations_reference() -> Iterator[str]:
    """Yield the lines of the page of which provisions a check can be evidence for, from their one list."""
    from ..auditing.policy.limits import CHECKS, check_title
    from ..report.regulations import LawRow, law_of_checks, law_of_parts, legal_texts, provisions

    texts = legal_texts()
    yield "# Checks and regulations"
    yield ""
    yield (
        "Made from the code by `make docs`. **Not legal advice.** Which provisions a number of FairLeak's can be "
        "evidence for; whether one applies to you, and whether the evidence is enough, is for a lawyer. A pass is no "
        "compliance with any of them."
    )
    yield from ("", "## Sources", "", "| Text | Date | Looked up | Note |", "|---|---|---|---|")
    for name, text in texts.items():
        yield f"| **{name}**: [{text.title}]({text.source}) | {text.date} | {text.looked_up} | {text.note} |"
    yield from ("", "## Provisions", "")
    yield from (
        "| Provision | What it says | What a number here is evidence for |",
        "|---|---|---|",
    )
    for provision in provisions().values():
        yield f"| {provision.text.name}, {provision.article} | “{provision.quote}” | {provision.evidence} |"

    def line(name: str, row: LawRow) -> str:
        cells: dict[str, list[str]] = {text: [] for text in texts}
        for provision in row.provisions:
            cells[provision.text.name].append(provision.article)
        articles = ["; ".join(names) or "–" for names in cells.values()]
        return f"| {name} | {' | '.join(articles)} | {row.note} |"

    head = (f"| {' | '.join(texts)} | Note |", "|---" * (len(texts) + 2) + "|")
    yield from ("", "## Checks", "", f"| Check {head[0]}", head[1])
    checks = law_of_checks()
    for check in CHECKS:
        yield line(f"{check_title(check, 'attribute')} (`{check}`)", checks[check])
    yield from ("", "## Other parts of an audit", "", f"| Part {head[0]}", head[1])
    for part, row in law_of_parts().items():
        yield line(part, row)


PACKAGES = (
    "studies.correction",
    "studies.bias_queries",
    "studies.membership",
    "studies.attriguard",
    "studies.attribute",
    "studies.model_card",
    "stats.fairness",
)
"""Parts of `core` that are documented for use from Python, in this order."""


def api_reference() -> Iterator[str]:
    """Yield the lines of the page of public functions and classes, from signatures and docstrings."""
    yield from (
        "# Python",
        "",
        "Made from the code by `make docs`. `help(name)` prints shapes, ranges and equations.",
    )
    for name in ("core", *(f"core.{package}" for package in PACKAGES)):
        module = importlib.import_module(name)
        defined_names = [
            key for key, value in vars(module).items() if getattr(value, "__module__", "") == name
        ]
        public = {
            key: getattr(module, key)
            for key in getattr(module, "__all__", defined_names)
            if not key.startswith("_")
        }
        yield from (
            "",
            f"## {name}",
            "",
            _first_line(module),
            "",
            "| Name | What it is |",
            "|---|---|",
        )
        for key, value in public.items():
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"| `{key}{_arguments(value)}` | {_first_line(value)} |"


def _first_line(documented: object) -> str:
    """Return the first line of a docstring as text of a table."""
    line = (inspect.getdoc(documented) or "").partition("\n")[0]
    return line.replace("``", "`").replace("|", "\\|")


def _arguments(value: object) -> str:
    """Return the names of a function's arguments in brackets; "" for a class."""
    if not inspect.isfunction(value):
        return ""
    none = inspect.Parameter.empty
    arguments = inspect.signature(value).parameters.values()
    return str(
        inspect.Signature(
            [parameter.replace(annotation=none, default=none) for parameter in arguments]
        )
    )


EXIT_CODES = {
    0: "pass, or done",
    1: "fail; of `desk ask`, refused",
    2: "inconclusive, or not run",
    3: "input that cannot be used, a usage error too",
    130: "stopped by Ctrl-C",
}
"""Exit code -> what it means; the verdict's word is the last line on stderr."""


def report_schema() -> Iterator[str]:
    """Yield the lines of the JSON Schema of a report."""
    from ..report.codec import json_schema

    yield json.dumps(json_schema(), indent=1, sort_keys=True, ensure_ascii=False)


PAGES = {
    "settings.md": settings_reference,
    "glossary.md": glossary_reference,
    "cli.md": command_reference,
    "api.md": api_reference,
    "regulations.md": regulations_reference,
    "report.schema.json": report_schema,
}
"""Name of a file -> the lines of it."""


def page(name: str) -> str:
    """Return a page by the name of its file."""
    return "\n".join([*PAGES[name](), ""])


if __name__ == "__main__":
    for name in PAGES:
        Path(sys.argv[1], name).write_text(page(name), encoding="utf-8")
