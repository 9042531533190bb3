"""Record what jax gives for the cases of hijax_cases.py: tests/data/hijax.json.

Run it with a Python that has jax: `python tests/oracle/hijax.py`.
"""

from __future__ import annotations

import json
import pathlib
import sys

import jax
import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from hijax_cases import cases  # noqa: E402


def recorded(found):
    if isinstance(found, str):
        return found
    return [np.asarray(x).tolist() for x in jax.tree.leaves(found)]


def main():
    found = {"jax": jax.__version__}
    for name, case in cases(jax).items():
        found[name] = recorded(case())
    path = HERE.parent / "data" / "hijax.json"
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
