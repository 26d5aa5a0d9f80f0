"""What a hostile file could make its reader do, each asked of a child by name."""

import ctypes
import errno
import importlib
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

from core.base.untrusted import opening


def echo(report, content):
    report(1, 2)
    return {"length": len(content)}, None


def waiting(report):
    report(1, 2)
    time.sleep(600)


def between(report):
    report(1, 0)
    time.sleep(0.05)
    report(-1, 0)
    return {}, None


def surroundings(report):
    answers = {}
    for number in range(1024):
        try:
            os.lseek(number, 0, os.SEEK_CUR)
            answers[number] = "a file"
        except OSError as error:
            answers[number] = errno.errorcode[error.errno]
    lines = [number for number, answer in answers.items() if answer == "ESPIPE"]
    files = [number for number, answer in answers.items() if answer == "a file"]
    return {"environment": sorted(os.environ), "lines": lines, "files": files}, None


def _reads(path):
    with open(path, "rb") as file:
        return file.read(40)


def _connects(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as line:
        line.connect(address)


ATTEMPTS = {
    "a file by its path": lambda: _reads("/etc/passwd"),
    "a file beside": lambda: _reads("secret.txt"),
    "its own environment": lambda: _reads("/proc/self/environ"),
    "its parent's environment": lambda: _reads(f"/proc/{os.getppid()}/environ"),
    "its own memory": lambda: _reads("/proc/self/mem"),
    "a list of files": lambda: os.listdir("/"),
    "whether a file is there": lambda: os.stat("/etc/passwd"),
    "where it is": os.getcwd,
    "where a link leads": lambda: os.readlink("/proc/self/exe"),
    "a new file": lambda: os.open("/tmp/fairleak-hostile", os.O_CREAT | os.O_WRONLY),
    "a new file beside": lambda: os.open("new", os.O_CREAT | os.O_WRONLY),
    "a new folder": lambda: os.mkdir("/tmp/fairleak-hostile"),
    "a file to be gone": lambda: os.unlink("/tmp/fairleak-hostile"),
    "another name": lambda: os.rename("/tmp/a", "/tmp/b"),
    "a file in memory": lambda: os.memfd_create("a"),
    "a pipe": os.pipe,
    "a connection": lambda: _connects(socket.AF_INET, ("127.0.0.1", 9)),
    "a connection by the newer protocol": lambda: _connects(socket.AF_INET6, ("::1", 9)),
    "a local connection": lambda: _connects(socket.AF_UNIX, "\0fairleak"),
    "a name of the network": lambda: socket.getaddrinfo("localhost", 80),
    "a process": os.fork,
    "a program": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
    "a shell": lambda: subprocess.run("true", shell=True, check=True),
    "a module": lambda: importlib.import_module("this"),
    "a library": lambda: ctypes.CDLL("libBrokenLocale.so.1"),
    "a signal to its parent": lambda: os.kill(os.getppid(), 0),
    "another user": lambda: os.setuid(1),
    "another root": lambda: os.chroot("."),
    "more open files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096)),
    "more time": lambda: signal.setitimer(signal.ITIMER_REAL, 0),
}
"""What a file that has taken over its reader would try."""


def attempts(report):
    """Try everything, and tell what was not refused."""
    done = []
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
        except (OSError, ImportError, ValueError, subprocess.SubprocessError):
            continue
        done.append(name)
    return {"done": done}, None


def lose_confinement():
    """Do in a process what a system does that can confine none."""
    opening.confine = lambda: ()


def threads(report):
    """Compute in a thread of its own, which stays allowed."""
    marks = []
    thread = threading.Thread(target=lambda: marks.append(1))
    thread.start()
    thread.join()
    return {"made": marks}, None


def spin(report):
    while True:
        pass


def eat(report):
    held = []
    while True:
        held.append(bytearray(16 * 1024**2))


def much(report):
    import pyarrow as pa

    return {}, pa.table({"x": pa.nulls(1_000_000, pa.int64())})


def leave(report):
    os._exit(7)


def _ended_by(number):
    signal.raise_signal(number)
    time.sleep(600)


def divide(report):
    _ended_by(signal.SIGFPE)


def killed(report):
    _ended_by(signal.SIGKILL)


def write(report):
    with open(f"/tmp/{os.getpid()}", "w") as file:
        file.write("x" * 10_000)


def many_files(report):
    held = []
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))


def talk(report):
    """Send what is no message."""
    for handle in range(3, 64):
        try:
            os.write(handle, b"?" * 64)
        except OSError:
            continue
    os._exit(0)
