"""Numbers that are computed while tracing, and derivatives of each element."""

from __future__ import annotations

import pytest

from autofix.test_repairs import program, repaired

GRID = """
    import jax
    import jax.numpy as jnp
    import numpy as np
    DECORATOR
    def grid(end, step):
        count = jnp.ceil(end / step)
        return jnp.linspace(0.0, end, count + 1)
    print(grid(2.0, 0.25))
"""
CALL = "jnp.linspace(0.0, end, count + 1)"
HOST = """
    import jax
    import jax.numpy as jnp
    import numpy as np
    DECORATOR
    def grid(end, step):
        count = np.ceil(end / step)
        return jnp.linspace(0.0, end, int(count + 1))
    print(grid(2.0, 0.25))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@jax.jit", '@partial(jax.jit, static_argnames=("end", "step"))'),
        ("@partial(jax.jit, static_argnums=0)", "@partial(jax.jit, static_argnums=(0, 1))"),
    ],
)
def test_a_size_is_computed_with_numpy_from_static_arguments(before, after):
    text = "\n    from functools import partial" + GRID.replace("DECORATOR", before)
    wanted = "\n    from functools import partial" + HOST.replace("DECORATOR", after)
    found = repaired(
        "ConcretizationTypeError", program(text), CALL,
        depends=["end", "step"], context=["tracing `grid` for jit"],
    )  # fmt: skip
    assert ("shape_not_value", program(wanted)) in found


def test_a_size_that_a_function_of_the_user_computes_is_left():
    text = GRID.replace("DECORATOR", "@jax.jit").replace("jnp.ceil", "rounded")
    found = repaired(
        "ConcretizationTypeError", program(text), CALL,
        depends=["end", "step"], context=["tracing `grid` for jit"],
    )  # fmt: skip
    assert "shape_not_value" not in {kind for kind, _ in found}


CURVE = """
    import jax
    def curve(x, rate):
        return rate * x**2
    slope = jax.grad(curve)
    print(VALUES, slope(times, 0.3))
"""


@pytest.mark.parametrize(("values", "where"), [("curve(times, 0.3)", True), ("times", False)])
def test_a_function_that_is_called_elsewhere_is_summed_where_it_is_differentiated(values, where):
    text = program(CURVE.replace("VALUES", values))
    data = {"expected": "curve to return an array of shape ()", "got": "float32[5]"}
    found = repaired("TypeError", text, "slope(times, 0.3)", data=data, message="grad: scalar")
    wanted = text.replace("jax.grad(curve)", "jax.grad(lambda *args: curve(*args).sum())")
    assert (("scalar_output", wanted) in found) is where
