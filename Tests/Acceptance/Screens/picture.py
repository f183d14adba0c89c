#!/usr/bin/env python3
"""picture.py S3UP FILE.svg: the picture of the README, from a real run in a terminal: a large upload is killed, and the same
command resumes it. Needs what screens.py needs:

  Tests/Stores/stores.sh run seaweedfs -- Tests/Acceptance/Screens/picture.py .build/release/s3up FILE.svg
"""

import html
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

from screens import MIB, Bucket, Proxy, S3up, Store, Terminal, demand, fault

WIDTH, CELL, LINE, MARGIN = 130, 7.2, 18, 16
COLORS = {"1": "font-weight:bold", "2": "opacity:.6", "31": "fill:#f7768e", "32": "fill:#9ece6a", "33": "fill:#e0af68"}
FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img"
  aria-label="An upload is killed, and the same command resumes it">
<rect width="100%" height="100%" rx="8" fill="#1a1b26"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="12" fill="#c0caf5">
{lines}
</g>
</svg>
"""


def session(binary, place, proxy, bucket):
    """What is on the screen at the end, with the codes of its colors."""
    s3up = S3up(binary, Store("seaweedfs"), place)
    (place / "backup.tar").write_bytes(os.urandom(200 * MIB))
    environment = s3up.environment | {
        "AWS_ENDPOINT_URL": proxy.endpoint, "AWS_REGION": "us-east-1", "PATH": f"{place}:{os.environ['PATH']}",
        "PS1": "$ ", "S3UP_ADDRESSING": "path",
    }  # fmt: skip
    (place / "s3up").symlink_to(binary.resolve())
    terminal = Terminal(place)
    try:
        terminal.open("picture", WIDTH, place, environment, "exec bash --norc")
        time.sleep(0.5)
        put = f"s3up put backup.tar s3://{bucket}/"
        terminal.tmux("send-keys", "-t", "picture", put, "Enter")
        demand(proxy.wait("UploadPart", "backup.tar", "delivered", count=10, seconds=60), "no part arrived")
        time.sleep(1.5)
        shell = terminal.tmux("display-message", "-p", "-t", "picture", "#{pane_pid}").strip()
        (running,) = pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        os.kill(int(running), signal.SIGKILL)
        time.sleep(0.5)
        proxy.script([fault("UploadPart", slowRead={"bytesPerSecond": 5_000_000})])
        terminal.tmux("send-keys", "-t", "picture", put, "Enter")
        for _ in range(600):
            time.sleep(0.1)
            screen = terminal.tmux("capture-pane", "-p", "-e", "-t", "picture").rstrip()
            if "uploaded" in screen and screen.endswith("$"):
                return screen
        raise SystemExit(f"the upload did not end:\n{screen}")
    finally:
        terminal.end()


def kept(text):
    """Browsers collapse spaces in SVG."""
    return html.escape(text).replace(" ", "\u00a0")


def drawn(screen):
    lines = screen.removesuffix("$").rstrip().splitlines()
    texts = []
    for row, line in enumerate(lines):
        column, style, spans = 0, "", []
        for code, text in re.findall(r"(?:\x1b\[([\d;]*)m)?([^\x1b]*)", line):
            if code or not text:
                style = ";".join(COLORS[one] for one in code.split(";") if one in COLORS)
            if text:
                length = f'textLength="{len(text) * CELL:.1f}"'
                x = MARGIN + column * CELL
                spans.append(f'<tspan x="{x:.1f}" {length} style="{style}">{kept(text)}</tspan>')
                column += len(text)
        texts.append(f'<text y="{MARGIN + LINE * row + 14}">{"".join(spans)}</text>')
    width, height = round(2 * MARGIN + WIDTH * CELL), 2 * MARGIN + LINE * len(lines)
    return FRAME.format(width=width, height=height, lines="\n".join(texts))


def main():
    binary, target = map(pathlib.Path, sys.argv[1:])
    # Half of the parts arrive, and the others not before the upload is killed.
    line = [fault("UploadPart", part, slowRead={"bytesPerSecond": 500_000}) for part in range(13, 26)]
    with tempfile.TemporaryDirectory() as place, Bucket(Store("seaweedfs"), "my-bucket") as bucket:
        with Proxy(Store("seaweedfs"), line) as proxy:
            target.write_text(drawn(session(binary, pathlib.Path(place), proxy, bucket)))


main()
