#!/usr/bin/env python3
"""shells.py S3UP: the completions in a real bash, zsh and fish, each in a terminal, with real words and a Tab, against the
profiles of the shared files and the buckets and keys of a store that stores.sh has started."""

import os
import pathlib
import sys
import tempfile
import time

from screens import Bucket, S3up, Store, Terminal

PATIENCE = 20
START = {
    "bash": ("exec bash --norc", "source <(s3up completions bash)"),
    "zsh": ("exec zsh -f", "fpath=($PWD $fpath); s3up completions zsh >_s3up; autoload -Uz compinit; compinit -u -d dump"),
    "fish": ("exec fish --no-config", "s3up completions fish | source"),
}
# What is typed before the Tab, and what the line is to be after it.
TYPED = [
    ("s3up pres", "s3up presign"),
    ("s3up ticket iss", "s3up ticket issue"),
    ("s3up help exit-", "s3up help exit-codes"),
    ("s3up put --no-verif", "s3up put --no-verify"),
    ("s3up put --checksum crc64", "s3up put --checksum crc64nvme"),
    ("s3up put --profile night", "s3up put --profile nightly"),
    ("s3up put bac", "s3up put backup.tar"),
    ("s3up put f s3://my-buck", "s3up put f s3://my-bucket/"),
    ("s3up get s3://my-bucket/nested/dee", "s3up get s3://my-bucket/nested/deep.txt"),
    ("s3up put s3://b/k -- /usr/bin/sha256su", "s3up put s3://b/k -- /usr/bin/sha256sum"),
]


def is_there(wanted, screen):
    return f"{wanted} " in screen.partition("\n")[0] + " "


def until(terminal, shell, there, between=lambda: None):
    """The screen as soon as `there` is true of it, or when that takes too long."""
    end = time.monotonic() + PATIENCE
    while True:
        screen = terminal.screen(shell)
        if there(screen) or time.monotonic() > end:
            return screen
        between()
        time.sleep(0.1)


def begin(terminal, shell, load):
    """A shell that is still starting may drop what is typed, so it is asked until it answers."""
    def enter(line):
        terminal.tmux("send-keys", "-l", "-t", shell, line)
        terminal.tmux("send-keys", "-t", shell, "Enter")

    until(terminal, shell, lambda screen: "ready" in screen, lambda: enter("echo rea''dy"))
    enter(f"{load}; echo loa''ded")
    until(terminal, shell, lambda screen: "loaded" in screen)


def completed(terminal, shell, typed, wanted):
    """What the line became."""
    terminal.tmux("send-keys", "-t", shell, "C-u")
    terminal.tmux("send-keys", "-t", shell, "C-l")
    terminal.tmux("send-keys", "-l", "-t", shell, typed)
    terminal.tmux("send-keys", "-t", shell, "Tab")
    return until(terminal, shell, lambda screen: is_there(wanted, screen))


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as top, Bucket(Store("seaweedfs"), "my-bucket") as bucket:
        place = pathlib.Path(top)
        s3up = S3up(binary, Store("seaweedfs"), place)
        s3up.store.ask("PUT", f"{bucket}/nested/deep.txt")
        (place / "backup.tar").touch()
        (place / "s3up").symlink_to(binary)
        (place / "home/.aws").mkdir()
        (place / "home/.aws/config").write_text("[profile nightly]\nregion = us-east-1\n")
        environment = s3up.environment | {
            "AWS_ENDPOINT_URL": s3up.store.endpoint, "AWS_REGION": "us-east-1",
            "PATH": f"{place}:{os.environ['PATH']}", "PS1": "", "fish_greeting": "",
        }  # fmt: skip
        terminal = Terminal(place)
        try:
            for shell, (start, load) in START.items():
                terminal.open(shell, 120, place, environment, start)
                begin(terminal, shell, load)
                for typed, wanted in TYPED:
                    screen = completed(terminal, shell, typed, wanted)
                    if not is_there(wanted, screen):
                        failed += 1
                        print(f"{shell}: after {typed!r} and a Tab there was not {wanted!r} but:\n{screen}")
        finally:
            terminal.end()
    if failed:
        sys.exit(1)
    print(f"completions: {len(TYPED)} in {', '.join(START)}")


main()
