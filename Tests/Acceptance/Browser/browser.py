"""A ticket's page in a real browser, against a real store.

browser.py BINARY [--mib N] [--shots FOLDER] [--only CASE,...]

The browser is driven over chromedriver's HTTP; the network between it and the store is a small proxy of this script, which
counts requests, slows them down, and can be cut.
"""

import argparse
import asyncio
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
MIB = 1 << 20
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
LIMIT = 90


def demand(holds, what):
    if not holds:
        raise AssertionError(what)


def until(what, condition, limit=LIMIT):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited {limit} s in vain until {what}")


class Network(threading.Thread):
    """Between browser and store: counts requests by method, may be slow or cut, and may answer requests itself.

    `answers` has the next answers by method: status and text.
    """

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target, self.cut, self.rate, self.requests, self.answers = port, False, None, [], {}
        self.answered = 0
        self.begun = threading.Event()
        self.start()
        self.begun.wait(10)

    def run(self):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

        async def serve():
            server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            self.writers = set()
            self.begun.set()
            await server.serve_forever()

        self.loop.run_until_complete(serve())

    async def accept(self, reader, writer):
        if self.cut:
            return writer.close()
        self.writers.add(writer)
        try:
            inner, outer = await asyncio.open_connection("127.0.0.1", self.target)
            await asyncio.gather(self.copy(reader, outer, writer), self.copy(inner, writer))
        except OSError:
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    async def copy(self, reader, writer, browser=None):
        """With `browser`, these are its requests."""
        line = re.compile(rb"(?:^|\r\n\r\n|\n)(GET|PUT|POST|HEAD|DELETE) (\S+) HTTP/1")
        try:
            while piece := await reader.read(256 << 10):
                if browser:
                    if answers := self.answers.get(piece.split(b" ", 1)[0].decode("latin-1")):
                        return await self.reply(reader, piece, browser, *answers.pop(0))
                    self.requests += [(m[1].decode(), m[2].decode()) for m in line.finditer(piece)]
                    if self.rate:
                        await asyncio.sleep(len(piece) / self.rate)
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    async def reply(self, reader, piece, browser, status, text):
        """Answers a request once all of it has come: a browser that is still sending does not read."""
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", piece)
        rest = (int(length[1]) if length else 0) - len(piece.partition(b"\r\n\r\n")[2])
        while rest > 0 and (more := await reader.read(256 << 10)):
            rest -= len(more)
        head = f"HTTP/1.1 {status} X\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: {len(text)}"
        browser.write(f"{head}\r\nConnection: close\r\n\r\n{text}".encode())
        await browser.drain()
        browser.close()
        self.answered += 1

    def take_away(self):
        self.cut = True
        self.loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in list(self.writers)])

    def give_back(self):
        self.cut = False

    def count(self, method):
        return sum(1 for name, _ in self.requests if name == method)


