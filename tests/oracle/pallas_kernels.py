"""Record what jax's interpreter gives for `pallas_cases.py`: python tests/oracle/pallas_kernels.py (with jax 0.12)."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jax  # noqa: E402
import jax.experimental.pallas as pl  # noqa: E402
import jax.numpy  # noqa: E402
import numpy as np  # noqa: E402

from pallas_cases import outputs  # noqa: E402


def main() -> None:
    np.savez_compressed(HERE.parent / "data" / "pallas_kernels.npz", **outputs(jax, pl, True))


if __name__ == "__main__":
    main()
