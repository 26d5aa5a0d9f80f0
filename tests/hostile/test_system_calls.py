"""What strace notes is read as it is: a planted address and planted files are found, and nothing else."""

import socket
import subprocess
import sys

import pytest

from tests.hostile.system_calls import Call, calls, can_trace, changed_outside, reached, under

pytestmark = pytest.mark.skipif(not can_trace(), reason="no strace here, or it may not look at processes (ptrace)")

PLANTED = """
import os, socket, subprocess, sys, tempfile

def packet(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as line:
        try:
            line.connect((address, 9))
        except OSError:
            pass

packet(socket.AF_INET, "127.0.0.1")
os.makedirs("inside/made", exist_ok=True)
with tempfile.TemporaryFile(dir="inside"), open("inside/kept", "w"), open(os.devnull, "w"):
    pass
if len(sys.argv) > 1:
    packet(socket.AF_INET, "192.0.2.1")
    packet(socket.AF_INET6, "2001:db8::1")
    open("be, side \\"ü\\"", "w").close()
    os.mkdir("folder")
    os.rename("inside/kept", "moved")
    os.chdir("folder")
    subprocess.run([sys.executable, "-c", "import os; os.mkdir('below'); os.symlink('/usr', 'link'); os._exit(0)"])
    # A process that is killed is noted too.
    subprocess.run([sys.executable, "-c", "import os; os.rmdir('below'); os.kill(os.getpid(), 9)"])
"""


def traced_calls(folder, *arguments):
    working_folder = folder / "place"
    working_folder.mkdir()
    command = [*under(folder / "calls"), sys.executable, "-c", PLANTED, *arguments]
    subprocess.run(command, cwd=working_folder, check=True)
    return calls(folder / "calls", working_folder)


def test_what_stays_inside_is_no_finding(tmp_path):
    traced = traced_calls(tmp_path)
    assert any("127.0.0.1" in call.arguments for call in traced)
    assert reached(traced) == [] and changed_outside(traced, tmp_path / "place" / "inside") == []


def test_planted_files(tmp_path):
    traced = traced_calls(tmp_path, "all")
    addresses = reached(traced)
    assert len(addresses) == 1 + socket.has_ipv6
    assert "192.0.2.1" in addresses[0] and "2001:db8::1" in "".join(addresses[1:] or ["2001:db8::1"])
    outside = "\n".join(changed_outside(traced, tmp_path / "place" / "inside"))
    patterns = (r"\303\274", 'mkdir("folder"', '"moved"', 'mkdir("below"', 'symlink("/usr", "link"', 'rmdir("below"')
    for pattern in patterns:
        assert pattern in outside, pattern
    assert len(outside.splitlines()) == 6
    working_folder = tmp_path / "place"
    folders = [working_folder / name for name in ("inside", "moved", "link")]
    assert 'mkdir("below"' in "".join(changed_outside(traced, *folders))
    assert changed_outside(traced, working_folder) == []


def sent(arguments):
    return reached([Call("sendto", arguments, "1", "/")])


def test_of_addresses_only_loopback_is_this_machine():
    assert sent('3<socket:[1]>, "a", 1, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16')
    assert sent(
        '3, "{", 1, 0, {sa_family=AF_INET6, sin6_port=htons(53), inet_pton(AF_INET6, "fe80::1", &sin6_addr)}, 28'
    )
    assert sent("3, {sa_family=AF_VSOCK, svm_cid=0x2, svm_port=0x3}, 16")
    for address in ('{sa_family=AF_UNIX, sun_path="/a"}', '{sa_family=AF_INET, sin_addr=inet_addr("127.0.0.53")}'):
        assert not sent(f"3, {address}, 16")
    assert not sent('3, {sa_family=AF_INET6, inet_pton(AF_INET6, "::1", &sin6_addr)}, 28')
    assert not sent('3, "sa_family", 1, 0, NULL, 0')
