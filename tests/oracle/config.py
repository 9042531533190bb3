"""Records the options that jax has, with their defaults, for tests/test_config.py.

Run with an interpreter that has jax 0.12 and without JAX_* variables, from any folder:

    python tests/oracle/config.py

It rewrites tests/data/config.json.
"""

import enum
import json
from pathlib import Path

import jax
from jax._src.config import State

DATA = Path(__file__).resolve().parents[1] / "data" / "config.json"


def plain(value: object) -> object:
    return value.name.lower() if isinstance(value, enum.Enum) else value


def main() -> None:
    record = {
        "jax": jax.__version__,
        "defaults": {name: plain(value) for name, value in sorted(jax.config.values.items())},
        "contexts": sorted(name for name in dir(jax) if isinstance(getattr(jax, name), State)),
    }
    DATA.write_text(json.dumps(record, indent=0) + "\n")


if __name__ == "__main__":
    main()
