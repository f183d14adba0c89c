"""The workloads. Each is one or more stages; a stage is a table, whose rows (clients) run in turn."""

import dataclasses
import fnmatch
import itertools

import clients
import downloads

GRID_TRIPS_MS = (1, 20, 50, 200)
GRID_LOSSES = (0, 0.1, 0.5, 2)
GRID_MBIT = (5, 100, 2000)
# The congestion controls that s3up may use: BBR if the kernel has it, or the kernel's own, as for a user to whom BBR is
# not allowed.
GRID_CONTROLS = ("bbr", "cubic")
GRID_LOADS = ("64MiB", "512MiB", "2000x40KiB")
# Numbers of connections, and MiB of a part.
GRID_FIXED = ((4, 8), (8, 8), (16, 5), (32, 5), (64, 5))
GET_FIXED = (*GRID_FIXED, (32, 1), (64, 1), (64, 2))
GRID_FIXED_SMALL = (8, 32, 128, 256)
GRID_SLOWEST = 200  # seconds that the line alone may need


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    scheme: str
    client: object
    is_peer: bool = False
    one_core: bool = False
    connections: int | None = None
    part_mib: int | None = None


@dataclasses.dataclass(frozen=True)
class Line:
    """A slow line: delay of one way, loss of each packet."""

    delay_ms: float
    loss: float
    mbit: float
    congestion: str

    def __str__(self):
        return (f"{2 * self.delay_ms:g} ms round trip, {self.loss:g} % loss, {self.mbit:g} Mbit/s, "
                f"{self.congestion} unless a client asks for another")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Stage:
    work: str
    title: str
    rows: list
    size: int
    rounds: int
    part_mib: int | None = None
    connections: int | None = None
    warm_up: int = 0  # rounds that are not counted
    piped: bool = False
    line: Line | None = None
    sink_options: tuple[str, ...] = ()
    files: int = 1  # more: a folder of so many files, which have the size together; 0: nothing is uploaded
    cell: str | None = None  # of the grid
    is_download: bool = False

    @property
    def line_seconds(self):
        """What the line alone needs."""
        return self.size * 8 / (self.line.mbit * 1e6) if self.line else 0


def ours(name, scheme, *options):
    return Row(name, scheme, clients.s3up(*options))


def peer(name, scheme, client):
    return Row(name, scheme, client, is_peer=True)


CURL = [Row("curl", "http", clients.curl), Row("curl-tls", "https", clients.curl)]
FLOORS = [
    Row("floor", "http", clients.floor("plain")),
    Row("floor-tls", "https", clients.floor("plain")),
    Row("floor-gathered", "https", clients.floor("gathered")),
]
PLAIN = [ours("s3up", "http"), ours("s3up-tls", "https")]
SIGNING = [
    ours("s3up-signed", "http", "--payload-signing", "always"),
    ours("s3up-unsigned", "http", "--payload-signing", "never"),
    ours("s3up-tls", "https"),
]
OBSTORE = [
    peer("obstore-signed", "http", clients.obstore("signed")),
    peer("obstore-unsigned", "http", clients.obstore("unsigned")),
    peer("obstore-tls", "https", clients.obstore("unsigned")),
    peer("obstore-tls-signed", "https", clients.obstore("signed")),
]
OTHERS = [
    peer(name + suffix, scheme, client)
    for name, client in (
        ("s5cmd", clients.s5cmd),
        ("rclone", clients.rclone),
        ("awscli", clients.awscli),
        ("crt", clients.crt),
    )
    for suffix, scheme in (("", "http"), ("-tls", "https"))
]


TREES = [
    ours("s3up", "http"),
    Row("curl-Z", "http", clients.curl_tree),
    ours("s3up-tls", "https"),
    Row("curl-Z-tls", "https", clients.curl_tree),
    OBSTORE[0],
    OBSTORE[2],
    *OTHERS,
]


def each_scheme(is_peer, **named):
    rows = [Row(name.replace("_", "-"), "http", client, is_peer) for name, client in named.items()]
    return rows + [dataclasses.replace(row, name=f"{row.name}-tls", scheme="https") for row in rows]


