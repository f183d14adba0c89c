"""crt_copy.py put|get ENDPOINT FILE|FOLDER|- KEY PART_BYTES|0 CONNECTIONS|0 CA_FILE: the client of the AWS common runtime
(aws-c-s3), used like `aws s3 cp` does with `preferred_transfer_client = crt`."""

import pathlib
import sys

import botocore.session
from boto3.s3.transfer import TransferConfig
from s3transfer.crt import (
    BotocoreCRTCredentialsWrapper,
    BotocoreCRTRequestSerializer,
    CRTTransferManager,
    create_s3_crt_client,
)


class Stream:
    """A pipe that can only be read, so that its size is unknown."""

    def read(self, size=-1):
        return sys.stdin.buffer.read(size)


way, endpoint, path, key, part, connections, ca_file = sys.argv[1:]
is_tls = endpoint.startswith("https")
session = botocore.session.Session()
serializer = BotocoreCRTRequestSerializer(session, {"endpoint_url": endpoint, "region_name": "us-east-1"})
credentials = BotocoreCRTCredentialsWrapper(session.get_credentials()).to_crt_credentials_provider()
client = create_s3_crt_client(
    "us-east-1", credentials, part_size=int(part) or None, use_ssl=is_tls, verify=ca_file if is_tls else None
)
limits = {"multipart_chunksize": int(part), "max_concurrency": int(connections)}
config = TransferConfig(preferred_transfer_client="crt", **{name: value for name, value in limits.items() if value})
with CRTTransferManager(client, serializer, config=config) as manager:
    if way == "get":
        transfers = [manager.download("bucket", key, path)]
    else:
        sources = [(Stream() if path == "-" else path, key)]
        if pathlib.Path(path).is_dir():
            files = [file for file in pathlib.Path(path).rglob("*") if file.is_file()]
            sources = [(str(file), f"{key}/{file.relative_to(path)}") for file in files]
        transfers = [manager.upload(source, "bucket", name) for source, name in sources]
    for transfer in transfers:
        transfer.result()
