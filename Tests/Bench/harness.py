"""The basis of a measurement: the C programs, the file, the sink, and one run of one client."""

import contextlib
import fcntl
import json
import os
import pathlib
import platform
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / ".build" / "bench"
HOME = BUILD / "home"


def compile_c(name, sources, *libraries):
    target = BUILD / name
    newest = max(p.stat().st_mtime for source in sources for p in source.parent.iterdir())
    if not target.exists() or target.stat().st_mtime < newest:
        compiler = os.environ.get("CC") or shutil.which("cc") or "clang"
        subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-o", target, *sources, *libraries], check=True)
    return str(target)


def compile_all():
    sources = HERE.parents[1] / "Sources"
    tls, kernels = sources / "CTLS", sources / "CKernels"
    gathering = [tls / "gather.c", tls / "openssl.c"]
    libraries = [f"-I{tls / 'include'}", "-lcurl", "-lssl", "-lcrypto"]
    sink = [*sorted((HERE / "sink").glob("*.c")), *sorted(kernels.glob("*.c"))]
    return {
        "sink": compile_c("sink", sink, f"-I{kernels / 'include'}", "-lssl", "-lcrypto", "-lpthread"),
        "measure": compile_c("measure", [HERE / "measure.c"]),
        "floor": compile_c("floor", [HERE / "floor.c", *gathering], *libraries),
        "getfloor": compile_c("getfloor", [HERE / "getfloor.c"], "-lcurl"),
        "relay": compile_c("relay", [HERE / "line" / "relay.c"]),
    }


def random_file(size):
    path = BUILD / (f"random-{size >> 20}MiB.bin" if size >> 20 else f"random-{size}.bin")
    if not path.exists() or path.stat().st_size != size:
        print(f"making {path}", file=sys.stderr)
        with open(path, "wb") as out:
            for start in range(0, size, 1 << 20):
                out.write(os.urandom(min(1 << 20, size - start)))
    with open(path, "rb", buffering=0) as file:  # into the page cache: the disk is not measured
        while file.read(8 << 20):
            pass
    return str(path)