class Browser:
    """Chromium with its own folder, which is removed with it."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="s3up-browser-")
        # It takes a port itself: one that was found free for it may be taken before it has started.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        started = (re.search(r"started successfully on port (\d+)", line) for line in self.driver.stdout)
        port = next(filter(None, started), None)
        demand(port, "chromedriver has not started")
        self.base = f"http://127.0.0.1:{port[1]}"
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
            f"--user-data-dir={self.folder.name}/profile", "--window-size=800,900", *options,
        ]  # fmt: skip
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments, "binary": shutil.which("chromium")}}
        wanted["unhandledPromptBehavior"] = "accept"

        def begun():
            with contextlib.suppress(OSError):
                return self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})

        self.session = until("the browser runs", begun, 60)["sessionId"]

    def call(self, method, path, data=None):
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.base + path, body, {"Content-Type": "application/json"}, method=method)
        try:
            return json.load(DIRECT.open(request, timeout=120))["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read()[:300]}") from error

    def do(self, method, path, data=None):
        return self.call(method, f"/session/{self.session}{path}", data)

    def open(self, path):
        self.do("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def script(self, text, *arguments):
        return self.do("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def find(self, selector):
        return next(iter(self.do("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def choose(self, file):
        self.do("POST", f"/element/{self.find('#file')}/value", {"text": str(pathlib.Path(file).resolve())})

    def press(self, *keys):
        steps = [step for key in keys for step in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.do("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def text(self, name):
        return self.script("return document.getElementById(arguments[0]).innerText", name)

    def kind(self):
        return self.script("return document.getElementById('status').className")

    def shot(self, path):
        path.write_bytes(base64.b64decode(self.do("GET", "/screenshot")))

    def close(self):
        with contextlib.suppress(Exception):
            self.do("DELETE", "")
        self.driver.terminate()
        self.driver.wait(20)
        with contextlib.suppress(OSError):
            self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Bench:
    """The store, the program, and a folder of files."""

    def __init__(self, options):
        self.binary, self.shots = str(pathlib.Path(options.binary).resolve()), options.shots
        lines = (pathlib.Path(os.environ["S3UP_TEST_STORES"]) / "seaweedfs/env").read_text().splitlines()
        self.store = dict(line.split("=", 1) for line in lines)
        self.network = Network(int(self.store["ENDPOINT"].rsplit(":", 1)[1]))
        self.endpoint = f"http://127.0.0.1:{self.network.port}"
        self.room = tempfile.TemporaryDirectory(prefix="s3up-page-")
        self.folder = pathlib.Path(self.room.name)
        self.mib, self.number = options.mib, 0

    def environment(self):
        keys = {"AWS_ACCESS_KEY_ID": self.store["ACCESS_KEY"], "AWS_SECRET_ACCESS_KEY": self.store["SECRET_KEY"]}
        path = {"PATH": os.environ["PATH"], "HOME": self.room.name, "AWS_EC2_METADATA_DISABLED": "true"}
        return {**path, **keys, "AWS_REGION": self.store["REGION"], "AWS_ENDPOINT_URL_S3": self.endpoint}

    def s3up(self, *words):
        return subprocess.run(
            [self.binary, *map(str, words)], env=self.environment(), capture_output=True, text=True, timeout=60
        )

    def sample(self, size, seed=1):
        path = self.folder / f"file {size} {seed}.bin"
        dice = random.Random(seed)
        with path.open("wb") as file:
            for start in range(0, size, MIB):
                file.write(dice.randbytes(min(MIB, size - start)))
        return path

    def issue(self, *source, expires="1h", options=("--set-cors",), key="<b>&\"'"):
        """The page of a new ticket, and its key."""
        self.number += 1
        key, page = f"page/{self.number} {key}", self.folder / f"page{self.number}.html"
        words = ["ticket", "issue", *source, f"s3://{self.store['BUCKET']}/{key}", "--format", "html", "-o", page]
        made = self.s3up(*words, "--expires", expires, *options)
        demand(made.returncode == 0, made.stderr)
        self.network.requests.clear()
        return page, key

    def compare(self, key, file):
        script = REPOSITORY / "Tests/Stores/other_client.py"
        asked = json.dumps({"method": "GET", "key": key}) + "\n"
        words = [sys.executable, script, pathlib.Path(os.environ["S3UP_TEST_STORES"]) / "seaweedfs", "http"]
        answer = json.loads(subprocess.run(words, input=asked, capture_output=True, text=True, check=True).stdout)
        own = hashlib.sha256(file.read_bytes()).hexdigest()
        demand(answer["status"] == 200 and answer["sha256"] == own, f"the object is another: {answer['status']}")

    def parts_sent(self):
        return [path for method, path in self.network.requests if method == "PUT"]


def ended(browser, kind, limit=LIMIT):
    until(f"the page says {kind}", lambda: browser.kind() == kind, limit)
    return browser.text("status")


def whole(bench, browser):
    """Reloaded in the middle, without the network for ten seconds, paused and resumed by the keyboard."""
    file = bench.sample(bench.mib * MIB)
    page, key = bench.issue(file)
    browser.open(page)
    demand(bench.endpoint in browser.text("facts"), "the server is not shown before the first byte")
    demand(not bench.network.requests, "something was asked before a file was chosen")
    # The rate of each of four connections: a part takes four seconds, so that nothing ends while a busy machine looks at the page.
    bench.network.rate = 2 * MIB
    browser.choose(file)
    until("a third has arrived", lambda: bench.network.count("PUT") > bench.mib / 24)
    browser.open(page)
    browser.choose(file)
    until("it continues", lambda: "had already arrived" in browser.text("status"))
    sent = bench.network.count("PUT")
    until("more is sent", lambda: bench.network.count("PUT") > sent + 2)
    bench.network.take_away()
    until("the page says so", lambda: "Trying again" in browser.text("status"))
    time.sleep(10)
    bench.network.give_back()
    sent = bench.network.count("PUT")
    until("it goes on", lambda: bench.network.count("PUT") > sent + 1)
    browser.script("document.getElementById('pause').focus()")
    browser.press("\ue00d")
    until("it is paused", lambda: "Paused" in browser.text("status"))
    demand(browser.script("return document.activeElement.id") == "pause", "the focus is lost")
    bench.network.rate = None
    browser.press("\ue00d")
    said = ended(browser, "good")
    demand("complete" in said and "ETag" in browser.text("detail"), f"{said}: {browser.text('detail')}")
    bench.compare(key, file)
    most = bench.mib / 8 + 3 * 8
    demand(bench.network.count("PUT") <= most, f"{bench.network.count('PUT')} parts were sent, of {bench.mib / 8}")
    before = bench.network.count("PUT")
    browser.open(page)
    browser.choose(file)
    demand("already" in ended(browser, "good"), "a complete upload is not recognised")
    demand(bench.network.count("PUT") == before, "something was sent again")
    return f"{bench.mib} MiB, {before} parts sent"


def small(bench, browser):
    for size in (0, 1, 9 * MIB):
        file = bench.sample(size, 5)
        page, key = bench.issue("--max-size", "20M") if size == 1 else bench.issue(file)
        browser.open(page)
        browser.choose(file)
        ended(browser, "good")
        bench.compare(key, file)
    return "an empty file, a byte, and two parts"


def sums(bench, browser):
    file = bench.sample(9 * MIB, 6)
    page, key = bench.issue(file, options=("--checksum", "sha256"))
    browser.open(page)
    browser.choose(file)
    ended(browser, "good")
    bench.compare(key, file)
    plain = browser.script(
        "return [hex(md5(new TextEncoder().encode('abc').buffer)), hex(sha256(new TextEncoder().encode('abc').buffer))]"
    )
    demand(plain == [hashlib.new(name, b"abc").hexdigest() for name in ("md5", "sha256")], f"digests: {plain}")
    return "SHA-256"


def others(bench, browser):
    """Another file is refused, and nothing of it is sent."""
    file = bench.sample(12 * MIB, 7)
    page, _ = bench.issue(file)
    last = bytearray(file.read_bytes())
    last[-1] ^= 1
    changed = bench.folder / "changed.bin"
    changed.write_bytes(last)
    for wrong in (bench.sample(12 * MIB + 1, 8), bench.sample(12 * MIB, 9), changed):
        browser.open(page)
        browser.choose(wrong)
        demand("not the expected file" in ended(browser, "bad"), browser.text("status"))
    page, _ = bench.issue("--max-size", str(6 * MIB))
    browser.open(page)
    browser.choose(bench.sample(6 * MIB + 1, 16))
    demand("more than" in ended(browser, "bad"), browser.text("status"))
    demand(not bench.parts_sent(), "a part of another file was sent")
    return "other sizes and other bytes"


def mixed(bench, browser):
    """Parts sent from another file of this size are sent again, and their bytes are not in the object."""
    file, other = bench.sample(12 * MIB, 17), bench.sample(12 * MIB, 18)
    page, key = bench.issue("--size", str(12 * MIB))
    made = bench.s3up("put", other, "--ticket", page, "--parts", "1-1")
    demand(made.returncode == 0, made.stderr)
    browser.open(page)
    browser.choose(file)
    until("it ends", lambda: browser.kind() in ("good", "bad"))
    demand(browser.kind() == "good", browser.text("status"))
    bench.compare(key, file)
    return "a part of another file"


def portal(bench, browser):
    """A 200 that is not the store's answer completes nothing, whatever the key holds."""
    file = bench.sample(9 * MIB, 21)
    page, key = bench.issue(file)
    older = bench.s3up("put", bench.sample(9 * MIB, 22), f"s3://{bench.store['BUCKET']}/{key}")
    demand(older.returncode == 0, older.stderr)
    for answer in ("", "<html><body>Log in</body></html>", '<Error xmlns="x"><Code>InternalError</Code></Error>'):
        before, bench.network.answers["POST"] = bench.network.answered, [(200, answer)] * 20
        browser.open(page)
        browser.choose(file)
        until("the completion was answered", lambda: bench.network.answered > before or browser.kind() == "good")
        until("the page tries again", lambda: "Trying again" in browser.text("status") or browser.kind() == "good")
        demand(browser.kind() != "good", f"the page believes {answer!r}")
    bench.network.answers.clear()
    ended(browser, "good")
    bench.compare(key, file)
    return "three answers of others"


