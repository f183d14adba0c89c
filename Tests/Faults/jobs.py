"""The jobs of the article on tickets: one file, uploaded in shares by machines that have no credentials."""

import os
import shutil
import subprocess
import sys
import tempfile

from harness import MIB, REPOSITORY, Bucket, Proxy, S3up, demand, fresh_room, make_file, say
from slurm import Slurm, missing

sys.path.insert(0, str(REPOSITORY / "Tests/Acceptance/Jobs"))
from articles import job_file  # noqa: E402

SIZE, PARTS = 80 * MIB, 16

# A stand-in for ssh, for GNU parallel: a machine is a folder, in which the command runs.
SSH = """#!/bin/sh
while case $1 in -l | -o | -p | -S) shift 2 ;; -*) shift ;; *) false ;; esac; do :; done
cd {room}/"$1" || exit 255
shift
[ "$1" != -- ] || shift
HOME=$PWD exec sh -c "$*"
"""


class Place:
    """A file, its ticket, and the key that it is for, behind a proxy that counts."""

    def __init__(self, s3up, room, bucket, key, seed):
        self.s3up, self.bucket, self.key, self.room = s3up, bucket, key, room / key
        self.file, self.ticket = self.room / "a file.img", self.room / "ticket.json"
        self.sum = make_file(self.file, SIZE, f"{seed}/jobs/{key}")
        tools = self.room / "bin"
        tools.mkdir()
        (tools / "s3up").symlink_to(s3up.binary)
        home = self.room / "home"
        home.mkdir()
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"}

    def __enter__(self):
        self.proxy = Proxy(self.s3up.store)
        where = ["--endpoint-url", self.proxy.endpoint, "--region", self.s3up.store.values["REGION"]]
        what = [self.file, f"s3://{self.bucket}/{self.key}", "-o", self.ticket, "--part-size", str(SIZE // PARTS)]
        command = [self.s3up.binary, "ticket", "issue", *what, *where, "--addressing", "path"]
        subprocess.run(command, env=self.s3up.environment, stdout=subprocess.DEVNULL, check=True, timeout=60)
        return self

    def __exit__(self, *_):
        self.proxy.__exit__()

    def script(self, name):
        """The path of a script of the article."""
        path = self.room / "script"
        path.write_text(job_file(name))
        path.chmod(0o755)
        return path

    def demand_done(self):
        """The object is the file, and no part was sent by two shares."""
        there = self.s3up.store.sha256(self.bucket, self.key)
        demand(there == self.sum, f"the object {self.key} is {'not there' if there is None else 'NOT the file'}")
        log = self.proxy.log(self.key)
        parts = [entry["part"] for entry in log if entry["operation"] == "UploadPart" and entry["status"] == 200]
        demand(len(set(parts)) == PARTS, f"{len(set(parts))} of {PARTS} parts went through the proxy")
        # The tail of a share may be sent twice, on purpose, if a connection is slow.
        demand(len(parts) <= PARTS + 2, f"{len(parts)} parts were sent, of {PARTS}: the shares overlap")


def array(place):
    with tempfile.TemporaryDirectory(prefix="s3up-slurm-") as folder, Slurm(folder) as cluster:
        output = cluster.folder / "upload"
        job = ["sbatch", "--wait", f"--output={output}.%A.%a", place.script("slurm array"), place.file, place.ticket]
        result = cluster.run(*map(str, job), environment=place.environment, seconds=120)
        told = [file.read_text()[-300:] for file in sorted(cluster.folder.glob("upload.*"))]
    demand(result.returncode == 0, f"sbatch: {result.returncode} {result.stdout} {told[:2]}")
    demand(len(told) == 8, f"{len(told)} tasks ran")
    place.demand_done()
    say("  a Slurm array of 8 tasks")


def parallel(place):
    machines = ["one", "two", "three"]
    for name in machines:
        (place.room / name).mkdir()
    ssh = place.room / "bin" / "ssh"
    ssh.write_text(SSH.format(room=place.room))
    ssh.chmod(0o755)
    hosts = place.room / "hosts"
    hosts.write_text("".join(f"{name}\n" for name in machines))
    result = subprocess.run(
        [str(place.script("GNU parallel")), str(place.file), place.ticket.name, str(hosts), "6"], cwd=place.room,
        env={**place.environment, "SHELL": "/bin/sh"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=120,
    )  # fmt: skip
    demand(result.returncode == 0, f"parallel: {result.returncode} {result.stdout[-500:]}")
    left = [str(file) for name in machines for file in (place.room / name).glob("*.json")]
    demand(not left, f"tickets left on the machines: {left}")
    place.demand_done()
    say(f"  GNU parallel, 6 shares on {len(machines)} machines")


def run(options, store):
    absent = missing() + [name for name in ("parallel", "rsync") if not shutil.which(name)]
    demand(not absent, f"not installed: {', '.join(absent)}; make soak does it")
    room = fresh_room("jobs")
    s3up = S3up(options.binary, store, room)
    with Bucket(store, "s3up-jobs") as bucket:
        for name, test in (("array", array), ("parallel", parallel)):
            (room / name).mkdir()
            with Place(s3up, room, bucket, name, options.seed) as place:
                test(place)
