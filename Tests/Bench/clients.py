"""The measured uploads: each is a function from a Job to a command and its environment. downloads.py has the others."""

import dataclasses
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TICKET_PARTS = 10_000
CURL = ["curl", "--disable", "--silent", "--show-error", "--fail", "--http1.1"]


@dataclasses.dataclass(frozen=True)
class Tools:
    """Where the programs are, and a folder that clients may write to."""

    binary: str
    floor: str
    getfloor: str
    peers: pathlib.Path
    home: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Job:
    """One upload. Without a part size or a number of connections the client uses its defaults."""

    tools: Tools
    endpoint: str
    ca_file: str
    source: str  # a file, a folder whose files are uploaded, or "-": standard input; of a download its target
    key: str  # of a folder: the prefix of its files
    part_mib: int | None
    connections: int | None
    is_tree: bool = False
    original: str = ""  # of a download: the file or the folder that the sink gives

    @property
    def url(self):
        return f"s3://bucket/{self.key}" + ("/" if self.is_tree else "")

    @property
    def is_tls(self):
        return self.endpoint.startswith("https")

    def python(self, peer):
        return str(self.tools.peers / peer / "bin/python")

    def limits(self, connections, part, unit=""):
        """The client's options for the number of connections and the size of a part, if they are set."""
        chosen = [connections, str(self.connections)] if self.connections else []
        return chosen + ([part, f"{self.part_mib}{unit}"] if self.part_mib else [])


def s3up(*options, state=None):
    """`state`: what it remembers of the line: "each" for a run that knows nothing, or a name for those that share it."""

    def command(job):
        limits = job.limits("--concurrency", "--part-size", "MiB")
        tls = ["--ca-bundle", job.ca_file] if job.is_tls else []
        endpoint = ["--endpoint-url", job.endpoint, "--addressing", "path"]
        what = ["put", "-r"] if job.is_tree else ["put"]
        folder = {"XDG_STATE_HOME": str(job.tools.home / f"state-{job.key if state == 'each' else state}")} if state else {}
        return [job.tools.binary, *what, job.source, job.url, *endpoint, *limits, *tls, *options], folder

    return command


def issue_ticket(job):
    part = 5 << 20
    what = ["--size", str(part * TICKET_PARTS), "--part-size", str(part), job.url, "-o", job.tools.home / f"{job.key}.ticket"]
    endpoint = ["--endpoint-url", job.endpoint, "--addressing", "path"]
    return [str(word) for word in [job.tools.binary, "ticket", "issue", *what, *endpoint]], {}


def show_ticket(job):
    """The command that was issued last."""
    last = max(job.tools.home.glob("*.ticket"), key=lambda path: path.stat().st_mtime)
    return [job.tools.binary, "ticket", "show", str(last)], {}


def another(binary, client):
    """The same client, with another s3up."""
    return lambda job: client(dataclasses.replace(job, tools=dataclasses.replace(job.tools, binary=binary)))


def curl(job):
    return [*CURL, "--cacert", job.ca_file, "--upload-file", job.source, f"{job.endpoint}/bucket/{job.key}"], {}


def curl_tree(job):
    """One curl for all files, several at once: no checksum, no signature, no lookup."""
    lines = []
    for path in files_below(job.source):
        lines += [f'upload-file = "{job.source}/{path}"', f'url = "{job.endpoint}/bucket/{job.key}/{path}"']
    return curl_at_once(job, lines), {}


def curl_at_once(job, lines, *options):
    config = job.tools.home / "curl-config"
    config.write_text("".join(f"{line}\n" for line in lines))
    common = [*CURL, "--cacert", job.ca_file, *options]
    limits = ["--parallel-max", str(job.connections)] if job.connections else []
    return [*common, "--parallel", "--parallel-immediate", *limits, "--config", str(config)]


def files_below(folder):
    """Relative paths, in order."""
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file())


