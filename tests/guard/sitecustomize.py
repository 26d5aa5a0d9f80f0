"""Guard of the folders that no test may use: Python imports it at the start of every process that a test starts.

`tests.hermetic` puts this folder on PYTHONPATH and says in the environment which folders are closed, for reading only
or open. An access to another one is refused, and noted with its place in the code: whatever the code under test makes
of the refusal, the test fails.
"""

import os
import sys
from urllib.parse import unquote

CLOSED = "FAIRLEAK_TESTS_CLOSED"
READABLE = "FAIRLEAK_TESTS_READABLE"
OPEN = "FAIRLEAK_TESTS_OPEN"
"""Variables with folders, joined as in PATH: of several that hold a path the innermost counts."""

LOG = "FAIRLEAK_TESTS_LOG"
"""Variable with the file of the accesses refused, one a line."""

READERS = ("os.listdir", "os.scandir")
WRITERS = {
    "os.chmod": (2,),
    "os.link": (2, 3),
    "os.mkdir": (2,),
    "os.remove": (1,),
    "os.rename": (2, 3),
    "os.rmdir": (1,),
    "os.symlink": (None, 2),
    "os.truncate": (),
    "os.utime": (3,),
    "sqlite3.connect": (),
}
"""Audit event -> for each path that its arguments begin with, which argument is the open folder it may be relative to.

A link does not touch what it leads to."""

_INSTALLED = "_fairleak_tests_guard"
"""Attribute of `sys` with the hook: this file is imported under two names, and a hook cannot be taken out."""


def accesses(event, arguments):
    """Return the paths that an audit event is about, each with whether it is written."""
    if event == "open":
        path, mode, flags = arguments
        if isinstance(mode, str):
            return [(path, any(letter in mode for letter in "wax+"))]
        return [(path, bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))]
    if event in READERS:
        return [(arguments[0], False)]
    paths = []
    for i, folder in enumerate(WRITERS[event] or (-1,)):
        if folder is None or (folder > 0 and arguments[folder] not in (None, -1)):
            continue  # a link's target; or a name in a folder that was opened, and looked at, before
        paths.append((arguments[i], True))
    return paths


def absolute(path, event):
    """Return where a path leads; "" for what is none, such as the number of an open file."""
    if path is None and event in READERS:
        return os.getcwd()
    if not isinstance(path, (str, bytes, os.PathLike)):
        return ""
    text = os.fsdecode(path)
    if event == "sqlite3.connect":
        if text in ("", ":memory:"):
            return ""
        if text.startswith("file:"):
            text = unquote(text[len("file:") :].partition("?")[0])
            text = "/" + text.lstrip("/") if text.startswith("//") else text
    return os.path.abspath(text)


class Guard:
    """The audit hook of a process."""

    def set(self, closed, readable, opened, log):
        """Say which folders are closed, for reading only, or open, and where refusals are noted."""
        rights = dict.fromkeys(closed, "") | dict.fromkeys(readable, "r") | dict.fromkeys(opened, "rw")
        # The innermost folder is the first that holds a path.
        self.rights = sorted(((folder, rights[folder]) for folder in rights if folder), key=lambda pair: -len(pair[0]))
        self.log = log

    def allows(self, path, writes):
        """Return whether a test may read or write there; what no folder holds is for reading."""
        for folder, rights in self.rights:
            if path == folder or path.startswith(folder.rstrip(os.sep) + os.sep):
                # What Python and pytest write beside the code itself, wherever that may be read.
                passing = writes and "r" in rights and ("__pycache__" in path or "pytest-cache-files-" in path)
                return passing or ("w" if writes else "r") in rights
        return not writes or not os.path.isdir(os.path.dirname(path))  # where nothing can be, the system refuses

    def __call__(self, event, arguments):
        """Refuse an access to a folder that is closed, and note it."""
        if event != "open" and event not in READERS and event not in WRITERS:
            return
        for path, writes in accesses(event, arguments):
            location = absolute(path, event)
            if location and not self.allows(location, writes):
                self.note(f"{'write' if writes else 'read'} {location} ({event})")
                raise PermissionError(f"No test may {'write' if writes else 'read'} {location}.")

    def note(self, access):
        """Add a line to the log: the access, the process, and where in the code it was."""
        frame, places = sys._getframe(2), []
        while frame is not None and len(places) < 12:
            places.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            frame = frame.f_back
        command = " ".join(getattr(sys, "orig_argv", sys.argv))[:200]
        line = f"{access} by {os.getpid()} [{command}] at {' < '.join(places)}".replace("\n", " ")
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, f"{line}\n".encode(errors="replace"))
        finally:
            os.close(handle)


def install():
    """Watch this process from now on, as the environment says; nothing where it says nothing."""
    if not os.environ.get(LOG):
        return
    folders = [os.environ.get(name, "").split(os.pathsep) for name in (CLOSED, READABLE, OPEN)]
    guard = getattr(sys, _INSTALLED, None)
    if guard is None:
        guard = Guard()
        sys.addaudithook(guard)
        setattr(sys, _INSTALLED, guard)
    guard.set(*folders, log=os.environ[LOG])


if __name__ == "sitecustomize":
    install()
