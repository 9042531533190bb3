"""Records what jax gives for the calls in tests/image_cases.py, in tests/data/image.npz.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/image.py
"""

import sys
from pathlib import Path

import jax
import jax.scipy.ndimage
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from image_cases import cases  # noqa: E402

if __name__ == "__main__":
    found = {name: np.asarray(call()) for name, call in cases(jax)}
    np.savez_compressed(TESTS / "data" / "image.npz", **found)
    print(len(found), "cases")
