"""Render the report as one self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from sagax._report import drawings
from sagax._report.facts import Frame, FunctionFacts, Line
from sagax._src import config
from sagax._src.diagnostics.wording import in_users_language as say
from sagax._src.diagnostics.wording import localized

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem;
       color: #1c2330; background: #fff; }
h1 { font-size: 1.5rem; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid #e4e7ee; }
th { font-weight: 600; color: #566; } td.n, th.n { text-align: right; white-space: nowrap; }
pre, code { font: 13px/1.45 ui-monospace, monospace; margin: 0; white-space: pre-wrap; }
details.function { border: 1px solid #d5dae4; border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
details.function > summary { cursor: pointer; display: flex; gap: 1rem; align-items: baseline; }
summary .name { font-weight: 600; }
summary .place { color: #667; flex: 1; min-width: 0; overflow-wrap: anywhere; } summary .total { white-space: nowrap; }
.bar { background: #3b6fd4; height: 6px; border-radius: 3px; margin: .2rem 0; }
.ops { color: #445; } .muted { color: #778; }
@media (max-width: 62rem) { table { display: block; overflow-x: auto; } }
@media (prefers-color-scheme: dark) {
  body { color: #dfe3ea; background: #14171c; } th, td { border-color: #2c323c; }
  th, summary .place, .muted, .ops { color: #9aa5b5; } details.function { border-color: #333a46; }
}
"""


def render_page(
    functions: Sequence[FunctionFacts],
    title: str,
    seconds: float,
    memory: Sequence[tuple[float, float]] = (),
) -> str:
    """Return the page about the functions, the costliest first.

    `seconds` is the script's run time, `memory` the bytes that its process had at some of these seconds.
    """
    most = max([f.total for f in functions], default=0.0) or 1.0
    body = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{_summary(functions, seconds)}</p>",
        _flames(functions),
        _process_memory(memory),
        *[_function(f, most, opened=i == 0) for i, f in enumerate(functions)],
    ]
    text = "\n".join(body)
    return document(title, text, config.current().lang)


def _summary(functions: Sequence[FunctionFacts], seconds: float) -> str:
    sentences = [
        say(
            "{functions}; the program took {seconds}, of which compiling {compiling} and running what was compiled {running}.",
            functions=_count_text(
                len(functions), "{count} compiled function", "{count} compiled functions"
            ),
            seconds=format_seconds(seconds),
            compiling=format_seconds(sum(f.compile_seconds for f in functions)),
            running=format_seconds(sum(f.run_seconds for f in functions)),
        ),
        say("The costliest function is open; a click opens another."),
        say("Times of source lines are measured: the first runs of each function are profiled."),
        say(
            "FLOPs and bytes are estimates made from the traced program, before the compiler fused anything."
        ),
    ]
    return ("" if config.current().lang == "zh" else " ").join(sentences)


def _flames(functions: Sequence[FunctionFacts]) -> str:
    """Draw what the runs of all functions took, from the functions down to the operations."""
    root = Frame("")
    for f in functions:
        if f.flame is not None and f.run_seconds:
            whole = f.flame.seconds
            _add_scaled(root, (f.name,), f.flame, f.run_seconds / whole)
    if not root.called:
        return ""
    root.seconds = sum(frame.seconds for frame in root.called.values())
    return (
        f"{_heading('Flame graph: where the runs spend their time')}"
        f'<p class="muted">{say(_FLAMES)}</p>\n'
        f"{drawings.flame_graph(root, format_seconds)}"
    )


_FLAMES = "Each part is as wide as its share of the measured time. Below a function stand its lines, and what they call."


def _heading(text: str) -> str:
    return f"<h3>{say(text)}</h3>\n"


def _muted(text: str) -> str:
    return f'<p class="muted">{text}</p>'


def _add_scaled(root: Frame, path: tuple[str, ...], frame: Frame, factor: float) -> None:
    """Add the ends of the paths of a flame graph, with their seconds times `factor`."""
    rest = frame.seconds - sum(inner.seconds for inner in frame.called.values())
    if rest > 0:
        root.add(path, rest * factor)
    for inner in frame.called.values():
        _add_scaled(root, (*path, inner.name), inner, factor)


def _process_memory(memory: Sequence[tuple[float, float]]) -> str:
    if len(memory) < 2:
        return ""
    top = say("up to {size}, measured", size=format_bytes(max(size for _, size in memory)))
    end = format_seconds(memory[-1][0])
    return f"{_heading('Memory of the process over time')}{drawings.curve(memory, '0 s', end, top)}"


