"""Records what jax computes for the cases of tests/lax_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/lax.py [PATTERN]

With a regular expression only the cases that it finds are recorded anew, and those not recorded yet. It rewrites tests/data/lax.npz: "index", a JSON text with an entry for each case: a list with
[dtype, shape, weak type, first byte] of each result, or the name of the error's type; and "bytes", the
results' bytes one after the other.
"""

import json
import re
import sys
import warnings
from pathlib import Path

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from lax_cases import CASES  # noqa: E402

DATA = TESTS / "data" / "lax.npz"


def recorded(case, whole):
    """The entry of a case; the bytes of its results are added to `whole`."""
    try:
        operands = [jnp.asarray(x) if isinstance(x, np.ndarray) else x for x in case.operands]
        outs = jax.tree.leaves(case.fun(lax, *operands))
        arrays = [np.asarray(x) for x in outs]
    except (TypeError, ValueError, NotImplementedError) as error:
        return type(error).__name__
    entry = []
    for out, x in zip(outs, arrays, strict=True):
        entry.append([str(x.dtype), list(x.shape), bool(out.weak_type), len(whole)])
        whole += np.ascontiguousarray(x).tobytes()
    return entry


def kept(pattern):
    """What is recorded already of cases that `pattern` does not find: their entries, and all bytes."""
    if pattern is None:
        return {}, b""
    with np.load(DATA) as data:
        index = json.loads(data["index"].tobytes())
        return {k: v for k, v in index.items() if not re.search(pattern, k)}, data[
            "bytes"
        ].tobytes()


def moved(entry, before, whole):
    """An entry recorded earlier, its bytes appended to `whole`."""
    if isinstance(entry, str):
        return entry
    out = []
    for dtype, shape, weak, first in entry:
        size = int(np.prod(shape, dtype=int)) * jnp.dtype(dtype).itemsize
        out.append([dtype, shape, weak, len(whole)])
        whole += before[first : first + size]
    return out


def main():
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    whole = bytearray()
    index = {}
    old, before = kept(sys.argv[1] if len(sys.argv) > 1 else None)
    for name, case in CASES.items():
        if name in old:
            index[name] = moved(old[name], before, whole)
            continue
        try:
            index[name] = recorded(case, whole)
        except Exception as error:
            raise RuntimeError(f"case {name!r}") from error
    text = np.frombuffer(json.dumps(index, separators=(",", ":")).encode(), np.uint8)
    np.savez_compressed(DATA, index=text, bytes=np.frombuffer(bytes(whole), np.uint8))
    failed = [name for name, entry in index.items() if isinstance(entry, str)]
    print(f"{len(index)} cases, {len(whole)} bytes of results, {DATA.stat().st_size} bytes")
    print("errors:", *failed, sep="\n  ")


if __name__ == "__main__":
    main()
