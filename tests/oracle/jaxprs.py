"""Records the text of jax's jaxprs for `jaxpr_cases.py`: python tests/oracle/jaxprs.py (with jax 0.12)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jax  # noqa: E402
import jax.numpy  # noqa: E402

from jaxpr_cases import cases  # noqa: E402


def main() -> None:
    texts = {name: str(jax.make_jaxpr(f)(*args)) for name, (f, args) in cases(jax).items()}
    path = HERE.parent / "data" / "jaxprs.json"
    path.write_text(json.dumps({"jax": jax.__version__, "texts": texts}, indent=1) + "\n")


if __name__ == "__main__":
    main()
