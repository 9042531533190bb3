"""Write edits into the user's files: only into the proven text, and all at once."""

from __future__ import annotations

import difflib
import io
import os
import re
import tempfile
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence

from sagax._src.diagnostics.edits import apply
from sagax._src.diagnostics.model import Edit

_LINE_END = re.compile(r"\r\n|\r|\n")


class ChangedFileError(Exception):
    """A file is not as it was when its fix was tried."""


def rewrite(edits: Sequence[Edit], texts: Mapping[str, str]) -> list[str]:
    """Apply edits to files, and return the files.

    `texts` holds the text of each file that the edits were tried on, with `\\n` for line ends. Encoding, line
    ends, permissions and symbolic links stay. Raises ChangedFileError, and writes nothing, if a file
    has another text by now; OSError if a file cannot be written.
    """
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.span.file, []).append(edit)
    written = {file: _edited(file, found, texts.get(file)) for file, found in by_file.items()}
    for file, data in written.items():
        _replace(os.path.realpath(file), data)
    return list(written)


def _edited(file: str, edits: Sequence[Edit], expected: str | None) -> bytes:
    with open(file, "rb") as handle:
        data = handle.read()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = data.decode(encoding)
    ends = _LINE_END.findall(text)
    plain = _LINE_END.sub("\n", text)
    if expected is not None and plain != expected:
        raise ChangedFileError(f"{file} was changed since the fix was tried, so nothing is written")
    changed = apply(plain, edits)
    return _with_line_ends(plain.split("\n"), ends, changed.split("\n")).encode(encoding)


def _with_line_ends(old: Sequence[str], ends: Sequence[str], new: Sequence[str]) -> str:
    """Give unchanged lines their old ends, and the others the commonest one."""
    commonest = Counter(ends).most_common(1)[0][0] if ends else "\n"
    found = [commonest] * len(new)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for start, at, length in matcher.get_matching_blocks():
        for i in range(length):
            if start + i < len(ends):
                found[at + i] = ends[start + i]
    return "".join(line + end for line, end in zip(new[:-1], found, strict=False)) + new[-1]


def _replace(file: str, data: bytes) -> None:
    """Replace a file by a rename, so that no reader sees a part of it."""
    handle, new = tempfile.mkstemp(dir=os.path.dirname(file), prefix=".sagax-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(new, os.stat(file).st_mode & 0o7777)
        os.replace(new, file)
    except BaseException:
        os.unlink(new)
        raise
