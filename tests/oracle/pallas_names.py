"""Record the public names of jax's Pallas modules: python tests/oracle/pallas_names.py (with jax 0.12)."""

from __future__ import annotations

import importlib
import json
import types
import warnings
from pathlib import Path

MODULES = ("", ".tpu", ".tpu_sc", ".triton", ".mosaic_gpu")


def main() -> None:
    found = {}
    warnings.simplefilter("ignore")
    for module in MODULES:
        known = importlib.import_module(f"jax.experimental.pallas{module}")
        names = {*dir(known), *getattr(known, "_deprecations", {})}
        found[module] = sorted(
            n
            for n in names
            if not n.startswith("_")
            and hasattr(known, n)
            and not isinstance(getattr(known, n), types.ModuleType)
        )
    path = Path(__file__).resolve().parent.parent / "data" / "pallas_names.json"
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
