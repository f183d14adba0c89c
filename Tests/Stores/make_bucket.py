"""make_bucket.py ENDPOINT ACCESS_KEY SECRET_KEY BUCKET: makes a bucket with nothing but Python's standard library.

Tries for 20 seconds, because a server can answer before it can make buckets. A bucket that is there already is success.
"""

import datetime
import hashlib
import hmac
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

endpoint, access_key, secret_key, bucket = sys.argv[1:5]
host = urllib.parse.urlsplit(endpoint).netloc
region = "us-east-1"
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback never goes through a proxy


def signed_put():
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(b"").hexdigest()
    signed = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now}
    names = ";".join(signed)
    lines = [f"{name}:{value}" for name, value in signed.items()]
    canonical = "\n".join(["PUT", "/" + bucket, "", *lines, "", names, digest])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret_key).encode()
    for step in scope.split("/"):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    credential = f"Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    headers = {"x-amz-content-sha256": digest, "x-amz-date": now, "Authorization": f"AWS4-HMAC-SHA256 {credential}"}
    return urllib.request.Request(f"{endpoint}/{bucket}", method="PUT", headers=headers)


for tries_left in range(40, -1, -1):
    try:
        direct.open(signed_put(), timeout=60).close()
        break
    except urllib.error.HTTPError as error:
        if error.code == 409:
            break
        reason = f"{error.code} {error.read().decode(errors='replace')[:300]}"
    except OSError as error:
        reason = str(error)
    if not tries_left:
        sys.exit(f"bucket {bucket}: {reason}")
    time.sleep(0.5)