DOWNLOADS = each_scheme(False, s3up=downloads.s3up, curl=downloads.curl, floor=downloads.floor) + each_scheme(
    True,
    obstore_stream=downloads.obstore("stream"),
    obstore_ranges=downloads.obstore("ranges"),
    s5cmd=downloads.s5cmd,
    rclone=downloads.rclone,
    awscli=downloads.awscli,
    crt=downloads.crt,
)
TREE_DOWNLOADS = each_scheme(False, s3up=downloads.s3up, curl_Z=downloads.curl_tree) + each_scheme(
    True,
    obstore=downloads.obstore("tree"),
    s5cmd=downloads.s5cmd,
    rclone=downloads.rclone,
    awscli=downloads.awscli,
)
LISTS = [Row("s3up", "http", downloads.list_s3up)] + [
    peer(name, "http", client)
    for name, client in (
        ("s5cmd", downloads.list_s5cmd),
        ("awscli", downloads.list_awscli),
        ("rclone", downloads.list_rclone),
    )
]
LISTED_KEYS = 1_000_000


def over(scheme, rows):
    return [row for row in rows if row.scheme == scheme]


def on_one_core(rows):
    return [dataclasses.replace(row, name=f"{row.name}-one", one_core=True) for row in rows]


def with_portable(stage, binary):
    """The stage with each row of s3up once more, for the other binary."""
    if not binary:
        return stage
    rows = []
    for row in stage.rows:
        rows.append(row)
        if row.name.startswith("s3up"):
            name = row.name.replace("s3up", "portable", 1)
            rows.append(dataclasses.replace(row, name=name, client=clients.another(binary, row.client)))
    return dataclasses.replace(stage, rows=rows)


def file(o):
    parts = f"{o.size_mib} MiB in parts of {o.part_mib} MiB on {o.connections} connections"
    rows = SIGNING + CURL + FLOORS + OBSTORE + OTHERS
    yield Stage("file", parts, over("http", rows) + over("https", rows), o.size_mib << 20, 5, o.part_mib, o.connections)


def own(o):
    rows = PLAIN + CURL + OBSTORE + OTHERS
    title = f"{o.size_mib} MiB with every client's own part size and connections"
    yield Stage("own", title, over("http", rows) + over("https", rows), o.size_mib << 20, 5)


def start(o):
    # a signature of 1 KiB costs nothing, so one row of obstore is enough
    rows = PLAIN + CURL + [row for row in OBSTORE if row.name in ("obstore-signed", "obstore-tls")]
    rows += [row for row in OTHERS if row.client is not clients.crt]
    yield Stage("start", "one file of 1 KiB", over("http", rows) + over("https", rows), 1 << 10, 15, warm_up=1)


