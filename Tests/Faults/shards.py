"""Shares of one folder: as processes of which some are killed and one runs twice, and as real schedulers start them."""

import concurrent.futures
import json
import random
import shlex
import shutil
import subprocess
import tempfile
import time

from folders import Folder, mixed, sent_again
from harness import Bucket, Proxy, S3up, demand, ended, fresh_room, say
from slurm import Slurm, missing

FILES, LARGE, SHARES = 400, 1, 8


class Place:
    """One prefix of a bucket, reached through its own proxy, which counts requests."""

    def __init__(self, s3up, folder, bucket, name):
        self.s3up, self.folder, self.bucket, self.prefix = s3up, folder, bucket, f"{name}/"

    def __enter__(self):
        self.proxy = Proxy(self.s3up.store)
        return self

    def __exit__(self, *_):
        self.proxy.__exit__()

    def words(self, shard, *options):
        where = self.proxy.endpoint, self.folder.path, self.bucket, self.prefix
        return *where, "--recursive", "--shard", shard, *options

    def start(self, shard, *options):
        return self.s3up.start(*self.words(shard, *options), output=subprocess.DEVNULL)

    def planned(self, shard):
        """The keys of a share, as the program tells them."""
        result = self.s3up.run(*self.words(shard, "--dry-run"))
        demand(result.status == 0, f"--dry-run: {result}")
        events = [json.loads(line) for line in result.output.splitlines()]
        return {event["key"] for event in events if event["event"] == "planned"}

    def sent(self):
        """How often each key was sent to its end and stored."""
        counts = {}
        for entry in self.proxy.ask("GET", "/_log"):
            if entry["operation"] in ("PutObject", "CompleteMultipartUpload") and entry["status"] == 200:
                counts[entry["key"]] = counts.get(entry["key"], 0) + 1
        return counts

    def demand_once(self, but=()):
        often = {key: count for key, count in self.sent().items() if count > 1 and key not in but}
        demand(not often, f"sent more than once: {dict(list(often.items())[:3])}")
        self.folder.compare(self.s3up.store, self.bucket, self.prefix)


def processes(options, place):
    """Runs the shares in random order, two of them killed and run again, and one started twice at once."""
    dice = random.Random(f"{options.seed}/shards")
    order = [f"{index}/{SHARES}" for index in range(1, SHARES + 1)]
    dice.shuffle(order)
    plans = {shard: place.planned(shard) for shard in order}
    names = sorted(key for plan in plans.values() for key in plan)
    demand(names == sorted(place.prefix + name for name in place.folder.names), "each file is not in one share")

    begun, killed = [time.monotonic()], []
    victims, twice = order[:2], dice.choice(order)
    slow = [place.start(shard, "--limit-rate", "64K") for shard in victims]
    time.sleep(dice.uniform(1.5, 3))
    for process in slow:
        process.kill()
        demand(ended(process).status < 0, "a share ended before it was killed")
    killed.append(time.monotonic())
    before = sum(place.sent().values())

    begun.append(time.monotonic())
    dice.shuffle(order)
    runs = [(shard, place.start(shard)) for shard in [*order, twice]]
    bad = [f"{shard}: {end}" for shard, end in ((shard, ended(process)) for shard, process in runs) if end.status]
    demand(not bad, f"{len(bad)} shares: {bad[:2]}")
    again, needless = sent_again(place.proxy.ask("GET", "/_log"), begun, killed, options.flush_seconds)
    needless = [what for what in needless if what[0] not in plans[twice]]
    demand(not needless, f"sent again without need: {needless[:3]}")
    place.demand_once(but=set().union(*(plans[shard] for shard in (twice, *victims))))
    say(f"  {SHARES} processes: {before} files were there when two were killed, {again} of them were sent again")


def slurm(options, place, ranks):
    with tempfile.TemporaryDirectory(prefix="s3up-slurm-") as folder, Slurm(folder) as cluster:
        # at once, because `sbatch --wait` looks only every few seconds whether the job is done
        with concurrent.futures.ThreadPoolExecutor() as pool:
            jobs = [
                pool.submit(batch, cluster, place, "", "--array=3-17:2"),
                pool.submit(batch, cluster, ranks, "srun -n 3 --overlap ", "-n", "3"),
            ]
        for job in jobs:
            job.result()
        place.demand_once()
        ranks.demand_once()
    say("  a Slurm array of 8 tasks, and a job whose 3 ranks each have a share")


def batch(cluster, place, launcher, *options):
    command = shlex.join(map(str, place.s3up.command(*place.words("auto"))))
    script = cluster.folder / f"{place.prefix[:-1]}.sh"
    script.write_text(f"#!/bin/sh\n{launcher}{command}\n")
    output = f"--output={cluster.folder}/{place.prefix[:-1]}.%j.%a"
    job = ["sbatch", "--wait", output, *options, str(script)]
    # As if it were submitted from a shell in `srun -n 3`: Slurm does not clear this in batch scripts.
    inherited = {**place.s3up.environment, "SLURM_STEP_NUM_TASKS": "3"}
    result = cluster.run(*job, environment=inherited)
    told = [file.read_text()[-300:] for file in sorted(cluster.folder.glob(f"{place.prefix[:-1]}.[0-9]*"))]
    demand(result.returncode == 0, f"sbatch {options}: {result.returncode} {result.stdout} {told[:2]}")


def parallel(place):
    command = shlex.join(map(str, place.s3up.command(*place.words(f"auto/{SHARES}"))))
    result = subprocess.run(
        ["parallel", "--will-cite", "--jobs", "4", "-N0", command, ":::", *map(str, range(SHARES))],
        env={**place.s3up.environment, "SHELL": "/bin/sh"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=120,
    )  # fmt: skip
    demand(result.returncode == 0, f"parallel: {result.returncode} {result.stdout[-500:]}")
    place.demand_once()
    say(f"  GNU parallel, {SHARES} shares")


def run(options, store):
    absent = missing() + [name for name in ("parallel",) if not shutil.which(name)]
    demand(not absent, f"not installed: {', '.join(absent)}; make test and make soak do it")
    room = fresh_room("shards")
    s3up = S3up(options.binary, store, room)
    dice = random.Random(f"{options.seed}/shards")
    folder = Folder(room / "folder", mixed(FILES, LARGE, dice), dice)
    with Bucket(store, "s3up-shards") as bucket:
        for name, test in (("processes", processes), ("parallel", lambda _, place: parallel(place))):
            with Place(s3up, folder, bucket, name) as place:
                test(options, place)
        with Place(s3up, folder, bucket, "array") as place, Place(s3up, folder, bucket, "ranks") as ranks:
            slurm(options, place, ranks)
    left = s3up.left_in_state()
    return [f"records left in the state folder: {left}"] if left else []
