"""Traces and reports of faulty runs, read by others than their writer.

check.py FOLDER [--shots FOLDER]

FOLDER has a folder for each run, with trace.json, report.html and result.jsonl. The traces are read by the parser of
Holistic Trace Analysis, which makes a table of a trace's slices, and the reports by Chromium.
"""

import argparse
import json
import logging
import pathlib
import re
import subprocess
import sys
import tempfile

from hta.common.trace_parser import parse_trace_dataframe
from hta.configs.default_values import AttributeSpec, ValueType
from hta.configs.parser_config import ParserConfig

FACTS = [AttributeSpec(name, name, ValueType.Int, default, None) for name, default in (("bytes", 0), ("part", -1))]


def demand(holds, what):
    if not holds:
        raise AssertionError(what)


def check_trace(folder):
    result = json.loads((folder / "result.jsonl").read_text().splitlines()[-1])
    meta, table, symbols = parse_trace_dataframe(str(folder / "trace.json"), ParserConfig(args=FACTS))
    names = symbols.get_sym_table()
    table["kind"] = [names[number] for number in table["cat"]]
    totals = meta["otherData"]
    name = "bytes_received" if "bytes_received" in result else "bytes_sent"
    moved, retries = int(table["bytes"].sum()), int((table["kind"] == "retry").sum())
    parts = table[table["kind"] == "part"]["part"].nunique()
    demand(result["event"] == "completed" and result["retries"] > 0, f"a faulty run, not {result}")
    demand(moved == result[name] == totals[name], f"{moved} bytes in the slices, {totals[name]} in all, {result}")
    demand(retries == result["retries"] == totals["retries"], f"{retries} waits before retries, {result}")
    demand(parts == result["parts"] == totals["parts"], f"{parts} parts, {result}")
    end = (table["ts"] + table["dur"]).max() / 1e6
    demand(end <= totals["seconds"] + 0.001 and totals["seconds"] >= result["seconds"] - 0.001, f"{end} s, {result}")
    for track, slices in table.groupby(["pid", "tid"]):
        slices = slices.sort_values(["ts", "dur"])
        ends = (slices["ts"] + slices["dur"]).shift(fill_value=0)
        demand((slices["ts"] >= ends).all(), f"slices of track {track} overlap")
    print(f"{folder.name}: {len(table)} slices, {moved} bytes, {parts} parts, {retries} retries, {totals['seconds']} s")


def check_report(folder, shots):
    page = folder / "report.html"
    with tempfile.TemporaryDirectory() as home:
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home}"]
        words += ["--enable-logging=stderr", "--window-size=1200,2000"]
        shown = subprocess.run([*words, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=90)
        if shots:
            shot = shots / f"{folder.name}.png"
            subprocess.run([*words, f"--screenshot={shot}", page.as_uri()], capture_output=True, timeout=90)
            demand(shot.stat().st_size > 10_000, "no picture of the page")
    demand(shown.returncode == 0, shown.stderr)
    complaints = [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    demand(not complaints, f"the browser complains: {complaints}")
    drawn = len(re.findall("<rect ", shown.stdout))
    written = page.read_text().count("<rect ")
    demand(drawn == written > 20, f"{written} bars are written, {drawn} are in the page")
    print(f"{folder.name}: Chromium shows {drawn} bars")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path)
    given = parser.parse_args()
    folders = sorted(path for path in given.folder.iterdir() if path.is_dir())
    demand({"get", "put"} <= {path.name for path in folders}, f"runs of both directions, not {folders}")
    for path in folders:
        check_trace(path)
        check_report(path, given.shots)
    sys.stdout.flush()
