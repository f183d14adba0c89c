"""The script of faults: data in the same form as for the fake store of the Swift tests, validated on reading.

A script is a JSON array of {"match": {...}, "action": {NAME: {...}}}; the first fault that fires counts.

match, all optional: operation (S3's own name), partNumber, key, nth, from, to (count, from 1, the requests that the
fields before match), probability and seed. Random numbers depend on seed, key, operation, part and number of requests
for that part, never on the order in which connections are served: the same uploads get the same faults.
"""

import hashlib
import threading
import urllib.parse

# name: the fields it may have
ACTIONS = {
    "error": {"status", "code", "message", "headers", "early"},
    "errorIn200": {"code", "message"},
    "resetBeforeReading": set(),
    "resetAfterBody": {"bytes"},
    "cut": {"stage", "clean"},
    "loseAnswer": {"clean"},
    "stall": {"milliseconds", "stage"},
    "halfClose": set(),
    "corruptBody": {"at"},
    "slowRead": {"bytesPerSecond"},
    "slowAnswer": {"bytesPerSecond"},
    "delay": {"milliseconds"},
    "truncateAnswer": {"bytes"},
    "garbage": {"text"},
    "closeAfterAnswer": set(),
}
STAGES = {
    "stall": ("beforeBody", "withinBody", "beforeAnswer", "withinAnswer"),
    # afterBody: the client has sent everything, and the store lacks the last byte
    "cut": ("beforeBody", "withinBody", "afterBody", "withinAnswer"),
}
MATCH = {"operation", "partNumber", "key", "nth", "from", "to", "probability", "seed"}


class BadScript(Exception):
    pass


class Route:
    """The target of a request, in path style only, which the tests use."""

    def __init__(self, method, target):
        path, _, query = target.partition("?")
        values = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        bucket, _, key = path.lstrip("/").partition("/")
        self.bucket = urllib.parse.unquote(bucket)
        self.key = urllib.parse.unquote(key)
        self.upload = values.get("uploadId")
        number = values.get("partNumber", "")
        self.part = int(number) if number.isdigit() and len(number) < 8 else None
        self.operation = self._operation(method, values)

    def _operation(self, method, values):
        if not self.key:
            by_method = {"HEAD": "HeadBucket", "PUT": "CreateBucket", "DELETE": "DeleteBucket"}
            if method == "GET":
                return "ListMultipartUploads" if "uploads" in values else "ListObjectsV2"
            return by_method.get(method, "Unknown")
        if method == "POST":
            return "CreateMultipartUpload" if "uploads" in values else "CompleteMultipartUpload"
        with_upload = {"PUT": "UploadPart", "GET": "ListParts", "DELETE": "AbortMultipartUpload"}
        without = {"PUT": "PutObject", "GET": "GetObject", "DELETE": "DeleteObject", "HEAD": "HeadObject"}
        table = with_upload if self.upload else without
        return table.get(method, without.get(method, "Unknown"))


class Fault:
    def __init__(self, data):
        if not isinstance(data, dict) or set(data) != {"match", "action"}:
            raise BadScript(f"a fault has match and action: {data}")
        self.match, action = data["match"], data["action"]
        if not isinstance(self.match, dict) or not set(self.match) <= MATCH:
            raise BadScript(f"match has {', '.join(sorted(MATCH))}: {self.match}")
        if not isinstance(action, dict) or len(action) != 1:
            raise BadScript(f"an action is {{NAME: {{...}}}}: {action}")
        ((self.name, self.fields),) = action.items()
        if self.name not in ACTIONS:
            raise BadScript(f"no action is called {self.name}")
        if not isinstance(self.fields, dict) or not set(self.fields) <= ACTIONS[self.name]:
            raise BadScript(f"{self.name} has {sorted(ACTIONS[self.name])}: {self.fields}")
        # Swift writes an empty optional as null.
        self.fields = {k: v for k, v in self.fields.items() if v is not None}
        self.match = {k: v for k, v in self.match.items() if v is not None}
        stages = STAGES.get(self.name)
        if stages and self.fields.get("stage", stages[0]) not in stages:
            raise BadScript(f"stages of {self.name} are {', '.join(stages)}")
        self.seen = 0

    def stage(self):
        return self.fields.get("stage", STAGES[self.name][0]) if self.name in STAGES else None

    def fires(self, route, place, visit):
        match = self.match
        if match.get("operation", route.operation) != route.operation:
            return False
        if match.get("partNumber", route.part) != route.part or match.get("key", route.key) != route.key:
            return False
        self.seen += 1
        if match.get("nth", self.seen) != self.seen:
            return False
        if not match.get("from", 1) <= self.seen <= match.get("to", self.seen):
            return False
        if "probability" in match:
            return dice(match.get("seed", 0), place, route, visit) < match["probability"]
        return True


def dice(seed, place, route, visit):
    """A number from 0 to 1, always the same for the same words."""
    words = repr((seed, place, route.key, route.operation, route.part, visit)).encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=7).digest(), "big") / (1 << 56)


class Script:
    def __init__(self, data):
        if not isinstance(data, list):
            raise BadScript("a script is an array")
        self.faults = [Fault(item) for item in data]
        self.visits = {}
        self.lock = threading.Lock()

    def choose(self, route):
        """The fault of this request, or None. All counters move on, also those after the one that fires."""
        with self.lock:
            what = (route.bucket, route.key, route.operation, route.part)
            visit = self.visits[what] = self.visits.get(what, 0) + 1
            fired = [f for place, f in enumerate(self.faults) if f.fires(route, place, visit)]
            return fired[0] if fired else None
