"""free_ports.py N: prints N TCP ports of 127.0.0.1 on which nothing listens.

They lie below the range from which the kernel takes the ports of outgoing connections, so that no client takes one of
them before its server does. Two runs at once draw from 20,000: the loser of a clash starts again with other ports.
"""

import random
import socket
import sys

held = []
while len(held) < int(sys.argv[1]):
    candidate = socket.socket()
    try:
        candidate.bind(("127.0.0.1", random.randrange(12000, 32000)))
        held.append(candidate)
    except OSError:
        candidate.close()
print(*(s.getsockname()[1] for s in held))
