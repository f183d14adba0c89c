"""forward.py SOCKET PORT inside|outside: passes connections on until its standard input ends.

Inside a network namespace it takes them at 127.0.0.1:PORT and gives them to the socket in the file system; outside it
takes them there and gives them to the server at the same port.
"""

import asyncio
import os
import sys

path, port, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]


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


async def main():
    if place == "outside":
        if os.path.exists(path):
            os.unlink(path)
        await asyncio.start_unix_server(forward, path)
    else:
        await asyncio.start_server(forward, "127.0.0.1", port)
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    os._exit(0)


asyncio.run(main())
