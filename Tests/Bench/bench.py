#!/usr/bin/env python3
"""Uploads one file to a sink on loopback with s3up, with plain curl and with a C program that does nothing but call
libcurl (the floor), in turn, and compares CPU, time and memory.

The sink answers as a store does and throws the bytes away, so what is measured is the client. Every round runs each
client once (A B C A B C ...), so that a machine that slows down slows all of them; the table shows medians.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import workloads

HERE = workloads.HERE
BUILD = HERE.parents[1] / ".build" / "bench"
RUN_SECONDS = 600


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(w.name for w in workloads.OURS)
    peers = ", ".join(w.name for w in workloads.PEERS)
    parser.add_argument("--binary", default=".build/release/s3up", help="the s3up to measure (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each client (%(default)s)")
    parser.add_argument("--size-mib", type=int, default=2048, help="size of the file (%(default)s)")
    parser.add_argument("--part-mib", type=int, default=8, help="size of a part (%(default)s)")
    parser.add_argument("--connections", type=int, default=8, help="connections at once (%(default)s)")
    parser.add_argument("--only", help=f"comma-separated names out of: {names}; with --peers also: {peers}")
    parser.add_argument("--peers", action="store_true", help="install other clients from PyPI and measure them too")
    parser.add_argument(
        "--output", type=pathlib.Path, default=BUILD / "results.json", help="the figures as JSON (%(default)s)"
    )
    chosen = parser.parse_args()
    if min(chosen.rounds, chosen.size_mib, chosen.part_mib, chosen.connections) < 1:
        parser.error("numbers have to be 1 or more")
    chosen.workloads = workloads.OURS + (workloads.PEERS if chosen.peers else [])
    if chosen.only:
        known = {w.name: w for w in chosen.workloads}
        unknown = [name for name in chosen.only.split(",") if name not in known]
        if unknown:
            parser.error(f"no workload is called {', '.join(unknown)}: choose from {', '.join(known)}")
        chosen.workloads = [known[name] for name in chosen.only.split(",")]
    return chosen


def compile_c(name, sources, *libraries):
    target = BUILD / name
    newest = max(p.stat().st_mtime for source in sources for p in source.parent.iterdir())
    if not target.exists() or target.stat().st_mtime < newest:
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-o", target, *sources, *libraries], check=True)
    return str(target)


def random_file(mib):
    path = BUILD / f"random-{mib}MiB.bin"
    if not path.exists() or path.stat().st_size != mib << 20:
        print(f"making {path}", file=sys.stderr)
        with open(path, "wb") as out:
            for _ in range(mib):
                out.write(os.urandom(1 << 20))
    with open(path, "rb", buffering=0) as file:  # into the page cache: the disk is not measured
        while file.read(8 << 20):
            pass
    return str(path)


@contextlib.contextmanager
def sink(program):
    """Runs the sink; it ends with this process in any case, because it asks the kernel to."""
    ca_file = str(BUILD / "sink-ca.pem")
    process = subprocess.Popen([program, ca_file], stdout=subprocess.PIPE, text=True)
    try:
        http, tls = process.stdout.readline().split()
        yield {"http": f"http://127.0.0.1:{http}", "https": f"https://127.0.0.1:{tls}"}, ca_file
    finally:
        process.terminate()
        process.wait()


def sink_stats(endpoint):
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(endpoint + "/_stats", timeout=10) as answer:
        return json.load(answer)


def client_environment():
    """Nothing of the user's settings, credentials or state reaches a client."""
    home = BUILD / "home"
    home.mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secretsecretsecret",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def run(measure, command):
    """The wall, user and system seconds, peak resident KiB and exit status of the command, and the end of its errors."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder, tempfile.TemporaryFile() as errors:
        figures = os.path.join(folder, "figures")
        shell = ["sh", "-c", 'out=$1; shift; exec "$@" 3>"$out"', "sh", figures, measure]
        process = subprocess.Popen(
            shell + command, stdin=subprocess.DEVNULL, stderr=errors, env=client_environment(), start_new_session=True
        )
        try:
            process.wait(RUN_SECONDS)
        except BaseException:  # a time-out, or Ctrl-C, which a session of its own does not get
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        errors.seek(0)
        return pathlib.Path(figures).read_text().split(), errors.read().decode(errors="replace")[-500:]


def measured(workload, job, stats_endpoint, measure, size):
    before = sink_stats(stats_endpoint)
    (wall, user, system, peak, status), errors = run(measure, workload.command(job))
    after = sink_stats(stats_endpoint)
    arrived = after["body_bytes"] - before["body_bytes"]
    kind = "UploadPart" if workload.multipart else "PutObject"
    result = {
        "name": workload.name,
        "scheme": workload.scheme,
        "wall": float(wall),
        "user": float(user),
        "system": float(system),
        "cpu_per_gib": (float(user) + float(system)) / (size / 2**30),
        "peak_mib": int(peak) / 1024,
        "connections": after["max_open"],  # at once
        "requests": after["requests"][kind] - before["requests"][kind],
        "sink_cpu": after["cpu_seconds"] - before["cpu_seconds"],
    }
    if int(status):
        result["error"] = f"exit {status}: {errors.strip()}"
    elif arrived < size:
        result["error"] = f"only {arrived} of {size} bytes arrived"
    return result


def median(runs, name, field):
    return statistics.median(r[field] for r in runs if r["name"] == name and "error" not in r)


def table(runs, chosen):
    """One line for each client; the ratios are to curl over the same scheme."""
    done = {w.name for w in chosen.workloads if any(r["name"] == w.name and "error" not in r for r in runs)}
    print(f"{'client':18}{'CPU s/GiB':>10}{'user':>8}{'system':>8}{'wall s':>9}{'MiB/s':>8}{'peak MiB':>10}{'conns':>7}"
          f"{'CPU/curl':>10}{'wall/curl':>11}")  # fmt: skip
    medians = {}
    for w in chosen.workloads:
        if w.name not in done:
            continue
        fields = ("cpu_per_gib", "user", "system", "wall", "peak_mib", "connections", "requests", "sink_cpu")
        m = {field: median(runs, w.name, field) for field in fields}
        floor = "curl" if w.scheme == "http" else "curl-tls"
        if floor in done:
            m["cpu_to_curl"] = m["cpu_per_gib"] / median(runs, floor, "cpu_per_gib")
            m["wall_to_curl"] = m["wall"] / median(runs, floor, "wall")
        ratios = f"{m['cpu_to_curl']:>10.2f}{m['wall_to_curl']:>11.2f}" if floor in done else ""
        print(f"{w.name:18}{m['cpu_per_gib']:>10.3f}{m['user']:>8.3f}{m['system']:>8.3f}{m['wall']:>9.3f}"
              f"{chosen.size_mib / m['wall']:>8.0f}{m['peak_mib']:>10.1f}{m['connections']:>7.0f}{ratios}")  # fmt: skip
        medians[w.name] = m
    return medians


def processor():
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    chosen = options()
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = HERE / "sink"
    program = compile_c("sink", sorted(folder.glob("*.c")), "-lssl", "-lcrypto")
    measure = compile_c("measure", [HERE / "measure.c"])
    kernels = HERE.parents[1] / "Sources" / "CKernels"
    gathering = [kernels / "gather.c", kernels / "openssl.c"]
    floor = compile_c("floor", [HERE / "floor.c", *gathering], f"-I{kernels / 'include'}", "-lcurl", "-lssl", "-lcrypto")
    if chosen.peers:
        workloads.install_peers(BUILD / "peers", {w.name.split("-")[0] for w in chosen.workloads})
    file = random_file(chosen.size_mib)
    binary = str(pathlib.Path(chosen.binary).resolve())
    runs = []
    with sink(program) as (endpoints, ca_file):
        for number in range(chosen.rounds):
            for workload in chosen.workloads:
                key = f"{workload.name}-{time.time_ns()}"
                endpoint = endpoints[workload.scheme]
                job = workloads.Job(
                    binary, endpoint, ca_file, file, key, chosen.part_mib, chosen.connections, BUILD / "peers", floor
                )
                result = measured(workload, job, endpoints["http"], measure, chosen.size_mib << 20)
                runs.append({"round": number, **result})
                note = result.get("error") or f"{result['cpu_per_gib']:.3f} CPU s/GiB, {result['wall']:.3f} s"
                print(f"round {number + 1} of {chosen.rounds}: {workload.name}: {note}", file=sys.stderr, flush=True)
    machine = {"processor": processor(), "cores": os.cpu_count(), "kernel": platform.release()}
    print(f"\n{chosen.size_mib} MiB in parts of {chosen.part_mib} MiB on {chosen.connections} connections, medians of "
          f"{chosen.rounds} rounds; {machine['processor']}, {machine['cores']} cores\n")  # fmt: skip
    medians = table(runs, chosen)
    settings = {name: getattr(chosen, name) for name in ("size_mib", "part_mib", "connections", "rounds")}
    chosen.output.write_text(
        json.dumps({"machine": machine, "settings": settings, "medians": medians, "runs": runs}, indent=1)
    )
    print(f"\nall figures: {chosen.output}")
    failed = sum("error" in r for r in runs)
    if failed:
        sys.exit(f"{failed} of {len(runs)} runs failed")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
