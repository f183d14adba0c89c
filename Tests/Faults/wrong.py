"""Clients that are wrong on purpose, instead of s3up: a soak that finds none of their violations is broken."""

import copy
import os

import faults
import gets
import kills
import proxy_check
import trees
from harness import Violation, demand, fresh_room, say

# name: (what it does, which run must detect it, what that run must report, the script: $S3UP is the real binary)
CLIENTS = {
    "silent": ("exits 0 and does nothing", "kills", "no run was killed", "sleep 0.2"),
    "late": ("takes its time and does nothing", "kills", "not there after exit 0", "sleep 5"),
    "flipped": (
        "uploads other bytes",
        "kills",
        "NOT the file",
        'f=$(mktemp -p "$HOME"); { printf X; tail -c +2 "$2"; } >"$f"; shift 2; exec "$S3UP" put "$f" "$@"',
    ),
    "litter": (
        "leaves an upload behind",
        "kills",
        "-litter",
        'id=$("$S3UP" create "$3-litter" "${@:7:6}" --state-dir "$6") || exit\n'
        '"$S3UP" part "$2" "$3-litter" --upload-id="$id" --part 1 --length 1M "${@:7:6}" >/dev/null || exit\n'
        'exec "$S3UP" "$@"',
    ),
    "hoarder": (
        "never forgets a record",
        "kills",
        "records left",
        'mkdir -p "$6"; echo "$3" >"$6/0.record"; exec "$S3UP" "$@"',
    ),
    "forgetful": (
        "knows nothing of the run before",
        "kills",
        "without need",
        'd=$(mktemp -d -p "$HOME"); n=("${@:1:5}" "$d" "${@:7}")\n'
        'if grep -q -- --resume <<<"$("$S3UP" help put)"; then n+=(--resume never); fi\nexec "$S3UP" "${n[@]}"',
    ),
    "oblivious": (
        "sends all of a folder again",
        "tree",
        "without need",
        'd=$(mktemp -d -p "$HOME"); exec "$S3UP" "${@:1:5}" "$d" "${@:7}"',
    ),
    "hopeful": ("calls every end a success", "complete", "exit 0", '"$S3UP" "$@"; exit 0'),
    "unmindful": (
        "loads all of an object again",
        "get",
        "loaded again",
        'd=$(mktemp -d -p "$HOME"); exec "$S3UP" "${@:1:5}" "$d" "${@:7}"',
    ),
    "impostor": ("calls an object that it has not got a success", "get", "neither", '"$S3UP" "$@"; exit 0'),
    "two": (
        "lets two runs work at once",
        "two-runs",
        "not 75",
        'd=$(mktemp -d -p "$HOME"); exec "$S3UP" "${@:1:5}" "$d" "${@:7}"',
    ),
}
RUNS = {"kills": kills.run, "tree": trees.run, "complete": faults.complete, "get": gets.run, "two-runs": faults.two_runs}


def run(options, store):
    room = fresh_room("wrong")
    missed = proxy_check.run(store)
    for name, (what, soak, words, script) in CLIENTS.items():
        client = room / name
        client.write_text(f"#!/bin/bash\nS3UP='{options.binary}'\n{script}\n")
        os.chmod(client, 0o755)
        tried = copy.copy(options)
        tried.binary, tried.uploads, tried.upload = str(client), 1, None
        tried.min_mib = tried.max_mib = 64
        tried.one_kill_after, tried.files = 4, 5000
        tried.get_mib, tried.replaced = 64, 4
        say(f"--- a client that {what}")
        try:
            problems = RUNS[soak](tried, store) or []
        except Violation as violation:
            problems = [str(violation)]
        found = any(words in problem for problem in problems)
        say(f"--- {'found out' if found else 'NOT FOUND OUT'}: {'; '.join(problems) or 'nothing'}")
        if not found:
            missed.append(f"a client that {what} was not found out by {soak}")
    return missed
