#!/usr/bin/env python3
"""A proxy on loopback in front of a real S3 server, which injects the faults of a script into requests.

usage: fault_proxy.py STORE_URL [--script JSON|@FILE] [--seconds N]

Prints one line of JSON, {"endpoint": URL, "control": URL}, then serves until its standard input ends (so that it dies
with its parent) or the time is over. Plain HTTP/1.1; the Host header is not changed, so that signatures stay valid.

Control, all answers JSON:
  GET  /_stats?key=K       requests and body bytes by operation and by part number, and the faults
  GET  /_log?key=K&from=N  every request with its times
  GET  /_wait?operation=O&key=K&part=N&phase=P&count=C&seconds=S
                           until C such requests are in the phase (began, stalled, answered, delivered, ended);
                           {"there": false} when the time is over
  PUT  /_script            another script, whose counters start at zero
  POST /_release           releases all stalled requests
  POST /_clear             clears log and statistics
"""

import argparse
import http.server
import json
import os
import socket
import sys
import threading
import urllib.parse

from exchange import Connection, Pauses
from journal import Journal
from script import BadScript, Script


class Proxy:
    def __init__(self, store, script):
        parts = urllib.parse.urlsplit(store)
        if parts.scheme != "http" or not parts.port:
            sys.exit("fault_proxy: the store's URL is http://HOST:PORT")
        self.store = (parts.hostname, parts.port)
        self.script, self.journal, self.pauses = script, Journal(), Pauses()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.endpoint = "http://127.0.0.1:%d" % self.listener.getsockname()[1]

    def serve(self):
        number = 0
        while True:
            sock, _ = self.listener.accept()
            number += 1
            threading.Thread(target=Connection(self, sock, number).run, daemon=True).start()


class Control(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy = None

    def handle_one(self):
        path, _, query = self.path.partition("?")
        asked = dict(urllib.parse.parse_qsl(query))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        proxy = self.proxy
        match self.command, path:
            case "GET", "/_stats":
                return proxy.journal.stats(asked.get("key"))
            case "GET", "/_log":
                return proxy.journal.select(asked.get("key"), int(asked.get("from", 0)))
            case "GET", "/_wait":
                wanted = {name: asked[name] for name in ("operation", "key", "part") if name in asked}
                count, seconds = int(asked.get("count", 1)), min(float(asked.get("seconds", 30)), 600)
                return {"there": proxy.journal.wait(wanted, asked.get("phase", "began"), count, seconds)}
            case "PUT", "/_script":
                proxy.script = Script(json.loads(body))
            case "POST", "/_release":
                proxy.pauses.release()
            case "POST", "/_clear":
                proxy.journal.clear()
            case _:
                raise BadScript("no such request; see the head of fault_proxy.py")
        return {}

    def answer(self):
        try:
            status, data = 200, self.handle_one()
        except (BadScript, ValueError, AttributeError) as error:
            status, data = 400, {"error": str(error)}
        text = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST = answer

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--script", default="[]")
    parser.add_argument("--seconds", type=int, default=3600)
    chosen = parser.parse_args()
    text = chosen.script
    if text.startswith("@"):
        with open(text[1:], encoding="utf-8") as file:
            text = file.read()
    try:
        script = Script(json.loads(text))
    except (BadScript, ValueError) as error:
        sys.exit(f"fault_proxy: {error}")
    Control.proxy = proxy = Proxy(chosen.store, script)
    control = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Control)
    control.daemon_threads = True
    threading.Thread(target=control.serve_forever, daemon=True).start()
    threading.Thread(target=proxy.serve, daemon=True).start()
    threading.Timer(chosen.seconds, os._exit, [0]).start()
    place = {"endpoint": proxy.endpoint, "control": "http://127.0.0.1:%d" % control.server_port}
    print(json.dumps(place), flush=True)
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
