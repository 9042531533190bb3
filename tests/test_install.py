"""Test what `make demo` shows while pip installs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("install", ROOT / "scripts" / "install.py")
assert spec and spec.loader
install = importlib.util.module_from_spec(spec)
spec.loader.exec_module(install)


def test_a_long_command_is_told_again_and_again(capsys):
    status = install.run(
        [sys.executable, "-c", "import time; time.sleep(1); raise SystemExit(3)"],
        lambda: "12 MB",
        every=0.2,
    )
    assert status == 3
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 2 and all(line.endswith(" s: 12 MB") for line in lines)


def test_a_user_hears_something_in_each_ten_seconds():
    assert install.EVERY < 10


def test_sizes_of_files_add_up(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "one").write_bytes(b"x" * 100)
    (tmp_path / "folder" / "two").write_bytes(b"x" * 20)
    assert install.size(str(tmp_path)) == 120