def refused(bench, browser):
    """A part that is refused for good ends the run, also in the other lanes; what may pass by itself is tried again."""
    file = bench.sample(60 * MIB, 23)
    page, key = bench.issue(file)
    bench.network.rate, bench.network.answers["PUT"] = 2 * MIB, [(400, "<Error><Code>EntityTooLarge</Code></Error>")]
    browser.open(page)
    browser.choose(file)
    demand("400" in ended(browser, "bad"), browser.text("status"))
    sent = bench.network.count("PUT")
    time.sleep(5)
    demand(bench.network.count("PUT") == sent <= 4, f"{bench.network.count('PUT')} parts, {sent} before the refusal")
    bench.network.rate, bench.network.answers["PUT"] = None, [(400, "<Error><Code>RequestTimeout</Code></Error>")]
    browser.open(page)
    browser.choose(file)
    until("the page tries again", lambda: "Trying again" in browser.text("status") or browser.kind() == "good")
    ended(browser, "good")
    demand(not bench.network.answers["PUT"], "the part was not answered")
    bench.network.answers.clear()
    bench.compare(key, file)
    return "a refused part, and one that times out"


def late(bench, browser):
    file = bench.sample(MIB, 10)
    page, _ = bench.issue(file, expires="1s")
    time.sleep(2)
    browser.open(page)
    demand("expired" in ended(browser, "bad"), browser.text("status"))
    offered = "return [...document.querySelectorAll('button, input, #drop')].filter(e => e.offsetParent).map(e => e.id)"
    demand(not (ids := browser.script(offered)), f"an expired page still offers {ids}")
    browser.choose(file)
    demand("expired" in ended(browser, "bad"), browser.text("status"))
    demand(not bench.parts_sent(), "a part was sent")
    return "an expired ticket"