def floor(mode):
    def command(job):
        sizes = [str(job.part_mib << 20), str(job.connections)]
        return [job.tools.floor, f"{job.endpoint}/bucket/{job.key}", job.source, *sizes, job.ca_file, mode], {}

    return command


def numbers(job):
    """The two numbers as arguments of the Python scripts; 0 is the client's own default."""
    return [str((job.part_mib or 0) << 20), str(job.connections or 0)]


def obstore(signing):
    def command(job):
        script = [job.python("obstore"), str(HERE / ("obstore_tree.py" if job.is_tree else "obstore_put.py"))]
        return [*script, job.endpoint, job.source, job.key, *numbers(job), signing], {}

    return command


def crt(job):
    script = [job.python("crt"), str(HERE / "crt_copy.py"), "put"]
    return [*script, job.endpoint, job.source, job.key, *numbers(job), job.ca_file], {}


def awscli(job):
    environment = {"AWS_CA_BUNDLE": job.ca_file} if job.is_tls else {}
    lines = [f"max_concurrent_requests = {job.connections}"] if job.connections else []
    lines += [f"multipart_chunksize = {job.part_mib}MB"] if job.part_mib else []
    if lines:  # aws has no options for them, only a configuration file
        config = job.tools.home / "aws-config"
        config.write_text("[default]\ns3 =\n" + "".join(f"  {line}\n" for line in lines))
        environment["AWS_CONFIG_FILE"] = str(config)
    program = [job.python("awscli"), str(job.tools.peers / "awscli/bin/aws"), "--endpoint-url", job.endpoint]
    what = ["s3", "cp", "--recursive"] if job.is_tree else ["s3", "cp"]
    return [*program, *what, "--no-progress", "--only-show-errors", job.source, job.url], environment


def s5cmd_program(job):
    """The Go program itself: the command of that name is a launcher in Python."""
    (program,) = (job.tools.peers / "s5cmd").glob("lib/python*/site-packages/s5cmd/bin/s5cmd")
    return str(program)


def s5cmd(job):
    what = ["pipe"] if job.source == "-" else ["cp"]
    source = [] if job.source == "-" else [job.source]
    environment = {"AWS_CA_BUNDLE": job.ca_file} if job.is_tls else {}
    program = [s5cmd_program(job), "--endpoint-url", job.endpoint]
    if job.is_tree:
        workers = ["--log", "error", *job.limits("--numworkers", "")]
        return [*program, *workers, "cp", f"{job.source}/", job.url], environment
    return [*program, *what, *job.limits("-c", "-p"), *source, job.url], environment


def rclone(job):
    settings = {"TYPE": "s3", "PROVIDER": "Other", "ENV_AUTH": "true", "REGION": "us-east-1", "ENDPOINT": job.endpoint}
    environment = {"RCLONE_CONFIG": "", **{f"RCLONE_CONFIG_SINK_{name}": value for name, value in settings.items()}}
    what = ["rcat"] if job.source == "-" else ["copy" if job.is_tree else "copyto", job.source]
    limits = job.limits("--transfers" if job.is_tree else "--s3-upload-concurrency", "--s3-chunk-size", "M")
    tls = ["--ca-cert", job.ca_file] if job.is_tls else []
    return [str(job.tools.peers / "rclone/bin/rclone"), *what, *limits, *tls, f"sink:bucket/{job.key}"], environment


def install_peers(folder, names):
    """Each client in its own virtual environment, created once. A line of peers.txt: its name, what pip installs."""
    for line in (HERE / "peers.txt").read_text().splitlines():
        name, *requirements = line.split()
        mark = folder / name / ("." + "_".join(requirements))
        if name not in names or mark.exists():
            continue
        print(f"installing {' '.join(requirements)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / name], check=True)
        pip = [folder / name / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        environment = {"PIP_DEFAULT_TIMEOUT": "120", **os.environ}
        subprocess.run([*pip, "--retries", "5", "--only-binary", ":all:", *requirements], check=True, env=environment)
        mark.touch()
