"""`examples/elastic.py`: a process of four is killed, and three go on from the last checkpoint with the same losses."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
PATIENCE = 300  # seconds, on a machine that does much else
STEPS = 20


def losses_by_numpy(elastic):
    """The losses of the run by formulas, in 64 bits."""
    params = {k: v.astype(np.float64) for k, v in elastic.init_params().items()}
    found = []
    for step in range(STEPS):
        x, y = (a.astype(np.float64) for a in elastic.batch(step))
        hidden = np.tanh(x @ params["hidden"].T)
        error = hidden @ params["out"] - y
        found.append(np.mean(error**2))
        to_error = 2 * error / error.size
        to_hidden = (to_error @ params["out"].T) * (1 - hidden**2)
        params["out"] -= 0.2 * hidden.T @ to_error
        params["hidden"] -= 0.2 * to_hidden.T @ x
    return found


def clean_environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "SAGAX_"))}
    return env | {"PYTHONPATH": str(ROOT / "src"), "JAX_PLATFORMS": "cpu"}


def test_three_processes_go_on_where_four_lost_one(tmp_path, monkeypatch):
    options = [
        "--steps",
        str(STEPS),
        "--lose",
        "2",
        "--at",
        "12",
        "--folder",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "elastic.py"), *options],
        env=clean_environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "process 2 of 4 was lost" in done.stderr
    assert "1 of 4 processes were lost; 3 go on" in done.stderr
    lines = (tmp_path / "run" / "losses.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    # a step may be there twice: computed after the last checkpoint, and again by the three
    assert {r["step"] for r in records if r["devices"] == 4} >= set(range(10))
    assert [r["step"] for r in records if r["devices"] == 3] == list(range(10, STEPS))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import elastic  # pyright: ignore[reportMissingImports]  # of the examples

    expected = losses_by_numpy(elastic)
    for r in records:
        np.testing.assert_allclose(r["loss"], expected[r["step"]], rtol=2e-5)


@pytest.mark.skipif(
    importlib.util.find_spec("orbax") is None,
    reason="orbax is not installed here; `make test-libraries` installs it",
)
def test_orbax_restores_on_three_processes_what_four_saved(tmp_path):
    program = Path(__file__).parent / "programs" / "orbax_processes.py"
    for count, step in ((4, None), (3, 1)):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "sagax", "run", str(program)]
        started = [
            subprocess.Popen(
                [*command, str(i), str(count), str(port), str(tmp_path / "run")],
                env=clean_environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for i in range(count)
        ]
        try:
            outputs = [p.communicate(timeout=PATIENCE) for p in started]
        finally:
            for p in started:
                if p.poll() is None:
                    p.kill()
        assert [p.returncode for p in started] == [0] * count, outputs
        found = [json.loads(output.splitlines()[-1]) for output, _ in outputs]
        assert [f["step"] for f in found] == [step] * count
        rows = np.array([row for f in found for row in f["rows"]])
        expected = np.arange(24).reshape(12, 2) + (0 if step is None else 1)
        np.testing.assert_array_equal(rows, expected)
