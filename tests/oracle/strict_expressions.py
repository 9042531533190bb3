"""Records which recorded expressions of jax.numpy jax refuses under strict settings of users.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/strict_expressions.py [SETTING ...]

It rewrites tests/data/strict_expressions.json, or what it says of some settings: for each setting those of the expressions of numpy_cases.py and
numpy_rest_cases.py that give a result by default, and an error under the setting: they promote ranks or dtypes themselves, or
give NaNs. Under `pytest --user-settings` all others must give what they give by default.
"""

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # what matters is the time of compiling

import jax
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import numpy_rest_cases as rest  # noqa: E402
from numpy_cases import CREATION, METHODS  # noqa: E402

SETTINGS = {
    "rank": ("jax_numpy_rank_promotion", "raise"),
    "dtype": ("jax_numpy_dtype_promotion", "strict"),
    "nans": ("jax_debug_nans", True),
}


def fails(expression: str, scope: dict[str, Any]) -> bool:
    try:
        for leaf in jax.tree.leaves(eval(expression, dict(scope))):
            np.asarray(leaf)
    except Exception:
        return True
    return False


def main() -> None:
    warnings.simplefilter("ignore")
    recorded = json.loads((TESTS / "data" / "numpy_rest.json").read_text(encoding="utf-8"))
    values = recorded["values"]
    lines = [line for lines in rest.sections().values() for line in lines]
    programs = [(line, rest.names) for line in lines if not isinstance(values.get(line), str)]
    made = json.loads((TESTS / "data" / "numpy_creation.json").read_text(encoding="utf-8"))
    programs += [
        (line, lambda jax: {"xp": jax.numpy, "np": np})
        for line in (*CREATION, *METHODS)
        if not str(made[f"32 {line}"]).startswith("raises")
    ]
    path = TESTS / "data" / "strict_expressions.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in sys.argv[1:] or SETTINGS:
        option, value = SETTINGS[name]
        before = getattr(jax.config, option)
        scopes = {make: make(jax) for _, make in programs}
        jax.config.update(option, value)
        found[name] = sorted({line for line, make in programs if fails(line, scopes[make])})
        jax.config.update(option, before)
    text = json.dumps({name: found[name] for name in SETTINGS if name in found}, indent=0)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
