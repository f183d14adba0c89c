"""What the soak runs have in common: the store, an independent client, the proxy, s3up in a clean environment."""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Stores"))
import other_client

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
ROOM = REPOSITORY / ".build" / "soak"
MIB = 1 << 20


class Violation(Exception):
    """Raised for a broken promise."""


def demand(holds, promise):
    if not holds:
        raise Violation(promise)


def say(*words):
    print(*words, flush=True)


class Store:
    """A server that Tests/Stores started, accessed by clients that share nothing with s3up."""

    def __init__(self, name):
        self.folder = pathlib.Path(os.environ["S3UP_TEST_STORES"]) / name
        lines = (self.folder / "env").read_text().splitlines()
        self.values = dict(line.split("=", 1) for line in lines)
        self.name, self.endpoint = name, self.values["ENDPOINT"]

    def curl(self, *words, errors=None):
        """A running curl. It gets credentials on standard input, because everybody can read a command line."""
        v = self.values
        command = ["curl", "--disable", "--noproxy", "*", "--silent", "--show-error", "--max-time", "600"]
        command += ["--config", "-"]
        command += ["--aws-sigv4", f"aws:amz:{v['REGION']}:s3", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", *words]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        process.stdin.write(f'user = "{v["ACCESS_KEY"]}:{v["SECRET_KEY"]}"\n'.encode())
        process.stdin.close()
        return process

    def ask(self, method, path, query=""):
        """Status and text, of an answer in XML."""
        answer = self.perform(method, path, query)
        return answer["status"], answer["text"]

    def sha256(self, bucket, key):
        """Of the object as it is read back; None if it does not exist."""
        answer = self.perform("GET", f"{bucket}/{key}")
        return answer["sha256"] if answer["status"] == 200 else None

    def perform(self, method, path, query=""):
        """Not by curl: Swift refuses the signatures of curl 7.88."""
        bucket, _, key = path.partition("/")
        wanted = {"method": method, "key": urllib.parse.unquote(key, errors="surrogateescape"), "query": query}
        return other_client.perform(wanted, self.values | {"BUCKET": bucket}, secure=False)

    def unfinished(self, bucket):
        """(key, upload id) of the uploads in ListMultipartUploads."""
        status, text = self.ask("GET", bucket, "uploads=")
        demand(status == 200, f"the list of uploads was answered {status}: {text[:300]}")
        return [
            (upload.split("<Key>")[1].split("<")[0], upload.split("<UploadId>")[1].split("<")[0])
            for upload in text.split("<Upload>")[1:]
        ]

    def left(self, bucket):
        """(key, upload id) of unfinished uploads with parts. One without may be another machine's that has just
        begun it, so a run whose create lost its answer does not abort it; it costs nothing.
        """
        return [
            (key, upload)
            for key, upload in self.unfinished(bucket)
            if "<Part>" in self.parts(bucket, urllib.parse.unquote(key), upload)
        ]

    def parts(self, bucket, key, upload):
        path = f"{bucket}/{urllib.parse.quote(key)}"
        return self.ask("GET", path, f"uploadId={urllib.parse.quote(upload, safe='')}")[1]

    def make_bucket(self, bucket):
        v = self.values
        script = REPOSITORY / "Tests" / "Stores" / "make_bucket.py"
        subprocess.run([sys.executable, script, self.endpoint, v["ACCESS_KEY"], v["SECRET_KEY"], bucket], check=True)

    def drop_bucket(self, bucket):
        """With everything in it: only then SeaweedFS frees the disk space."""
        _, text = self.ask("GET", bucket)
        for item in text.split("<Key>")[1:]:
            self.ask("DELETE", f"{bucket}/{urllib.parse.quote(item.split('<')[0])}")
        for key, upload in self.unfinished(bucket):
            self.ask("DELETE", f"{bucket}/{urllib.parse.quote(key)}", f"uploadId={urllib.parse.quote(upload, safe='')}")
        self.ask("DELETE", bucket)


class Bucket:
    def __init__(self, store, name):
        self.store, self.name = store, name

    def __enter__(self):
        self.store.make_bucket(self.name)
        return self.name

    def __exit__(self, *_):
        self.store.drop_bucket(self.name)


class Proxy:
    """The fault proxy as a process; it ends with this one, because its standard input does."""

    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def __init__(self, store, script=()):
        command = [sys.executable, HERE / "fault_proxy.py", store.endpoint, "--script", json.dumps(list(script))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        place = json.loads(self.process.stdout.readline())
        self.endpoint, self.control = place["endpoint"], place["control"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, method, path, data=None, **query):
        url = f"{self.control}{path}?{urllib.parse.urlencode(query)}"
        body = None if data is None else json.dumps(data).encode()
        with self.direct.open(urllib.request.Request(url, body, method=method), timeout=700) as answer:
            return json.load(answer)

    def log(self, key):
        return self.ask("GET", "/_log", key=key)

    def stats(self, key):
        return self.ask("GET", "/_stats", key=key)

    def wait(self, operation, key, phase, **more):
        return self.ask("GET", "/_wait", operation=operation, key=key, phase=phase, **more)["there"]

    def script(self, faults):
        self.ask("PUT", "/_script", list(faults))

    def release(self):
        self.ask("POST", "/_release")


class S3up:
    """The binary with its own credentials, home and state folder, and nothing of the user's."""

    started = []

    def __init__(self, binary, store, room):
        self.binary, self.store, self.state = binary, store, room / "state"
        home = room / "home"
        home.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "AWS_ACCESS_KEY_ID": store.values["ACCESS_KEY"],
            "AWS_SECRET_ACCESS_KEY": store.values["SECRET_KEY"],
        }

    def command(self, endpoint, file, bucket, key, *options):
        where = ["--endpoint-url", endpoint, "--region", self.store.values["REGION"], "--addressing", "path"]
        what = [self.binary, "put", str(file), f"s3://{bucket}/{key}", "--json", "--state-dir", str(self.state)]
        return what + where + list(options)

    def start(self, *words, output=subprocess.PIPE):
        return self.begin(self.command(*words), output)

    def get(self, endpoint, bucket, key, target, *options):
        """A download that has begun; it tells every event."""
        put = self.command(endpoint, target, bucket, key, *options)
        return self.begin([put[0], "get", put[3], put[2], "--json=all", *put[5:]])

    def begin(self, command, output=subprocess.PIPE):
        process = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.started.append(process)
        return process

    @classmethod
    def end_all(cls):
        """Ends processes that a violation left running."""
        for process in cls.started:
            if process.poll() is None:
                process.kill()
                process.communicate()
        cls.started.clear()

    def run(self, *words, timeout=600):
        return ended(self.start(*words), timeout)

    def left_in_state(self, *words):
        """Files of the state folder about uploads: all except lessons about stores, and locks.

        With words, only files that contain one of them.
        """
        found = []
        for path in sorted(self.state.rglob("*")) if self.state.exists() else []:
            if not path.is_file() or re.fullmatch(r"stores(\.new\d+)?", path.name) or path.suffix == ".lock":
                continue
            if not words or any(word.encode() in path.read_bytes() for word in words):
                found.append(str(path.relative_to(self.state)))
        return found


def whole_events(output):
    """The events of a run; if it was killed, the last line may be cut off."""
    for line in output.strip().splitlines():
        with contextlib.suppress(ValueError):
            yield json.loads(line)


class Ended:
    def __init__(self, status, output, errors):
        self.status, self.output, self.errors = status, output, errors
        self.events = list(whole_events(output))
        self.event = self.events[-1] if self.events else {}

    def __str__(self):
        return f"exit {self.status}: {self.errors.strip()[-400:] or self.output.strip()[-400:]}"


def ended(process, timeout=600):
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as late:
        process.kill()
        process.communicate()
        raise Violation(f"a run did not end within {timeout} s") from late
    return Ended(process.returncode, output or "", errors)


def make_file(path, size, seed):
    """Writes pseudo-random bytes that depend on the seed, and returns their SHA-256. All parts differ."""
    dice, digest = random.Random(seed), hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as out:
        while size:
            piece = dice.randbytes(min(size, MIB))
            digest.update(piece)
            out.write(piece)
            size -= len(piece)
    return digest.hexdigest()


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


rooms = {}


def fresh_room(name):
    """A folder of this process alone: another run would find its files replaced."""
    room = ROOM / name
    ROOM.mkdir(parents=True, exist_ok=True)
    if name not in rooms:
        rooms[name] = open(room.with_suffix(".lock"), "w")
        try:
            fcntl.flock(rooms[name], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another run uses {room}")
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(parents=True)
    return room
