"""The proxy's log: one entry per request, with times of the monotonic clock, as other processes read it."""

import threading
import time


class Entry:
    """One request. `delivered`: when the store's complete answer was sent to a client that was still connected."""

    FIELDS = (
        "index connection opened began operation bucket key upload part length fault "
        "range bytes_in bytes_out stalled status answered delivered ended"
    ).split()

    def __init__(self, connection, opened, route, length, fault, asked=None):
        self.index = None
        self.connection, self.opened, self.began = connection, opened, time.monotonic()
        self.operation, self.bucket, self.key = route.operation, route.bucket, route.key
        self.upload, self.part, self.length, self.fault = route.upload, route.part, length, fault
        self.range = asked  # the header of that name
        # The bytes of the body that were read from the client, and those that were forwarded to the store.
        self.bytes_in = self.bytes_out = 0
        self.stalled = self.status = self.answered = self.delivered = self.ended = None

    def data(self):
        return {name: getattr(self, name) for name in self.FIELDS}


class Journal:
    def __init__(self):
        self.entries = []
        self.changed = threading.Condition()

    def add(self, entry):
        with self.changed:
            entry.index = len(self.entries)
            self.entries.append(entry)
            self.changed.notify_all()

    def mark(self, entry, **values):
        with self.changed:
            for name, value in values.items():
                setattr(entry, name, value)
            self.changed.notify_all()

    def clear(self):
        with self.changed:
            self.entries = []

    def select(self, key=None, start=0):
        with self.changed:
            return [e.data() for e in self.entries[start:] if key is None or e.key == key]

    def wait(self, wanted, phase, count, seconds):
        """Waits until `count` such entries are in a phase: began, stalled, answered, delivered, ended."""

        def there():
            found = 0
            for entry in self.entries:
                fits = all(str(getattr(entry, name)) == value for name, value in wanted.items())
                found += fits and getattr(entry, phase) is not None
            return found >= count

        with self.changed:
            return self.changed.wait_for(there, seconds)

    def stats(self, key=None):
        operations, parts, faults = {}, {}, {}
        for entry in self.select(key):
            tables = [operations.setdefault(entry["operation"], {})]
            if entry["operation"] == "UploadPart":
                tables.append(parts.setdefault(str(entry["part"]), {}))
            for table in tables:
                table["requests"] = table.get("requests", 0) + 1
                for name in ("bytes_in", "bytes_out"):
                    table[name] = table.get(name, 0) + entry[name]
            if entry["fault"]:
                faults[entry["fault"]] = faults.get(entry["fault"], 0) + 1
        return {"operations": operations, "parts": parts, "faults": faults}
