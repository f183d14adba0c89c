#!/usr/bin/env python3
"""The long tests: a real store behind the fault proxy, and the release binary with kills, cuts and false answers.

  kills      uploads killed with SIGKILL at random moments and run again with the same command until they are done
  tree       the same with folders of many files, one after another
  many       20,000 small files, and 10,000 of mixed sizes: sent, found unchanged, some changed
  shards     shares of a folder: eight processes, a Slurm that is started for it, GNU parallel
  tickets    a file of 1 GiB by its ticket: killed and run again, traced, in shares
  jobs       the jobs of the article on tickets, without credentials: a Slurm array, GNU parallel over ssh
  line       one big upload with 503, resets, endless stalls and corrupted bytes, at default settings
  complete   lost answers to complete: after the store assembled, before, and with the object deleted meanwhile
  clients    objects that other clients made, installed from PyPI (170 MB): brought back and proven
  get        one big download killed and run again, and downloads of objects that are replaced meanwhile
  two-runs   a second run while the first is running
  self-test  the same checks against clients that are wrong on purpose: each must be detected

Every number comes from --seed; a violation prints the command that repeats it, and the exit status is 1.
"""

import argparse
import os
import pathlib
import random
import sys
import traceback

import clients
import faults
import gets
import jobs
import kills
import many
import shards
import tickets
import trees
import wrong
from harness import REPOSITORY, S3up, Store, Violation, say

RUNS = {
    "kills": kills.run,
    "tree": trees.run,
    "many": many.run,
    "shards": shards.run,
    "tickets": tickets.run,
    "jobs": jobs.run,
    "line": faults.line,
    "complete": faults.complete,
    "clients": clients.run,
    "get": gets.run,
    "two-runs": faults.two_runs,
    "self-test": wrong.run,
}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=REPOSITORY / ".build/release/s3up", type=pathlib.Path)
    parser.add_argument("--store", default="seaweedfs", help="seaweedfs, swift, juicefs or, for clients, rclone (%(default)s)")
    parser.add_argument("--only", default=",".join(RUNS), help="some of: %(default)s")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32), help="(random)")
    parser.add_argument("--uploads", type=int, help="killed uploads (200; of a folder 50)")
    parser.add_argument("--upload", type=int, help="only this one of them")
    parser.add_argument("--files", type=int, default=1500, help="in a folder (%(default)s)")
    parser.add_argument("--min-mib", type=int, default=64, help="size of a killed upload, at least (%(default)s)")
    parser.add_argument("--max-mib", type=int, default=256, help="at most (%(default)s)")
    parser.add_argument("--jobs", type=int, default=3, help="killed uploads at the same time (%(default)s)")
    parser.add_argument("--minutes", type=float, default=40, help="no new batch of killed uploads after (%(default)s)")
    parser.add_argument("--at-complete", type=float, default=0.1, help="share of kills during complete (%(default)s)")
    parser.add_argument("--flush-seconds", type=float, default=1, help="a part is recorded after (%(default)s)")
    parser.add_argument("--line-mib", type=int, default=2048, help="size of the upload of `line` (%(default)s)")
    parser.add_argument("--get-mib", type=int, default=2048, help="size of the download of `get` (%(default)s)")
    parser.add_argument("--replaced", type=int, default=20, help="objects of `get` that are replaced (%(default)s)")
    parser.add_argument("--put-option", dest="put_options", action="append", default=[], help="option of `s3up put`")
    chosen = parser.parse_args()
    chosen.one_kill_after = None
    chosen.binary = str(chosen.binary.resolve())
    chosen.only = chosen.only.split(",")
    if unknown := set(chosen.only) - set(RUNS):
        parser.error(f"{', '.join(unknown)}: choose from {', '.join(RUNS)}")
    counts = chosen.uploads, chosen.files, chosen.jobs, chosen.line_mib, chosen.get_mib, chosen.replaced
    if not 1 <= chosen.min_mib <= chosen.max_mib or any(count is not None and count < 1 for count in counts):
        parser.error("sizes and counts are 1 or more, and --min-mib is no more than --max-mib")
    chosen.sizes = lambda: f"--min-mib {chosen.min_mib} --max-mib {chosen.max_mib} --at-complete {chosen.at_complete}"
    return chosen


def main():
    chosen = options()
    if not os.environ.get("S3UP_TEST_STORES"):
        stores = str(REPOSITORY / "Tests/Stores/stores.sh")
        words = [sys.executable, str(pathlib.Path(__file__).resolve()), *sys.argv[1:]]
        os.execv(stores, [stores, "run", chosen.store, "--", *words])
    say(f"seed {chosen.seed}")
    store, bad = Store(chosen.store), []
    for name in chosen.only:
        try:
            problems = RUNS[name](chosen, store) or []
        except Violation as violation:
            problems = [str(violation)]
        except Exception:
            problems = [traceback.format_exc()]
        finally:
            S3up.end_all()
        for problem in problems:
            say(f"  VIOLATION {name}: {problem}")
        if problems:
            say(f"  again: soak.py --only {name} --seed {chosen.seed} --store {chosen.store}")
            bad.append(name)
    say(f"soak: {'VIOLATIONS in ' + ', '.join(bad) if bad else 'every promise held: ' + ', '.join(chosen.only)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
