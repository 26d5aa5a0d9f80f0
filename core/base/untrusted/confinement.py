"""What a child gives up before it opens a stranger's file: other files, the network, other processes, its environment.

On Linux the kernel refuses it all. Seccomp lets only those system calls pass that computing needs, so that even a file
that takes over the process can open nothing; Landlock says the same a second time, of paths, ports and signals. Neither
needs rights, and neither can be taken back. Elsewhere there is only a floor: no file may be opened beyond those that
are open. See seccomp(2), landlock(7) and the kernel's `Documentation/userspace-api`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys
from collections.abc import Callable
from typing import Any

PROTECTIONS = ("files", "network", "processes")
"""What a child can be kept from; a confined child is kept from all three."""

UNCONFINED = (
    "Model files are not opened here: this system cannot keep the process that opens them from other files, the "
    "network and other processes. FAIRLEAK_ALLOW_UNCONFINED=1, or fairleak dashboard --allow-unconfined, opens them "
    "all the same; use it for files of people you trust."
)
"""What is said where a model file is refused for want of confinement."""

ALLOW_UNCONFINED = "FAIRLEAK_ALLOW_UNCONFINED"
"""Environment variable: 1 if model files are opened where a child cannot be confined."""


def is_unconfined_allowed() -> bool:
    """Return whether the user lets model files be opened where nothing confines the process that does."""
    return os.environ.get(ALLOW_UNCONFINED) == "1"


def confine() -> tuple[str, ...]:
    """Give up everything but computing, memory and the open connection; nothing gives it back.

    Returns
    -------
    tuple of str
        Those of `PROTECTIONS` that the kernel enforces from now on.
    """
    os.environ.clear()
    if sys.platform != "linux" or sys.byteorder != "little":
        _limit_open_files()
        _limit_processes()
        return ()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    by_landlock = _restrict_by_landlock(libc)
    _limit_open_files()
    if _restrict_by_seccomp(libc):
        return PROTECTIONS
    _limit_processes()
    return by_landlock


def enter_empty_folder() -> None:
    """Make an empty folder the current one, and delete it: no relative path leads anywhere.

    Called before the length of files is limited. Which folder is for temporary files is not tried, as `tempfile` would.
    """
    folder = os.path.join(
        os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp", f"fairleak-{os.getpid()}"
    )
    try:
        os.mkdir(folder, 0o700)
        os.chdir(folder)
        os.rmdir(folder)
    except OSError:
        os.chdir(os.sep)


def _limit_open_files() -> None:
    """Allow no more open files than there are."""
    try:
        import resource
    except ImportError:
        return
    open_files = 3
    for number in range(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0]):
        with contextlib.suppress(OSError):
            os.fstat(number)
            open_files = number + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))


def _limit_processes() -> None:
    """Allow no further process, nor thread, to users who are not root."""
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


# ---- Landlock: struct landlock_ruleset_attr of <linux/landlock.h>; the rights grew with the ABI's number.

_PR_SET_NO_NEW_PRIVS = 38
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_CREATE_RULESET_VERSION = 1

_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""ABI -> rights on files and folders that exist from there on, as a number of bits."""

_NETWORK_RIGHTS = 0b11
"""To bind and to connect TCP, from ABI 4 on."""

_SCOPES = 0b11
"""Abstract UNIX sockets and signals of others, from ABI 6 on."""


def _restrict_by_landlock(libc: Any) -> tuple[str, ...]:
    """Give up all rights that Landlock knows here, and return what that protects."""
    abi = libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION)
    if abi < 1:
        return ()
    bits = max(number for since, number in _FILE_RIGHTS.items() if since <= abi)
    handled = [(1 << bits) - 1]
    if abi >= 4:
        handled.append(_NETWORK_RIGHTS)
    if abi >= 6:
        handled.append(_SCOPES)
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return ()
    restricted = libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    if restricted:
        return ("files",)
    return ()


# ---- Seccomp: a filter in classic BPF over struct seccomp_data of <linux/seccomp.h>.

