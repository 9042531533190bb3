"""Records what jax computes for the random programs of tests/composed_programs.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/compositions.py

It rewrites tests/data/compositions.npz: for each program and transformation "seed name i", the i-th result, or
"seed name error", the type of what jax raises.
"""

import sys
import warnings
from pathlib import Path

import jax
import jax.ad_checkpoint
import jax.lax
import jax.numpy
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from composed_programs import SEEDS, looks, results  # noqa: E402

DATA = TESTS / "data" / "compositions.npz"


def recorded(seed, name):
    """The entries of one program under one transformation."""
    try:
        found = results(jax, seed, name)
    except (TypeError, ValueError) as error:
        return {f"{seed} {name} error": np.array(type(error).__name__)}
    return {f"{seed} {name} {i}": x for i, x in enumerate(found)}


def main():
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    entries = {}
    for seed in SEEDS:
        for name in looks(seed):
            entries.update(recorded(seed, name))
    np.savez_compressed(DATA, **entries)
    print(f"{len(entries)} entries in {DATA}")


if __name__ == "__main__":
    main()
