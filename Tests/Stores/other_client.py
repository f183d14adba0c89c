"""A client of S3 that shares nothing with s3up: Python's standard library and a signer of its own.

other_client.py STORE_FOLDER SCHEME <requests
other_client.py --batches <batches

STORE_FOLDER holds `env` and is what stores.sh made; SCHEME is http or https. Each line of standard input is a request,
a JSON object: `method`; `key` of the store's bucket, empty for the bucket itself; `query`, encoded; `headers`, a list of
"Name: value"; `body`, a file. For each one line goes out: status, headers (names in lower case), size and sha256 of the
body, and its text as far as it is short. Exit 0 whenever the store answered.

With --batches one process serves many callers at once: each line is an object with an `id`, the `folder`, the `scheme`
and the `requests`, which are sent in order. The line that goes out has the id and the `answers`, or the `error`.
"""

import datetime
import hashlib
import hmac
import http.client
import json
import os
import ssl
import sys
import threading
import urllib.parse

OUTPUT = threading.Lock()


def encode(name):
    return urllib.parse.quote(name.encode(errors="surrogateescape"), safe="-_.~/")


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


def perform(wanted, store, secure):
    host = urllib.parse.urlsplit(store["TLS_ENDPOINT" if secure else "ENDPOINT"]).netloc
    key, query = wanted["key"], wanted.get("query", "")
    path = "/" + store["BUCKET"] + ("/" + encode(key) if key else "")
    body = b""
    if wanted.get("body"):
        with open(wanted["body"], "rb") as file:
            body = file.read()
    headers = {}
    for line in wanted.get("headers", []):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    headers = sign(wanted["method"], host, path, query, headers, hashlib.sha256(body).hexdigest(), store)
    if secure:
        trust = ssl.create_default_context(cafile=store["CA_FILE"])
        connection = http.client.HTTPSConnection(host, timeout=120, context=trust)
    else:
        connection = http.client.HTTPConnection(host, timeout=120)
    connection.request(wanted["method"], path + ("?" + query if query else ""), body=body or None, headers=headers)
    answer = connection.getresponse()
    whole, size, start = hashlib.sha256(), 0, b""
    while chunk := answer.read(1 << 20):
        whole.update(chunk)
        size += len(chunk)
        start += chunk[: (1 << 20) - len(start)]
    connection.close()
    # only XML is read by tests; an object's bytes would only fill the pipe
    text = start.decode(errors="replace") if start.startswith(b"<?xml") else ""
    return {
        "status": answer.status,
        "headers": {name.lower(): value for name, value in answer.getheaders()},
        "size": size,
        "sha256": whole.hexdigest(),
        "text": text,
    }


def settings(folder):
    with open(os.path.join(folder, "env"), encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file)


def answer_batch(batch):
    outcome = {"id": batch["id"]}
    try:
        store, secure = settings(batch["folder"]), batch["scheme"] == "https"
        outcome["answers"] = [perform(wanted, store, secure) for wanted in batch["requests"]]
    except Exception as error:  # the caller fails with it
        outcome["error"] = repr(error)
    with OUTPUT:
        print(json.dumps(outcome), flush=True)


def main():
    if sys.argv[1:] == ["--batches"]:
        for line in sys.stdin.buffer:
            threading.Thread(target=answer_batch, args=[json.loads(line)], daemon=True).start()
        return
    folder, scheme = sys.argv[1:]
    store = settings(folder)
    for line in sys.stdin.buffer:
        print(json.dumps(perform(json.loads(line), store, scheme == "https")))


if __name__ == "__main__":
    main()
