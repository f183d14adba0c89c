"""The tables, and the ratios in them."""

import math
import statistics

FIELDS = ("cpu", "user", "system", "wall", "peak_mib", "connections", "sink_cpu")
SMALL = 1 << 20  # below this a run is shown in milliseconds
OURS = ("first", "next")  # the rows of the grid that have no options


def good(runs):
    return [r for r in runs if "error" not in r and "stopped" not in r]


def medians(stage, runs):
    """Each row that did not fail, with its ratios to curl over the same scheme."""
    found = {}
    for row in stage.rows:
        mine = [r for r in good(runs) if r["name"] == row.name]
        if mine:
            found[row.name] = {field: statistics.median(r[field] for r in mine) for field in FIELDS}
            found[row.name]["cpu_per_gib"] = found[row.name]["cpu"] / (max(stage.size, 1) / 2**30)
            found[row.name]["files_per_second"] = stage.files / found[row.name]["wall"]
    for row in stage.rows:
        curls = [r.name for r in stage.rows if r.name.startswith("curl") and r.scheme == row.scheme]
        curl = found.get(curls[0]) if curls else None
        if curl and row.name in found:
            m = found[row.name]
            m.update({f"{field}_to_curl": m[field] / curl[field] for field in ("cpu", "wall")})
    return found


def best_peers(stage, found):
    """Each row of s3up with the best peer for each figure, over the same scheme and on the same cores."""
    result = {}
    for row in stage.rows:
        peers = [p.name for p in stage.rows if p.is_peer and (p.scheme, p.one_core) == (row.scheme, row.one_core)]
        peers = [name for name in peers if name in found]
        if not row.name.startswith(("s3up", "portable")) or row.name not in found or not peers:
            continue
        result[row.name] = {}
        for field in ("cpu", "wall", "peak_mib"):
            best = min(peers, key=lambda name: found[name][field])
            ratio = found[row.name][field] / found[best][field]
            result[row.name][field] = {"peer": best, "ratio": ratio}
    return result


def table(stage, found):
    mib = stage.size / 2**20
    has_curl = any("wall_to_curl" in m for m in found.values())
    if stage.files > 1:
        heads = f"{'files/s':>10}{'CPU µs/file':>13}{'user':>8}{'system':>8}{'peak MiB':>10}{'conns':>7}"
    elif stage.size < SMALL:
        heads = f"{'wall ms':>10}{'CPU ms':>9}{'user':>8}{'system':>8}{'peak MiB':>10}"
    else:
        heads = f"{'CPU s/GiB':>10}{'user':>8}{'system':>8}{'wall s':>9}{'MiB/s':>8}{'peak MiB':>10}{'conns':>7}"
    print(f"{'client':20}{heads}" + (f"{'CPU/curl':>10}{'wall/curl':>11}" if has_curl else ""))
    for name, m in found.items():
        if stage.files > 1:
            cpu, user, system = (1e6 * m[field] / stage.files for field in ("cpu", "user", "system"))
            figures = f"{m['files_per_second']:>10.0f}{cpu:>13.0f}{user:>8.0f}{system:>8.0f}"
            figures += f"{m['peak_mib']:>10.1f}{m['connections']:>7.0f}"
        elif stage.size < SMALL:
            figures = (f"{1e3 * m['wall']:>10.2f}{1e3 * m['cpu']:>9.2f}{1e3 * m['user']:>8.2f}{1e3 * m['system']:>8.2f}"
                       f"{m['peak_mib']:>10.1f}")  # fmt: skip
        else:
            rate = mib / m["wall"]
            figures = (f"{m['cpu_per_gib']:>10.3f}{m['user']:>8.3f}{m['system']:>8.3f}{m['wall']:>9.3f}"
                       f"{rate:>8.{1 if rate < 10 else 0}f}{m['peak_mib']:>10.1f}{m['connections']:>7.0f}")  # fmt: skip
        ratios = f"{m['cpu_to_curl']:>10.2f}{m['wall_to_curl']:>11.2f}" if "wall_to_curl" in m else ""
        print(f"{name:20}{figures}{ratios}")
    for name, figures in best_peers(stage, found).items():
        words = {"cpu": "CPU", "wall": "wall", "peak_mib": "memory"}
        told = [f"{words[field]} {f['ratio']:.2f} of {f['peer']}" for field, f in figures.items()]
        print(f"{name} to the best peer: {', '.join(told)}")


def grid_line(stage, runs, found):
    """s3up without options next to its best fixed setting and the best peer; runs that took too long were stopped."""
    walls = {}
    for r in runs:
        if "error" not in r:
            walls.setdefault(r["name"], []).append(math.inf if "stopped" in r else r["wall"])
    walls = {name: statistics.median(mine) for name, mine in walls.items()}
    peers = {row.name for row in stage.rows if row.is_peer}
    groups = {
        "fixed": {name: wall for name, wall in walls.items() if name not in peers and name not in OURS},
        "peer": {name: wall for name, wall in walls.items() if name in peers},
    }
    result = {"line": stage.line_seconds, "walls": {name: wall for name, wall in walls.items() if wall < math.inf}}
    for name in OURS:
        if name not in found:
            continue
        told = [f"{name:5} {walls[name]:7.2f} s"]
        for group, members in groups.items():
            best = min(members, key=members.get, default=None)
            if best and members[best] < math.inf:
                ratio = walls[name] / members[best]
                result[f"{name}_to_{group}"] = ratio
                told.append(f"{ratio:.2f} of {best} ({members[best]:.2f} s)")
        told += [f"{walls[name] / stage.line_seconds:.2f} of what the line alone needs"]
        print("; ".join(told))
    each = [f"{name}: {'stopped' if wall == math.inf else f'{wall:.2f}'}" for name, wall in walls.items()]
    print(f"   each, in seconds: {', '.join(each)}")
    return result
