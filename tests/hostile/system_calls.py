"""Programs under strace, and what they reached: addresses beyond this machine, and files that they changed.

A name that is looked up is a packet to a name server, so it counts as an address.
"""

import functools
import ipaddress
import os
import re
import shutil
import subprocess
from typing import NamedTuple

from tests.patience import wait_until

STRACE = shutil.which("strace")

SENT = ("connect", "sendto", "sendmsg", "sendmmsg", "bind")
"""System calls that name an address."""

OPENED = ("open", "openat", "openat2", "creat")
CHANGED = (
    *OPENED,
    *("mkdir", "mkdirat", "mknod", "mknodat", "rmdir", "unlink", "unlinkat", "truncate"),
    *("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"),
    *("chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utimensat"),
    *("setxattr", "lsetxattr", "removexattr", "lremovexattr"),
)
"""System calls that name a file and may change it."""

FORKED = ("clone", "clone3", "fork", "vfork")
MOVED = ("chdir", "fchdir")
WRITING = re.compile(r"\bO_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)\b")
NO_FILE = re.compile(r"/dev/null|/dev/shm/sem\.[^/]*")
"""Paths under which nothing can be kept: a semaphore holds a number."""

_LINE = re.compile(r"(\w+)\((.*?)(?:\)\s+= (.*)|\s*<unfinished \.\.\.>)")
_ARGUMENT = re.compile(r'(?:"(?:[^"\\]|\\.)*"|<[^>]*>|[^,"<])+')
_FAMILY = re.compile(r'sa_family=(AF_\w+)(?:[^{}"]*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)")?')
_FOLDER = re.compile(r"(?:AT_FDCWD|\d+)<(/.*?)(?:\(deleted\))?>")
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}


class Call(NamedTuple):
    """A system call with what strace tells of it, and the folder its process was in."""

    name: str
    arguments: str
    result: str
    folder: str

    def __str__(self):
        return f"{self.name}({self.arguments}) = {self.result}"


@functools.cache
def can_trace():
    """Whether strace is there, and the system lets it look at a process."""
    if STRACE is None:
        return False
    return subprocess.run([STRACE, "-f", "-qq", "-e", "trace=none", "true"], capture_output=True).returncode == 0


def under(folder):
    """Return the beginning of a command whose system calls are to be noted in a new folder, a file for each process.

    The program stays a child of who starts it; strace looks at it from aside. What is sent is not noted.
    """
    folder.mkdir()
    names = (*SENT, *CHANGED, *FORKED, *MOVED)
    options = ["-D", "-ff", "-y", "-q", "-s", "0", "--seccomp-bpf"]
    return [str(STRACE), *options, "-e", f"trace={','.join(f'?{name}' for name in names)}", "-o", str(folder / "calls")]


def calls(folder, start):
    """Return what was noted in a folder, once all that the program began has ended; it was started in `start`."""
    wait_until(lambda: all(map(_is_complete, folder.iterdir())), "the end of all that is traced")
    texts = {path.suffix[1:]: path.read_text("utf-8", "backslashreplace") for path in folder.iterdir()}
    places = dict.fromkeys(texts, str(start))
    read = []
    for process in sorted(texts, key=int):
        current = places[process]
        for call in map(_LINE.match, texts[process].splitlines()):
            if call is None:
                continue
            name, arguments, result = call[1], call[2], call[3] or "?"
            if name in FORKED:
                places[result.split()[0]] = current
            elif name in MOVED and result.startswith("0"):
                current = _paths(arguments, current)[0]
            else:
                read.append(Call(name, arguments, result, current))
    return read


def _is_complete(path):
    return path.read_bytes().rstrip().rpartition(b"\n")[2].startswith(b"+++ ")


def _paths(arguments, working_folder):
    """Return the paths among arguments, each in the folder before it; or that folder where it is alone."""
    paths, folder = [], working_folder
    parts = [part.strip() for part in _ARGUMENT.findall(arguments)]
    for part in parts:
        if part.startswith('"'):
            paths.append(os.path.normpath(os.path.join(folder, _text(part))))
            folder = working_folder
        elif match := _FOLDER.fullmatch(part):
            folder = _text(match[1])
    return paths or [folder]


def _text(literal):
    def letter(match):
        if match[1]:
            return bytes([int(match[1], 8)])
        return _LETTERS.get(match[2], match[2])

    return os.fsdecode(_ESCAPE.sub(letter, os.fsencode(literal.removesuffix("...").strip('"'))))


def reached(traced):
    return [str(call) for call in traced if call.name in SENT and any(map(_is_beyond, _FAMILY.findall(call.arguments)))]


def _is_beyond(endpoint):
    family, address = endpoint
    if family in ("AF_UNIX", "AF_NETLINK", "AF_UNSPEC"):  # which lead nowhere but to this machine
        return False
    if not address:
        return True
    ip = ipaddress.ip_address(address)
    return not (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


def changed(traced):
    """Yield each path that a call changed, or tried to, and the call."""
    for call in traced:
        # Nobody could have changed a file that is not there, or is there already.
        if call.name not in CHANGED or any(word in call.result for word in ("ENOENT", "EEXIST", "ENOTDIR")):
            continue
        if call.name in OPENED and call.name != "creat" and not WRITING.search(call.arguments):
            continue
        paths = _paths(call.arguments, call.folder)
        if call.name.startswith("symlink"):
            paths = paths[1:]  # where it leads is not touched
        elif "xattr" in call.name:
            paths = paths[:1]
        for path in paths:
            yield path, str(call)


def changed_outside(traced, *folders):
    """Return the calls that changed a file in none of these folders."""
    inside = tuple(f"{folder}/" for folder in folders)
    return [call for path, call in changed(traced) if not (NO_FILE.fullmatch(path) or f"{path}/".startswith(inside))]


def semaphores_left(traced):
    """Return the semaphores made that are still there."""
    return sorted({path for path, _ in changed(traced) if path.startswith("/dev/shm/") and os.path.exists(path)})
