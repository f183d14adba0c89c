"""The tables as pictures: one bar for each client, as SVG."""

import html

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
