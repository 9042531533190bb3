"""Record the jaxprs of sparse functions and the results of sparse primitives: tests/data/sparse_primitives.json.

Run it with a Python that has jax: `python tests/oracle/sparse_primitives.py`.
"""

from __future__ import annotations

import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import sparse_cases  # noqa: E402


def main():
    found, bound = {}, {}
    for name, (fun, *args) in sparse_cases.functions(jnp, sparse).items():
        found[name] = sparse_cases.equations(jax.make_jaxpr(fun)(*args))
    for name, (args, params) in sparse_cases.binds(jnp, sparse).items():
        if "index_dtype" in params:
            params = {**params, "index_dtype": np.dtype(params["index_dtype"])}
        p = getattr(sparse, f"{name}_p")
        out = p.bind(*args, **params)
        outs = out if p.multiple_results else [out]
        bound[name] = [[str(x.dtype), np.asarray(x).tolist()] for x in outs]
    path = HERE.parent / "data" / "sparse_primitives.json"
    data = {"jax": jax.__version__, "jaxprs": found, "binds": bound}
    path.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
