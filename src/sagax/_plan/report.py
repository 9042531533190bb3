"""Show a plan as text of 80 columns, as data for JSON, and as a page."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import Any

from sagax._plan.costs import Costs
from sagax._plan.counts import Collective
from sagax._plan.groups import nodes_of
from sagax._plan.hlo import SourceLine
from sagax._plan.timing import MEASURED, PUBLISHED, Span
from sagax._report.page import code, document, format_bytes, format_number, table
from sagax._src import config
from sagax._src.diagnostics.spans import display_path
from sagax._src.diagnostics.wording import in_users_language as say
from sagax._src.languages.widths import columns, cut, pad, wrap

_WIDTH = 80
_SHOWN = 12  # collectives and buffers in the text
_HEADS = ("kind", "bytes", "times", "axis", "where", "source")


def duration(seconds: float) -> str:
    """Return a duration as text.

    >>> duration(0.0123), duration(4.5e-6)
    ('12.3 ms', '4.5 us')
    """
    for scale, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def source_text(place: SourceLine) -> str:
    """Return a line of the program for people, relative to the working directory."""
    return f"{display_path(place.file)}:{place.line}" if place.file else ""


def merged(collectives: Sequence[Collective]) -> list[Collective]:
    """Return the collectives by total bytes, the largest first."""
    return sorted(collectives, key=lambda c: (-c.total_bytes, c.name))


def spread_text(c: Collective, per_node: int) -> str:
    """Say whether a collective stays within nodes."""
    return "between nodes" if nodes_of(c.groups, per_node)[1] > 1 else "in a node"


def _shares() -> str:
    """Say how long steps took that were measured and published."""
    (least, most), (low, high) = PUBLISHED, MEASURED
    return say(
        "runs took {least} to {most} of the latter, on shared CPU cores {low} to {high}",
        least=f"{least:.1f}",
        most=f"{most:.1f}",
        low=f"{low:.1f}",
        high=f"{high:.1f}",
    )


def text(plan: Costs) -> str:
    """Return the table of a plan."""
    t, m, f = plan.timing, plan.memory, plan.flops
    mesh = ", ".join([f"{name} {plan.mesh.shape[name]}" for name in plan.mesh.axis_names])
    peak = ""
    if m.peak != m.without_widening:
        peak = say(" (as compiled here, {size})", size=format_bytes(m.peak))
    lines = [
        say(
            "{step} on {hardware}: {devices} devices ({mesh}); all for one device",
            step=plan.name,
            hardware=plan.hardware.name,
            devices=plan.devices,
            mesh=mesh,
        ),
        "",
        _fact("time", "{best} (all overlaps) to {worst} (nothing does)",
              best=duration(t.best), worst=duration(t.worst)),
        _fact("", "most of it: {resource}", resource=say(t.dominating)),
        _fact("", "{shares}", shares=_shares()),
        _fact("utilization", "{worst} to {best} of the peak of matrix products",
              worst=f"{t.utilization[0]:.1%}", best=f"{t.utilization[1]:.1%}"),
        _fact("FLOPs", "{products} in products, {elementwise} elementwise, {transcendental} transcendental",
              products=format_number(f.dot + f.convolution), elementwise=format_number(f.elementwise),
              transcendental=format_number(f.transcendental)),
        _fact("traffic", "{memory} of memory, {exchanged} in collectives", memory=format_bytes(plan.bytes),
              exchanged=format_bytes(sum(c.total_bytes for c in plan.collectives))),
        _fact("memory", "{size} of {available}{peak}", size=format_bytes(m.without_widening),
              available=format_bytes(plan.hardware.memory), peak=peak),
        "",
        _row(say("resource"), say("busy, at peak rate"), say("waited for, no overlap")),
    ]  # fmt: skip
    lines += [_row(say(name), duration(t.busy[name]), duration(t.waits[name])) for name in t.busy]
    lines += ["", _row(say("memory"), say("bytes"), "")]
    lines += [_row(say(name), format_bytes(size), "") for name, size in m.categories.items()]
    lines += ["", say("largest in memory")]
    lines += [
        _cells((10, format_bytes(b.bytes)), (18, say(b.category)), (0, f"{b.name} {b.type}"))
        + _at(b.source)
        for b in m.largest(6)
    ]
    if plan.collectives:
        lines += ["", say("collectives ({count})", count=len(plan.collectives))]
        heads = zip((19, 10, 6, 14, 14, 0), map(say, _HEADS), strict=True)
        lines.append(_cells(*heads))
        shown = merged(plan.collectives)
        for c in shown[:_SHOWN]:
            lines.append(
                _cells(
                    (19, c.kind),
                    (10, format_bytes(c.bytes)),
                    (6, str(c.times)),
                    (14, c.axis),
                    (14, say(spread_text(c, plan.hardware.chips_per_node))),
                    (0, _short_source(c.source)),
                )
            )
        if len(shown) > _SHOWN:
            rest = shown[_SHOWN:]
            size = format_bytes(sum(c.total_bytes for c in rest))
            lines.append(
                say("and {count} smaller ones, {size} in a step", count=len(rest), size=size)
            )
    if plan.warnings:
        lines += ["", say("warnings")]
        for w in plan.warnings:
            lines += _wrapped(str(w))
    return "\n".join([line if columns(line) <= _WIDTH else _cut(line) for line in lines])


def _cut(line: str) -> str:
    return cut(line, _WIDTH - 3) + "..."


def _fact(label: str, template: str, /, **facts: str) -> str:
    return pad(say(label) if label else "", 13) + say(template, **facts)


def _row(first: str, second: str, third: str) -> str:
    return (pad(first, 22) + pad(second, 20, right=True) + pad(third, 26, right=True)).rstrip()


def _cells(*cells: tuple[int, str]) -> str:
    return "".join([pad(cut(s, n - 1), n) if n else s for n, s in cells]).rstrip()


def _at(place: SourceLine) -> str:
    return f"  {_short_source(place)}" if place.file else ""


def _short_source(place: SourceLine) -> str:
    return f"{os.path.basename(place.file)}:{place.line}" if place.file else ""


def _wrapped(sentence: str) -> list[str]:
    if columns(sentence) != len(sentence):
        return wrap(f"- {sentence}", _WIDTH, "  ")
    lines, current = [], "-"
    for word in sentence.split(" "):
        if len(current) + 1 + len(word) > _WIDTH and current.strip(" -"):
            lines.append(current)
            current = " "
        current += " " + word
    return [*lines, current]


def data(plan: Costs) -> dict[str, Any]:
    """Return a plan as data for JSON."""
    t, m, f = plan.timing, plan.memory, plan.flops
    return {
        "step": plan.name,
        "hardware": plan.hardware.name,
        "devices": plan.devices,
        "mesh": dict(plan.mesh.shape),
        "flops": {
            "dot": f.dot,
            "convolution": f.convolution,
            "elementwise": f.elementwise,
            "transcendental": f.transcendental,
        },
        "bytes": plan.bytes,
        "seconds": {"best": t.best, "worst": t.worst},
        "took_of_worst": {"shared_cpu": MEASURED, "accelerators": PUBLISHED},
        "busy": t.busy,
        "waits": t.waits,
        "dominating": t.dominating,
        "utilization": {"worst": t.utilization[0], "best": t.utilization[1]},
        "memory": {
            "peak": m.peak,
            "without_widening": m.without_widening,
            "xla": m.xla,
            "categories": m.categories,
            "largest": [
                {
                    "name": b.name,
                    "bytes": b.bytes,
                    "type": b.type,
                    "category": b.category,
                    "source": source_text(b.source),
                }
                for b in m.largest(20)
            ],
        },
        "collectives": [
            {
                "kind": c.kind,
                "bytes": c.bytes,
                "times": c.times,
                "axes": list(c.axes),
                "devices": c.size,
                "where": spread_text(c, plan.hardware.chips_per_node),
                "types": list(c.types),
                "operation": c.operation,
                "source": source_text(c.source),
            }
            for c in plan.collectives
        ],
        "warnings": [
            {
                "kind": w.kind,
                "message": w.message,
                "fix": w.fix,
                "source": source_text(w.source),
                "bytes": w.bytes,
            }
            for w in plan.warnings
        ],
        "sources": list(plan.hardware.sources),
    }


# --- the page -----------------------------------------------------------------------------------------

_COLORS = {"compute": "#3b6fd4", "memory": "#7aa66b", "link": "#d98b2b", "network": "#c2453d"}


def page(plan: Costs) -> str:
    """Return a plan as a page, with a timeline of the worst case."""
    t, m = plan.timing, plan.memory
    title = say("{step} on {hardware}", step=plan.name, hardware=plan.hardware.name)
    resources = [
        [html.escape(say(name)), duration(t.busy[name]), duration(t.waits[name])] for name in t.busy
    ]
    buffers = [
        [
            code(b.name),
            html.escape(say(b.category)),
            code(b.type),
            html.escape(source_text(b.source)),
            format_bytes(b.bytes),
        ]
        for b in m.largest(30)
    ]
    exchanged = [
        [
            c.kind,
            html.escape(c.axis),
            say(spread_text(c, plan.hardware.chips_per_node)),
            html.escape(f"{c.operation} {source_text(c.source)}"),
            str(c.times),
            format_bytes(c.bytes),
            format_bytes(c.total_bytes),
        ]
        for c in merged(plan.collectives)
    ]
    categories = [[html.escape(say(k)), format_bytes(v)] for k, v in m.categories.items()]
    noted = "".join([f"<li>{html.escape(str(w))}</li>" for w in plan.warnings])
    shares = _shares()
    summary = say(
        "{devices} devices ({mesh}). A step takes between {best}, if everything overlaps, and {worst}, if "
        "nothing does; most of it: {resource}. {shares}. All figures are for one device.",
        devices=f"{plan.devices:,}",
        mesh=html.escape(str(dict(plan.mesh.shape))),
        best=duration(t.best),
        worst=duration(t.worst),
        resource=say(t.dominating),
        shares=shares[:1].upper() + shares[1:],
    )
    origins = say("Figures of the hardware: {sources}", sources="; ".join(plan.hardware.sources))
    body = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{summary}</p>",
        _heading("Timeline, if nothing overlaps"),
        _timeline(t.spans),
        _heading("Resources"),
        table("resources", ["resource", "busy, at peak rate#", "waited for#"], resources),
        _heading("Memory"),
        table("categories", ["category", "bytes#"], categories),
        table("buffers", ["what", "category", "type", "source", "bytes#"], buffers),
        _heading("Collectives"),
        table(
            "collectives",
            ["kind", "axis", "where", "for", "times#", "bytes#", "bytes in a step#"],
            exchanged,
        ),
        f"{_heading('Warnings')}<ul>{noted}</ul>" if noted else "",
        f"<p class='muted'>{html.escape(origins)}</p>",
    ]
    return document(title, "\n".join(body), config.current().lang)


def _heading(text: str) -> str:
    return f"<h3>{say(text)}</h3>"


def _timeline(spans: Sequence[Span], width: float = 1000.0, rows: int = 400) -> str:
    """Draw the events in order: those of loops once, as wide as all their runs."""
    total = sum(s.seconds for s in spans) or 1.0
    lanes = {"compute": 0, "memory": 1, "link": 2, "network": 3}
    smallest = sorted([s.seconds for s in spans], reverse=True)[:rows][-1] if spans else 0.0
    parts, at = [], 0.0
    for s in spans:
        kind = "compute" if s.compute >= s.memory else "memory"
        if s.event.collective is not None:
            kind = "network" if s.network > s.link else "link"
        if s.seconds >= smallest and s.seconds:
            times = say(", {count} times", count=s.event.times) if s.event.times > 1 else ""
            label = (
                f"{s.event.operation or s.event.kind} {source_text(s.event.source)}: "
                f"{duration(s.seconds)}{times}"
            )
            parts.append(
                f'<rect x="{at / total * width:.2f}" y="{lanes[kind] * 24}" height="22" '
                f'width="{max(s.seconds / total * width, 0.3):.2f}" fill="{_COLORS[kind]}">'
                f"<title>{html.escape(label)}</title></rect>"
            )
        at += s.seconds
    names = "".join(
        [
            f'<text x="2" y="{y * 24 + 15}" font-size="11" fill="currentColor" opacity=".6">{say(name)}</text>'
            for name, y in lanes.items()
        ]
    )
    return f'<svg class="timeline" viewBox="0 0 {width:g} 96" width="100%">{"".join(parts)}{names}</svg>'
