"""Records what jax computes for the programs of tests/slicing_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/slicing.py

It rewrites tests/data/slicing.npz: for the case "pad" the results "pad/out/0", "pad/out/1", ...,
their tangents "pad/jvp/...", the cotangents of the operands "pad/vjp/..." (nothing for integers)
and the results with in_axes number k "pad/map k/...". Besides, gathers and scatters of random form:
"random/k/spec" (JSON) with "random/k/x", "/indices", "/updates", "/gather" and "/scatter".
"""

import json
import sys
from pathlib import Path

import jax
import numpy as np
from jax import lax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from slicing_cases import CASES, directions, mapped, on_inexact  # noqa: E402

DATA = TESTS / "data" / "slicing.npz"
RANDOM = 80


def as_list(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def record(found, name, case):
    def fun(*operands):
        return as_list(case.fun(lax, *operands))

    def keep(kind, arrays):
        for i, x in enumerate(arrays):
            if x.dtype != jax.dtypes.float0:
                found[f"{name}/{kind}/{i}"] = np.asarray(x)

    operands = tuple(map(jax.numpy.asarray, case.operands))
    outs = fun(*operands)
    keep("out", outs)
    if case.derivative:
        of_some, values = on_inexact(fun, operands)
        _, tangents = jax.jvp(of_some, values, directions(name, values))
        keep("jvp", tangents)
        _, pull = jax.vjp(of_some, *values)
        keep("vjp", pull(directions(name + "/ct", outs)))
    for k, in_axes in enumerate(case.maps):
        keep(f"map {k}", jax.vmap(fun, in_axes)(*mapped(case, in_axes)))


def random_form(rng):
    """A valid gather or scatter: operand shape, dimension numbers, slice sizes, indices."""
    rank = int(rng.integers(1, 4))
    shape = rng.integers(1, 5, rank).tolist()
    order = rng.permutation(rank)
    batching = sorted(order[: rng.integers(0, rank)].tolist()) if rng.random() < 0.4 else []
    rest = [d for d in range(rank) if d not in batching]
    # a scatter without any index is broken in XLA: at least one dimension is indexed
    index_map = rng.permutation(rest)[: rng.integers(1, len(rest) + 1)].tolist()
    collapsed = sorted(d for d in rest if rng.random() < 0.4)
    sizes = [
        1 if d in batching or d in collapsed else int(rng.integers(1, shape[d] + 1))
        for d in range(rank)
    ]
    leading = [("free", int(n)) for n in rng.integers(1, 4, rng.integers(0, 3))]
    leading += [("batching", i) for i in range(len(batching))]
    leading = [leading[i] for i in rng.permutation(len(leading))]
    lengths = [n if what == "free" else shape[batching[n]] for what, n in leading]
    along = [leading.index(("batching", i)) for i in range(len(batching))]
    window = rank - len(batching) - len(collapsed)
    offsets = sorted(rng.permutation(len(lengths) + window)[:window].tolist())
    spec = {
        "numbers": [offsets, collapsed, index_map, batching, along],
        "sizes": sizes,
        "mode": str(rng.choice(["clip", "fill", "promise_in_bounds"])),
        "op": str(rng.choice(["scatter", "scatter_add", "scatter_sub", "scatter_max"])),
    }
    dtype = rng.choice(["int8", "uint8", "int32", "uint32"])
    indices = rng.integers(-2, 6, (*lengths, len(index_map))).astype(dtype)
    x = (rng.integers(-40, 40, shape) / 4).astype(rng.choice(["float32", "int32", "float16"]))
    return spec, x, indices


def record_random(found):
    rng = np.random.default_rng(7)
    for k in range(RANDOM):
        spec, x, indices = random_form(rng)
        numbers = spec["numbers"]
        taken = lax.gather(
            x, indices, lax.GatherDimensionNumbers(*map(tuple, numbers)), spec["sizes"],
            mode=spec["mode"],
        )  # fmt: skip
        updates = (rng.integers(-40, 40, taken.shape) / 4).astype(x.dtype)
        scattered = getattr(lax, spec["op"])(
            x, indices, updates, lax.ScatterDimensionNumbers(*map(tuple, numbers)),
            mode=spec["mode"],
        )  # fmt: skip
        arrays = {
            "spec": np.array(json.dumps(spec)), "x": x, "indices": indices, "updates": updates,
            "gather": taken, "scatter": scattered,
        }  # fmt: skip
        found.update({f"random/{k}/{name}": np.asarray(v) for name, v in arrays.items()})


def main():
    found = {}
    for name, case in CASES.items():
        try:
            record(found, name, case)
        except Exception as error:
            raise RuntimeError(f"case {name!r}") from error
    record_random(found)
    np.savez_compressed(DATA, **found)
    print(f"{len(CASES)} cases, {len(found)} arrays, {DATA.stat().st_size} bytes")


if __name__ == "__main__":
    main()
