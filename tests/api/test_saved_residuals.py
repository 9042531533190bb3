"""saved_residuals: which values a backward pass keeps, and what is said of where they come from.

The expected lists are those of jax 0.12, lines and columns apart.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.ad_checkpoint import checkpoint_name, print_saved_residuals, saved_residuals

W = np.ones((3, 3), np.float32)
X = np.ones(3, np.float32)


def layer(w, x):
    y = checkpoint_name(snp.tanh(x @ w), "act")
    return snp.sin(y)


def two_layers(f):
    return lambda ws, x: f(ws[1], f(ws[0], x)).sum()


def kept(f, *args, **kwargs):
    """Types and origins, without places."""
    return sorted(
        f"{aval.str_short(short_dtypes=True)} {re.sub(' from .*[(].*', '', where)}"
        for aval, where in saved_residuals(f, *args, **kwargs)
    )


ARGUMENTS = [
    "f32[3,3] from the argument ws[0]",
    "f32[3,3] from the argument ws[1]",
    "f32[3] from the argument x",
]


def test_all_residuals_of_two_layers():
    slopes = ["f32[3] output of one_minus_square", "f32[3] output of cos"]
    assert kept(two_layers(layer), [W, W], X) == sorted(
        [*ARGUMENTS, *slopes, *slopes, "f32[3] output of sin"]
    )


def test_nothing_but_inputs_is_kept_of_a_checkpoint():
    f = two_layers(sagax.checkpoint(layer))
    assert kept(f, [W, W], X) == sorted([*ARGUMENTS, "f32[3] output of sin"])


def test_what_a_policy_saves_is_said_by_its_name():
    named = sagax.checkpoint_policies.save_only_these_names("act")
    f = two_layers(sagax.checkpoint(layer, policy=named))
    expected = [*ARGUMENTS, "f32[3] output of sin", *["f32[3] named 'act'"] * 2]
    assert kept(f, [W, W], X) == sorted(expected)


def test_constants_and_keywords():
    k = np.full(3, 2.0, np.float32)
    outputs = ["f32[3] output of cos", "f32[3] output of sin"]
    assert kept(lambda x, *, y: snp.sin(x * k) * y, X, y=X) == [
        "f32[3] from a constant",
        "f32[3] from the argument y",
        *outputs,
    ]


def test_inside_of_jit_and_of_loops():
    assert kept(sagax.jit(lambda x: snp.sin(x)), X) == ["f32[3] output of cos"]
    steps = lambda c, xs: lax.scan(lambda c, x: (snp.sin(c * x), c), c, xs)[0]  # noqa: E731
    expected = ["f32[3] from the argument xs", *["f32[3] output of scan"] * 2]
    assert kept(steps, 1.0, X) == expected


def test_the_lines_printed_lead_to_the_source(capsys):
    print_saved_residuals(layer, W, X)
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines[:2]) == ["f32[3,3] from the argument w", "f32[3] from the argument x"]
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    places = [
        re.search(r"test_saved_residuals.py:(\d+):(\d+) \(layer\)$", line) for line in lines[2:]
    ]
    texts = {source[int(p[1]) - 1][int(p[2]) - 1 :] for p in places if p is not None}
    assert None not in places
    assert texts == {'snp.tanh(x @ w), "act")', "snp.sin(y)"}


def test_a_value_is_no_function():
    with pytest.raises(TypeError, match="saved_residuals: the first argument is the function"):
        saved_residuals(3.0, X)  # type: ignore[arg-type]
