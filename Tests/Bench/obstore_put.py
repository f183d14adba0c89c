"""obstore_put.py ENDPOINT FILE|- KEY PART_BYTES|0 CONNECTIONS|0 signed|unsigned: Rust's object_store, bound."""

import pathlib
import sys

import obstore
from obstore_store import store

endpoint, path, key, part, connections, signing = sys.argv[1:]
bucket = store(endpoint, unsigned_payload=signing == "unsigned")
limits = {"chunk_size": int(part), "max_concurrency": int(connections)}
options = {name: value for name, value in limits.items() if value}
if path == "-":
    obstore.put(bucket, key, sys.stdin.buffer, use_multipart=True, **options)
else:
    obstore.put(bucket, key, pathlib.Path(path), **options)
