"""A client of S3 that shares nothing with s3up: Python's standard library and a signer of its own.

other_client.py STORE_FOLDER SCHEME METHOD KEY [QUERY] [--header 'Name: value']... [--body FILE]

STORE_FOLDER holds `env` and is what stores.sh made; SCHEME is http or https. KEY is of the store's bucket, byte for byte;
an empty one means the bucket itself. QUERY is `name=value&...`, encoded. Prints one JSON object: status, headers (names
in lower case), size and sha256 of the body, and its text as far as it is short. Exit 0 whenever the store answered.
"""

import argparse
import datetime
import hashlib
import hmac
import http.client
import json
import os
import ssl
import urllib.parse


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("store", "scheme", "method", "key"):
        parser.add_argument(name)
    parser.add_argument("query", nargs="?", default="")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--body")
    return parser.parse_args()


def encode(name):
    return urllib.parse.quote(os.fsencode(name), safe="-_.~/")


def sign(method, host, path, query, headers, digest, store):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers |= {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now}
    names = ";".join(sorted(headers))
    lines = [f"{name}:{headers[name]}" for name in sorted(headers)]
    pairs = sorted(pair.partition("=") for pair in query.split("&") if pair)
    canonical = "\n".join([method, path, "&".join(f"{n}={v}" for n, _, v in pairs), *lines, "", names, digest])
    scope = f"{now[:8]}/{store['REGION']}/s3/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + store["SECRET_KEY"]).encode()
    for step in scope.split("/"):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    credential = f"Credential={store['ACCESS_KEY']}/{scope}, SignedHeaders={names}, Signature={signature}"
    headers["authorization"] = f"AWS4-HMAC-SHA256 {credential}"
    return headers


def main():
    wanted = arguments()
    with open(os.path.join(wanted.store, "env"), encoding="utf-8") as file:
        store = dict(line.rstrip("\n").split("=", 1) for line in file)
    secure = wanted.scheme == "https"
    host = urllib.parse.urlsplit(store["TLS_ENDPOINT" if secure else "ENDPOINT"]).netloc
    path = "/" + store["BUCKET"] + ("/" + encode(wanted.key) if wanted.key else "")
    body = b""
    if wanted.body:
        with open(wanted.body, "rb") as file:
            body = file.read()
    headers = {}
    for line in wanted.header:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    digest = hashlib.sha256(body).hexdigest()
    headers = sign(wanted.method, host, path, wanted.query, headers, digest, store)
    if secure:
        trust = ssl.create_default_context(cafile=store["CA_FILE"])
        connection = http.client.HTTPSConnection(host, timeout=120, context=trust)
    else:
        connection = http.client.HTTPConnection(host, timeout=120)
    target = path + ("?" + wanted.query if wanted.query else "")
    connection.request(wanted.method, target, body=body or None, headers=headers)
    answer = connection.getresponse()
    whole, size, start = hashlib.sha256(), 0, b""
    while chunk := answer.read(1 << 20):
        whole.update(chunk)
        size += len(chunk)
        start += chunk[: (1 << 16) - len(start)]
    report = {
        "status": answer.status,
        "headers": {name.lower(): value for name, value in answer.getheaders()},
        "size": size,
        "sha256": whole.hexdigest(),
        "text": start.decode(errors="replace"),
    }
    print(json.dumps(report))


main()
