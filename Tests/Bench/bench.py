#!/usr/bin/env python3
"""Measures what transfers cost: CPU, time and memory of s3up beside plain curl, a C program that does nothing but call
libcurl (the floor), and with --peers other clients. The server is a sink that answers like a store and drops the
bytes, so that only the client is measured; what is downloaded it has in memory, and the target is in memory too. Every
round runs each client once (A B C A B C ...), so that a machine that slows down slows all of them; the tables show
medians. Only transfers count that ended with status 0 and with all their bytes at the sink, or in the target.

workloads (--work), and about how long they take on two cores, alone and with --peers:
  file     one file of 2 GiB over HTTP and TLS, the same parts and connections for all     1.5 min    5 min
  own      the same file, every client's own defaults                                        1 min    5 min
  start    one file of 1 KiB, in milliseconds                                                 10 s    1 min
  stream   1 GiB of unknown length through a pipe, over TLS                                   15 s    3 min
  ticket   10,000 requests signed for a ticket, and the ticket read                          5 s
  small    5,000 files of 4 KiB and 2,000 of 256 KiB, 8 at once                             30 s    5 min
  get      one file of 2 GiB back, over HTTP and TLS, the same ranges and connections        1 min    5 min
  get-small  5,000 files of 4 KiB back, 8 at once                                           30 s    5 min
  get-line  64 and 512 MiB back over a slow line, with and without loss, defaults and fixed settings
                                                                                             4 min   15 min
  ls       a list of 1,000,000 keys                                                          30 s    4 min
  loops    2 GiB over TLS, on all cores and on one                                           1 min    1 min
  line     512 MiB over a slow line, and 64 MiB with loss                                    1 min   18 min
  small-line  5,000 files of 40 KiB over a slow line, every client's own defaults           15 s   12 min
  grid     s3up on many lines, without options and with fixed numbers of connections       30 min   60 min
The grid has about 200 cells, and --cells chooses some of them: 512MiB-cubic-2000M-50ms-0.5% is 512 MiB on a line of 2000
Mbit/s, 50 ms and 0.5 % loss, for a user whom the kernel does not allow BBR. What was measured before stays in its
picture, so that the grid can be filled piece by piece.
line, small-line, get-line and grid need root. They make two network namespaces with a line between them, which disappear when
the run ends.
With loss this line carries about 1 Gbit/s on two cores, whatever --mbit says.
"""

import argparse
import dataclasses
import fnmatch
import json
import os
import pathlib
import shutil
import signal
import sys
import time

import chart
import clients
import harness
import line
import report
import works

RUN_SECONDS = 600
GRID_SECONDS = 120


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=".build/release/s3up", help="the s3up to measure (%(default)s)")
    parser.add_argument("--portable", help="another s3up, to be measured beside it: what `make portable` makes")
    parser.add_argument("--work", default="file", help="comma-separated workloads, or all (%(default)s)")
    parser.add_argument(
        "--only", help="comma-separated clients, as the tables call them, or patterns: 's3up*,curl-tls'"
    )
    parser.add_argument(
        "--peers", action="store_true", help="install other clients from PyPI (460 MB), measure them too"
    )
    parser.add_argument("--rounds", type=int, help="runs of each client (5; start 15; small, line and grid 3)")
    parser.add_argument(
        "--size-mib",
        type=int,
        default=2048,
        help="size of the file; stream takes 1/2, line 1/4, line with loss 1/32 (%(default)s)",
    )
    parser.add_argument("--part-mib", type=int, default=8, help="size of a part in file and loops (%(default)s)")
    parser.add_argument(
        "--connections", type=int, default=8, help="connections at once in file, small and loops (%(default)s)"
    )
    parser.add_argument("--delay-ms", type=float, default=25, help="line and small-line: of one way (%(default)s)")
    parser.add_argument(
        "--loss", type=float, default=0.5, help="line: percent of packets; 0 leaves that table out (%(default)s)"
    )
    parser.add_argument("--mbit", type=float, default=2000, help="line: its rate (%(default)s)")
    parser.add_argument("--congestion", default="cubic", help="line: the kernel's, at both ends (%(default)s)")
    parser.add_argument("--cells", default="64MiB-cubic-2000M-*", help="grid: comma-separated patterns (%(default)s)")
    parser.add_argument(
        "--output", type=pathlib.Path, default=harness.BUILD / "results.json", help="all figures as JSON (%(default)s)"
    )
    o = parser.parse_args()
    if (
        min(o.rounds or 1, o.size_mib, o.part_mib, o.connections) < 1
        or not 0 <= o.loss < 100
        or o.delay_ms < 0
        or o.mbit <= 0
    ):
        parser.error("a number is out of range")
    names = list(works.WORKS) if o.work == "all" else o.work.split(",")
    unknown = [name for name in names if name not in works.WORKS]
    if unknown:
        parser.error(f"no workload is called {', '.join(unknown)}: choose from {', '.join(works.WORKS)}, all")
    o.stages = [chosen(works.with_portable(stage, o.portable), o) for name in names for stage in works.WORKS[name](o)]
    for pattern in o.only.split(",") if o.only else []:
        if not any(fnmatch.fnmatchcase(row.name, pattern) for stage in o.stages for row in stage.rows):
            parser.error(f"no client of these workloads is called {pattern} (peers need --peers)")
    o.stages = [stage for stage in o.stages if stage.rows]
    return o


def chosen(stage, o):
    """The stage with the rows and rounds that the user wants."""
    patterns = o.only.split(",") if o.only else ["*"]
    rows = [r for r in stage.rows if o.peers or not r.is_peer]
    rows = [r for r in rows if any(fnmatch.fnmatchcase(r.name, p) for p in patterns)]
    return dataclasses.replace(stage, rows=rows, rounds=o.rounds or stage.rounds)


