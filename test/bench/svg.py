"""svg: what the pictures of doc/ have in common: tables of the record, style, axes, bars, the file."""
import math
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 15px; }
.bar { fill: #8c959f; } .ours { fill: #1a7f37; } .cub { fill: #9a6700; }
.line { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 4 3; }
.mark { fill: #cf222e; font-size: 11px; }
.path { fill: none; stroke-width: 2; }
.bar.path { stroke: #8c959f; } .ours.path { stroke: #1a7f37; } .cub.path { stroke: #9a6700; }
.grid { stroke: #8c959f; stroke-width: 0.5; stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .bar { fill: #6e7681; }
.ours { fill: #3fb950; } .cub { fill: #d29922; }
.line { stroke: #ff7b72; } .mark { fill: #ff7b72; }
}
"""


def table(record, *columns):
    """The rows, as dictionaries, of the first table that has these columns."""
    found, header = [], None
    for line in record.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            if found:
                return found[1:]  # without the line below the names
            header = None
        elif header is None:
            header = cells
        elif set(columns) <= set(header):
            found.append(dict(zip(header, cells)))
    sys.exit(f"no table with the columns {', '.join(columns)}")


class Axis:
    """Decades that hold all values, along so many units from an origin."""

    def __init__(self, values, origin, length):
        self.first = math.floor(math.log10(min(values)))
        self.decades = max(math.ceil(math.log10(max(values))) - self.first, 1)
        self.origin, self.length = origin, length

    def at(self, value):
        return self.origin + (math.log10(value) - self.first) / self.decades * self.length

    def marks(self):
        return [10.0 ** (self.first + i) for i in range(self.decades + 1)]


def number(value):
    return f"{value:g}" if value < 1e6 else f"{value / 1e6:g} million"


def text(x, y, words, kind=None, anchor=None):
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    before = f' class="{kind}"' if kind else ""
    after = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text{before} x="{x}" y="{y}"{after}>{words}</text>'


def bar(kind, x, y, length, height):
    return (f'<rect class="{kind}" x="{x}" y="{y}" width="{length:.1f}" '
            f'height="{height}" rx="2"/>')


def write(target, label, width, height, body):
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                   f'width="{width}" height="{height}" role="img" aria-label="{label}">\n'
                   f"<style>{STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n")
