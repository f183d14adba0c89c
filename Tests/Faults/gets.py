"""Downloads: a big one that is killed at random moments and run again, and some of objects that are replaced."""

import contextlib
import json
import random
import signal
import subprocess
import time

from harness import MIB, Bucket, Proxy, S3up, Violation, demand, ended, fresh_room, make_file, say, sha256

KILLS = 5


def run(options, store):
    room = fresh_room("get")
    s3up = S3up(options.binary, store, room)
    problems = []
    with Bucket(store, "s3up-get") as bucket:
        for part in (killed, replaced):
            try:
                part(options, store, s3up, room, bucket)
            except Violation as violation:
                problems.append(str(violation))
    return problems


def pace(bytes_per_second):
    return [{"match": {"operation": "GetObject"}, "action": {"slowAnswer": {"bytesPerSecond": int(bytes_per_second)}}}]


def killed(options, store, s3up, room, bucket):
    """A range is proven once it was reported: no later run may request it. At least one killed run has reported one."""
    dice = random.Random(f"{options.seed}/get")
    size, target = options.get_mib * MIB + 12_345, room / "target"
    digest = make_file(room / "source", size, options.seed)
    demand((end := s3up.run(store.endpoint, room / "source", bucket, "big")).status == 0, f"put: {end}")
    (room / "source").unlink()
    seconds = max(5, options.get_mib / 100)
    told, again, kills, began, resumed = {}, [], 0, [], 0
    with Proxy(store, pace(size / seconds / 8)) as proxy:
        while True:
            began.append(time.monotonic())
            process = s3up.get(proxy.endpoint, bucket, "big", target)
            seen = []
            if kills < KILLS:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(dice.uniform(0.2, 1.6 * seconds / KILLS))
                if kills == KILLS - 1 and not told:
                    seen = until_part(process)
                process.send_signal(signal.SIGKILL)
            end = ended(process)
            end.events[:0] = seen
            demand(end.status == -signal.SIGKILL or not target.exists() or end.status == 0, f"a name on what? {end}")
            for event in end.events:
                if event["event"] == "part":
                    told.setdefault(event["part"], len(began) - 1)
            if end.status != -signal.SIGKILL:
                break
            kills += 1
            demand(not target.exists(), "a killed run has left something under the name")
        resumed = end.event.get("bytes_resumed")
        step = next(event["part_size"] for event in end.events if event["event"] == "started")
        log = [entry for entry in proxy.log("big") if entry["range"]]
    for entry in log:
        number = int(entry["range"].removeprefix("bytes=").split("-")[0]) // step + 1
        asked_by = sum(1 for moment in began if moment <= entry["opened"]) - 1
        if told.get(number, asked_by) < asked_by:
            again.append(number)
    say(
        f"get: {size / MIB:.0f} MiB, {kills} kills, {len(log)} requests for {-(-size // step)} ranges; the last run"
        f" resumed {(resumed or 0) / MIB:.0f} MiB; {len(again)} proven ranges loaded again; exit {end.status}"
    )
    demand(end.status == 0, f"the last run: {end}")
    demand(kills, "no run was killed: nothing was shown")
    demand(sha256(target) == digest, "the file is NOT the object")
    demand(not again, f"proven ranges were loaded again: {sorted(again)}")
    nothing_left(s3up, room, target)


def until_part(process):
    """The events up to the first range that is reported."""
    events = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == "part":
            break
    return events


def replaced(options, store, s3up, room, bucket):
    """Both versions have the same size, so that only the headers of each answer distinguish them."""
    dice = random.Random(f"{options.seed}/replaced")
    size, target = 24 * MIB, room / "replaced"
    digests = [make_file(room / f"version-{number}", size, options.seed + number) for number in (1, 2)]
    ends = {}
    for number in range(options.replaced):
        key = f"replaced-{number}"
        demand((end := s3up.run(store.endpoint, room / "version-1", bucket, key)).status == 0, f"put: {end}")
        with Proxy(store, pace(size / 4 / 8)) as proxy:
            process = s3up.get(proxy.endpoint, bucket, key, target, "--part-size", "1M", "--concurrency", "8")
            began = dice.randint(0, 20)
            demand(proxy.wait("GetObject", key, "began", count=began, seconds=60), "the download did not begin")
            demand((put := s3up.run(store.endpoint, room / "version-2", bucket, key)).status == 0, f"put: {put}")
            end = ended(process)
        found = sha256(target) if target.exists() else None
        ends[end.status] = ends.get(end.status, 0) + 1
        whole = end.status == 0 and found in digests
        none = end.status == 65 and found is None
        demand(whole or none, f"replaced at a random moment: neither a whole object nor 65 and nothing: {end}")
        nothing_left(s3up, room, target)
        target.unlink(missing_ok=True)
    told = ", ".join(f"{count} times {status}" for status, count in sorted(ends.items()))
    say(f"get: {options.replaced} objects replaced while they were loaded: {told}")
    demand(ends.get(65), "no object was replaced in the midst: nothing was shown")


def nothing_left(s3up, room, target):
    parts = [path.name for path in room.iterdir() if path.name.endswith(".s3up-part")]
    demand(not parts, f"left beside {target.name}: {parts}")
    demand(not s3up.left_in_state(), f"records left: {s3up.left_in_state()}")
