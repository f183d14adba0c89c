"""The tables as SVG charts: one bar for each client; for the grid, one square for each cell."""

import html
import json

BAR, GAP, LEFT, WIDTH = 18, 8, 190, 460
OURS, OTHERS = "#2f6fde", "#9aa4b2"


def bars(title, unit, figures):
    """`figures` are pairs of a client's name and its number; None stands for an empty line."""
    most = max((value for pair in figures if pair for value in pair[1:]), default=1)
    height = 46 + len(figures) * (BAR + GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 90}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="12" y="24" font-size="15" fill="#1d1d1f">{html.escape(title)}</text>',
    ]
    for index, pair in enumerate(figures):
        if not pair:
            continue
        (name, value), top = pair, 40 + index * (BAR + GAP)
        length = max(1, round(WIDTH * value / most))
        colour = OURS if name.startswith(("s3up", "portable")) else OTHERS
        text = f"{value:.3f}" if value < 10 else f"{value:.1f}"
        lines += [
            f'<text x="{LEFT - 10}" y="{top + 14}" text-anchor="end" fill="#1d1d1f">{html.escape(name)}</text>',
            f'<rect x="{LEFT}" y="{top}" width="{length}" height="{BAR}" fill="{colour}"/>',
            f'<text x="{LEFT + length + 8}" y="{top + 14}" fill="#1d1d1f">{text} {unit}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def draw(stage, found, folder):
    """Writes the charts of a stage; clients over HTTP first, each group from the least to the most."""
    small = stage.size < 1 << 20
    for field, title, unit, scale in (
        ("cpu", "CPU time", "ms" if small else "s/GiB", 1e3 if small else 2**30 / stage.size),
        ("wall", "Time", "ms" if small else "s", 1e3 if small else 1),
    ):
        figures = []
        for scheme in ("http", "https"):
            names = [row.name for row in stage.rows if row.scheme == scheme and row.name in found]
            group = sorted(((name, found[name][field] * scale) for name in names), key=lambda pair: pair[1])
            figures += [None, *group] if figures and group else group
        path = folder / f"{stage.work}-{field}.svg"
        path.write_text(bars(f"{title}: {stage.title}", unit, figures))
        print(f"chart: {path}")


CELL, MARGIN, PANEL_LEFT, PANEL_TOP = (64, 34), 24, 70, 60
# From this ratio on: faster than the other, as fast, a little slower, slower.
SHADES = ((0, "#1b7f4d"), (0.9, "#8fd1a8"), (1.05, "#f3f0d7"), (1.15, "#f2c879"), (1.3, "#e07a5f"))


def keep_cell(stage, grid, folder):
    """Adds the cell to those that were measured before, and draws them all: beside the best fixed setting and beside the
    best peer, for runs on an unknown line and on a known one."""
    path = folder / "grid.json"
    cells = json.loads(path.read_text()) if path.exists() else {}
    cells[stage.cell] = grid
    path.write_text(json.dumps(cells, indent=1))
    for run, about in (("first", "an unknown line"), ("next", "a known line")):
        for other, title in (("fixed", "its best fixed setting"), ("peer", "the fastest other client")):
            field = f"{run}_to_{other}"
            ratios = {name: cell[field] for name, cell in cells.items() if field in cell}
            if ratios:
                text = f"Time of s3up without options on {about}, as a share of that of {title}"
                (folder / f"grid-{run}-{other}.svg").write_text(heat(text, ratios))


def heat(title, ratios):
    """`ratios` by the names of cells: load-control-rate-trip-loss. A panel for each of the first three."""
    panels = {}
    for name, ratio in ratios.items():
        load, control, rate, trip, loss = name.split("-")
        panels.setdefault((load, control, rate), {})[float(trip[:-2]), float(loss[:-1])] = ratio
    trips = sorted({trip for cells in panels.values() for trip, _ in cells})
    losses = sorted({loss for cells in panels.values() for _, loss in cells})
    wide = PANEL_LEFT + len(losses) * CELL[0] + MARGIN
    high = PANEL_TOP + len(trips) * CELL[1] + MARGIN
    columns = min(3, len(panels))
    width, height = columns * wide, 50 + -(-len(panels) // columns) * high
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#1d1d1f">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="12" y="24" font-size="14">{html.escape(title)}</text>',
    ]
    for index, ((load, control, rate), cells) in enumerate(panels.items()):
        left, top = index % columns * wide, 50 + index // columns * high
        words = f"{load}, {rate[:-1]} Mbit/s, {'BBR' if control == 'bbr' else 'CUBIC only'}"
        lines.append(f'<text x="{left + 12}" y="{top + 14}" font-weight="bold">{words}</text>')
        for column, loss in enumerate(losses):
            x = left + PANEL_LEFT + column * CELL[0] + CELL[0] // 2
            lines.append(f'<text x="{x}" y="{top + 40}" text-anchor="middle">{loss:g} % lost</text>')
        for row, trip in enumerate(trips):
            y = top + 48 + row * CELL[1]
            lines.append(f'<text x="{left + PANEL_LEFT - 8}" y="{y + 21}" text-anchor="end">{trip:g} ms</text>')
            for column, loss in enumerate(losses):
                if (trip, loss) in cells:
                    lines += square(left + PANEL_LEFT + column * CELL[0], y, cells[trip, loss])
    return "\n".join([*lines, "</svg>", ""])


def square(x, y, ratio):
    colour = [colour for least, colour in SHADES if ratio >= least][-1]
    ink = "#ffffff" if colour == SHADES[0][1] else "#1d1d1f"
    return [
        f'<rect x="{x}" y="{y}" width="{CELL[0] - 2}" height="{CELL[1] - 2}" fill="{colour}"/>',
        f'<text x="{x + CELL[0] // 2 - 1}" y="{y + 21}" text-anchor="middle" fill="{ink}">{ratio:.2f}</text>',
    ]