def hostile(bench, browser):
    """No request is sent."""
    file = bench.sample(9 * MIB, 11)
    page, _ = bench.issue(file)
    text = page.read_text()
    with socket.socket() as trap:
        trap.bind(("127.0.0.1", 0))
        trap.listen()
        trap.settimeout(0.2)
        elsewhere = f"http://127.0.0.1:{trap.getsockname()[1]}"
        start = text.index('<script type="application/json"')
        end = text.index("</script>", start)
        ticket = text[start:end]
        changes = {
            "another host for a part": ('"part":2,"url":"' + bench.endpoint, '"part":2,"url":"' + elsewhere),
            "a user in the address": ('"part":1,"url":"http://', '"part":1,"url":"http://a@'),
            "a file": ('"s3up_ticket":1,"url":"http', '"s3up_ticket":1,"url":"file'),
            "too many parts": ('"size":9437184', '"size":9437184000000000'),
            "a header with a line end": ('"Content-MD5":"', '"Content-MD5":"\\r\\nX: '),
            "a header that no upload needs": ('"Content-MD5"', '"Authorization"'),
            "another version": ('"s3up_ticket":1', '"s3up_ticket":2'),
            "no JSON": ('{"s3up', '{s3up'),
        }
        for name, (old, new) in changes.items():
            demand(old in ticket, f"{name}: nothing to change")
            page.write_text(text[:start] + ticket.replace(old, new, 1) + text[end:])
            browser.open(page)
            demand("cannot be used" in ended(browser, "bad", 10), f"{name}: {browser.text('status')}")
            demand(browser.script("return document.getElementById('drop').hidden"), f"{name}: a file can be chosen")
        # Everything is moved to another host, which the page's own policy forbids.
        page.write_text(text[:start] + ticket.replace(bench.endpoint, elsewhere) + text[end:])
        browser.open(page)
        browser.choose(file)
        until("it cannot be reached", lambda: "Trying again" in browser.text("status"))
        try:
            trap.accept()
            raise AssertionError("the other host was asked")
        except TimeoutError:
            pass
    demand(not bench.network.requests, f"the store was asked: {bench.network.requests[:2]}")
    return f"{len(changes) + 1} hostile tickets"


