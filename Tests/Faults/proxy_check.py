"""Checks each fault of the proxy with curl: exit code, status, forwarded bytes, time."""

import json
import subprocess
import time

from harness import MIB, Bucket, Proxy, demand, fresh_room, make_file, say

SIZE = 3 * MIB
RESET, EMPTY, PARTIAL, LATE, WEIRD, OK = 56, 52, 18, 28, 1, 0
SENDING = 55  # where curl was still sending when the reset came

# action, curl's exit codes, status, bytes forwarded to the store (None: not checked), least number of seconds
CASES = [
    ({"error": {"status": 503, "code": "SlowDown"}}, {OK}, 503, 0, 0),
    ({"error": {"status": 429, "code": "TooMany", "headers": {"Retry-After": "1"}}}, {OK}, 429, 0, 0),
    ({"error": {"status": 400, "code": "RequestTimeout", "early": True}}, {OK, RESET, SENDING}, None, 0, 0),
    ({"errorIn200": {"code": "InternalError"}}, {OK}, 200, 0, 0),
    ({"resetBeforeReading": {}}, {RESET, SENDING}, 0, 0, 0),
    ({"resetAfterBody": {"bytes": MIB}}, {RESET, SENDING}, 0, MIB, 0),
    ({"cut": {"stage": "beforeBody", "clean": True}}, {RESET, SENDING, EMPTY}, 0, 0, 0),
    ({"cut": {"stage": "withinBody"}}, {RESET, SENDING}, 0, SIZE // 2, 0),
    ({"cut": {"stage": "afterBody"}}, {RESET, SENDING}, 0, SIZE - 1, 0),
    ({"cut": {"stage": "afterBody", "clean": True}}, {EMPTY}, 0, SIZE - 1, 0),
    ({"cut": {"stage": "withinAnswer", "clean": True}}, {OK, PARTIAL}, 200, SIZE, 0),
    ({"loseAnswer": {}}, {RESET}, 0, SIZE, 0),
    ({"loseAnswer": {"clean": True}}, {EMPTY}, 0, SIZE, 0),
    ({"halfClose": {}}, {EMPTY}, 0, 0, 0),
    ({"garbage": {}}, {WEIRD}, 0, 0, 0),
    ({"stall": {"stage": "withinBody"}}, {LATE}, 0, SIZE // 2, 3),
    ({"stall": {"stage": "withinBody", "milliseconds": 500}}, {OK}, 200, SIZE, 0.5),
    ({"stall": {"stage": "beforeAnswer"}}, {LATE}, 0, SIZE, 3),
    ({"slowRead": {"bytesPerSecond": 2 * MIB}}, {OK}, 200, SIZE, 1.4),
    ({"slowAnswer": {"bytesPerSecond": MIB}}, {OK}, 200, SIZE, 0),
    ({"delay": {"milliseconds": 500}}, {OK}, 200, SIZE, 0.5),
    ({"truncateAnswer": {"bytes": 0}}, {OK, PARTIAL}, None, SIZE, 0),
    ({"closeAfterAnswer": {}}, {OK}, 200, SIZE, 0),
    ({"corruptBody": {}}, {OK}, 200, SIZE, 0),
]


def run(store):
    """The problems found."""
    room = fresh_room("proxy")
    digest = make_file(room / "source", SIZE, 1)
    problems = []
    with Bucket(store, "s3up-proxy") as bucket, Proxy(store) as proxy:
        for number, (action, codes, status, passed, least) in enumerate(CASES):
            key = f"case-{number}"
            proxy.script([{"match": {"operation": "PutObject", "nth": 1}, "action": action}])
            began = time.monotonic()
            curl = store.curl(
                "-T", str(room / "source"), "-m", "3", "-o", str(room / "answer"), "-w", "%{http_code}",
                f"{proxy.endpoint}/{bucket}/{key}", errors=subprocess.DEVNULL,
            )  # fmt: skip
            seen = int(curl.stdout.read() or 0)
            seen = 0 if seen == 100 else seen  # only the proxy's word to go on sending
            code, seconds = curl.wait(), time.monotonic() - began
            proxy.wait("PutObject", key, "ended", seconds=10)
            went = proxy.stats(key)["operations"]["PutObject"]["bytes_out"]
            there = store.sha256(bucket, key) == digest
            fits = code in codes and status in (None, seen) and passed in (None, went) and seconds >= least
            # The object exists if the store got all of its bytes, and is right unless a bit was flipped.
            if not fits or there != (went == SIZE and "corruptBody" not in action):
                found = f"curl {code}, status {seen}, {went} bytes on, {seconds:.2f} s, object right: {there}"
                problems.append(f"the proxy's {json.dumps(action)}: {found}")
        demand(len(proxy.ask("GET", "/_log")) == len(CASES), "the log does not have every request")
    say(f"proxy: {len(CASES) - len(problems)} of {len(CASES)} faults as they should be")
    return problems
