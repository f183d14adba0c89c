"""One big upload through a bad line, answers to complete that are lost, and two runs at once."""

import time

from harness import MIB, Bucket, Proxy, S3up, demand, ended, fresh_room, make_file, say


def part_fault(seed, probability, action):
    return {"match": {"operation": "UploadPart", "probability": probability, "seed": seed}, "action": action}


def line(options, store):
    """5 % of the part requests answered 503, 2 % reset within the body, 1 % stalled forever, 1 % corrupted; default
    settings. They are tried in this order, and the first that fires counts."""
    room = fresh_room("line")
    s3up = S3up(options.binary, store, room)
    size = options.line_mib * MIB + 12_345
    digest = make_file(room / "source", size, options.seed)
    script = [
        part_fault(options.seed, 0.05, {"error": {"status": 503, "code": "SlowDown"}}),
        part_fault(options.seed, 0.02, {"cut": {"stage": "withinBody"}}),
        part_fault(options.seed, 0.01, {"stall": {"stage": "withinBody"}}),
        part_fault(options.seed, 0.01, {"corruptBody": {}}),
    ]
    with Bucket(store, "s3up-line") as bucket, Proxy(store, script) as proxy:
        began = time.monotonic()
        end = s3up.run(proxy.endpoint, room / "source", bucket, "line", timeout=1800)
        seconds = time.monotonic() - began
        stats = proxy.stats("line")
        sent = stats["operations"].get("UploadPart", {"bytes_in": 0, "requests": 0})
        overhead = sent["bytes_in"] / size - 1
        say(
            f"fault soak: {size / MIB:.0f} MiB in {sent['requests']} part requests, {seconds:.1f} s\n"
            f"  faults {stats['faults']}; sent {sent['bytes_in'] / MIB:.0f} MiB, overhead {overhead:.1%}\n"
            f"  exit {end.status}; {end.event.get('evidence')}"
        )
        demand(end.status == 0, f"{end}")
        demand(store.sha256(bucket, "line") == digest, "the object is NOT the file")
        demand(overhead < 0.15, f"overhead {overhead:.1%} of 15 %")
        # A small run may not have had a chance for each of them.
        wanted = {"error", "cut", "stall", "corruptBody"} if options.line_mib >= 2048 else {"error"}
        demand(wanted <= set(stats["faults"]), f"not every fault was made: {stats['faults']}")
        nothing_left(store, s3up, bucket)


def complete(options, store):
    room = fresh_room("complete")
    s3up = S3up(options.binary, store, room)
    size = 40 * MIB + 1
    digest = make_file(room / "source", size, options.seed + 1)
    match = {"operation": "CompleteMultipartUpload", "nth": 1}
    with Bucket(store, "s3up-complete") as bucket, Proxy(store) as proxy:

        def put(key, *script):
            proxy.script(script)
            return s3up.start(proxy.endpoint, room / "source", bucket, key)

        end = ended(put("lost-after", {"match": match, "action": {"loseAnswer": {}}}))
        say(f"complete's answer lost after it was assembled: exit {end.status}; {end.event.get('evidence')}")
        demand(end.status == 0 and end.event.get("evidence"), f"no success with evidence: {end}")
        demand(store.sha256(bucket, "lost-after") == digest, "the object is NOT the file")
        demand(part_requests(proxy, "lost-after") == 6, "parts were sent again")

        end = ended(put("lost-before", {"match": match, "action": {"resetBeforeReading": {}}}))
        tries = proxy.stats("lost-before")["operations"]["CompleteMultipartUpload"]["requests"]
        say(f"complete lost before the store had it: exit {end.status}, {tries} tries; {end.event.get('evidence')}")
        demand(end.status == 0 and tries == 2, f"not completed by the second try: {end}")
        demand(store.sha256(bucket, "lost-before") == digest, "the object is NOT the file")
        demand(part_requests(proxy, "lost-before") == 6, "parts were sent again")

        # The answer is held until the object is gone, then lost.
        process = put(
            "deleted",
            {"match": match, "action": {"loseAnswer": {}}},
            {"match": {**match, "nth": 2}, "action": {"stall": {"stage": "beforeBody"}}},
        )
        stalled = proxy.wait("CompleteMultipartUpload", "deleted", "stalled", seconds=60)
        demand(stalled, "complete was not tried a second time")
        demand(store.sha256(bucket, "deleted") == digest, "the store had not assembled it")
        store.ask("DELETE", f"{bucket}/deleted")
        demand(store.sha256(bucket, "deleted") is None, "the object could not be deleted")
        proxy.release()
        end = ended(process)
        say(f"object deleted in between: {end}")
        there = store.sha256(bucket, "deleted")
        demand(end.status != 0 or there == digest, "exit 0, and the object is not there")
        demand(end.status != 0, "exit 0 for an object that was deleted and is there again")
        demand("deleted" not in [key for key, _ in store.unfinished(bucket)], "an upload is left")


def two_runs(options, store):
    room = fresh_room("two-runs")
    s3up = S3up(options.binary, store, room)
    size = 64 * MIB
    digest = make_file(room / "source", size, options.seed + 2)
    pace = {"match": {"operation": "UploadPart"}, "action": {"slowRead": {"bytesPerSecond": 2 * MIB}}}
    with Bucket(store, "s3up-two-runs") as bucket, Proxy(store, [pace]) as proxy:
        words = (proxy.endpoint, room / "source", bucket, "two")
        first = s3up.start(*words)
        demand(proxy.wait("UploadPart", "two", "began", count=8, seconds=30), "the first run sent nothing")
        second = s3up.run(*words, timeout=60)
        running = first.poll() is None
        end = ended(first)
        parts = part_requests(proxy, "two")
        say(f"two runs at once: the second {second}\n  the first {end.status}, {parts} part requests for 8 parts")
        demand(second.status == 75, f"the second ended in {second.status}, not 75")
        demand(running, "the first had ended before the second: nothing was shown")
        demand(end.status == 0, f"the first: {end}")
        demand(parts == 8, f"{parts} part requests: somebody disturbed the first")
        demand(store.sha256(bucket, "two") == digest, "the object is NOT the file")
        nothing_left(store, s3up, bucket)


def part_requests(proxy, key):
    return proxy.stats(key)["operations"].get("UploadPart", {}).get("requests", 0)


def nothing_left(store, s3up, bucket):
    demand(not store.left(bucket), f"unfinished at the store: {store.left(bucket)}")
    demand(not s3up.left_in_state(), f"records left: {s3up.left_in_state()}")
