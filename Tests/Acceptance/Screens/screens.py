#!/usr/bin/env python3
"""screens.py S3UP [--write] [--only STATE,...]: what a person sees of uploads and downloads in a real terminal (tmux) of
20, 40, 80 and 200 columns, compared with the files in `expected`, in which N is any number. The store is one that stores.sh
has started, behind the fault proxy, which keeps each run in the state to look at. --write writes the files instead, to be
looked at one by one; --raw also prints the screens as they are.
"""

import argparse
import concurrent.futures
import contextlib
import difflib
import os
import pathlib
import re
import select
import shlex
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "Faults"))
from harness import MIB, Bucket, Proxy, S3up, Store, demand  # noqa: E402

WIDTHS, HEIGHT = (20, 40, 80, 200), 30
PATIENCE, SETTLED = 60, 8
HOUR = 3_600_000
NAME = "backup.tar"


def fault(operation, part=None, **action):
    return {"match": {"operation": operation, "partNumber": part}, "action": action}


def held(operation, stage):
    return fault(operation, stall={"milliseconds": HOUR, "stage": stage})


def busy(operation):
    answer = {"status": 503, "code": "SlowDown", "message": "Please reduce your request rate."}
    return fault(operation, error=answer | {"headers": {"Retry-After": "120"}})


REFUSED = fault("CreateMultipartUpload", error={"status": 403, "code": "AccessDenied", "message": "Access Denied"})
SLOW = {"bytesPerSecond": 200_000}

PUT, GET = ["put", NAME, "{own}/" + NAME], ["get", "{made}/" + NAME, "back.tar"]
UP, DOWN = ["put", "-r", "photos", "{own}/photos/"], ["get", "-r", "{made}/photos/", "back"]
# name: the command's words, and the faults of its store; None: a server that takes no connection
STATES = {
    "put": (PUT, [fault("UploadPart", slowRead=SLOW)]),
    "put-finished": (PUT, []),
    "put-resumed": (PUT, [fault("UploadPart", part, slowRead=SLOW) for part in (5, 6, 7)]),
    "put-stalled": (PUT, [held("UploadPart", "withinBody")]),
    "put-retrying": (PUT, [busy("UploadPart")]),
    "put-waiting": (PUT, [held("UploadPart", "beforeAnswer")]),
    "put-connecting": (PUT, None),
    "put-assembling": (PUT, [held("CompleteMultipartUpload", "beforeAnswer")]),
    "put-failed": (PUT, [REFUSED]),
    "put-interrupted": (PUT, [fault("UploadPart", slowRead=SLOW)]),
    "put-folder": (UP, [fault("PutObject", slowRead={"bytesPerSecond": 20_000})]),
    "put-folder-finished": (UP, []),
    "get": (GET, [fault("GetObject", slowAnswer=SLOW)]),
    "get-finished": (GET, []),
    "get-stalled": (GET, [held("GetObject", "withinAnswer")]),
    "get-retrying": (GET, [busy("GetObject")]),
    "get-interrupted": (GET, [fault("GetObject", slowAnswer=SLOW)]),
    "get-folder": (DOWN, [fault("GetObject", slowAnswer={"bytesPerSecond": 20_000})]),
    "get-folder-finished": (DOWN, []),
}


