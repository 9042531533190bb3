"""Test the command line: help, version, exit statuses, completion."""

import shutil
import subprocess

import pytest

import sagax
import sagax.__main__ as command
from sagax._completion import SHELLS


def test_without_arguments_help_is_shown(capsys: pytest.CaptureFixture[str]):
    assert command.main([]) == 0
    text = capsys.readouterr().out
    for name in ("run", "report", "explain", "check", "doctor", "cache", "lsp", "completion"):
        assert f"\n    {name} " in text
    assert "exit status:" in text


def test_version(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        command.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"sagax {sagax.__version__}\n"


@pytest.mark.parametrize(
    "name", ["run", "report", "explain", "check", "doctor", "cache", "lsp", "completion"]
)
def test_help_describes_each_argument(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        command.main([name, "--help"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    for i, line in enumerate(lines):
        word = line.strip()
        if line.startswith("  ") and not line.startswith("   ") and " " not in word:
            assert lines[i + 1].startswith("      "), f"{word} of {name} has no help"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["nothing"], 2),
        (["run"], 2),
        (["run", "no_such_file.py"], 2),
        (["completion", "tcsh"], 2),
        (["explain", "SX9999"], 2),
        (["explain", "SX0103"], 0),
        (["check", "no_such_file.py"], 2),
        (["report", "no_such_file.html", "no_such_file.html"], 2),
    ],
)
def test_exit_status(arguments: list[str], status: int):
    try:
        found = command.main(arguments)
    except SystemExit as ended:
        found = ended.code
    assert found == status


@pytest.mark.parametrize("shell", SHELLS)
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]):
    assert command.main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "explain" in text and "output-format" in text
    program = shutil.which(shell)
    if program:
        assert subprocess.run([program, "-n"], input=text, text=True).returncode == 0


def test_bash_completes_commands_and_options(capsys: pytest.CaptureFixture[str]):
    program = shutil.which("bash")
    if program is None:
        pytest.skip("bash is not installed")
    command.main(["completion", "bash"])
    text = capsys.readouterr().out

    def completed(*words: str) -> list[str]:
        line = f"{text}\nCOMP_WORDS=(sagax {' '.join(words)})\nCOMP_CWORD={len(words)}\n_sagax\n"
        line += 'printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run([program, "-c", line], capture_output=True, text=True, cwd="/")
        return done.stdout.split()

    assert completed("exp") == ["explain"]
    assert completed("check", "--sel") == ["--select"]
    assert "--clear" in completed("cache", "--")
