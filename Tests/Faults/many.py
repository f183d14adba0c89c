"""Folders of many files: every object is the file, memory stays small, and a second run sends only what has changed."""

import json
import os
import random
import subprocess

from folders import Folder, empty
from harness import MIB, Bucket, Proxy, S3up, demand, fresh_room, say

MOST_MEMORY = 100 * MIB
CHANGED = 0.01


def small(_):
    """20,000 files of 4 KiB in 200 folders."""
    return {f"{number % 200}/{number}": 4 << 10 for number in range(20_000)}


def mix(dice):
    """10,000 files of 1 KiB to 100 MiB, about 3 GiB: most are below 256 KiB, 50 are above 8 MiB."""

    def between(low, high):
        return int(low * (high / low) ** dice.random())

    sizes = [between(8 * MIB, 100 * MIB) for _ in range(50)]
    sizes += [between(MIB >> 2, 8 * MIB) for _ in range(250)]
    sizes += [between(1 << 10, MIB >> 2) for _ in range(9700)]
    dice.shuffle(sizes)
    return {f"{number % 100}/{dice.getrandbits(40):x}-{number}": size for number, size in enumerate(sizes)}


def measured(s3up, *words):
    """Runs s3up, and returns the last line of its JSON and its memory: the most that was its own, without the pages of
    mapped files, which the kernel takes back when it needs them.
    """
    errors = open(s3up.state.parent / "errors", "w+")
    process = subprocess.Popen(
        s3up.command(*words), env=s3up.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
    )
    s3up.started.append(process)
    own, last = 0, b"{}"
    for line in process.stdout:
        last = line
        own = max(own, anonymous(process.pid))
    status = process.wait()
    errors.seek(0)
    demand(status == 0, f"exit {status}: {errors.read()[-400:]}")
    return json.loads(last), own


def anonymous(pid):
    with open(f"/proc/{pid}/status") as status:
        return sum(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


def change(folder, dice):
    """Changes files: other bytes of the same size and, for half of them, of another size."""
    changed = dice.sample(folder.names, int(len(folder.names) * CHANGED))
    for number, name in enumerate(changed):
        path = folder.path / name
        before = path.stat()
        folder.write(name, before.st_size + number % 2)
        # A copy of another build may even be older than what it replaces.
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - 10**9))
    return set(changed)


def one_folder(name, sizes, options, store):
    room = fresh_room(f"many-{name}")
    s3up = S3up(options.binary, store, room)
    dice = random.Random(f"{options.seed}/{name}")
    folder, prefix = Folder(room / "folder", sizes(dice), dice), "tree/"
    with Bucket(store, f"s3up-many-{name}") as bucket, Proxy(store) as proxy:

        def run(what, wanted, *more):
            proxy.ask("POST", "/_clear")
            summary, own = measured(s3up, proxy.endpoint, folder.path, bucket, prefix, "--recursive", *more)
            log = proxy.ask("GET", "/_log")
            sent = {e["key"].removeprefix(prefix) for e in log if e["operation"] in ("PutObject", "UploadPart")}
            asked = {kind: sum(e["operation"] == kind for e in log) for kind in {e["operation"] for e in log}}
            say(f"{name}: {what}: {len(sent)} files sent, {own / MIB:.0f} MiB of its own, requests {asked}")
            demand(sent == wanted, f"{what}: {len(sent - wanted)} files too many, {len(wanted - sent)} not sent")
            demand(own < MOST_MEMORY, f"{what}: {own / MIB:.0f} MiB of its own")
            # The list shows which objects are identical. A changed ETag alone does not prove that a file has changed.
            heads = asked.get("HeadObject", 0)
            demand(heads <= len(wanted), f"{what}: {heads} objects were asked for one by one")
            folder.compare(store, bucket, prefix)
            return summary

        run("a first run", set(folder.names))
        same = run("a second run", set(), "--skip-same")
        demand(same.get("unchanged") == len(folder.names), f"the summary of the second run: {same}")
        changed = change(folder, dice)
        run("a run after some have changed", changed, "--skip-same")
        empty(store, bucket, prefix)
    left = s3up.left_in_state()
    demand(not left, f"records left in the state folder: {left}")


def run(options, store):
    one_folder("small", small, options, store)
    one_folder("mix", mix, options, store)
