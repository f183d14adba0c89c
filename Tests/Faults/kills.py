"""Uploads that are killed at random moments and run again, until they are done."""

import concurrent.futures
import contextlib
import random
import signal
import subprocess
import time
import urllib.parse

from harness import MIB, Bucket, Proxy, S3up, Violation, demand, ended, fresh_room, make_file, say

UPLOADS_IN_A_BUCKET = 10


class Plan:
    """Everything random about one upload, derived from the seed and its number."""

    def __init__(self, options, number):
        dice = random.Random(f"{options.seed}/{number}")
        self.number = number
        self.size = dice.randint(options.min_mib * MIB, options.max_mib * MIB)
        self.content = dice.getrandbits(64)
        kills = dice.randint(1, 5)
        # The seconds for the whole upload at the proxy's pace; one in eight is not slowed down.
        self.seconds = dice.uniform(4, 9) if dice.random() > 0.125 else 0
        shared = 1.6 * self.seconds / kills if self.seconds else 0.4
        # When each run is killed: in seconds from its start, or as soon as its complete has begun or was answered.
        self.kills = []
        for _ in range(kills):
            moment = dice.uniform(0.01, shared)
            at_complete = dice.choice(("began", "answered"))
            self.kills.append(at_complete if dice.random() < options.at_complete else moment)
        # The self-test needs one kill, late enough for confirmed parts, early enough for missing ones.
        if options.one_kill_after:
            self.seconds, self.kills = 2 * options.one_kill_after, [options.one_kill_after]
        self.pace = int(self.size / self.seconds / 8) if self.seconds else None
        self.key = f"kills/{number:04d}"

    def faults(self):
        """Every other part is four times as fast, so that the parts do not all end at the same time."""
        match = {"operation": "UploadPart", "key": self.key}
        if self.pace:
            fast = {"slowRead": {"bytesPerSecond": 4 * self.pace}}
            yield {"match": {**match, "probability": 0.5, "seed": self.content}, "action": fast}
            yield {"match": match, "action": {"slowRead": {"bytesPerSecond": self.pace}}}


class Outcome:
    def __init__(self, plan):
        self.plan = plan
        self.kills = []  # (moment by the monotonic clock, how it was chosen), one for each run but perhaps the last
        self.runs = []  # when each run began
        self.sent = self.again = self.needless = self.parts = self.told = 0
        self.violations = []

    def judge(self, log, flush):
        """Counts the bytes sent, from the proxy's log.

        A part is sent again needlessly if a run sends it although the store's 200 had reached an earlier run's
        machine more than one flush before that run was killed. The run of a request is found by when its
        connection was opened: bytes that a killed run left in the kernel's buffers still belong to it.
        """
        confirmed, killed = {}, [k for k, _ in self.kills]
        uploads = [e for e in log if e["operation"] in ("UploadPart", "PutObject")]
        self.sent = sum(e["bytes_in"] for e in uploads)
        self.parts = len({e["part"] for e in uploads})
        for entry in sorted(uploads, key=lambda e: e["began"]):
            run = sum(1 for began in self.runs if began <= entry["opened"])
            before = [(r, moment) for r, moment in confirmed.get(entry["part"], []) if r < run]
            self.again += bool(before)
            self.needless += any(moment + flush < killed[r - 1] for r, moment in before)
            if entry["status"] == 200 and entry["delivered"]:
                confirmed.setdefault(entry["part"], []).append((run, entry["delivered"]))


def one_upload(options, store, s3up, room, bucket, number):
    """A separate proxy for each upload, so that faults and log belong to this upload only."""
    outcome = Outcome(Plan(options, number))
    plan, file = outcome.plan, room / f"source-{number}"
    with Proxy(store, plan.faults()) as proxy:
        try:
            digest = make_file(file, plan.size, plan.content)
            words = (proxy.endpoint, file, bucket, plan.key, "--part-size", "5M", *options.put_options)
            until_done(proxy, s3up, outcome, words)
            found = store.sha256(bucket, plan.key)
            demand(found is not None, "the object is not there after exit 0")
            demand(found == digest, f"the object is NOT the file: {found} instead of {digest}")
            left = [upload for key, upload in store.left(bucket) if urllib.parse.unquote(key) == plan.key]
            demand(not left, f"{len(left)} uploads unfinished at the store, {left[:1]}")
        except Violation as violation:
            outcome.violations.append(str(violation))
        finally:
            file.unlink(missing_ok=True)
        outcome.judge(proxy.log(plan.key), options.flush_seconds)
    if outcome.needless:
        outcome.violations.append(f"{outcome.needless} parts sent again without need: confirmed before the last flush")
    report(outcome)
    return outcome