def note(stage, result):
    if "stopped" in result:
        return f"stopped after {result['wall']:.1f} s"
    if stage.files > 1:
        return f"{1e6 * result['cpu'] / stage.files:.0f} CPU µs a file, {stage.files / result['wall']:.0f} files/s"
    if stage.size < report.SMALL:
        return f"{1e3 * result['wall']:.2f} ms"
    return f"{result['cpu'] / (stage.size / 2**30):.3f} CPU s/GiB, {result['wall']:.3f} s"


def time_limit(stage, row, runs):
    """In the grid a fixed setting that needs twice as long as the fastest run cannot be the best one."""
    if not stage.cell:
        return RUN_SECONDS
    most = max(GRID_SECONDS, 2 * stage.line_seconds)
    walls = [r["wall"] for r in report.good(runs)]
    return most if row.name in report.OURS or not walls else min(most, 1 + 2 * min(walls))


def run_stage(stage, tools, programs):
    runs = []
    many = stage.files > 1
    file = harness.random_tree(stage.files, stage.size // stage.files) if many else harness.random_file(stage.size)
    gives = [f"give={file}"] if stage.is_download else []
    with (
        line.place(programs, stage.line, *stage.sink_options, *gives) as (sink, prefix),
        harness.memory_folder() as memory,
    ):
        where = {"sink": sink, "measure": programs["measure"], "piped": file if stage.piped else None}
        for number in range(1 - stage.warm_up, stage.rounds + 1):
            for row in stage.rows:
                key = f"{row.name}-{time.time_ns()}"
                source = "-" if stage.piped else file
                original = ""
                if stage.is_download:
                    key, source, original = os.path.basename(file), os.path.join(memory, key), file
                job = clients.Job(
                    tools,
                    sink.endpoints[row.scheme],
                    sink.ca_file,
                    source,
                    key,
                    row.part_mib or stage.part_mib,
                    row.connections or stage.connections,
                    many,
                    original,
                )
                limit = time_limit(stage, row, runs)
                result = harness.measured(row, job, where, prefix, stage.size, limit, stage.files)
                if original:
                    shutil.rmtree(source, ignore_errors=True) if many else pathlib.Path(source).unlink(missing_ok=True)
                if "stopped" in result and (not stage.cell or row.name in report.OURS):
                    result["error"] = f"not done after {limit:.0f} s"
                told = result.get("error") or note(stage, result)
                print(
                    f"{stage.work}, round {number} of {stage.rounds}: {row.name}: {told}", file=sys.stderr, flush=True
                )
                if number > 0 or "error" in result:
                    runs.append({"round": number, **result})
    return runs


def measure_stage(stage, tools, programs):
    """Runs it, prints its table and returns its JSON."""
    load_before = os.getloadavg()
    try:
        runs = run_stage(stage, tools, programs)
    except line.NoLine as reason:
        return {"work": stage.work, "title": stage.title, "skipped": str(reason), "runs": []}
    load_after = os.getloadavg()
    found = report.medians(stage, runs)
    cores = len(os.sched_getaffinity(0))
    print(f"\n{stage.work}: {stage.title}; medians of {stage.rounds} rounds\n"
          f"{cores} cores, load average {load_before[0]:.2f} before and {load_after[0]:.2f} after")  # fmt: skip
    result = {
        "work": stage.work,
        "title": stage.title,
        "size": stage.size,
        "rounds": stage.rounds,
        "load_before": load_before,
        "load_after": load_after,
        "medians": found,
    }
    if stage.cell:
        result["grid"] = report.grid_line(stage, runs, found)
        chart.keep_cell(stage, result["grid"], harness.BUILD)
    else:
        print()
        report.table(stage, found)
        if stage.work in ("file", "own", "start", "stream"):
            chart.draw(stage, found, harness.BUILD)
        result["best_peers"] = report.best_peers(stage, found)
    sys.stdout.flush()
    return {**result, "runs": runs}


def bench(o):
    harness.fresh_home()
    programs = harness.compile_all()
    peers = harness.BUILD / "peers"
    clients.install_peers(peers, {row.name.split("-")[0] for stage in o.stages for row in stage.rows if row.is_peer})
    # A copy, as made by `make install`: a file that the linker has just written is in the page cache in single pages,
    # each of which costs time when a process starts.
    binary = str(harness.BUILD / "s3up")
    shutil.copy(o.binary, binary)
    tools = clients.Tools(binary, programs["floor"], programs["getfloor"], peers, harness.HOME)
    machine = harness.machine()
    print(f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}")
    settings = {name: str(value) if name == "output" else value for name, value in vars(o).items() if name != "stages"}
    stages, skipped = [], {}
    for stage in o.stages:
        stages.append(measure_stage(stage, tools, programs))
        if "skipped" in stages[-1]:
            skipped[stage.work] = stages[-1]["skipped"]
        o.output.write_text(json.dumps({"machine": machine, "settings": settings, "stages": stages}, indent=1))
    print()
    for work, reason in skipped.items():
        print(f"{work} is skipped: {reason}")
    print(f"all figures: {o.output}")
    runs = [r for stage in stages for r in stage["runs"]]
    failed = [r for r in runs if "error" in r]
    for r in failed:
        print(f"failed: {r['name']}: {r['error']}", file=sys.stderr)
    if failed:
        sys.exit(f"{len(failed)} of {len(runs)} runs failed")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        chosen_options = options()
        with harness.alone():
            try:
                bench(chosen_options)
            finally:
                harness.give_back()
    except KeyboardInterrupt:
        sys.exit(130)
