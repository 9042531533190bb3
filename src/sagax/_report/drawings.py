"""Draw a flame graph and curves over time, as HTML and SVG without scripts."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from sagax._report.facts import Frame

STYLE = """
.flame { font: 12px/1.3 ui-monospace, monospace; margin: .5rem 0 1rem; }
.flame .frame { overflow: hidden; min-width: 0; }
.flame .label { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding: .1rem .3rem;
                border: 1px solid #fff; border-radius: 3px; color: #2a1a05; }
.flame .called { display: flex; }
.f0 { background: #f6c18a; } .f1 { background: #f2a65e; } .f2 { background: #f4b578; } .f3 { background: #eb9a5b; }
svg.curve { width: 100%; height: 8rem; display: block; } svg.curve path { stroke: #3b6fd4; fill: #3b6fd433; }
.axis { display: flex; justify-content: space-between; color: #778; font-size: 13px; }
@media (prefers-color-scheme: dark) { .flame .label { border-color: #14171c; } .axis { color: #9aa5b5; } }
"""
_MIN_SHARE = 0.002  # of the whole: smaller parts are too narrow to see
_MAX_POINTS = 400


def flame_graph(root: Frame, seconds_text: Callable[[float], str]) -> str:
    """Draw a flame graph whose widths are the measured seconds; a pointer over a part shows its numbers."""
    whole = root.seconds or 1.0

    def drawn(frame: Frame, around: float, depth: int) -> str:
        share = frame.seconds / whole
        label = html.escape(frame.name)
        title = f"{label}: {seconds_text(frame.seconds)}, {share:.1%}"
        return (
            f'<div class="frame" style="width: {100 * frame.seconds / around:.2f}%">'
            f'<span class="label f{depth % 4}" title="{title}">{label}</span>'
            f"{called(frame, depth + 1)}</div>"
        )

    def called(frame: Frame, depth: int) -> str:
        order = sorted(frame.called.values(), key=lambda f: -f.seconds)
        parts = [drawn(f, frame.seconds, depth) for f in order if f.seconds / whole >= _MIN_SHARE]
        return f'<div class="called">{"".join(parts)}</div>' if parts else ""

    return f'<div class="flame">{called(root, 0)}</div>'


def curve(points: Sequence[tuple[float, float]], left: str, right: str, top: str) -> str:
    """Draw values over time as an area; the texts say where the axes begin and end."""
    thinned = _thinned(points)
    first, last = thinned[0][0], thinned[-1][0]
    width = last - first or 1.0
    most = max(y for _, y in thinned) or 1.0
    path = " ".join(
        [f"{1000 * (x - first) / width:.1f},{100 - 96 * y / most:.1f}" for x, y in thinned]
    )
    return (
        f'<div class="axis"><span>{html.escape(top)}</span></div>\n'
        '<svg class="curve" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img">'
        f'<path vector-effect="non-scaling-stroke" d="M0,100 L{path} L1000,100 Z"/></svg>\n'
        f'<div class="axis"><span>{html.escape(left)}</span><span>{html.escape(right)}</span></div>'
    )


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the highest of neighboring points."""
    size = -(-len(points) // _MAX_POINTS)
    found = [max(points[i : i + size], key=lambda p: p[1]) for i in range(0, len(points), size)]
    return found if len(found) > 1 else [*found, (found[0][0] + 1.0, found[0][1])]
