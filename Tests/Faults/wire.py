"""HTTP/1.1 on a socket: heads, bodies of known length, answers of any framing; the ways to end a connection."""

import select
import socket
import struct

CHUNK = 256 << 10
LARGEST_HEAD = 256 << 10
POLLRDHUP = 0x2000  # Linux; not named by Python 3.11's select on every build


class Gone(Exception):
    """The peer has closed the connection, or it failed."""


class Head:
    """A start line and headers, with the raw bytes received."""

    def __init__(self, raw):
        self.raw = raw
        lines = raw.decode("latin-1").split("\r\n")
        self.start = lines[0].split(" ", 2)
        if len(self.start) < 2:
            raise Gone("no start line")
        self.headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if colon:
                self.headers[name.strip().lower()] = value.strip()

    def length(self):
        text = self.headers.get("content-length", "0")
        if not text.isdigit():
            raise Gone(f"Content-Length {text!r}")
        return int(text)

    def closes(self):
        return self.headers.get("connection", "").lower() == "close"


class Wire:
    """A connection with the bytes that were read and not used yet."""

    def __init__(self, sock):
        self.sock = sock
        self.rest = bytearray()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read_head(self):
        """The next head; None at a clean end before its first byte."""
        while (end := self.rest.find(b"\r\n\r\n")) < 0:
            if len(self.rest) > LARGEST_HEAD:
                raise Gone("head too long")
            piece = self._recv()
            if not piece:
                if self.rest:
                    raise Gone("end within a head")
                return None
            self.rest += piece
        raw = bytes(self.rest[: end + 4])
        del self.rest[: end + 4]
        return Head(raw)

    def read_line(self):
        while (end := self.rest.find(b"\r\n")) < 0:
            piece = self._recv()
            if not piece or len(self.rest) > LARGEST_HEAD:
                raise Gone("end within a line")
            self.rest += piece
        line = bytes(self.rest[: end + 2])
        del self.rest[: end + 2]
        return line

    def read_into(self, view):
        """At least one byte; Gone at the end."""
        if self.rest:
            count = min(len(self.rest), len(view))
            view[:count] = self.rest[:count]
            del self.rest[:count]
            return count
        try:
            count = self.sock.recv_into(view)
        except OSError as error:
            raise Gone(str(error)) from error
        if not count:
            raise Gone("end within a body")
        return count

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Gone(str(error)) from error

    def readable(self, seconds=0.0):
        return bool(self.rest) or bool(select.select([self.sock], [], [], seconds)[0])

    def peer_has_gone(self, seconds=0.0):
        """Whether the peer has closed or reset, waiting this long for it, without reading."""
        poll = select.poll()
        poll.register(self.sock, POLLRDHUP)  # errors and hang-ups are always reported
        return bool(poll.poll(seconds * 1000))

    def reset(self):
        """Resets the connection (RST)."""
        try:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
        self.sock.close()

    def close(self):
        """Closes the connection (FIN). Reads for a moment before it: unread bytes would cause a RST."""
        try:
            self.sock.shutdown(socket.SHUT_WR)
            self.sock.settimeout(0.5)
            for _ in range(64):
                if not self.sock.recv(CHUNK):
                    break
        except OSError:
            pass
        self.sock.close()

    def _recv(self):
        try:
            return self.sock.recv(CHUNK)
        except OSError as error:
            raise Gone(str(error)) from error


def answer_body(wire, head, method):
    """The pieces of an answer's body, including the framing, as they arrive."""
    status = int(head.start[1])
    if method == "HEAD" or status in (204, 304):
        return
    if "chunked" in head.headers.get("transfer-encoding", "").lower():
        yield from _chunks(wire)
    elif "content-length" in head.headers:
        yield from _exactly(wire, head.length())
    else:
        view = memoryview(bytearray(CHUNK))
        while True:
            try:
                count = wire.read_into(view)
            except Gone:
                return
            yield bytes(view[:count])


def _exactly(wire, length):
    view = memoryview(bytearray(min(CHUNK, length)))
    while length:
        count = wire.read_into(view[:length])
        length -= count
        yield bytes(view[:count])


def _chunks(wire):
    while True:
        line = wire.read_line()
        yield line
        size = int(line.split(b";")[0], 16)
        yield from _exactly(wire, size)
        if size:
            yield wire.read_line()
            continue
        while (line := wire.read_line()) != b"\r\n":
            yield line
        yield line
        return
