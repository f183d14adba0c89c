"""A slow line: the relay creates two network namespaces and forwards packets between them. The sink runs in one, the
clients in the other. They disappear when the relay ends, and the relay ends with this process."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import harness

SINK_ADDRESS = "10.77.0.2"
ALLOWED = pathlib.Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")


class NoLine(Exception):
    """This machine cannot create the line; the text says why."""


@contextlib.contextmanager
def allowed(congestion):
    """A namespace may only use what the kernel allows to all users; the change lasts until the run ends."""
    before = ALLOWED.read_text().split()
    if congestion in before:
        yield
        return
    ALLOWED.write_text(" ".join([*before, congestion]))
    try:
        yield
    finally:
        ALLOWED.write_text(" ".join(before))


@contextlib.contextmanager
def prefixes(relay, slow):
    """The commands that run a program at the clients' and at the sink's end."""
    if os.geteuid() != 0:
        raise NoLine("it needs root: sudo python3 Tests/Bench/bench.py --work line,grid")
    if not shutil.which("nsenter"):
        raise NoLine("there is no nsenter")
    numbers = [f"{value:g}" for value in (slow.delay_ms, slow.loss, slow.mbit)]
    process = subprocess.Popen(
        [relay, *numbers, slow.congestion], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        ends = process.stdout.readline().split()
        if len(ends) != 2:
            raise NoLine(process.stderr.read().strip() or "the relay did not start")
        yield [["nsenter", f"--net=/proc/{process.pid}/fd/{end}"] for end in ends]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@contextlib.contextmanager
def place(programs, slow, *options):
    """The sink and the prefix of the clients: at the two ends of the line, or both on loopback when there is none."""
    if not slow:
        with harness.sink(programs["sink"], options=options) as sink:
            yield sink, []
        return
    with (
        allowed(slow.congestion),
        prefixes(programs["relay"], slow) as (clients, server),
        harness.sink(programs["sink"], SINK_ADDRESS, server, clients, options) as sink,
    ):
        yield sink, clients