def keys(bench, browser):
    """No text of a ticket becomes a part of the page, and the page's policy would not let it run or send anything."""
    file = bench.sample(9 * MIB, 13)
    with socket.socket() as trap:
        trap.bind(("127.0.0.1", 0))
        trap.listen()
        trap.settimeout(0.2)
        elsewhere = f"http://127.0.0.1:{trap.getsockname()[1]}"
        script = f"window.owned=1;fetch('{elsewhere}/f');new Image().src='{elsewhere}/i';location='{elsewhere}/l'"
        element = f"<script>{script}</script>"

        def demand_quiet(name):
            demand(browser.script("return window.owned ?? null") is None, f"{name}: a script ran")
            demand(browser.script("return document.links.length + document.forms.length") == 0, f"{name}: a way out")
            try:
                trap.accept()
                raise AssertionError(f"{name}: another host was asked")
            except TimeoutError:
                pass

        # U+0600 forms one character for Swift with the text after it, an accent with the text before it; \u2028 ends
        # lines of scripts.
        hostile = {
            "U+0600": f"\u0600</script>\u0600{element}".replace("<", "\u0600<"),
            "accents": f"</script>{element}".replace("<", "<\u0301").replace("<\u0301script", "\u0600<script"),
            "placeholders": f"__TICKET__ __ORIGIN__ __NONCE__ __KEY__ {element}",
            "comments": f"<!--<script>\u2028--></script>{element}",
        }
        for name, key in hostile.items():
            page, key = bench.issue(file, key=key)
            browser.open(page)
            demand_quiet(name)
            browser.choose(file)
            ended(browser, "good")
            bench.compare(key, file)
            demand_quiet(name)
        # Text that is injected all the same has no nonce.
        text = page.read_text()
        for front in ("</head>", "<main>", "</body>"):
            page.write_text(text.replace(front, f"{element}<base href={elsewhere}>{front}<b onclick=\"{script}\">b</b>"))
            browser.open(page)
            browser.script("document.querySelectorAll('b').forEach((b) => b.click())")
            demand_quiet(front)
        nonces = {re.search("nonce-([^']*)'", bench.issue(file)[0].read_text())[1] for _ in range(2)}
        demand(len(nonces) == 2, "two pages have one nonce")
    return f"{len(hostile)} hostile keys, {len(nonces)} nonces"


