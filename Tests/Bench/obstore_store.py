"""The bench's bucket, through Rust's object_store."""

import os

from obstore.store import S3Store


def store(endpoint, **options):
    return S3Store(
        "bucket",
        endpoint=endpoint,
        region="us-east-1",
        access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
        secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        client_options={"allow_http": True, "allow_invalid_certificates": True, "timeout": "300s"},
        **options,
    )