def until_done(proxy, s3up, outcome, words):
    if any(killed_run(proxy, s3up, outcome, words, kill) for kill in outcome.plan.kills):
        # The run was killed after its result was printed, before its record was deleted: the next run finds everything
        # done.
        if outcome.told and s3up.left_in_state(outcome.plan.key):
            last = s3up.run(*words)
            demand(last.status == 0 and last.event.get("bytes_sent") == 0, f"the run after its line: {last}")
        return
    outcome.runs.append(time.monotonic())
    last = s3up.run(*words)
    demand(last.status == 0, f"the last run: {last}")


def killed_run(proxy, s3up, outcome, words, kill):
    """Starts a run and kills it; True if it had ended by itself before, or had reported success."""
    outcome.runs.append(time.monotonic())
    process = s3up.start(*words)
    if isinstance(kill, str):
        wait_for_complete(proxy, outcome.plan.key, process, kill)
    else:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(kill)
    moment = time.monotonic()
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    end = ended(process)
    if end.status == -signal.SIGKILL:
        outcome.kills.append((moment, kill))
        outcome.told += end.event.get("event") == "completed"
        return end.event.get("event") == "completed"
    demand(end.status == 0, f"a run before it was killed: {end}")
    return True


def wait_for_complete(proxy, key, process, phase):
    before = proxy.stats(key)["operations"].get("CompleteMultipartUpload", {}).get("requests", 0)
    while process.poll() is None:
        if proxy.wait("CompleteMultipartUpload", key, phase, count=before + 1, seconds=0.2):
            return


def run(options, store):
    room = fresh_room("kills")
    s3up = S3up(options.binary, store, room)
    numbers = [options.upload] if options.upload is not None else range(options.uploads or 200)
    outcomes, end = [], time.monotonic() + options.minutes * 60
    batches = [numbers[i : i + UPLOADS_IN_A_BUCKET] for i in range(0, len(numbers), UPLOADS_IN_A_BUCKET)]
    for index, batch in enumerate(batches):
        if time.monotonic() > end:
            break
        with Bucket(store, f"s3up-kills-{index}") as bucket:
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                outcomes += pool.map(lambda n: one_upload(options, store, s3up, room, bucket, n), batch)
            keys = {key for key, _ in store.left(bucket)} - {o.plan.key for o in outcomes if o.violations}
            if keys:
                outcomes[-1].violations.append(f"left unfinished in the bucket: {keys}")
    return total(options, outcomes, len(numbers), s3up.left_in_state())


def report(outcome):
    plan = outcome.plan
    words = f"upload {plan.number}: {plan.size / MIB:.1f} MiB, {len(outcome.kills)} kills, {len(outcome.runs)} runs, "
    words += f"sent {outcome.sent / plan.size:.3f} of the size, "
    words += f"{outcome.again} parts again, {outcome.needless} without need"
    say(words + "".join(f"\n  VIOLATION {v}" for v in outcome.violations))


def total(options, outcomes, wanted, left):
    size = sum(o.plan.size for o in outcomes)
    sent = sum(o.sent for o in outcomes)
    bad = [o for o in outcomes if o.violations]
    at_complete = sum(isinstance(how, str) for o in outcomes for _, how in o.kills)
    say(
        f"kill soak: {len(outcomes)} uploads, {size / MIB:.0f} MiB, {sum(len(o.kills) for o in outcomes)} kills"
        f" ({at_complete} of them while complete was out or answered, {sum(o.told for o in outcomes)} after the result"
        f" was told), {sum(len(o.runs) for o in outcomes)} runs\n"
        f"  sent {sent / MIB:.0f} MiB, {sent / max(size, 1):.3f} of the size;"
        f" {sum(o.again for o in outcomes)} confirmed parts sent again,"
        f" {sum(o.needless for o in outcomes)} of them confirmed over {options.flush_seconds:g} s before the kill\n"
        f"  records left in the state folder: {left or 'none'}"
    )
    if len(outcomes) < wanted:
        say(f"  the time was over after {len(outcomes)} of {wanted} uploads")
    problems = [f"upload {o.plan.number}: {v}" for o in bad for v in o.violations]
    problems += [f"records left in the state folder: {left}"] if left else []
    problems += ["no run was killed: nothing was shown"] if not any(o.kills for o in outcomes) else []
    for o in bad:
        say(f"  again: soak.py --only kills --seed {options.seed} --upload {o.plan.number} {options.sizes()}")
    return problems
