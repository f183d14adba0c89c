"""A large file uploaded by its ticket, without credentials: killed and run again, traced, and in shares."""

import os
import random
import re
import shutil
import subprocess
import sys
import time
import urllib.parse

from harness import HERE, MIB, Bucket, Proxy, S3up, demand, ended, fresh_room, make_file, say

SIZE, PART, SHARES, KILLS = 1024 * MIB, 8 * MIB, 8, 3
METADATA = ("169.254", "fd00:ec2")


class Apart:
    """A network namespace in which nothing exists but one server of this machine, at its own address there too.

    A forwarder inside passes connections to one outside, through a socket in the file system.
    """

    name = "s3up-ticket"

    def __init__(self, endpoint, room):
        self.port, self.socket = str(urllib.parse.urlsplit(endpoint).port), room / "forward"
        self.before = ["ip", "netns", "exec", self.name]

    def __enter__(self):
        subprocess.run(["ip", "netns", "delete", self.name], stderr=subprocess.DEVNULL)
        for words in (["ip", "netns", "add", self.name], [*self.before, "ip", "link", "set", "lo", "up"]):
            subprocess.run(words, check=True)
        self.forwarders = [self.forward(), self.forward(*self.before)]
        return self

    def forward(self, *before):
        command = [*before, sys.executable, HERE / "forward.py", self.socket, self.port, "inside" if before else "outside"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        demand(process.stdout.readline() == b"ready\n", "a forwarder did not start")
        return process

    def __exit__(self, *_):
        for forwarder in self.forwarders:
            forwarder.stdin.close()
            forwarder.wait()
        subprocess.run(["ip", "netns", "delete", self.name], check=True)


class Place:
    """A file and its ticket; the uploader has an empty home and no variable of AWS."""

    def __init__(self, s3up, room, bucket, key, seed):
        self.s3up, self.bucket, self.key = s3up, bucket, key
        self.file, self.ticket, self.home = room / f"{key}.img", room / f"{key}.json", room / f"{key}-home"
        self.sum = make_file(self.file, SIZE, f"{seed}/tickets/{key}")
        self.home.mkdir()
        self.certificates = {"SSL_CERT_FILE": s3up.store.values["CA_FILE"]}

    def issue(self, endpoint):
        where = ["--endpoint-url", endpoint, "--region", self.s3up.store.values["REGION"], "--addressing", "path"]
        what = [self.file, f"s3://{self.bucket}/{self.key}", "-o", self.ticket, "--part-size", str(PART)]
        command = [self.s3up.binary, "ticket", "issue", *what, *where]
        environment = self.s3up.environment | self.certificates
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True, timeout=120)

    def start(self, *options, before=()):
        command = [*before, self.s3up.binary, "put", self.file, "--ticket", self.ticket, "--json", *options]
        process = subprocess.Popen(
            [str(word) for word in command],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home)} | self.certificates,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        S3up.started.append(process)
        return process

    def held(self):
        """How many parts the store lists. SeaweedFS lists a part once for each time that it has arrived, and the kernel of
        a killed run may deliver one after the next run has read the list and begun to send it again: only numbers count."""
        store = self.s3up.store
        uploads = [upload for key, upload in store.unfinished(self.bucket) if key == self.key]
        demand(len(uploads) == 1, f"the ticket's upload is not the only one: {uploads}")
        listed = store.parts(self.bucket, self.key, uploads[0])
        return len(set(re.findall(r"<PartNumber>(\d+)</PartNumber>", listed)))

    def demand_identical(self):
        there = self.s3up.store.sha256(self.bucket, self.key)
        demand(there == self.sum, f"the object {self.key} is {'not there' if there is None else 'NOT the file'}")
        demand(not self.s3up.store.unfinished(self.bucket), "an upload is left")
        demand(not list(self.home.rglob("*")), "something was written below HOME")


def kills(options, place, endpoint, room):
    """Uploads in a namespace from which only the store can be reached."""
    dice = random.Random(f"{options.seed}/tickets/{endpoint}")
    place.issue(endpoint)
    with Apart(endpoint, room) as apart:
        for _ in range(KILLS):
            process = place.start("--limit-rate", "60M", before=apart.before)
            time.sleep(dice.uniform(2, 4))
            process.kill()
            demand(ended(process).status < 0, "a run ended before it was killed")
        held = place.held()
        demand(0 < held < SIZE // PART, f"the killed runs have sent {held} of {SIZE // PART} parts")
        trace = room / "trace"
        traced = ["strace", "-f", "-o", trace, "-e", "trace=openat,open,connect,access,readlink"]
        last = ended(place.start(before=[*apart.before, *traced]))
    demand(last.status == 0, f"the last run: {last}")
    text = trace.read_text(errors="replace")
    bad = [line for line in text.splitlines() if ".aws" in line or any(place in line for place in METADATA)]
    demand(not bad, f"without credentials it looked for some: {bad[:2]}")
    demand("connect(" in text, "nothing was traced")
    resumed = last.event["bytes_resumed"]
    demand(resumed >= held * PART, f"{held} parts of {PART} were there, and only {resumed} bytes were not sent again")
    place.demand_identical()
    say(f"  {endpoint}: {SIZE // MIB} MiB, {KILLS} kills, {resumed // MIB} MiB resumed by the last run")


def shares(options, place, proxy):
    """Runs the shares in random order, two of them killed and run again, and one started twice at once."""
    dice = random.Random(f"{options.seed}/tickets/shares")
    place.issue(proxy.endpoint)
    order = [f"{index}/{SHARES}" for index in range(1, SHARES + 1)]
    dice.shuffle(order)
    slow = [place.start("--shard", shard, "--limit-rate", "16M") for shard in order[:2]]
    time.sleep(dice.uniform(1.5, 3))
    for process in slow:
        process.kill()
        demand(ended(process).status < 0, "a share ended before it was killed")
    # JuiceFS's gateway damages an object that two runs complete at once, which can only happen with the same share
    # twice.
    twice = [] if place.s3up.store.name == "juicefs" else [dice.choice(order)]
    runs = [place.start("--shard", shard) for shard in order + twice]
    ends = [ended(process) for process in runs]
    bad = [str(end) for end in ends if end.status]
    demand(not bad, f"{len(bad)} shares: {bad[:2]}")
    events = [end.event["event"] for end in ends]
    demand("completed" in events, f"nobody completed it: {events}")
    place.demand_identical()
    log = [entry for entry in proxy.log(place.key) if entry["operation"] == "UploadPart" and entry["status"] == 200]
    again = len(log) - SIZE // PART
    # One share ran twice; the killed ones had at most 16 parts in flight each, and a tail may be sent twice.
    demand(again <= SIZE // PART // SHARES + 40, f"{again} parts were sent again")
    what = "two killed" + (" and one twice at once" if twice else "")
    say(f"  {SHARES} shares, {what}: {events.count('completed')} of them found all parts there")


def run(options, store):
    demand(shutil.which("strace"), "not installed: strace; make soak does it")
    demand(os.geteuid() == 0, "only root can make a network namespace")
    room = fresh_room("tickets")
    s3up = S3up(options.binary, store, room)
    with Bucket(store, "s3up-tickets") as bucket:
        for scheme, endpoint in (("http", store.endpoint), ("https", store.values["TLS_ENDPOINT"])):
            kills(options, Place(s3up, room, bucket, scheme, options.seed), endpoint, room)
        with Proxy(store) as proxy:
            shares(options, Place(s3up, room, bucket, "shares", options.seed), proxy)