_SYSCALLS = {
    # name: (x86_64, aarch64); None where the machine does not have it
    "brk": (12, 214),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "close": (3, 57),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fstat": (5, 80),
    "futex": (202, 98),
    "get_mempolicy": (239, 236),
    "getcpu": (309, 168),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "getuid": (102, 174),
    "lseek": (8, 62),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    "mincore": (27, 232),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "poll": (7, None),
    "ppoll": (271, 73),
    "read": (0, 63),
    "readv": (19, 65),
    "recvfrom": (45, 207),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "sendto": (44, 206),
    "set_robust_list": (273, 99),
    "sigaltstack": (131, 132),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "uname": (63, 160),
    "write": (1, 64),
    "writev": (20, 66),
}
"""System calls that compute, take memory, tell the time, and talk through what is open. No other passes as it is."""

_CLONE = (56, 220)
_CLONE3 = (435, 435)
_PRLIMIT = (302, 261)
_TGKILL = (234, 131)
"""Those that pass with some arguments only: for threads, not at all, for reading, and to itself."""

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Machine -> its place in the pairs above, and how the kernel names it (AUDIT_ARCH)."""

_SECCOMP = (317, 277)
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_FILTER_FLAG_TSYNC = 1
_CLONE_THREAD = 0x10000

_LOAD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | 13
_UNKNOWN = 0x00050000 | 38
"""SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO with EACCES, and with ENOSYS: the C library then tries clone for clone3."""

_NUMBER = 0
_MACHINE = 4
"""Places in struct seccomp_data."""

_Instruction = tuple[int, int, int, int]
"""Code, instructions to skip if the test holds and if not, operand."""


def _argument(position: int, *, high: bool = False) -> int:
    """Place of one half of an argument in struct seccomp_data."""
    return 16 + 8 * position + 4 * high


def _filter(machine: str, pid: int) -> list[_Instruction]:
    """Filter that lets the listed system calls of one machine pass, and signals to the process `pid` itself."""
    index, audit_name = _MACHINES[machine]
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _MACHINE),
        (_JUMP_EQUAL, 1, 0, audit_name),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for numbers in _SYSCALLS.values():
        number = numbers[index]
        if number is not None:
            program += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    program += [(_JUMP_EQUAL, 0, 1, _CLONE3[index]), (_RETURN, 0, 0, _UNKNOWN)]
    # A new process is refused, a thread passes.
    program += [
        (_JUMP_EQUAL, 0, 4, _CLONE[index]),
        (_LOAD, 0, 0, _argument(0)),
        (_JUMP_ANY_BIT, 0, 1, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    # Limits may be read (the pointer to new ones is null), of this process (0) alone.
    program += [
        (_JUMP_EQUAL, 0, 8, _PRLIMIT[index]),
        (_LOAD, 0, 0, _argument(0)),
        (_JUMP_EQUAL, 0, 5, 0),
        (_LOAD, 0, 0, _argument(2)),
        (_JUMP_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _argument(2, high=True)),
        (_JUMP_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    # A signal to itself ends it (abort); none to others.
    program += [
        (_JUMP_EQUAL, 0, 3, _TGKILL[index]),
        (_LOAD, 0, 0, _argument(0)),
        (_JUMP_EQUAL, 0, 1, pid),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return [*program, (_RETURN, 0, 0, _REFUSE)]


class _Program(ctypes.Structure):
    """Struct sock_fprog of <linux/filter.h>."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def _restrict_by_seccomp(libc: Any) -> bool:
    """Install the filter in all threads, and return whether it is there."""
    machine = platform.machine()
    if machine not in _MACHINES:
        return False
    instructions = b"".join(
        struct.pack("=HBBI", *instruction) for instruction in _filter(machine, os.getpid())
    )
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    number = _SECCOMP[_MACHINES[machine][0]]
    flags = _SECCOMP_FILTER_FLAG_TSYNC
    return bool(libc.syscall(number, _SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program)) == 0)


def probe(report: object) -> tuple[dict[str, Any], None]:
    """Outcome of trying to open a file, a socket and a process: {"files": true, ...}, true where refused."""
    import socket
    import subprocess

    attempts: dict[str, Callable[[], object]] = {
        "files": lambda: os.open(sys.executable, os.O_RDONLY),
        "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "processes": lambda: subprocess.run(
            [sys.executable, "-c", ""], check=False, close_fds=False
        ),
    }
    return {name: _is_refused(attempt) for name, attempt in attempts.items()}, None


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False