def stream(o):
    size = max(o.size_mib // 2, 1)
    title = f"{size} MiB of unknown length through a pipe over TLS, own defaults, what fills the pipe not counted"
    yield Stage("stream", title, over("https", PLAIN + OBSTORE + OTHERS), size << 20, 5, piped=True)


def loops(o):
    rows = over("https", SIGNING + [row for row in OBSTORE if row.name == "obstore-tls"])
    title = (f"{o.size_mib} MiB over TLS, {o.part_mib} MiB x {o.connections}, on all cores and on one: '-one' is under "
             "`taskset` with one core, which stands for one loop")  # fmt: skip
    # The sink shares the second core, and takes as little of it as it can. Elsewhere it does not, since it can drop
    # unread only the bodies that some clients send.
    yield Stage(
        "loops",
        title,
        over("https", CURL) + rows + on_one_core(rows),
        o.size_mib << 20,
        5,
        o.part_mib,
        o.connections,
        sink_options=("foresees",),
    )


def ticket(o):
    title = f"a ticket of {clients.TICKET_PARTS} parts is issued, and shown"
    rows = [Row("s3up-issue", "http", clients.issue_ticket), Row("s3up-show", "http", clients.show_ticket)]
    yield Stage("ticket", title, rows, 0, 15, files=0, warm_up=1)


def line(o):
    curl = over("https", CURL)
    obstore = [row for row in OBSTORE if row.name == "obstore-tls"]
    rows = over("https", PLAIN) + obstore + over("https", OTHERS)
    size = max(o.size_mib // 4, 1)
    clean = Line(o.delay_ms, 0, o.mbit, o.congestion)
    yield Stage(
        "line", f"{size} MiB over TLS, own defaults, {clean}", rows[:1] + curl + rows[1:], size << 20, 3, line=clean
    )
    if o.loss:  # without curl: on one connection the loss decides, whatever the client does
        size = max(o.size_mib // 32, 1)
        lossy = dataclasses.replace(clean, loss=o.loss)
        yield Stage("line", f"{size} MiB over TLS, own defaults, {lossy}", rows, size << 20, 3, line=lossy)


def tree(work, files, kib, setting, rows, **more):
    title = f"{files} files of {kib} KiB, {setting}"
    return Stage(work, title, rows, files * kib << 10, 3, files=files, **more)


def small(o):
    rows = over("http", TREES) + over("https", TREES)
    for files, kib in ((5000, 4), (2000, 256)):
        yield tree("small", files, kib, f"{o.connections} connections", rows, connections=o.connections)


def with_fixed(row, mibs, fixed=GRID_FIXED):
    """The row with each fixed number of connections, but no more than there are parts: settings that transfer the same
    way count once, or the best would be the luckiest of several."""
    settings = dict.fromkeys((min(n, -(-mibs // mib)), mib) for n, mib in fixed)
    return [dataclasses.replace(row, name=f"{n}x{mib}M", connections=n, part_mib=mib) for n, mib in settings]


def small_line(o):
    slow = Line(o.delay_ms, 0, o.mbit, o.congestion)
    yield tree("small-line", 5000, 40, f"over TLS, own defaults, {slow}", over("https", TREES), line=slow)


def get(o):
    title = f"{o.size_mib} MiB into memory, ranges of {o.part_mib} MiB on {o.connections} connections"
    rows = over("http", DOWNLOADS) + over("https", DOWNLOADS)
    yield Stage("get", title, rows, o.size_mib << 20, 3, o.part_mib, o.connections, is_download=True)


def get_small(o):
    rows = over("http", TREE_DOWNLOADS) + over("https", TREE_DOWNLOADS)
    setting = f"into memory, {o.connections} connections"
    yield tree("get-small", 5000, 4, setting, rows, connections=o.connections, is_download=True)


def get_line(o):
    first = over("https", DOWNLOADS)[0]
    peers = [row for row in over("https", DOWNLOADS) if row.is_peer]
    clean = Line(o.delay_ms, 0, o.mbit, o.congestion)
    for slow in [clean] + ([dataclasses.replace(clean, loss=o.loss)] if o.loss else []):
        for mibs in (64, 512):
            rows = [first, *with_fixed(first, mibs, GET_FIXED), *peers]
            title = f"{mibs} MiB back over TLS, own defaults and fixed numbers of connections, {slow}"
            yield Stage("get-line", title, rows, mibs << 20, 3, line=slow, is_download=True)


def ls(o):
    title = f"a list of {LISTED_KEYS:,} keys over HTTP"
    yield Stage("ls", title, LISTS, 0, 3, files=0, sink_options=(f"keys={LISTED_KEYS}",))


def grid(o):
    """Each cell is one line and one load: s3up without options, on a line that it does not know and on one that it has
    used before; with fixed numbers of connections; and the peers as they are."""
    patterns = o.cells.split(",")
    for load, control, mbit, trip, loss in itertools.product(
        GRID_LOADS, GRID_CONTROLS, GRID_MBIT, GRID_TRIPS_MS, GRID_LOSSES
    ):
        cell = f"{load}-{control}-{mbit}M-{trip}ms-{loss:g}%"
        if any(fnmatch.fnmatchcase(cell, pattern) for pattern in patterns):
            stage = grid_cell(cell, load, control, Line(trip / 2, loss, mbit, "cubic"))
            if stage.line_seconds <= GRID_SLOWEST:
                yield stage


def grid_cell(cell, load, control, slow):
    options = ["--tcp-congestion", "system"] if control == "cubic" else []
    first = Row("first", "https", clients.s3up(*options, state="each"))
    rows = [first, Row("next", "https", clients.s3up(*options, state=cell))]
    if load == "2000x40KiB":
        files, size = 2000, 2000 * 40 << 10
        rows += [dataclasses.replace(first, name=f"{n}", connections=n) for n in GRID_FIXED_SMALL]
        peers = [row for row in over("https", TREES) if row.is_peer]
    else:
        mibs = int(load.removesuffix("MiB"))
        files, size = 1, mibs << 20
        rows += with_fixed(first, mibs)
        peers = [OBSTORE[2], *over("https", OTHERS)]
    return Stage("grid", f"{cell}: {slow}", rows + peers, size, 3, line=slow, files=files, cell=cell)


WORKS = {
    work.__name__.replace("_", "-"): work
    for work in (file, own, start, stream, ticket, small, get, get_small, get_line, ls, loops, line, small_line, grid)
}