class Terminal:
    """A tmux of its own, without anybody's settings."""

    def __init__(self, folder):
        self.socket = str(folder / "tmux")
        (folder / "tmux.conf").write_text("set -g status off\nset -g default-terminal screen-256color\n")
        self.settings = str(folder / "tmux.conf")

    def tmux(self, *words):
        command = ["tmux", "-S", self.socket, "-f", self.settings, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def open(self, name, width, folder, environment, command):
        words = [f"{key}={value}" for key, value in environment.items() if key != "TERM"]
        # Else Ctrl-C would end the shell too.
        script = f"trap : INT; cd {shlex.quote(str(folder))}; {command}; echo \"exit code $?\"; exec sleep 600"
        self.tmux("new-session", "-d", "-s", name, "-x", str(width), "-y", str(HEIGHT),
                  "env", "-i", "TERM=screen-256color", *words, "sh", "-c", script)  # fmt: skip

    def screen(self, name):
        """Its lines, in one piece if the terminal had to wrap them: where it did depends on the numbers."""
        return self.tmux("capture-pane", "-p", "-J", "-t", name).rstrip("\n")

    def end(self, name=None):
        """Ends one session, or all, and waits for what runs there: a shell may still write its history, s3up its record."""
        with contextlib.ExitStack() as stack, contextlib.suppress(subprocess.CalledProcessError):
            panes = self.tmux("list-panes", *(["-s", "-t", name] if name else ["-a"]), "-F", "#{pane_pid}").split()
            ends = []
            for pid in subprocess.run(["ps", "-o", "pid=", "-s", ",".join(panes)], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    ends.append(os.pidfd_open(int(pid)))
                    stack.callback(os.close, ends[-1])
            self.tmux(*(["kill-session", "-t", name] if name else ["kill-server"]))
            for end in ends:
                ready, _, _ = select.select([end], [], [], SETTLED)
                demand(ready, "a program did not end with its terminal")


def plain(screen):
    """Without what differs from run to run. A run of less than half a second has no rate."""
    screen = re.sub(r"\[[=~> ]+\]", "[bar]", screen)
    screen = re.sub(r"\d+m\d\ds", "Ns", screen)
    screen = re.sub(r", [\d.]+ [KMG]iB/s(?=[);])", "", screen)
    screen = re.sub(r"(?<![0-9A-Za-z])[0-9a-f]{32,}(?:-\d+)?", "ID", screen)
    screen = re.sub(r"(?<![A-Za-z\d])(?<!exit code )\d+(?:[.,:]\d+)*", "N", screen)
    screen = re.sub(r"\bN (?:[KG]i)?B\b", "N MiB", screen)
    return "\n".join(line.rstrip() for line in screen.splitlines())


@contextlib.contextmanager
def deaf():
    """The address of a server that takes no connection: its queue is full."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield "http://127.0.0.1:%d" % listener.getsockname()[1]


class Scene:
    """One state in one width."""

    def __init__(self, state, width, place, endpoint, proxy, bucket, terminal):
        self.state, self.width, self.terminal, self.proxy = state, width, terminal, proxy
        self.words = STATES[state][0]
        self.name = f"{state}-{width:03}"
        self.folder = place / self.name
        self.folder.mkdir()
        self.key = f"{self.name}/{NAME}" if "{own}" in self.words[-1] else f"made/{NAME}"
        self.s3up = S3up(place.parent / "s3up", Store("seaweedfs"), self.folder)
        self.values = {"own": f"s3://{bucket}/{self.name}", "made": f"s3://{bucket}/made"}
        self.where = ["--endpoint-url", endpoint, "--region", "us-east-1", "--addressing", "path"]
        # A state lasts for as long as it is looked for: on a busy machine the usual timeouts may end it before the first look.
        self.where += ["--connect-timeout", "1m", "--stall-timeout", "10m"]
        for made in ("backup.tar", "photos"):
            (self.folder / made).symlink_to(place.parent / made)

    def command(self):
        words = [word.format(**self.values) for word in self.words]
        sizes = ["--part-size", "5M"] if self.words[0] == "put" else []
        return [str(self.s3up.binary), *words, *self.where, *sizes, "--concurrency", "4"]

    def run(self):
        if self.state == "put-resumed":
            self.begin_and_kill()
        words = shlex.join(["s3up", *self.command()[1:]])
        environment = self.s3up.environment | {"PATH": f"{self.s3up.binary.parent}:{os.environ['PATH']}"}
        self.terminal.open(self.name, self.width, self.folder, environment, words)
        if self.state.endswith("-interrupted"):
            operation = "UploadPart" if self.state.startswith("put") else "GetObject"
            demand(self.await_requests(operation, "began", 1), "nothing was asked for")
            time.sleep(2)
            self.terminal.tmux("send-keys", "-t", self.name, "C-c")

    def await_requests(self, operation, phase, count):
        return self.proxy.wait(operation, self.key, phase, count=count, seconds=PATIENCE)

    def begin_and_kill(self):
        """Three parts arrive and are recorded, then the run is killed."""
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        process = subprocess.Popen(self.command(), cwd=self.folder, env=self.s3up.environment, **silent)
        demand(self.await_requests("UploadPart", "delivered", 3), "no part arrived")
        time.sleep(1.5)
        process.kill()
        process.wait()

    def matches(self, expected):
        end = time.monotonic() + PATIENCE
        while True:
            seen = plain(self.terminal.screen(self.name))
            if seen == expected or time.monotonic() > end:
                return seen
            time.sleep(0.2)


def divided(text):
    """The screens of a file, by their width."""
    pieces = re.split(r"(?m)^-- (\d+) columns -*\n", text)[1:]
    return {int(width): screen.rstrip("\n") for width, screen in zip(pieces[::2], pieces[1::2])}


def joined(screens):
    return "\n".join(f"-- {width} columns {'-' * 40}\n{screen}\n" for width, screen in screens.items())


def look(state, place, bucket, terminal, options):
    """All widths of a state at once. Returns what was seen."""
    faults = STATES[state][1]
    with contextlib.ExitStack() as stack:
        proxy = stack.enter_context(Proxy(Store("seaweedfs"), faults or [])) if faults is not None else None
        endpoint = proxy.endpoint if proxy else stack.enter_context(deaf())
        scenes = [Scene(state, width, place, endpoint, proxy, bucket, terminal) for width in WIDTHS]
        with concurrent.futures.ThreadPoolExecutor(len(scenes)) as pool:
            list(pool.map(Scene.run, scenes))
            if options.write:
                time.sleep(SETTLED)
                seen = {scene.width: plain(terminal.screen(scene.name)) for scene in scenes}
                if options.raw:
                    print(joined({scene.width: terminal.screen(scene.name) for scene in scenes}))
            else:
                expected = divided((HERE / "expected" / f"{state}.txt").read_text())
                found = pool.map(lambda scene: scene.matches(expected[scene.width]), scenes)
                seen = {scene.width: screen for scene, screen in zip(scenes, found)}
            list(pool.map(lambda scene: terminal.end(scene.name), scenes))
    return joined(seen)


def prepare(place, options, bucket):
    """The program under its name, a large file and a folder, and both at the store."""
    (place / "s3up").symlink_to(pathlib.Path(options.binary).resolve())
    (place / NAME).write_bytes(os.urandom(32 * MIB))
    (place / "photos").mkdir()
    for number in range(50):
        (place / "photos" / f"IMG_{number:04}.jpeg").write_bytes(os.urandom(100_000))
    s3up = S3up(place / "s3up", Store("seaweedfs"), place)
    where = ["--endpoint-url", s3up.store.endpoint, "--region", "us-east-1", "--addressing", "path", "-q"]
    for words in ([NAME, f"s3://{bucket}/made/{NAME}"], ["-r", "photos", f"s3://{bucket}/made/photos/"]):
        subprocess.run([place / "s3up", "put", *words, *where], cwd=place, env=s3up.environment, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--raw", action="store_true", help="with --write")
    parser.add_argument("--only", default=",".join(STATES))
    options = parser.parse_args()
    failed = []
    with contextlib.ExitStack() as stack:
        top = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bucket = stack.enter_context(Bucket(Store("seaweedfs"), "screens"))
        terminal = Terminal(top)
        stack.callback(terminal.end)
        prepare(top, options, bucket)
        place = top / "runs"
        place.mkdir()
        states = options.only.split(",")
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            results = pool.map(lambda state: look(state, place, bucket, terminal, options), states)
            for state, seen in zip(states, results):
                file = HERE / "expected" / f"{state}.txt"
                if options.write:
                    file.parent.mkdir(exist_ok=True)
                    file.write_text(seen)
                elif seen != (wanted := file.read_text()):
                    failed.append(state)
                    lines = difflib.unified_diff(wanted.splitlines(), seen.splitlines(), file.name, "seen", lineterm="")
                    print("\n".join(lines))
    if failed:
        sys.exit(f"screens: {', '.join(failed)} did not come to look as expected within {PATIENCE} s")
    print(f"screens: {len(states)} states in {len(WIDTHS)} widths look as expected")


if __name__ == "__main__":
    main()
