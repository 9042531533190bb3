"""`python -m sagax explain` on Pallas kernels: it runs them in the checking interpreter, too."""

from __future__ import annotations

import json
import textwrap

HEAD = """
import sagax
import sagax.numpy as snp
from sagax.experimental import pallas as pl

spec = pl.BlockSpec((4,), lambda i: (i,))
out = sagax.ShapeDtypeStruct((8,), snp.float32)
"""


def explained(run_python, tmp_path, body, status):
    program = tmp_path / "program.py"
    program.write_text(HEAD + textwrap.dedent(body))
    done = run_python("-m", "sagax", "explain", "--once", "--json", program, status=status)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]


def test_a_read_of_unwritten_memory_is_found(run_python, tmp_path):
    rows = explained(
        run_python,
        tmp_path,
        """
        def add_up(x_ref, o_ref):
            o_ref[...] += x_ref[...]

        f = pl.pallas_call(add_up, out, grid=(2,), in_specs=[spec], out_specs=spec)
        print(sagax.jit(f)(snp.arange(8.0)))
        """,
        1,
    )
    (found,) = [row for row in rows if row.get("code") == "SX0132"]
    assert found["error"] == "KernelCheckError"
    assert "program (0,) of add_up reads 4 elements of outputs" in found["message"]


def test_a_healthy_kernel_has_no_finding(run_python, tmp_path):
    rows = explained(
        run_python,
        tmp_path,
        """
        def total(x_ref, o_ref, acc_ref):
            @pl.when(pl.program_id(0) == 0)
            def _():
                acc_ref[...] = snp.zeros_like(acc_ref)

            acc_ref[...] += x_ref[...]
            o_ref[...] = acc_ref[...]

        f = pl.pallas_call(
            total, out, grid=(2,), in_specs=[spec], out_specs=spec,
            scratch_shapes=[pl.ANY((4,), snp.float32)],
        )
        print(f(snp.arange(8.0)))
        """,
        0,
    )
    assert rows == []
