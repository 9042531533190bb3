"""Record what jax gives for random kernels, interpreted: python tests/oracle/pallas_kernels.py (with jax 0.12)."""

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

import pallas_cases  # noqa: E402
import pallas_rich_cases  # noqa: E402


def main() -> None:
    found = {**pallas_cases.outputs(jax, pl, True), **pallas_rich_cases.outputs(jax, pl, True)}
    np.savez_compressed(HERE.parent / "data" / "pallas_kernels.npz", **found)


if __name__ == "__main__":
    main()
