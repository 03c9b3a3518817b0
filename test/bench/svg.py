"""svg: what the pictures of doc/ have in common: style, bars, the file."""
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 15px; }
.bar { fill: #8c959f; } .ours { fill: #1a7f37; } .cub { fill: #9a6700; }
.line { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 4 3; }
.mark { fill: #cf222e; font-size: 11px; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .bar { fill: #6e7681; }
.ours { fill: #3fb950; } .cub { fill: #d29922; }
.line { stroke: #ff7b72; } .mark { fill: #ff7b72; }
}
"""


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
