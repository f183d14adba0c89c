"""The clients that are measured: each is a name, a scheme and a function from a Job to the command that uploads."""

import dataclasses
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Job:
    binary: str
    endpoint: str
    ca_file: str
    file: str
    key: str
    part_mib: int
    connections: int
    peers: pathlib.Path
    floor: str

    @property
    def part(self):
        return str(self.part_mib << 20)


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    scheme: str
    command: object
    multipart: bool = True


def s3up(*options):
    def command(job):
        tls = ["--ca-bundle", job.ca_file] if job.endpoint.startswith("https") else []
        return [
            job.binary, "put", job.file, f"s3://bucket/{job.key}", "--endpoint-url", job.endpoint, "--addressing", "path",
            "--region", "us-east-1", "--part-size", f"{job.part_mib}MiB", "--concurrency", str(job.connections),
            "--progress", "none", *tls, *options,
        ]  # fmt: skip

    return command


def curl(job):
    options = ["--disable", "--silent", "--show-error", "--fail", "--http1.1", "--cacert", job.ca_file]
    return ["curl", *options, "--upload-file", job.file, f"{job.endpoint}/bucket/{job.key}"]


def floor(mode):
    def command(job):
        return [job.floor, f"{job.endpoint}/bucket/{job.key}", job.file, job.part, str(job.connections), job.ca_file, mode]

    return command


def obstore(signing):
    def command(job):
        python = str(job.peers / "obstore/bin/python")
        arguments = [job.endpoint, job.file, job.key, job.part, str(job.connections), signing]
        return [python, str(HERE / "obstore_put.py"), *arguments]

    return command


def s5cmd(job):
    # the Go program itself: the command of that name is a launcher in Python
    (program,) = (job.peers / "s5cmd").glob("lib/python*/site-packages/s5cmd/bin/s5cmd")
    limits = ["-c", str(job.connections), "-p", str(job.part_mib)]
    tls = ["env", f"AWS_CA_BUNDLE={job.ca_file}"] if job.endpoint.startswith("https") else []
    return [*tls, str(program), "--endpoint-url", job.endpoint, "cp", *limits, job.file, f"s3://bucket/{job.key}"]


def rclone(job):
    remote = [
        f"RCLONE_CONFIG_SINK_{name}" for name in ("TYPE=s3", "PROVIDER=Other", "ENV_AUTH=true", "REGION=us-east-1")
    ]
    limits = [
        "--s3-no-check-bucket",
        "--s3-upload-concurrency",
        str(job.connections),
        "--s3-chunk-size",
        f"{job.part_mib}M",
    ]
    tls = ["--ca-cert", job.ca_file] if job.endpoint.startswith("https") else []
    return [
        "env", "RCLONE_CONFIG=", f"RCLONE_CONFIG_SINK_ENDPOINT={job.endpoint}", *remote,
        str(job.peers / "rclone/bin/rclone"), "copyto", *limits, *tls, job.file, f"sink:bucket/{job.key}",
    ]  # fmt: skip


OURS = [
    Workload("s3up-signed", "http", s3up("--payload-signing", "always")),
    Workload("s3up-unsigned", "http", s3up("--payload-signing", "never")),
    Workload("curl", "http", curl, multipart=False),
    Workload("floor", "http", floor("plain"), multipart=False),
    Workload("s3up-tls", "https", s3up()),
    Workload("curl-tls", "https", curl, multipart=False),
    Workload("floor-tls", "https", floor("plain"), multipart=False),
    Workload("floor-gathered", "https", floor("gathered"), multipart=False),
]
PEERS = [
    Workload("obstore-signed", "http", obstore("signed")),
    Workload("obstore-unsigned", "http", obstore("unsigned")),
    Workload("obstore-tls", "https", obstore("unsigned")),
    Workload("s5cmd", "http", s5cmd),
    Workload("s5cmd-tls", "https", s5cmd),
    Workload("rclone", "http", rclone),
    Workload("rclone-tls", "https", rclone),
]


def install_peers(folder, names):
    """Each client in a virtual environment of its own, made once."""
    for requirement in (HERE / "peers.txt").read_text().split():
        name = requirement.split("==")[0].removesuffix("-bin")
        if name not in names:
            continue
        mark = folder / name / f".{requirement}"
        if mark.exists():
            continue
        print(f"installing {requirement}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / name], check=True)
        pip = [
            folder / name / "bin/python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--retries",
            "5",
        ]
        environment = {"PIP_DEFAULT_TIMEOUT": "120", **os.environ}
        subprocess.run([*pip, "--only-binary", ":all:", requirement], check=True, env=environment)
        mark.touch()
