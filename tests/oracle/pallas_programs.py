"""Record what jax's interpreter gives for `pallas_programs.py`: python tests/oracle/pallas_programs.py (with jax 0.12)."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jax  # noqa: E402
import jax.experimental.pallas as pl  # noqa: E402
import jax.experimental.pallas.tpu  # noqa: E402
import jax.experimental.pallas.triton  # noqa: E402
import jax.numpy  # noqa: E402
import numpy as np  # noqa: E402

from pallas_programs import programs  # noqa: E402


def main() -> None:
    found = {
        f"{name}.{i}": np.asarray(x)
        for name, program in programs(jax, pl, interpret=True).items()
        for i, x in enumerate(jax.tree.leaves(program()))
    }
    np.savez_compressed(HERE.parent / "data" / "pallas_programs.npz", **found)


if __name__ == "__main__":
    main()
