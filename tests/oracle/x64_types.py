"""Records the types that jax gives to the calls of tests/strict_calls.py under x64.

Run with an interpreter that has jax 0.12, from any folder, after strict.py:

    python tests/oracle/x64_types.py

It writes tests/data/x64_types.json: for each call that jax accepts, the types of its results. All operands have 32 bits
or fewer, so that wide results come of the functions themselves.
"""

import json
import sys
from pathlib import Path

import jax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import strict_calls  # noqa: E402


def main() -> None:
    for option, value in strict_calls.SETTINGS["x64"].items():
        jax.config.update(option, value)
    names, values = strict_calls.scope(jax), strict_calls.operands(jax)
    calls = json.loads((TESTS / "data" / "strict_calls.json").read_text(encoding="utf-8"))
    lines = []
    for call in calls:
        if strict_calls.attempt(jax, names, values, call) == "ok":
            types = strict_calls.types(jax, names, values, call)
            lines.append(f"{json.dumps(call)}: {json.dumps(types)}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (TESTS / "data" / "x64_types.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