def blind(bench, browser):
    """A complete upload is not reported as this file's if nothing shows whose bytes it has."""
    file, other = bench.sample(6 * MIB, 14), bench.sample(6 * MIB, 15)
    page, key = bench.issue("--size", str(6 * MIB))
    text = page.read_text()
    demand('"etag_is_md5":true' in text, "the ticket does not say what ETags are")
    page.write_text(text.replace('"etag_is_md5":true', '"etag_is_md5":false'))
    browser.open(page)
    browser.choose(file)
    ended(browser, "good")
    bench.compare(key, file)
    browser.open(page)
    browser.choose(other)
    until("it ends", lambda: browser.kind() in ("good", "bad"))
    demand(browser.kind() == "bad" and "nothing shows" in browser.text("status"), browser.text("status"))
    page.write_text(text)
    browser.open(page)
    browser.choose(other)
    ended(browser, "bad")
    browser.open(page)
    browser.choose(file)
    demand("already" in ended(browser, "good"), browser.text("status"))
    return "another file of the size"


def twice(bench, browser):
    """The store answers a second completion with the result of the first, whose bytes were others."""
    file, other = bench.sample(6 * MIB, 16), bench.sample(6 * MIB, 17)
    page, key = bench.issue("--size", str(6 * MIB))
    held, begin = bench.folder / "held.html", "async function complete(there) {\n"
    text = page.read_text()
    demand(text.count(begin) == 1, "the page completes uploads in another way")
    wait = "run.waits = true; while (run.waits) await new Promise((then) => setTimeout(then, 50))\n"
    held.write_text(text.replace(begin, begin + wait))
    browser.open(held)
    browser.choose(file)
    until("it is about to complete", lambda: browser.script("return run.waits"))
    sent = bench.s3up("put", other, "--ticket", page)
    demand(sent.returncode == 0, sent.stderr)
    browser.script("run.waits = false")
    ended(browser, "bad")
    bench.compare(key, other)
    return "another file, completed just before"


def looks(bench, browser):
    """Measures its appearance; with --shots also takes pictures."""
    file = bench.sample(9 * MIB, 12)
    page, _ = bench.issue(file)
    for scheme in ("light", "dark"):
        features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.do("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": features})
        for width in (320, 800):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == 320}
            browser.do("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": size})
            browser.open(page)
            wide = browser.script("return document.documentElement.scrollWidth")
            demand(wide <= width, f"{wide} px on a screen of {width}")
            demand(browser.script(CONTRAST) >= 4.5, f"too little contrast in the {scheme} page")
            if bench.shots:
                browser.shot(bench.shots / f"{scheme}-{width}-begin.png")
                bench.network.rate = 3 * MIB
                browser.choose(file)
                until("it runs", lambda: "%" in browser.text("detail"))
                time.sleep(1)
                browser.shot(bench.shots / f"{scheme}-{width}-middle.png")
                bench.network.rate = None
                ended(browser, "good")
                browser.shot(bench.shots / f"{scheme}-{width}-end.png")
    browser.open(page)
    browser.press("\ue004")
    demand(browser.script("return document.activeElement.id") == "file", "the first tab does not reach the file")
    return "320 px and 800 px, light and dark"


# The least contrast (WCAG) of the texts that are shown.
CONTRAST = """
const light = (text) => {
  const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((x) => x / 255)
    .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const color = getComputedStyle(node).backgroundColor
    if (!/, 0\\)$/.test(color)) return color
  }
  return 'rgb(255, 255, 255)'
}
return Math.min(...[...document.querySelectorAll('h1, dt, dd, p, label, button')].filter((node) => node.innerText)
  .map((node) => [light(getComputedStyle(node).color), light(ground(node))])
  .map(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)))
"""

CASES = {
    "small": small, "sums": sums, "others": others, "mixed": mixed, "portal": portal, "refused": refused, "late": late, "hostile": hostile, "keys": keys, "blind": blind,
    "twice": twice, "looks": looks, "whole": whole,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--mib", type=int, default=96, help="size of the upload that is interrupted (%(default)s)")
    parser.add_argument("--shots", type=pathlib.Path, help="folder for screenshots")
    parser.add_argument("--only", default=",".join(CASES))
    options = parser.parse_args()
    bench = Bench(options)
    with Browser() as browser:
        for name in options.only.split(","):
            begun = time.monotonic()
            print(f"{name}: {CASES[name](bench, browser)} ({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
