"""The few exceptions of FairLeak.

Every message is one sentence that names the thing, the rule and the value, fit to be shown to a user as it is; where
several answers are missing, it has a line for each.
"Infeasible", "out of time" and "not run" are not errors: they are values in a result, with their reason.
"""

from collections.abc import Callable


class FairLeakError(Exception):
    """Base of all errors FairLeak raises on purpose; ``str(error)`` may be shown to a user.

    `details` are further lines, where one sentence names several things.
    """

    details: tuple[str, ...] = ()


class InputError(FairLeakError, ValueError):
    """A table, a setting or an array breaks a rule; the message says which, and what was given.

    `key` is what the message begins with, where that is what a user set, such as "data.file".
    """

    def __init__(self, message: str, *, key: str = "") -> None:
        super().__init__(message)
        self.key = key


FORMAT = 1
"""Version of every format that FairLeak writes: reports, plans, policies, ledgers, histories and stored points."""


class FormatError(InputError):
    """A document, database or plan has another format version than `FORMAT`."""

    def __init__(self, thing: str, version: object) -> None:
        if version is None:
            actual = "none"
        else:
            actual = f"format {version!r:.40}"
        super().__init__(f"{thing} must be of format {FORMAT}, got {actual}.")
        self.version = version


def check_format(version: object, *, thing: str) -> None:
    """Check the format version of a thing; FormatError if it is another one than `FORMAT`."""
    if isinstance(version, bool) or version != FORMAT:
        raise FormatError(thing, version)


class DataUnavailableError(FairLeakError):
    """A dataset could not be fetched or found; the message names the alternatives."""


class Cancelled(FairLeakError):
    """Work was stopped because its caller asked for it."""


ReportProgress = Callable[[int, int], None]
"""Called with (steps done, steps in all); may raise `Cancelled` to stop."""


class PrivacyLeakWarning(UserWarning):
    """Something claims more privacy than it has, and was asked for all the same."""
