"""Answer an editor: findings while typing, explanations and compilations on demand.

Texts are checked without being run. Only the commands `sagax.explain` and `sagax.compilations` run the saved script,
in another process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import sagax
from sagax._check.check import check
from sagax._check.files import read_text
from sagax._check.findings import Finding, is_warning
from sagax._lsp import programs
from sagax._lsp.diffs import replacements
from sagax._src.languages.arguments import localize

__all__ = ["create"]

_GRADES = {"proven": 0, "ran": 1, "suggested": 2}
EXPLAIN, COMPILATIONS = "sagax.explain", "sagax.compilations"


class Known:
    """Hold what runs told of one document: its last explanation, and the functions that its script compiled."""

    def __init__(self) -> None:
        self.explained: list[dict[str, Any]] = []
        self.compiled: list[dict[str, Any]] = []


def create() -> LanguageServer:
    """Create a server; `start_io` serves standard input and output."""
    server = LanguageServer("sagax", sagax.__version__)
    known: dict[str, Known] = {}

    def publish(uri: str) -> None:
        text = server.workspace.get_text_document(uri).source
        lines = text.splitlines()
        found = [_diagnostic(f, lines) for f in _findings(uri, text)]
        for one in known.get(uri, Known()).explained:
            diagnostic = _explained(one, uri, lines)
            if diagnostic is not None:
                found = [d for d in found if not _same(d, diagnostic)]
                found.append(diagnostic)
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found)
        )

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _opened(params: types.DidOpenTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _changed(params: types.DidChangeTextDocumentParams) -> None:
        known.pop(params.text_document.uri, None)  # its lines have moved
        publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        known.pop(uri, None)
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
        )

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def _actions(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        uri = params.text_document.uri
        text = server.workspace.get_text_document(uri).source
        explained = known.get(uri, Known()).explained
        found: list[types.CodeAction | types.Command] = [
            action
            for one in explained
            if _meets(_range(one["primary"], text.splitlines()), params.range)
            for action in _fixes(one, uri, text)
        ]
        if not explained and params.context.diagnostics:
            command = types.Command(
                "Explain: run the script and try fixes", EXPLAIN, arguments=[uri]
            )
            found.append(
                types.CodeAction(command.title, kind=types.CodeActionKind.QuickFix, command=command)
            )
        return found

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        compiled = known.get(uri, Known()).compiled
        if not compiled:
            return None
        document = server.workspace.get_text_document(uri)
        word = document.word_at_position(params.position)
        line = params.position.line + 1
        text = "\n\n".join(_compiled_text(f) for f in _functions_at(compiled, document, word, line))
        if not text:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    async def run(uri: str, what: str) -> None:
        path = _path(uri)
        entry = known.setdefault(uri, Known())
        try:
            if what == EXPLAIN:
                found = await programs.explain(path)
                entry.explained = [] if found is None else [found, *found.get("others", [])]
                entry.explained = [one for one in entry.explained if one.get("primary")]
                message = "nothing to explain" if found is None else found["headline"]
            else:
                entry.compiled = await programs.compilations(path)
                message = f"{len(entry.compiled)} functions were compiled: hover over them"
        except programs.RunError as error:
            message = str(error)
        server.window_show_message(
            types.ShowMessageParams(types.MessageType.Info, f"sagax: {message}")
        )
        publish(uri)

    @server.command(EXPLAIN)
    async def _explain(uri: str) -> None:
        await run(uri, EXPLAIN)

    @server.command(COMPILATIONS)
    async def _compilations(uri: str) -> None:
        await run(uri, COMPILATIONS)

    return server


def _path(uri: str) -> str:
    return unquote(urlparse(uri).path)


# --- findings of the source ------------------------------------------------------------------------------


def _findings(uri: str, text: str) -> list[Finding]:
    if "jax" not in text and "sagax" not in text:
        return []
    return check(read_text(_path(uri), text.encode()))


def _position(lines: list[str], line: int, column: int) -> types.Position:
    """Return the position of a column in characters: the protocol counts units of UTF-16."""
    before = lines[line][:column] if line < len(lines) else ""
    return types.Position(line, column + sum(c > "\uffff" for c in before))


def _diagnostic(finding: Finding, lines: list[str]) -> types.Diagnostic:
    message = localize(finding.message)
    if finding.help:
        message += f"\n{localize('help')}{localize(': ')}{localize(finding.help)}"
    return types.Diagnostic(
        range=types.Range(
            _position(lines, finding.line - 1, finding.column),
            _position(lines, finding.end_line - 1, finding.end_column),
        ),
        message=message,
        severity=types.DiagnosticSeverity.Warning
        if is_warning(finding.code)
        else types.DiagnosticSeverity.Error,
        code=finding.code,
        source="sagax",
    )


# --- explanations ----------------------------------------------------------------------------------------


def _range(span: dict[str, Any], lines: list[str]) -> types.Range:
    line = span["line"] - 1
    end_line = (span.get("end_line") or span["line"]) - 1
    start = span.get("column") or 0
    end = span.get("end_column")
    if end is None:
        end = len(lines[end_line]) if end_line < len(lines) else start + 1
    return types.Range(_position(lines, line, start), _position(lines, end_line, end))


def _explained(one: dict[str, Any], uri: str, lines: list[str]) -> types.Diagnostic | None:
    if one["primary"]["file"] != _path(uri):
        return None
    parts = [localize(one["headline"])]
    if one.get("depends"):
        parts.append(f"{localize('depends on')}{localize(': ')}" + ", ".join(one["depends"]))
    parts += [
        f"{localize('note')}{localize(': ')}{localize(note)}" for note in one.get("notes", ())
    ]
    parts += [
        f"{localize('fix')} ({localize(s['grade'])}){localize(': ')}{localize(s['title'])}"
        for s in _ordered(one)
    ]
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(f"file://{step['file']}", _step_range(step)),
            f"{step['op']}: {step['aval']}",
        )
        for step in one.get("chain", ())
        if step.get("file")
    ]
    warning = one.get("severity") == "warning"
    return types.Diagnostic(
        range=_range(one["primary"], lines),
        message="\n".join(parts),
        severity=types.DiagnosticSeverity.Warning if warning else types.DiagnosticSeverity.Error,
        code=one["code"],
        source="sagax explain",
        related_information=related or None,
    )


def _step_range(step: dict[str, Any]) -> types.Range:
    line, column = step["line"] - 1, step.get("column") or 0
    end = column + len(step.get("text") or " ")
    return types.Range(types.Position(line, column), types.Position(line, end))


def _ordered(one: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(one.get("suggestions", ()), key=lambda s: _GRADES.get(s.get("grade", ""), 3))


def _fixes(one: dict[str, Any], uri: str, text: str) -> Iterator[types.CodeAction]:
    diagnostic = _explained(one, uri, text.splitlines())
    for fix in _ordered(one):
        changes = replacements(fix.get("diff") or "", text)
        if not changes:
            continue
        edits: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = [
            types.TextEdit(
                types.Range(types.Position(c.start, 0), types.Position(c.end, 0)), c.text
            )
            for c in changes
        ]
        yield types.CodeAction(
            f"{fix['title']} ({fix['grade']})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=None if diagnostic is None else [diagnostic],
            is_preferred=fix["grade"] == "proven" and not fix.get("allows"),
            edit=types.WorkspaceEdit(changes={uri: edits}),  # type: ignore[arg-type]
        )


def _same(found: types.Diagnostic, explained: types.Diagnostic) -> bool:
    return found.code == explained.code and found.range.start.line == explained.range.start.line


def _meets(a: types.Range, b: types.Range) -> bool:
    return a.start.line <= b.end.line and b.start.line <= a.end.line


# --- compiled functions ----------------------------------------------------------------------------------


def _functions_at(
    compiled: list[dict[str, Any]], document: Any, word: str, line: int
) -> list[dict[str, Any]]:
    """Return the functions of this file with that name, or whose definition begins on that line."""
    path = _path(document.uri)
    here = [f for f in compiled if f["file"] == path]
    starts = _definition_starts(document.source)
    first = starts.get(line, line)
    named = [f for f in here if word and f["name"].rpartition(".")[2] == word]
    return named or [f for f in here if f["line"] == first]


def _definition_starts(text: str) -> dict[int, int]:
    """Map the line of each `def` to the first line of its decorators, where code objects begin."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return {
        node.lineno: min([node.lineno, *[d.lineno for d in node.decorator_list]])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _compiled_text(function: dict[str, Any]) -> str:
    times = function["times"]
    rows = [f"**{function['name']}** was compiled {times} time{'s' if times != 1 else ''}"]
    for one in function["compilations"]:
        arguments = ", ".join(f"{name}: {kind}" for name, kind in one["arguments"].items())
        results = ", ".join(one["results"])
        rows.append(
            f"- `({arguments}) -> ({results})` in {one['seconds']:.2f} s; because: {one['cause']}"
        )
    return "\n".join(rows)
