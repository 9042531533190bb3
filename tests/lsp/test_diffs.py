"""Diffs of fixes become edits, for the text that they were made for only."""

import difflib

from sagax._lsp.diffs import replacements

OLD = "a = 1\nb = 2\nc = 3\nd = 4\n"


def applied(text, diff):
    lines = text.splitlines(keepends=True)
    for start, end, new in reversed(replacements(diff, text)):
        lines[start:end] = [new]
    return "".join(lines)


def test_a_diff_becomes_the_new_text():
    for new in (
        OLD.replace("b = 2\n", ""),
        OLD + "e = 5\n",
        "x\n" + OLD,
        OLD.replace("2", "--- 9"),
    ):
        for context in (0, 3):
            rows = difflib.unified_diff(
                OLD.splitlines(), new.splitlines(), "f", "f", n=context, lineterm=""
            )
            assert applied(OLD, "\n".join(rows)) == new


def test_another_text_is_refused():
    diff = "--- f\n+++ f\n@@ -2,1 +2,1 @@\n-b = 2\n+b = 5\n"
    assert applied(OLD, diff) == OLD.replace("2", "5")
    assert replacements(diff, "\n" + OLD) is None
