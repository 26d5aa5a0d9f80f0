"""The command line's commands, one module each: `NAME`, `HELP`, `add_arguments(parser)` and `run(arguments, console)`.

A command returns its exit code (0 pass or nothing, 1 fail, 2 inconclusive or not run; 3, unusable input, is what an
error of FairLeak becomes). It prints through the console it is handed and is added to `COMMANDS` here.
"""

from core.cli import (
    attack,
    attribution,
    attriguard,
    audit,
    dashboard,
    gen_config,
    landscape,
    membership,
    queries,
    replay,
    reveal,
    sign,
    sweep,
    verify,
)
from core.cli import model_card as release
from core.cli.console import Console

__all__ = ["COMMANDS", "Console"]

COMMANDS = (
    dashboard,
    audit,
    verify,
    sign,
    replay,
    gen_config,
    sweep,
    attribution,
    reveal,
    queries,
    attriguard,
    membership,
    landscape,
    release,
    attack,
)
