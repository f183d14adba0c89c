"""forward.py SOCKET PORT inside|outside: forwards connections until its standard input ends.
forward.py line PORT RATE BUFFER: does so as a slow line behind something that buffers.

Inside a network namespace it takes them at 127.0.0.1:PORT and gives them to the socket in the file system; outside it
takes them there and gives them to the server at the same port.

As a line it takes them at a port of its own, which it prints, for the server at 127.0.0.1:PORT. Of each connection it takes
BUFFER bytes at once; it passes on RATE bytes a second, which connections share fairly, and prints how many those were. What
it has of a connection that the client resets is dropped. Answers are passed on as they come. Each line of its input is
another RATE.
"""

import asyncio
import os
import socket
import sys


async def carry(reader, writer):
    try:
        while piece := await reader.read(1 << 18):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def forward(reader, writer):
    try:
        there = asyncio.open_connection("127.0.0.1", port) if place == "outside" else asyncio.open_unix_connection(path)
        far_reader, far_writer = await there
    except OSError:
        return writer.close()
    await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))


class Line:
    KERNEL = 64 << 10  # Small, so that what lies in its buffers does not count.
    PIECE = 16 << 10  # Small, so that bytes are taken as evenly as they are passed on.
    TURN = 0.02

    def __init__(self, port, rate, buffer):
        self.port, self.rate, self.buffer = port, rate, buffer
        self.waiting, self.passed, self.told = [], 0, 0

    async def serve(self):
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.KERNEL)
        await asyncio.start_server(self.take, sock=listener, limit=self.PIECE)
        print("ready", listener.getsockname()[1], flush=True)
        asyncio.ensure_future(self.pass_on())

    def obey(self, orders):
        for order in orders:
            self.rate = int(order)

    async def take(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return writer.close()
        far_writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.KERNEL)
        asyncio.ensure_future(carry(far_reader, writer))
        held = bytearray()
        self.waiting.append((held, far_writer))
        try:
            while piece := await reader.read(self.PIECE):
                held += piece
                while len(held) >= self.buffer:
                    await asyncio.sleep(self.TURN)
            while held:
                await asyncio.sleep(self.TURN)
        except OSError:
            held.clear()
        self.waiting.remove((held, far_writer))
        far_writer.close()

    async def pass_on(self):
        clock, before = asyncio.get_running_loop().time, asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(self.TURN)
            allowed, before = self.rate * (clock() - before), clock()
            full = [one for one in self.waiting if one[0]]
            for held, writer in full:
                piece = held[: int(allowed / len(full))]
                del held[: len(piece)]
                writer.write(piece)
                self.passed += len(piece)
            if self.passed - self.told >= 1 << 18:
                self.told = self.passed
                print("passed", self.passed, flush=True)


async def main():
    if sys.argv[1] == "line":
        line = Line(*map(int, sys.argv[2:]))
        await line.serve()
        await asyncio.get_running_loop().run_in_executor(None, line.obey, sys.stdin)
    elif place == "outside":
        if os.path.exists(path):
            os.unlink(path)
        await asyncio.start_unix_server(forward, path)
        print("ready", flush=True)
    else:
        await asyncio.start_server(forward, "127.0.0.1", port)
        print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    os._exit(0)


if sys.argv[1] != "line":
    path, port, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]
asyncio.run(main())
