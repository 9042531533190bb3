"""Repairs of parts of arrays and trees, as text; the repaired arrays also compute what the parts gave."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from autofix.test_explain import FULL, HERE, explained, header, same
from autofix.test_repairs import program, repaired
from sagax._autofix.repairs.case import Measurement

SLICE = "the bounds of a slice must be static, since they decide the size of the result"
MASK = "the size of `x[m]` depends on a mask whose values are not known"
BUFFER = {
    "x": [Measurement("Array", (6, 2), "float32")], "y": [Measurement("Array", (6, 2), "float32")],
    "q": [Measurement("Array", (2,), "float32")],
}  # fmt: skip


VECTOR = [Measurement("Array", (6,), "float32")]
ROWS = [Measurement("Array", (6, 2), "float32")]


# error, message, the expression at fault, measured values, the function; it is called with (x, y, q, n)
PARTS = {
    "attention over the filled part of a cache": (
        "IndexError", SLICE, "x[:n + 1]",
        {**BUFFER, "x[:n + 1]": ROWS, "y[:n + 1]": ROWS, "x[:n + 1] @ q": VECTOR, "scores": VECTOR, "weights": VECTOR},
        """
        def f(x, y, q, n):
            scores = x[:n + 1] @ q / jnp.sqrt(2.0)
            weights = jax.nn.softmax(scores)
            return weights @ y[:n + 1]
        """,
    ),
    "a weighted sum of a window": (
        "TracerIntegerConversionError", "n is traced", "jax.lax.dynamic_slice_in_dim(x, 1, n)",
        {**BUFFER, "jax.lax.dynamic_slice_in_dim(x, 1, n)": ROWS, "rows": ROWS, "rows[:, 0]": VECTOR, "w": VECTOR,
         "rows ** 2": ROWS},
        """
        def f(x, y, q, n):
            rows = jax.lax.dynamic_slice_in_dim(x, 1, n)
            w = rows[:, 0]
            return w @ rows + y[0].at[1].add(jnp.max(rows ** 2, axis=0)[1]) + len(rows)
        """,
    ),
    "a mask that is passed on": (
        "NonConcreteBooleanIndexError", MASK, "x[jnp.arange(6) != n]",
        {**BUFFER, "x[jnp.arange(6) != n]": ROWS, "rows": ROWS, "rows[:, 0]": VECTOR, "rows[:, 1]": VECTOR, "a": VECTOR,
         "b": VECTOR, "a - a.mean()": VECTOR, "da": VECTOR, "da * b": VECTOR},
        """
        def spread(rows, scale):
            a, b = rows[:, 0], rows[:, 1]
            da = a - a.mean()
            return scale * jnp.sum(da * b) / rows.shape[0]
        def f(x, y, q, n):
            return spread(x[jnp.arange(6) != n], q)
        """,
    ),
    "the first and the last element": (
        "IndexError", SLICE, "x[1:n]",
        {**BUFFER, "x[1:n]": ROWS, "part": ROWS},
        """
        def f(x, y, q, n):
            part = x[1:n]
            return part[-1] - part[0] + part.shape[0]
        """,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_traced_size_becomes_a_mask(name):
    error, message, expression, measured, body = PARTS[name]
    head = "import jax\nimport jax.numpy as jnp\n"
    text = head + program(body)
    found = [
        after
        for kind, after in repaired(error, text, expression, message=message, measured=measured)
        if kind == "mask_part"
    ]
    assert len(found) == 1, found
    # NumPy runs the original, with sizes that vary; sagax the repaired one, compiled once
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 6, 2)).astype("f4")
    q = np.array([0.5, -1.5], "f4")
    original, changed = ({"jax": sagax, "jnp": snp} for _ in range(2))
    exec(compile(text.removeprefix(head), "before.py", "exec"), original)
    exec(compile(found[0].removeprefix(head), "after.py", "exec"), changed)
    compiled = sagax.jit(changed["f"])
    for n in (2, 4):
        wanted = original["f"](snp.asarray(x), snp.asarray(y), snp.asarray(q), n)
        np.testing.assert_allclose(compiled(x, y, q, n), wanted, rtol=2e-5)


REFUSED = {
    "a part that is returned": "return x[:n]",
    "a part beside a whole array": "return jnp.sum(x[:n] @ q * y[:, 0])",
    "a function that nobody knows": "return jnp.sort(x[:n])",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_part_that_leaves_its_function_has_no_mask(name):
    text = f"import jax\nimport jax.numpy as jnp\ndef f(x, y, q, n):\n    {REFUSED[name]}\n"
    measured = {**BUFFER, "x[:n]": ROWS, "x[:n] @ q": VECTOR, "y[:, 0]": VECTOR}
    measured["x[:n] @ q * y[:, 0]"] = VECTOR
    found = repaired("IndexError", text, "x[:n]", message=SLICE, measured=measured)
    assert not [after for kind, after in found if kind == "mask_part"], found


def test_bounds_that_are_counted_from_the_end_have_no_mask():
    text = "import jax\nimport jax.numpy as jnp\ndef f(x, n):\n    return jnp.sum(BOUNDS)\n"
    for bounds, masked in (("x[:-n]", False), ("x[-n:]", False), ("x[n:]", True)):
        measured = {**BUFFER, bounds: ROWS}
        found = repaired(
            "IndexError", text.replace("BOUNDS", bounds), bounds, message=SLICE, measured=measured
        )
        assert any(kind == "mask_part" for kind, _ in found) is masked, found


TREE = "PyTreeDef({'b': *, 'w': *}): float32[2], float32[3, 2]"
COTANGENTS = (
    "custom_vjp: Custom VJP bwd rule back for function dense must produce a tuple of length equal to the number of "
    "differentiated arguments, 2"
)
BRANCHES = (
    "cond: cond branch outputs must have the same pytree structure, but they differ\n"
    "  true_fun[1] is a dict with keys 'b', 'w', but false_fun[1] is None."
)
TRANSPOSE = "transpose: argument axes must be all 4 dimensions of the array, each once"
SPEC = "shard_map of f: the specification P('data',) has 1 entries, which is more than the 0 dimensions of an array of shape ()"
BOUNDS = "index 5 is out of bounds for axis 0 with size 5"

# error, message, other facts, the expression at fault, the program, measured values, the kind, the new lines
CASES = {
    "results of a function of leaves": (
        "ValueError", "not enough values to unpack (expected 3, got 2)", {}, "jax.tree.map(leaf, params, m, v)",
        """
        import jax
        def leaf(p, m, v):
            return p - m, m, v
        params, m, v = jax.tree.map(leaf, params, m, v)
        """,
        {}, "transpose_tree",
        ["params, m, v = jax.tree.transpose(jax.tree.structure(params), None, jax.tree.map(leaf, params, m, v))"],
    ),
    "names of leaves in place of results": (
        "TypeError", "unsupported operand type(s) for -: 'str' and 'float'", {}, "a - 1.0",
        """
        import jax
        a, b = jax.tree.map(lambda p, g: (p - g, g), params, grads)
        c = a - 1.0
        """,
        {}, "transpose_tree",
        ["a, b = jax.tree.transpose(jax.tree.structure(params), None, jax.tree.map(lambda p, g: (p - g, g), params, grads))"],
    ),
    "cotangents one by one": (
        "TypeError", COTANGENTS, {}, "dense(params, x)",
        """
        import jax
        @jax.custom_vjp
        def dense(params, x):
            return x @ params["w"] + params["b"]
        def forward(params, x):
            return dense(params, x), (params["w"], x)
        def back(saved, g):
            w, x = saved
            return x.T @ g, g.sum(0), g @ w.T
        dense.defvjp(forward, back)
        y = dense(params, x)
        """,
        {
            "params": [Measurement("dict", structure=TREE)],
            "x": [Measurement("Array", (4, 3), "float32", structure="PyTreeDef(*): float32[4, 3]")],
            "x.T @ g": [Measurement("Array", (3, 2), "float32")], "g.sum(0)": [Measurement("Array", (2,), "float32")],
            "g @ w.T": [Measurement("Array", (4, 3), "float32")],
        },
        "match_tree", ['    return {"w": x.T @ g, "b": g.sum(0)}, g @ w.T'],
    ),
    "a branch that forgets the state": (
        "TypeError", BRANCHES, {}, "jax.lax.cond(good, apply, skip, params, state)",
        """
        import jax
        def apply(params, state):
            state = update(state)
            return params, state
        def skip(params, state):
            return params, None
        params, state = jax.lax.cond(good, apply, skip, params, state)
        """,
        {}, "match_tree", ["    return params, state"],
    ),
    "two axes as in torch": (
        "ValueError", TRANSPOSE, {}, "k.transpose(-2, -1)",
        """
        import jax
        scores = q @ k.transpose(-2, -1)
        """,
        {}, "swap_axes", ["scores = q @ k.swapaxes(-2, -1)"],
    ),
    "a number under one spec for all": (
        "ValueError", SPEC, {"argument": "rate"}, "update(rows, rate)",
        """
        import jax
        from jax.sharding import PartitionSpec as P
        def f(rows, rate):
            return rows * rate
        update = jax.shard_map(f, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
        y = update(rows, rate)
        """,
        {}, "in_specs", ['update = jax.shard_map(f, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))'],
    ),
    "a number among specs": (
        "ValueError", SPEC, {"argument": "rate"}, "update(rows, rate)",
        """
        import jax
        from jax.sharding import PartitionSpec as P
        def f(rows, rate):
            return rows * rate
        update = jax.shard_map(f, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P("data"))
        y = update(rows, rate)
        """,
        {}, "in_specs", ['update = jax.shard_map(f, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))'],
    ),
    "texts among settings": (
        "TypeError", "jit of f: Argument 'relu' of type <class 'str'> is not a valid JAX type.", {"argument": "s['kind']"},
        "f(x, SETTINGS)",
        """
        from functools import partial
        import jax
        SETTINGS = {"kind": "relu", "gain": 2.0, "mode": "same", "note": "none reads it"}
        @jax.jit
        def f(x, s):
            return act(s["kind"], s["gain"] * x, s["mode"])
        y = f(x, SETTINGS)
        z = f(x, {"kind": "tanh", "gain": 1.0, "mode": "full"})
        """,
        {}, "static_entry",
        [
            '@partial(jax.jit, static_argnames=("kind", "mode"))', "def f(x, s, kind, mode):",
            '    return act(kind, s["gain"] * x, mode)',
            'y = f(x, {k: v for k, v in SETTINGS.items() if k not in ("kind", "mode", "note")}, kind=SETTINGS["kind"], mode=SETTINGS["mode"])',
            'z = f(x, {"gain": 1.0}, kind="tanh", mode="full")',
        ],
    ),
    "checks that nothing takes up": (
        "ValueError", "a `checkify.check` is in a program that is compiled, but nothing takes up what it finds", {},
        "checkify.check(x > 0, 'x')",
        """
        import jax
        from jax.experimental import checkify
        @jax.jit
        def f(x):
            checkify.check(x > 0, 'x')
            return x
        y = f(2.0)
        print(f(3.0) + 1)
        """,
        {}, "checkify",
        ["@jax.jit", "@checkify.checkify", "error, y = f(2.0)", "error.throw()", "error, result = f(3.0)", "print(result + 1)"],
    ),
    "two names for one array": (
        "RuntimeError", "update: one buffer is donated and also used in the same call: as params['w'] and as target['w']", {},
        "update(online, target)",
        """
        from functools import partial
        import jax
        import jax.numpy as jnp
        @partial(jax.jit, donate_argnums=0)
        def update(params, target):
            return params
        target = online
        for i in range(4):
            online = update(online, target)
            if i == 2:
                target = online
        """,
        {}, "copy_before_donate",
        [
            "target = jax.tree.map(jnp.copy, online)", "    online = update(online, target)",
            "        target = jax.tree.map(jnp.copy, online)",
        ],
    ),
    "an item of a dict of arrays": (
        "TypeError", "unhashable type: 'ConcreteArray'", {}, "ends[jnp.argmin(values)]",
        """
        import jax
        import jax.numpy as jnp
        best = ends[jnp.argmin(values)]
        """,
        {"ends": [Measurement("dict", structure=TREE)]}, "tree_map",
        ["best = jax.tree.map(lambda leaf: leaf[jnp.argmin(values)], ends)"],
    ),
    "a scan that returns its carry alone": (
        "TypeError",
        "scan of f: scan body function carry input and carry output must have the same pytree structure, but they differ\n"
        "  the carry input is a tuple of length 2, but the carry output is a leaf.",
        {}, "jax.lax.scan(f, (a, b), xs)",
        """
        import jax
        def f(state, x):
            mean, variance = state
            return mean + x, variance
        last, path = jax.lax.scan(f, (a, b), xs)
        """,
        {}, "return_pair", ["    return (mean + x, variance), mean + x"],
    ),
    "the interval of a value": (
        "OutOfBoundsIndexWarning", BOUNDS, {}, "knots[right]",
        """
        import jax.numpy as jnp
        left = jnp.searchsorted(knots, t)
        right = left + 1
        width = knots[right] - knots[left]
        """,
        {}, "index_base", ['left = jnp.searchsorted(knots, t, side="right") - 1'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_part_is_repaired(name):
    error, message, data, expression, body, measured, kind, lines = CASES[name]
    found = repaired(
        error, program(body), expression, message=message, data=data, measured=measured,
        context=["tracing `f` for jit"], classes=("NotAnArrayError",) if "s['kind']" in data.values() else (),
    )  # fmt: skip
    changed = [after for k, after in found if k == kind]
    assert any(all(line in after.split("\n") for line in lines) for after in changed), found


def test_cotangents_of_other_shapes_are_not_arranged():
    error, message, data, expression, body, measured, *_ = CASES["cotangents one by one"]
    other = {**measured, "g.sum(0)": [Measurement("Array", (4,), "float32")]}
    found = repaired(error, program(body), expression, message=message, data=data, measured=other)
    assert not [kind for kind, _ in found if kind == "match_tree"], found


DIGITS = """
import jax.numpy as jnp
def spread(image, rows):
    center = (image * rows).sum() // image.sum()
    total = (image * (rows - center) ** 2).sum()
    LATER
    return total
"""


@pytest.mark.parametrize(
    ("later", "floats"),
    [
        ("total = total + 1", True),
        ("total = total % 97", False),
        ("total ^= center", False),
        ("other = center % 2", True),
        ("mixed = 31 * total\n    total = mixed >> 3", False),
    ],
)
def test_a_sum_may_be_of_floats_unless_its_last_digits_count(later, floats):
    found = repaired(
        "IntegerOverflowWarning", DIGITS.replace("LATER", later), "(image * (rows - center) ** 2).sum()",
        message="4380000000 does not fit int32",
    )  # fmt: skip
    changed = [after for kind, after in found if kind == "wider_dtype"]
    wanted = "total = (image * (rows - center) ** 2).astype(jnp.float32).sum()"
    assert any(wanted in after for after in changed) is floats, found
    # the center is an integer, whose digits count
    assert not [after for after in changed if "image = image.astype" in after]


# programs whose first fix leaves the same mistake on another line, and whose parts have traced sizes
WHOLE = ["moments_of_pixel_positions", "filled_part_of_the_cache"]
if FULL:
    WHOLE += [
        "jackknife_without_one_row",
        "batch_sizes_of_packed_sequence",
        "moments_of_adam_in_pairs",
    ]


def test_programs_run_with_the_fix_and_verified_ones_are_right():
    paths = [HERE / "boarders" / f"{name}.py" for name in WHOLE]
    reports = explained(paths)
    for path in paths:
        ran = [s for s in reports[path.stem]["suggestions"] if "output" in s]
        right = [s for s in ran if same(s["output"], header(path)["result"])]
        assert right, reports[path.stem]
        assert all(s in right for s in ran if s["verified"]), reports[path.stem]
