"""obstore_get.py ENDPOINT KEY|PREFIX/ FILE|FOLDER PART_BYTES|0 CONNECTIONS|0 stream|ranges|tree: downloads with Rust's
object_store, bound."""

import asyncio
import concurrent.futures
import os
import pathlib
import sys

import obstore
from obstore_store import store

endpoint, key, target, part, connections, way = sys.argv[1:]
bucket = store(endpoint)
at_once = int(connections) or 8


def stream():
    with open(target, "wb", buffering=0) as file:
        for piece in obstore.get(bucket, key).stream(min_chunk_size=1 << 20):
            file.write(piece)


def ranges():
    size, step = obstore.head(bucket, key)["size"], int(part) or 8 << 20
    file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.ftruncate(file, size)

    def load(start):
        os.pwrite(file, obstore.get_range(bucket, key, start=start, end=min(start + step, size)), start)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(load, range(0, size, step)))


async def tree():
    entries = iter([entry["path"] for page in obstore.list(bucket, prefix=key) for entry in page])

    async def work():
        for path in entries:
            file = pathlib.Path(target, path.removeprefix(key))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(await (await obstore.get_async(bucket, path)).bytes_async())

    await asyncio.gather(*[work() for _ in range(at_once)])


if way == "tree":
    asyncio.run(tree())
else:
    {"stream": stream, "ranges": ranges}[way]()
sys.stdout.flush()
os._exit(0)  # all is written: its threads can abort a process whose interpreter is ending
