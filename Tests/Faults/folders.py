"""A folder of many files: made from a seed, and compared with its objects at a store."""

import filecmp
import random
import shutil
import subprocess
import urllib.parse

from harness import MIB, demand, make_file


class Folder:
    """Files with bytes from a seed. `sizes` gives each name its size; `dice` is a random.Random."""

    def __init__(self, path, sizes, dice):
        self.path, self.names, self.dice = path, list(sizes), dice
        shutil.rmtree(path, ignore_errors=True)
        for name, size in sizes.items():
            self.write(name, size)

    def write(self, name, size):
        make_file(self.path / name, size, self.dice.getrandbits(64))

    def compare(self, store, bucket, prefix):
        """Every file is an object, the same by its bytes; nothing else is below the prefix, and nothing unfinished."""
        there, wanted = keys(store, bucket, prefix), {prefix + name for name in self.names}
        demand(
            there == wanted,
            f"{len(wanted - there)} files are not at the store, {len(there - wanted)} objects too many",
        )
        back = self.path.with_name(self.path.name + "-back")
        shutil.rmtree(back, ignore_errors=True)
        each(store, bucket, {prefix + name: back / name for name in self.names}, "--fail", "--create-dirs")
        wrong = filecmp.cmpfiles(self.path, back, self.names, shallow=False)
        demand(not wrong[1] and not wrong[2], f"objects that are NOT the file: {(wrong[1] + wrong[2])[:3]}")
        shutil.rmtree(back)
        left = [key for key, _ in store.left(bucket) if urllib.parse.unquote(key).startswith(prefix)]
        demand(not left, f"{len(left)} uploads unfinished at the store: {left[:3]}")


def mixed(files, large, dice):
    """Sizes from nothing to 1 MiB, most of them small, and some of several parts."""
    sizes = {}
    for number in range(files):
        size = dice.choice([0, dice.randint(1, 16 << 10), dice.randint(1, 64 << 10)])
        if number % 100 == 1:
            size = dice.randint(64 << 10, MIB)
        if number < large:
            size = dice.randint(6 * MIB, 30 * MIB)
        sizes[f"{dice.randint(0, 9)}/{number % 7}/{dice.getrandbits(40):x}-{number}"] = size
    return sizes


def keys(store, bucket, prefix):
    """The keys of all objects below the prefix, page by page."""
    found, last = set(), ""
    while True:
        query = f"list-type=2&prefix={urllib.parse.quote(prefix, safe='')}"
        query += f"&start-after={urllib.parse.quote(last, safe='')}" if last else ""
        status, text = store.ask("GET", bucket, query)
        demand(status == 200, f"the list of objects was answered {status}: {text[:300]}")
        page = [urllib.parse.unquote(item.split("<")[0]) for item in text.split("<Key>")[1:]]
        found.update(page)
        if "<IsTruncated>true" not in text:
            return found
        last = page[-1]


def each(store, bucket, outputs, *options):
    """Downloads each key to a file, with one curl."""
    lines = [f'url = "{store.endpoint}/{bucket}/{key}"\noutput = "{output}"\n' for key, output in outputs.items()]
    config = store.folder / f"each-{bucket}.curl"
    config.write_text("".join(lines))
    words = ["--parallel", "--parallel-max", "16", *options, "--config", str(config)]
    process = store.curl(*words, errors=subprocess.DEVNULL)
    process.stdout.read()
    process.wait()
    config.unlink()


def empty(store, bucket, prefix):
    each(store, bucket, dict.fromkeys(keys(store, bucket, prefix), "/dev/null"), "-X", "DELETE")


def sent_again(log, begun, killed, flush):
    """How many files and parts were sent in a later run although an earlier one had them confirmed, and how many of
    those without need: more than `flush` seconds before that run was killed. A request belongs to the run in which its
    connection was opened: bytes that a killed run left in the kernel's buffers still belong to it.
    """
    confirmed, again, needless = {}, 0, []
    for entry in sorted((e for e in log if e["operation"] in ("PutObject", "UploadPart")), key=lambda e: e["began"]):
        what = (entry["key"], entry["part"])
        run = sum(1 for moment in begun if moment <= entry["opened"])
        before = [(r, moment) for r, moment in confirmed.get(what, []) if r < run]
        again += bool(before)
        needless += [what] if any(moment + flush < killed[r - 1] for r, moment in before) else []
        if entry["status"] == 200 and entry["delivered"]:
            confirmed.setdefault(what, []).append((run, entry["delivered"]))
    return again, needless
