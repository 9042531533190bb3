"""Records what jax computes for the programs of tests/convolution_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/convolution.py

It rewrites tests/data/convolution.npz: the cases in the form that tests/oracle/slicing.py describes.
Besides, convolutions and windows of random form: "conv/k/spec" and "window/k/spec" (JSON) with the
result "/out" and the cotangents of the operands, "/ct/0" and "/ct/1" (none where jax has no rule:
extrema of dilated windows, and of windows with negative padding).
"""

import json
import random
import sys
from pathlib import Path

import jax
import numpy as np
from jax import lax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
sys.path.insert(0, str(TESTS / "oracle"))

from slicing import record  # noqa: E402

from convolution_cases import (  # noqa: E402
    CONVOLUTION,
    FOURIER,
    VARIANTS,
    WINDOWS,
    random_convolution,
    random_window,
)
from slicing_cases import directions  # noqa: E402

DATA = TESTS / "data" / "convolution.npz"
RANDOM = 60


def arranged(rng, letters, sizes):
    """A random order of dimensions: its name, and the shape."""
    order = rng.sample(range(len(letters)), len(letters))
    return "".join(letters[i] for i in order), [sizes[i] for i in order]


def sliding(rng, n):
    return {
        "strides": [rng.randint(1, 3) for _ in range(n)],
        "padding": [[rng.randint(-1, 3), rng.randint(-1, 3)] for _ in range(n)],
    }, [[rng.choice((1, 1, 2, 3)) for _ in range(n)] for _ in range(2)]


def convolution_spec(rng):
    n = rng.choice((0, 1, 1, 2, 2, 3))
    features, batches = rng.choice(((1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)))
    spatial = "DHW"[:n]
    inputs, outputs = rng.randint(1, 2), rng.randint(1, 2) * features * batches
    examples = rng.randint(1, 2) * batches
    lhs_layout, lhs = arranged(
        rng, "NC" + spatial, [examples, inputs * features, *(rng.randint(1, 5) for _ in spatial)]
    )
    rhs_layout, rhs = arranged(
        rng, "OI" + spatial, [outputs, inputs, *(rng.randint(1, 3) for _ in spatial)]
    )
    out_layout, _ = arranged(rng, "NC" + spatial, [0] * (n + 2))
    spec, (lhs_dilation, rhs_dilation) = sliding(rng, n)
    return spec | {
        "lhs": lhs, "rhs": rhs, "layout": [lhs_layout, rhs_layout, out_layout],
        "lhs_dilation": lhs_dilation, "rhs_dilation": rhs_dilation,
        "features": features, "batches": batches,
    }  # fmt: skip


def window_spec(rng):
    n = rng.choice((1, 1, 2, 3))
    spec, (base, window) = sliding(rng, n)
    return spec | {
        "op": rng.choice(("add", "max", "min")),
        "shape": [rng.randint(1, 6) for _ in range(n)],
        "sizes": [rng.randint(1, 3) for _ in range(n)],
        "base_dilation": base,
        "window_dilation": window if rng.random() < 0.5 else [1] * n,
    }


def record_random(found, kind, make_spec, program):
    rng = random.Random(kind)
    k = 0
    while k < RANDOM:
        spec = make_spec(rng)
        with_lax, operands = program(spec)
        name = f"{kind}/{k}"
        fun = jax.jit(with_lax(lax))
        try:
            out = fun(*operands)
        except ValueError as error:
            assert "egative" in str(error), error  # so much padding is negative
            continue
        if out.size == 0 and k % 10:
            continue
        found[f"{name}/spec"] = np.array(json.dumps(spec))
        found[f"{name}/out"] = np.asarray(out)
        try:
            cts = jax.vjp(fun, *operands)[1](directions(name, [out])[0])
        except (NotImplementedError, TypeError):
            assert kind == "window" and spec["op"] != "add"
        else:
            found.update({f"{name}/ct/{i}": np.asarray(ct) for i, ct in enumerate(cts)})
        k += 1


def main():
    found = {}
    for cases in (CONVOLUTION, VARIANTS, WINDOWS, FOURIER):
        for name, case in cases.items():
            try:
                record(found, name, case)
            except Exception as error:
                raise RuntimeError(f"case {name!r}") from error
    record_random(found, "conv", convolution_spec, random_convolution)
    record_random(found, "window", window_spec, random_window)
    np.savez_compressed(DATA, **found)
    print(f"{len(found)} arrays, {DATA.stat().st_size} bytes")


if __name__ == "__main__":
    main()
