"""One connection of a client: forwards requests to the store and answers to the client, and injects the faults."""

import http.client
import socket
import threading
import time

from journal import Entry
from script import Route, dice
from wire import CHUNK, Gone, Wire, answer_body


class Cut(Exception):
    """Raised where a fault ends the connection."""

    def __init__(self, clean=False):
        self.clean = clean


def keep_pace(began, moved, rate):
    """Waits until this many bytes may have moved since the beginning."""
    if (ahead := moved / rate - (time.monotonic() - began)) > 0:
        time.sleep(ahead)


class Pauses:
    """Holds stalled requests until they are released."""

    def __init__(self):
        self.changed = threading.Condition()
        self.turn = 0

    def release(self):
        with self.changed:
            self.turn += 1
            self.changed.notify_all()

    def wait(self, turn, seconds):
        with self.changed:
            return self.changed.wait_for(lambda: self.turn != turn, seconds)


class Connection:
    def __init__(self, proxy, sock, number):
        self.proxy, self.number, self.opened = proxy, number, time.monotonic()
        self.client = Wire(sock)
        self.store = None
        self.buffer = memoryview(bytearray(CHUNK))

    def run(self):
        """Serves requests until one side ends; if the client disconnects, the store's connection ends too."""
        try:
            while (head := self.client.read_head()) and self._request(head):
                pass
            self.client.close()
            self._leave_store(reset=False)
        except Cut as cut:
            self._leave_store()
            self.client.close() if cut.clean else self.client.reset()
        except (Gone, OSError, ValueError, IndexError):
            self._leave_store()
            self.client.reset()

    def _leave_store(self, reset=True):
        if self.store:
            self.store.reset() if reset else self.store.close()
            self.store = None

    def _request(self, head):
        method, target = head.start[0], head.start[1]
        route = Route(method, target)
        fault = self.proxy.script.choose(route)
        self.fault, self.fields = (fault.name, fault.fields) if fault else (None, {})
        self.stage = fault.stage() if fault else None
        self.route, self.length = route, head.length()
        self.entry = Entry(self.number, self.opened, route, self.length, self.fault, head.headers.get("range"))
        self.proxy.journal.add(self.entry)
        try:
            return self._exchange(head, method)
        finally:
            self.proxy.journal.mark(self.entry, ended=time.monotonic())

    def _exchange(self, head, method):
        """True if the connection can serve another request."""
        if "transfer-encoding" in head.headers:
            self._refuse(501, "NotImplemented", "the proxy passes on bodies of a known length")
            raise Cut(clean=True)
        if self.fault == "error" and self.fields.get("early"):
            self._refuse(self.fields["status"], self.fields["code"], self.fields.get("message"))
            raise Cut(clean=True)
        if self.fault == "resetBeforeReading":
            raise Cut()
        raw = head.raw
        if "expect" in head.headers:
            raw = b"".join(line for line in raw.splitlines(keepends=True) if not line.lower().startswith(b"expect:"))
            self.client.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._at("beforeBody")
        if self.fault in ("error", "errorIn200", "garbage", "halfClose"):
            return self._answer_alone() and not head.closes()
        return self._pass_on(raw, method) and not head.closes()

    # Faults without the store

    def _answer_alone(self):
        self._body(lambda piece: None)
        if self.fault == "garbage":
            self.client.send(self.fields.get("text", "\x01\x02SMTP 220 this is not HTTP\r\n\r\n").encode())
            raise Cut(clean=True)
        if self.fault == "halfClose":
            self.client.sock.shutdown(socket.SHUT_WR)
            self.client.peer_has_gone(30)
            raise Cut(clean=True)
        status = self.fields["status"] if self.fault == "error" else 200
        self._refuse(status, self.fields["code"], self.fields.get("message"), keep=True)
        return True

    def _refuse(self, status, code, message=None, keep=False):
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{code}</Code><Message>{message or 'made by the fault proxy'}</Message></Error>"
        ).encode()
        reason = http.client.responses.get(status, "Fault")
        lines = [f"HTTP/1.1 {status} {reason}", "Content-Type: application/xml", f"Content-Length: {len(text)}"]
        lines += [f"{name}: {value}" for name, value in (self.fields.get("headers") or {}).items()]
        lines += [] if keep else ["Connection: close"]
        self.client.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + text)
        self.proxy.journal.mark(self.entry, status=status)

    # With the store

    def _pass_on(self, raw, method):
        store = self._connected()
        store.send(raw)
        early = not self._body(store.send, store)
        head = store.read_head()
        while head and head.start[1] == "100":
            head = store.read_head()
        if not head:
            raise Gone("the store gave no answer")
        if self.fault in ("loseAnswer", "delay", "truncateAnswer") or self.stage in ("beforeAnswer", "withinAnswer"):
            return self._late_answer(head, method) and not early
        self._answered(head)
        self.client.send(head.raw)
        rate = self.fields.get("bytesPerSecond") if self.fault == "slowAnswer" else None
        began, sent = time.monotonic(), 0
        for piece in answer_body(store, head, method):
            self.client.send(piece)
            sent += len(piece)
            if rate:
                keep_pace(began, sent, rate)
        return self._delivered(head) and not early

    def _late_answer(self, head, method):
        """Reads the store's answer to its end, so that the store is done, before the fault is applied."""
        body = b"".join(answer_body(self.store, head, method))
        self._answered(head)
        if self.fault == "delay":
            time.sleep(self.fields["milliseconds"] / 1000)
        self._at("beforeAnswer")
        if self.fault == "loseAnswer":
            raise Cut(clean=bool(self.fields.get("clean")))
        if self.fault == "truncateAnswer":
            self.client.send(head.raw + body[: self.fields["bytes"]])
            raise Cut(clean=True)
        self.client.send(head.raw + body[: len(body) // 2])
        self._at("withinAnswer")
        self.client.send(body[len(body) // 2 :])
        return self._delivered(head)

    def _connected(self):
        """The connection to the store of this client's last request, unless the store has closed it."""
        if self.store and not self.store.readable():
            return self.store
        self._leave_store()
        self.store = Wire(socket.create_connection(self.proxy.store, timeout=30))
        self.store.sock.settimeout(None)
        return self.store

    def _answered(self, head):
        self.proxy.journal.mark(self.entry, status=int(head.start[1]), answered=time.monotonic())

    def _delivered(self, head):
        if not self.client.peer_has_gone():
            self.proxy.journal.mark(self.entry, delivered=time.monotonic())
        if self.fault == "closeAfterAnswer":
            raise Cut(clean=True)
        return not head.closes()

    # The body, and faults within it

    def _body(self, send, store=None):
        """Forwards the body; False if the store answers before its end."""
        entry, length = self.entry, self.length
        spot = self._spot()
        bad = self._bad_byte()
        rate = self.fields.get("bytesPerSecond") if self.fault == "slowRead" else None
        began, buffer = time.monotonic(), self.buffer
        if spot == 0:
            self._at_spot()
        while entry.bytes_in < length:
            most = min(len(buffer), length - entry.bytes_in)
            if spot is not None and entry.bytes_in < spot:
                most = min(most, spot - entry.bytes_in)
            if rate:
                most = min(most, max(1, rate // 10))
            count = self.client.read_into(buffer[:most])
            start = entry.bytes_in
            if bad is not None and start <= bad < start + count:
                buffer[bad - start] ^= 1
            # The store must not have the complete body if the cut comes at its end.
            keep = 1 if self.stage == "afterBody" and start + count == length else 0
            entry.bytes_in += count
            try:
                send(buffer[: count - keep])
            except Gone:
                if store and store.readable():
                    return False
                raise
            entry.bytes_out += (count - keep) if store else 0
            if entry.bytes_in == spot:
                self._at_spot()
            if store and entry.bytes_in < length and store.readable():
                return False
            if rate:
                keep_pace(began, entry.bytes_in, rate)
        return True

    def _spot(self):
        """After how many bytes of the body the fault happens."""
        if self.fault == "resetAfterBody":
            return min(self.fields["bytes"], self.length)
        return {"withinBody": self.length // 2, "afterBody": self.length}.get(self.stage)

    def _at_spot(self):
        if self.fault == "resetAfterBody":
            raise Cut()
        self._at(self.stage)

    def _bad_byte(self):
        if self.fault != "corruptBody" or not self.length:
            return None
        at = self.fields.get("at")
        return int(dice(0, 0, self.route, 0) * self.length) if at is None else min(at, self.length - 1)

    def _at(self, stage):
        if self.stage != stage:
            return
        if self.fault == "cut":
            raise Cut(clean=bool(self.fields.get("clean")))
        if self.fault == "stall":
            self._stand_still()

    def _stand_still(self):
        """Neither reads nor writes until the time is over, the client has gone, or all are released."""
        turn, limit = self.proxy.pauses.turn, self.fields.get("milliseconds")
        end = None if limit is None else time.monotonic() + limit / 1000
        self.proxy.journal.mark(self.entry, stalled=time.monotonic())
        while end is None or time.monotonic() < end:
            if self.client.peer_has_gone():
                raise Cut()
            wait = 0.05 if end is None else min(0.05, max(0.0, end - time.monotonic()))
            if self.proxy.pauses.wait(turn, wait):
                return
