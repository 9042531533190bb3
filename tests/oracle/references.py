"""Records what jax's references do for `reference_cases.py`: python tests/oracle/references.py (with jax 0.12)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jax  # noqa: E402
import jax.numpy  # noqa: E402
import jax.ref  # noqa: E402

from reference_cases import texts, values  # noqa: E402


def main() -> None:
    record = {"jax": jax.__version__, "texts": texts(jax), "values": values(jax)}
    path = HERE.parent / "data" / "references.json"
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
