"""obstore_put.py ENDPOINT FILE|- KEY PART_BYTES|0 CONNECTIONS|0 signed|unsigned: Rust's object_store, bound."""

import os
import pathlib
import sys

import obstore
from obstore.store import S3Store

endpoint, path, key, part, connections, signing = sys.argv[1:]
store = S3Store(
    "bucket",
    endpoint=endpoint,
    region="us-east-1",
    access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
    secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
    unsigned_payload=signing == "unsigned",
    client_options={"allow_http": True, "allow_invalid_certificates": True, "timeout": "300s"},
)
limits = {"chunk_size": int(part), "max_concurrency": int(connections)}
options = {name: value for name, value in limits.items() if value}
if path == "-":
    obstore.put(store, key, sys.stdin.buffer, use_multipart=True, **options)
else:
    obstore.put(store, key, pathlib.Path(path), **options)
