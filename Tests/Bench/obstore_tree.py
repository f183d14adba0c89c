"""obstore_tree.py ENDPOINT FOLDER PREFIX 0 CONNECTIONS|0 signed|unsigned: a folder with Rust's object_store,
bound; several at once, 8 unless it is said: the library has no default."""

import asyncio
import os
import pathlib
import sys

import obstore
from obstore_store import store

endpoint, folder, prefix, _, connections, signing = sys.argv[1:]
bucket = store(endpoint, unsigned_payload=signing == "unsigned")


async def main():
    files = iter([path for path in pathlib.Path(folder).rglob("*") if path.is_file()])

    async def work():
        for path in files:
            await obstore.put_async(bucket, f"{prefix}/{path.relative_to(folder)}", path)

    await asyncio.gather(*[work() for _ in range(int(connections) or 8)])


asyncio.run(main())
os._exit(0)  # everything is stored: its threads can abort a process whose interpreter is ending