def random_tree(files, size):
    """A folder of folders of 100 files each, the same on every machine."""
    folder = BUILD / f"tree-{files}x{size}"
    done = folder.with_suffix(".done")
    if not done.exists():
        print(f"making {folder}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        dice = random.Random(f"{files} files of {size} bytes")
        for number in range(files):
            path = folder / f"{number // 100:03}" / f"{number:06}.bin"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(dice.randbytes(size))
        done.touch()
    for path in folder.rglob("*.bin"):  # into the page cache: the disk is not measured
        path.read_bytes()
    return str(folder)


class Sink:
    def __init__(self, address, ports, ca_file, prefix):
        self.endpoints = {"http": f"http://{address}:{ports[0]}", "https": f"https://{address}:{ports[1]}"}
        self.ca_file = ca_file
        self.prefix = prefix  # the command that reaches it, where this process does not

    def stats(self):
        curl = ["curl", "--disable", "--silent", "--fail", "--max-time", "60", "--noproxy", "*"]
        answer = subprocess.run(
            [*self.prefix, *curl, self.endpoints["http"] + "/_stats"], stdout=subprocess.PIPE, check=True
        )
        return json.loads(answer.stdout)


@contextlib.contextmanager
def sink(program, address="127.0.0.1", prefix=(), clients=(), options=()):
    """Runs the sink under a prefix; the kernel ends it with this process."""
    ca_file = str(BUILD / "sink-ca.pem")
    process = subprocess.Popen([*prefix, program, ca_file, address, *options], stdout=subprocess.PIPE, text=True)
    try:
        ports = process.stdout.readline().split()
        if len(ports) != 2:
            sys.exit("the sink did not start")
        yield Sink(address, ports, ca_file, clients)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def alone():
    """Prevents two runs at once, which would share the folder and both have wrong figures."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("another run is in progress")
        yield


@contextlib.contextmanager
def memory_folder():
    """The folder for downloads, in memory: the disk is not measured."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="s3up-bench-") as folder:
        yield folder


def fresh_home():
    """Clients see neither the user's settings, credentials and state, nor those of an earlier run."""
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir()


def give_back():
    """Files created under sudo are given to the calling user, whose next run must write there."""
    if os.geteuid() == 0 and "SUDO_UID" in os.environ:
        owner = f"{os.environ['SUDO_UID']}:{os.environ.get('SUDO_GID', '')}"
        subprocess.run(["chown", "-R", owner, BUILD, *HERE.glob("__pycache__")], check=False)


def client_environment():
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(HOME),
        "LANG": "C.UTF-8",
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secretsecretsecret",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def run(command, environment, seconds):
    """The wall, user and system seconds, peak resident KiB and exit status that `measure` wrote, and the end of the
    client's errors; or None instead of the figures if it took too long."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder, tempfile.TemporaryFile() as errors:
        figures = os.path.join(folder, "figures")
        shell = ["sh", "-c", 'out=$1; shift; exec "$@" 3>"$out"', "sh", figures]
        process = subprocess.Popen(
            [*shell, *command],
            stdin=subprocess.DEVNULL,
            stderr=errors,
            env={**client_environment(), **environment},
            start_new_session=True,
        )
        try:
            ended = wait(process, seconds)
        except BaseException:  # Ctrl-C, which the child's own session does not get
            kill(process)
            raise
        if not ended:
            kill(process)
            return None, ""
        errors.seek(0)
        return pathlib.Path(figures).read_text().split(), errors.read().decode(errors="replace")[-500:].strip()


def wait(process, seconds):
    """Whether it ends in time. Python's own wait with a limit polls, on a core that the client may need."""
    handle = os.pidfd_open(process.pid)
    try:
        if not select.select([handle], [], [], seconds)[0]:
            return False
    finally:
        os.close(handle)
    process.wait()
    return True


def kill(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def measured(row, job, where, prefix, size, seconds, objects=1):
    """One run of one row as a dictionary of figures; it has an `error` if the transfer was incomplete."""
    command, environment = row.client(job)
    piped = ["-i", where["piped"]] if where["piped"] else []
    pinned = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if row.one_core else []
    before = where["sink"].stats()
    start = time.monotonic()
    figures, errors = run([*prefix, *pinned, where["measure"], *piped, *command], environment, seconds)
    if figures is None:
        return {"name": row.name, "wall": time.monotonic() - start, "stopped": True}
    after = where["sink"].stats()
    wall, user, system, peak, status = figures
    requests = {kind: count - before["requests"][kind] for kind, count in after["requests"].items()}
    result = {
        "name": row.name,
        "wall": float(wall),
        "user": float(user),
        "system": float(system),
        "cpu": float(user) + float(system),
        "peak_mib": int(peak) / 1024,
        "connections": after["max_open"],  # at once
        "requests": {kind: count for kind, count in requests.items() if count},
        "body_bytes": after["body_bytes"] - before["body_bytes"],
        "given_bytes": after["given_bytes"] - before["given_bytes"],
        "sink_cpu": after["cpu_seconds"] - before["cpu_seconds"],
    }
    if int(status):
        result["error"] = f"exit {status}: {errors}"
    elif job.original:
        if differs := subprocess.run(["diff", "-rq", job.original, job.source], capture_output=True, text=True).stdout:
            result["error"] = f"what came is not what was there: {differs.splitlines()[0]}"
    elif result["body_bytes"] < size:
        result["error"] = f"only {result['body_bytes']} of {size} bytes arrived"
    elif (made := requests["PutObject"] + requests["CompleteMultipartUpload"]) < objects:
        result["error"] = f"only {made} of {objects} objects came to be"
    return result


def machine():
    processor = platform.machine()
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    return {"processor": processor, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release()}
