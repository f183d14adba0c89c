"""Uploads of a folder that are killed at random moments and run again with the same command, until they are done."""

import contextlib
import random
import subprocess
import time

from folders import Folder, empty, mixed, sent_again
from harness import Bucket, Proxy, S3up, Violation, demand, ended, fresh_room, say

UPLOADS_OF_A_FOLDER = 10
LARGE = 4


class Upload:
    """One upload of a folder. Its kills are given as shares of the time that a whole upload takes."""

    def __init__(self, options, number):
        dice = random.Random(f"{options.seed}/tree/{number}")
        self.number, self.prefix = number, f"tree-{number}/"
        self.shares = [dice.uniform(0, 0.9) for _ in range(dice.choice((1, 1, 2)))]
        self.after = options.one_kill_after  # seconds, for the self-test
        self.begun, self.killed, self.again, self.needless = [], [], 0, []

    def run(self, s3up, words, whole):
        for moment in [self.after] if self.after else [share * whole for share in self.shares]:
            self.begun.append(time.monotonic())
            process = s3up.start(*words, output=subprocess.DEVNULL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(moment)
            if process.poll() is None:
                process.kill()
                self.killed.append(time.monotonic())
                ended(process)
            else:
                end = ended(process)
                demand(end.status == 0, f"a run before it was killed: {end}")
                return
        self.begun.append(time.monotonic())
        last = ended(s3up.start(*words, output=subprocess.DEVNULL))
        demand(last.status == 0, f"the last run: {last}")


def one_upload(options, place, upload, whole):
    """Returns how long its runs took together, and the problems."""
    store, proxy, s3up, folder, bucket = place
    proxy.ask("POST", "/_clear")
    where = proxy.endpoint, folder.path, bucket, upload.prefix
    words = *where, "--recursive", "--part-size", "5M", *options.put_options
    problems = []
    try:
        upload.run(s3up, words, whole)
        took = time.monotonic() - upload.begun[0]
        folder.compare(store, bucket, upload.prefix)
    except Violation as violation:
        took = whole
        problems.append(str(violation))
    log = proxy.ask("GET", "/_log")
    upload.again, upload.needless = sent_again(log, upload.begun, upload.killed, options.flush_seconds)
    if upload.needless:
        problems.append(f"{len(upload.needless)} sent again without need, such as {upload.needless[0]}")
    sent = sum(e["operation"] in ("PutObject", "UploadPart") for e in log)
    say(
        f"upload {upload.number} of a folder: {len(folder.names)} files, {len(upload.killed)} kills,"
        f" {sent} files and parts sent, {upload.again} again, {len(upload.needless)} without need"
        + "".join(f"\n  VIOLATION {p}" for p in problems)
    )
    empty(store, bucket, upload.prefix)
    return took, problems


def run(options, store):
    room = fresh_room("tree")
    s3up = S3up(options.binary, store, room)
    wanted = options.uploads or 50
    numbers = [options.upload] if options.upload is not None else range(wanted)
    uploads, problems, end, whole = [], [], time.monotonic() + options.minutes * 60, 1.0
    for index in sorted({number // UPLOADS_OF_A_FOLDER for number in numbers}):
        dice = random.Random(f"{options.seed}/tree-folder/{index}")
        folder = Folder(room / "folder", mixed(options.files, LARGE, dice), dice)
        with Bucket(store, f"s3up-tree-{index}") as bucket, Proxy(store) as proxy:
            for number in [n for n in numbers if n // UPLOADS_OF_A_FOLDER == index]:
                if time.monotonic() < end:
                    uploads.append(Upload(options, number))
                    whole, found = one_upload(options, (store, proxy, s3up, folder, bucket), uploads[-1], whole)
                    problems += [f"upload {number}: {problem}" for problem in found]
    left = s3up.left_in_state()
    say(
        f"kill soak of folders: {len(uploads)} of {len(numbers)} uploads, {sum(len(u.killed) for u in uploads)} kills;"
        f" {sum(u.again for u in uploads)} confirmed files and parts sent again,"
        f" {sum(len(u.needless) for u in uploads)} of them confirmed over {options.flush_seconds:g} s before the kill\n"
        f"  records left in the state folder: {left or 'none'}"
    )
    problems += [f"records left in the state folder: {left}"] if left else []
    problems += ["no run was killed: nothing was shown"] if not any(u.killed for u in uploads) else []
    return problems
