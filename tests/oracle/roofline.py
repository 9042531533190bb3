"""Record the rooflines that jax counts: tests/data/roofline.json.

Run it with a Python that has jax: `python tests/oracle/roofline.py`.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys

import jax
import numpy as np
from jax.experimental import roofline
from jax.sharding import AbstractMesh, AxisType

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import roofline_cases  # noqa: E402


def counted(result):
    return {k: v for k, v in dataclasses.asdict(result).items() if v}


def main():
    found = {}
    for name, (fun, shapes, options) in roofline_cases.cases(np, jax).items():
        args = [jax.ShapeDtypeStruct(s, np.dtype(jax.numpy.dtype(d))) for s, d in shapes]
        out, result = roofline.roofline(fun, **options)(*args)
        shapes = [[list(x.shape), str(x.dtype)] for x in jax.tree.leaves(out)]
        found[name] = {"out": shapes, "counts": counted(result)}
    sizes = roofline_cases.AXES
    mesh = AbstractMesh(
        tuple(sizes.values()), tuple(sizes), axis_types=(AxisType.Auto,) * len(sizes)
    )
    over_mesh = {}
    functions, (shape, dtype) = roofline_cases.sharded(jax)
    for name, (fun, in_specs, out_specs) in functions.items():
        x = jax.ShapeDtypeStruct(shape, dtype)
        out, result = roofline.roofline(fun, mesh, in_specs, out_specs)(x)
        over_mesh[name] = {"out": list(out.shape), "counts": counted(result)}
        try:
            x = jax.ShapeDtypeStruct(shape, jax.numpy.bfloat16)
            _, first, both = roofline.roofline_and_grad(fun, mesh, in_specs, out_specs)(x)
            over_mesh[name]["grad"] = [counted(first), counted(both)]
        except Exception as e:
            over_mesh[name]["grad"] = type(e).__name__
    path = HERE.parent / "data" / "roofline.json"
    data = {"jax": jax.__version__, "cases": found, "mesh": over_mesh}
    path.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
