"""How tests run a command that must refuse: one sentence on the stream of errors, nothing else, exit code 3."""

from core.__main__ import main


def exit_code(*arguments):
    """Run a command and return its exit code, also where it is the parser that ends it."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as left:
        return int(left.code or 0)


def refused(capsys, *arguments):
    """Run a command that must refuse; return its one sentence."""
    capsys.readouterr()
    assert exit_code(*arguments) == 3
    output = capsys.readouterr()
    assert not output.out and "Traceback" not in output.err
    assert output.err.count("\n") == 1 and output.err.endswith("\n")
    return output.err