def document(title: str, body: str, language: str = "en") -> str:
    """Return a self-contained page in the style of the report."""
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}{drawings.STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _function(f: FunctionFacts, most: float, opened: bool) -> str:
    width = 100 * f.total / most
    each = (
        say(", {seconds} each", seconds=format_seconds(f.run_seconds / f.runs))
        if f.runs > 1
        else ""
    )
    text = say(
        "{runs} in {seconds}{each}; {compilations} in {compiling}; at most about {size} in use at once.",
        runs=_count_text(f.runs, "{count} run", "{count} runs"),
        seconds=format_seconds(f.run_seconds),
        each=each,
        compilations=_count_text(f.times, "{count} compilation", "{count} compilations"),
        compiling=format_seconds(f.compile_seconds),
        size=format_bytes(f.peak),
    )
    return (
        f'<details class="function" {_totals(f)}{" open" if opened else ""}>\n'
        f'<summary><span class="name">{html.escape(f.name)}</span><span class="place">{html.escape(f.place)}</span>'
        f'<span class="total">{format_seconds(f.total)}</span></summary>\n'
        f'<div class="bar" style="width: {width:.1f}%"></div>\n'
        f"<p>{text}</p>\n"
        f"{_heading('Source lines, the costliest first, and what that costs in a run')}{_lines(f.lines)}\n"
        f"{_memory_over_time(f)}"
        f"{_heading('Compilations and their causes')}{_compilations(f)}\n"
        f"{_heading('Captured constants')}{_constants(f)}\n"
        f"{_heading('Memory by source line')}{_memory(f.lines)}\n"
        "</details>"
    )


def _memory_over_time(f: FunctionFacts) -> str:
    if len(f.alive) < 2:
        return ""
    top = say("up to {size}, estimated", size=format_bytes(max(f.alive)))
    ends = say("first operation"), say("last operation")
    return f"{_heading('Memory in use during a run')}{drawings.curve(list(enumerate(f.alive)), *ends, top)}\n"


def _totals(f: FunctionFacts) -> str:
    """Write the attributes that `sagax report OLD.html NEW.html` reads."""
    return (
        f'data-name="{html.escape(f.name)}" data-runs="{f.runs}" data-run-seconds="{f.run_seconds:.6g}" '
        f'data-compilations="{f.times}" data-compile-seconds="{f.compile_seconds:.6g}"'
    )


def _compilations(f: FunctionFacts) -> str:
    rows = []
    for one, cause in zip(f.compilations, f.causes, strict=True):
        origin = say("from the cache on disk") if one.loaded else say("compiled")
        if one.why:
            origin = say("{origin} ({reason})", origin=origin, reason=localized(one.why))
        seconds = [format_seconds(s) for s in one.seconds]
        rows.append([code(localized(cause)), *seconds, html.escape(origin)])
    missing = f.times - len(f.compilations)
    more = _muted(say("and {count} more", count=missing)) if missing else ""
    return table("compilations", ["cause", "trace#", "lower#", "XLA#", "origin"], rows) + more


def _constants(f: FunctionFacts) -> str:
    if not f.constants:
        return _muted(say("none of a kilobyte or more"))
    rows = [[code(c.kind), format_bytes(c.size)] for c in f.constants]
    return table("constants", ["array", "size#"], rows)


def _lines(lines: Sequence[Line]) -> str:
    if not lines:
        return _muted(say("the traced program was not kept"))
    rows = []
    measured = any(line.seconds for line in lines)
    whole = sum((line.seconds or 0.0) if measured else line.weight for line in lines) or 1.0
    for line in lines:
        operations = "\n".join(line.operations)
        if line.more:
            operations += "\n" + say("... and {count} more", count=line.more)
        source = f"{code(line.text)}<br>" if line.text else ""
        location = f'<span class="muted">{html.escape(_location(line))}</span>'
        rows.append(
            [
                f"{source}{location}",
                format_seconds(line.seconds or 0.0) if measured else say("not measured"),
                f"{100 * ((line.seconds or 0.0) if measured else line.weight) / whole:.0f} %",
                f"<details><summary>{_operations(line)}</summary>"
                f'<pre class="ops">{html.escape(operations)}</pre></details>',
                format_number(line.flops),
                format_bytes(line.moved),
            ]
        )
    return table("lines", ["source", "measured#", "share#", "operations", "FLOPs#", "bytes#"], rows)


def _operations(line: Line) -> str:
    return _count_text(len(line.operations) + line.more, "{count} operation", "{count} operations")


def _memory(lines: Sequence[Line]) -> str:
    if not lines:
        return _muted(say("the traced program was not kept"))
    rows = [
        [
            code(line.text or _location(line)),
            html.escape(_location(line)),
            format_bytes(line.results),
            format_bytes(line.alive),
        ]
        for line in sorted(lines, key=lambda x: x.alive, reverse=True)
    ]
    return table("memory", ["source", "at", "its results#", "in use meanwhile#"], rows)


def _location(line: Line) -> str:
    return f"{line.file}:{line.number}" if line.number else line.file


def table(name: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table of HTML cells; a head that ends in # is over numbers."""
    heads = [say(head) for head in heads]
    kinds = [' class="n"' if h.endswith("#") else "" for h in heads]
    head = "".join([f"<th{k}>{h.rstrip('#')}</th>" for h, k in zip(heads, kinds, strict=True)])
    body = "\n".join(
        "<tr>"
        + "".join([f"<td{k}>{cell}</td>" for cell, k in zip(row, kinds, strict=True)])
        + "</tr>"
        for row in rows
    )
    return f'<table class="{name}"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>'


def code(text: str) -> str:
    """Render text as code."""
    return f"<code>{html.escape(text)}</code>"


def _count_text(n: int, one: str, many: str) -> str:
    return say(one if n == 1 else many, count=f"{n:,}")


def format_seconds(seconds: float) -> str:
    """Format a duration."""
    if seconds >= 0.9995:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms"


def _format_scaled(x: float, base: float, units: Sequence[str]) -> str:
    k = 0
    while x >= base and k < len(units) - 1:
        x /= base
        k += 1
    return f"{x:.3g} {units[k]}".rstrip()


def format_number(x: float) -> str:
    """Format a number with a unit of thousands."""
    return _format_scaled(x, 1000, ("", "k", "M", "G", "T", "P"))


def format_bytes(x: float) -> str:
    """Format a size."""
    return _format_scaled(x, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))
