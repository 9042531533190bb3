"""Programs of the kind that strangers write give what they give on jax: values, types, shapes, classes of errors.

`strangers` and `devices` (over 8 virtual devices) were written without a look at what sagax does. Of their 287
programs 272 agreed in the first run (9 of the other 15 were documented); of the 72 `visitors`, written later, 67
(3 of the other 5); of the 98 `travelers`, which compute what people compute, 93 (3 of the other 5 are documented).
`former_differences` once all differed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sagax
from behavior_programs import agree, outcome, programs

# What deliberately differs: the items of a result (None: all of it), and text of docs/differences.md.
WEAK = "**Derivatives with respect to Python numbers** are weakly typed"
PASSED = "**Python numbers that a transformation only passes on**"
NARROWED = "Arrays of 64 bits that leave `enable_x64(True)`"
INTERNAL = "Where jax fails inside with another class"
DIFFERENCES: dict[str, dict[str, tuple[set[int] | None, str]]] = {
    "strangers": {
        "gated unit of an odd number": (None, INTERNAL),
        "the transpose of a function that is not linear": (None, INTERNAL),
        "a padding that does not exist": (None, INTERNAL),
        "gradients of holomorphic functions": ({1, 2, 3}, WEAK),
        "derivatives at kinks": ({1, 3, 7}, WEAK),
        "custom_jvp by its parts": ({1}, PASSED),
        "vmap with a result that is not mapped": ({1}, PASSED),
        "scans": ({3, 6}, PASSED),
        "reductions of lax": ({18}, PASSED),
    },
    "devices": {
        "an axis that shard_map lacks": (None, INTERNAL),
        "a carry that becomes varying": (None, "sagax casts carries of loops"),
        "varying axes of types": (None, "`typeof(x).vma`"),
    },
    "visitors": {
        "scans with None and empty sequences": ({0, 4}, PASSED),
        "an ordinary differential equation": ({1}, WEAK),
    },
    "travelers": {
        "distances with safe square roots": ({5}, WEAK),
        "a shortest path": ({2}, WEAK),
        "maps in batches": ({6}, PASSED),
        "64 bits inside of a context": ({2}, NARROWED),
    },
    "former_differences": {
        "guards of transfers": ({2, 7, 8, 11, 13, 15}, "`transfer_guard` refuses arrays and arguments"),
        "traces of rematted functions": (None, "is traced again at each call outside of `jit`"),
        "unreduced values of Auto axes": (None, "Unreduced values of Auto axes"),
        "solutions of numbers": ({0}, "`cg`, `gmres` and `bicgstab` give strongly typed"),
        "einsum with repeated indices": (None, '`einsum("ii", x)`'),
        "special functions of huge and tiny numbers": ({1, 3}, "`betainc` of a subnormal"),
        "median of a number": (None, "`median(x, keepdims=True)` of a number"),
        "gradients of composites": (None, "`composite` and `scaled_dot` have batching and derivatives"),
        "pickles of jitted functions": (None, "Jitted functions of a module can be pickled"),
    },
}  # fmt: skip
CASES = [(family, name) for family in DIFFERENCES for name in programs(family)]


@pytest.mark.parametrize("family, name", CASES)
def test_a_program_gives_what_it_gives_on_jax(family, name, oracle_data, request):
    if family in ("devices", "former_differences"):
        request.getfixturevalue("eight_devices")
    expected = oracle_data(f"behavior/{family}")[name]
    found = outcome(sagax, programs(family)[name])
    items, reason = DIFFERENCES[family].get(name, ((), ""))
    if not reason:
        assert agree(found, expected, 1e-4), f"{found} instead of {expected}"
    elif items is None:
        assert not agree(found, expected, 1e-4), "no difference is left"
    else:
        assert len(found) == len(expected)
        differ = {i for i in range(len(found)) if not agree(found[i], expected[i], 1e-4)}
        assert differ == items, f"{found} instead of {expected}"


def test_each_deliberate_difference_is_documented():
    docs = Path(__file__).resolve().parents[1] / "docs"
    text = " ".join(
        f"{(docs / name).read_text(encoding='utf-8')}" for name in ("differences.md", "limits.md")
    )
    text = " ".join(text.split())
    reasons: set[Any] = {reason for family in DIFFERENCES.values() for _, reason in family.values()}
    assert not [reason for reason in reasons if reason not in text]
