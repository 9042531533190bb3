"""`sagax lsp` answers an editor over its protocol: the test is the editor."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

BROKEN = """\
import sagax
import sagax.numpy as jnp


@sagax.jit
def huber(x, delta):
    if x < delta:
        return 0.5 * x**2
    return delta * (x - 0.5 * delta)


print(float(huber(jnp.float32(3.0), 1.0)))
"""
HEALTHY = """\
import sagax
import sagax.numpy as jnp


@sagax.jit
def double(x):
    return 2 * x, x.sum()


double(jnp.ones(2))
double(jnp.ones(3))
"""


class Editor:
    """A client of the protocol: JSON with a header of its length."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sagax", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
        )
        self.number = 0
        self.notices: list[dict[str, Any]] = []

    def send(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.number += 1
        self.send(method, params, id=self.number)
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.notices.append(message)

    def notice(self, method):
        """The next notification of that kind."""
        while True:
            for message in self.notices:
                if message.get("method") == method:
                    self.notices.remove(message)
                    return message["params"]
            self.notices.append(self.receive())

    def open(self, path, text):
        path.write_text(text)
        item = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": item})
        return path.as_uri(), self.notice("textDocument/publishDiagnostics")["diagnostics"]

    def change(self, uri, text):
        document = {"uri": uri, "version": 2}
        changes = [{"text": text}]
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        return self.notice("textDocument/publishDiagnostics")["diagnostics"]


@pytest.fixture
def editor(tmp_path):
    client = Editor(tmp_path)
    asked = {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}}
    found = client.ask("initialize", asked)["capabilities"]
    assert set(found["executeCommandProvider"]["commands"]) == {
        "sagax.explain",
        "sagax.compilations",
    }
    client.send("initialized", {})
    yield client
    client.ask("shutdown", None)
    client.send("exit", None)
    assert client.process.wait(timeout=30) == 0
    client.process.stdin.close()
    client.process.stdout.close()


def lines(start, end):
    return {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}


def test_findings_while_typing(editor, tmp_path):
    uri, (found,) = editor.open(tmp_path / "huber.py", BROKEN)
    assert (found["code"], found["severity"]) == ("SX0102", 1)
    start, end = found["range"]["start"], found["range"]["end"]
    assert BROKEN.splitlines()[start["line"]][start["character"] : end["character"]] == "x < delta"
    assert "help:" in found["message"]
    assert editor.change(uri, BROKEN.replace("if x < delta", "if x.ndim < 1")) == []
    assert editor.change(uri, BROKEN.replace("    if x", "    if (x"))[0]["code"] == (
        "invalid-syntax"
    )


def test_columns_count_units_of_utf_16(editor, tmp_path):
    line = "    if x < delta:"
    _, (found,) = editor.open(
        tmp_path / "huber.py", BROKEN.replace(line, '    if "𝛿𝛿" and x < delta:')
    )
    assert found["range"]["start"]["character"] == len("    if ")
    assert found["range"]["end"]["character"] == len('    if "12" and x < delta') + 2


def test_an_explanation_has_proven_fixes(editor, tmp_path):
    uri, _ = editor.open(tmp_path / "huber.py", BROKEN)
    here = {"textDocument": {"uri": uri}, "range": lines(6, 6)}
    before = editor.ask(
        "textDocument/codeAction", {**here, "context": {"diagnostics": [{"range": lines(6, 6), "message": ""}]}}
    )  # fmt: skip
    assert [a["command"]["command"] for a in before] == ["sagax.explain"]
    editor.ask("workspace/executeCommand", {"command": "sagax.explain", "arguments": [uri]})
    (found,) = editor.notice("textDocument/publishDiagnostics")["diagnostics"]
    assert found["source"] == "sagax explain" and "fix (proven): " in found["message"]
    assert found["range"]["start"]["line"] == 6
    actions = editor.ask("textDocument/codeAction", {**here, "context": {"diagnostics": []}})
    best = actions[0]
    assert best["isPreferred"] and best["title"].endswith("(proven)")
    text = BROKEN.splitlines(keepends=True)
    for edit in reversed(best["edit"]["changes"][uri]):
        text[edit["range"]["start"]["line"] : edit["range"]["end"]["line"]] = [edit["newText"]]
    done = subprocess.run(
        [sys.executable, "-c", "".join(text)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "2.5\n"
    assert editor.change(uri, "".join(text)) == []


def test_hovering_shows_compilations(editor, tmp_path):
    uri, found = editor.open(tmp_path / "double.py", HEALTHY)
    assert found == []
    at = {"textDocument": {"uri": uri}, "position": {"line": 5, "character": 6}}
    assert editor.ask("textDocument/hover", at) is None
    asked = {"command": "sagax.compilations", "arguments": [uri]}
    editor.ask("workspace/executeCommand", asked)
    shown = editor.ask("textDocument/hover", at)["contents"]["value"]
    assert "**double** was compiled 2 times" in shown
    assert "(x: float32[2]) -> (float32[2], float32[])" in shown
    assert "because: x: float32[2], then float32[3]" in shown
    elsewhere = {**at, "position": {"line": 0, "character": 0}}
    assert editor.ask("textDocument/hover", elsewhere) is None


def test_a_script_that_fails_is_said(editor, tmp_path):
    uri, _ = editor.open(tmp_path / "bad.py", "import sagax\nraise SystemExit('no data')\n")
    asked = {"command": "sagax.compilations", "arguments": [uri]}
    editor.ask("workspace/executeCommand", asked)
    assert "sagax: 0 functions" in editor.notice("window/showMessage")["message"]
