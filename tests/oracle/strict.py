"""Records which calls of public functions jax refuses under strict settings, for tests/strict_calls.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/strict.py

For each public function it tries operands until a few calls succeed, adds the calls in data/strict_examples.txt, and
writes tests/data/strict_calls.json: for each call, the settings of `REFUSING` under which jax raises, and the class of the error.
"""

import inspect
import itertools
import json
import sys
from pathlib import Path

import jax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import strict_calls  # noqa: E402

TOKENS = "v f sq h iv bv c key".split()
EXTRA = ["2", "(3, 4)"]
LIMIT = 40
KEPT = 1


def candidates(function: object) -> list[str]:
    """Arguments to try: the operands in all orders, most alike first."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    required = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    found = []
    for count in dict.fromkeys([len(required) or 1, 2 if several else len(required) or 1]):
        alike = [", ".join([t] * count) for t in TOKENS]
        if count == 1:
            alike += ["[v, v]", "(3, 4)", "3", "2"]
        mixed = sorted(itertools.product(TOKENS + EXTRA, repeat=count), key=lambda c: len(set(c)))
        if count <= 3:
            alike += [", ".join(c) for c in mixed if len(set(c)) > 1][:LIMIT]
        found += alike
    return found


def main() -> None:
    names, values = strict_calls.scope(jax), strict_calls.operands(jax)
    calls: list[str] = []
    none = []
    for name, function in strict_calls.functions(jax):
        kept = 0
        for arguments in candidates(function):
            call = f"{name}({arguments})"
            if strict_calls.attempt(jax, names, values, call) == "ok":
                calls.append(call)
                kept += 1
                if kept == KEPT:
                    break
        if not kept:
            none.append(name)
    print("without a call:", " ".join(none))
    examples = (TESTS / "data" / "strict_examples.txt").read_text(encoding="utf-8").splitlines()
    calls += [line for line in examples if line and not line.startswith("#")]
    found: dict[str, dict[str, str]] = {call: {} for call in dict.fromkeys(calls)}
    for setting in strict_calls.REFUSING:
        options = strict_calls.SETTINGS[setting]
        before = {name: getattr(jax.config, name) for name in options}
        for option, value in options.items():
            jax.config.update(option, value)
        values = strict_calls.operands(jax)
        for call in found:
            if (outcome := strict_calls.attempt(jax, names, values, call)) != "ok":
                found[call][setting] = outcome
        for option, value in before.items():
            jax.config.update(option, value)
    lines = [f"{json.dumps(call)}: {json.dumps(refused)}" for call, refused in found.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (TESTS / "data" / "strict_calls.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
