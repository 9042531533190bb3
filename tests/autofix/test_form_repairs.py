"""Repairs of calls that raise: arguments, rules, axes and containers of another form, as text."""

from __future__ import annotations

import pytest

from autofix.test_repairs import program, repaired
from sagax._autofix.repairs.case import Measurement


def array(*shape, dtype="float32", kind="Array"):
    """The measurement of an array."""
    return [Measurement(kind, shape, dtype)]


# error, message, other facts, the expression at fault, the program, the kind, the lines that are new
CASES = {
    "tangents without tuples": (
        "TypeError", "jvp: primal and tangent arguments to jax.jvp must be tuples or lists", {},
        "jax.jvp(f, x, tangents=t)",
        """
        import jax
        def push(f, x, t):
            return jax.jvp(f, x, tangents=t)
        """,
        "tuple_arguments", ["    return jax.jvp(f, (x,), tangents=(t,))"],
    ),
    "a view that is assigned to": (
        "ValueError", "assignment destination is read-only", {}, "canvas[0] = 1.0",
        """
        import numpy as np
        def frame(canvas):
            canvas[0] = 1.0
            return canvas
        def show(x):
            return frame(np.asarray(x))
        """,
        "numpy_copy", ["    return frame(np.array(x))"],
    ),
    "an argument of an exported function": (
        "ValueError", "Dtype mismatch for args[1]: expected float32 and called with int32", {},
        "exported.call(weights, rows)",
        """
        import jax.numpy as jnp
        def handle(exported, weights, rows):
            rows = jnp.array(rows)
            return exported.call(weights, rows)
        """,
        "match_dtype", ["    rows = jnp.array(rows, dtype=jnp.float32)"],
    ),
    "a tangent of another dtype": (
        "TypeError",
        "custom_jvp: Custom JVP rule rule for function f must produce primal and tangent outputs with "
        "corresponding shapes and dtypes",
        {"expected": "float32[2]", "got": "float16[2]"}, "return f(x), g * t",
        """
        def rule(primals, tangents):
            (x,), (t,) = primals, tangents
            return f(x), g * t
        """,
        "match_dtype", ["    return f(x), (g * t).astype('float32')"],
    ),
    "a transfer that is disallowed": (
        "JaxRuntimeError", "Disallowed host-to-device transfer", {}, "step(state, batch)",
        """
        import jax
        def run(step, state, batch):
            return step(state, batch)
        """,
        "device_put", ["    return step(jax.device_put(state), batch)"],
    ),
    "one seed for two draws": (
        "TypeError", "normal: unexpected PRNG key type <class 'int'>", {},
        "random.normal(seed, (n,))",
        """
        from jax import random
        def noise(seed, n):
            \"\"\"Two kinds of noise.\"\"\"
            x = random.normal(seed, (n,))
            return x + random.uniform(seed, (n,))
        """,
        "make_key",
        ["    key = random.key(seed)", "    x = random.normal(key, (n,))",
         "    return x + random.uniform(key, (n,))"],
    ),
    "a seed in the call": (
        "TypeError", "split: unexpected PRNG key type <class 'int'>", {}, "jax.random.split(0, 3)",
        """
        import jax
        keys = jax.random.split(0, 3)
        """,
        "make_key", ["keys = jax.random.split(jax.random.key(0), 3)"],
    ),
    "the maximum of a generator": (
        "TypeError",
        "max: max requires ndarray or scalar arguments, got <class 'generator'> at position 0.", {},
        "jnp.max(abs(w).max() for w in ws)",
        """
        import jax.numpy as jnp
        def largest(ws):
            return jnp.max(abs(w).max() for w in ws)
        """,
        "stack_list", ["    return jnp.max(jnp.array([abs(w).max() for w in ws]))"],
    ),
    "the mean of the values of a dict": (
        "TypeError",
        "mean: mean requires ndarray or scalar arguments, got <class 'dict_values'> at position 0.",
        {}, "jnp.mean(losses.values())",
        """
        import jax.numpy as jnp
        def average(losses):
            return jnp.mean(losses.values())
        """,
        "stack_list", ["    return jnp.mean(jnp.array(list(losses.values())))"],
    ),
    "functions of lax do not promote": (
        "TypeError", "mul: lax.mul requires arguments to have the same dtypes, got float32, int32",
        {}, "lax.mul(x, n + 1)",
        """
        from jax import lax
        import jax.numpy as jnp
        def scale(x, n):
            return lax.mul(x, n + 1)
        """,
        "convert_dtype", ["    return lax.mul(x, (n + 1).astype(jnp.float32))"],
    ),
    "a number as a cotangent": (
        "ValueError", "the function returned by vjp of f: unexpected JAX type for argument to vjp function",
        {"expected": "float32[3,2]", "got": "float32[]"}, "pull(2.0)",
        """
        import jax
        import jax.numpy as jnp
        y, pull = jax.vjp(f, x)
        slope = pull(2.0)
        """,
        "cotangent_shape", ["slope = pull(jnp.full_like(y, 2.0))"],
    ),
    "a cache of arrays": (
        "TypeError", "unhashable type: 'ConcreteArray'", {}, "table(n, x)",
        """
        def look_up(n, x):
            return table(n, x)
        """,
        "hashable_argument", ["    return table(int(n), x)"],
    ),
    "a list that all calls share": (
        "UnexpectedTracerError", "Encountered an unexpected tracer.", {}, "kept.append(x)",
        """
        def f(x, kept=[]):
            "Docstring."
            kept.append(x)
            return kept
        """,
        "fresh_default",
        ["def f(x, kept=None):", "    kept = [] if kept is None else kept"],
    ),
    "a test of an array": (
        "ValueError", "The truth value of an array with more than one element is ambiguous.", {},
        "x > 0",
        """
        import jax.numpy as jnp
        def f(x):
            while not x > 0:
                x = x + 1
        """,
        "reduce_test", ["    while not jnp.all(x > 0):"],
    ),
    "a test of a loop that is a number": (
        "TypeError", "while_loop of go: cond_fun must return a boolean scalar, but got float32",
        {"got": "float32[]"}, "jax.lax.while_loop(go, step, x)",
        """
        import jax
        def go(x):
            return x % 3.0
        def f(x):
            return jax.lax.while_loop(go, step, x)
        """,
        "compare", ["    return (x % 3.0) != 0"],
    ),
    "a predicate of many elements": (
        "TypeError", "cond: Pred must be a scalar, got Array([ True,  True], dtype=bool).", {},
        "jax.lax.cond(x > 0, f, g, x)",
        """
        import jax
        import jax.numpy as jnp
        def choose(x):
            return jax.lax.cond(x > 0, f, g, x)
        """,
        "reduce_test", ["    return jax.lax.cond(jnp.any(x > 0), f, g, x)"],
    ),
    "the rule of a function": (
        "AttributeError", "No JVP defined for custom_jvp function half using defjvp.", {}, "half(x)",
        """
        import jax
        @jax.custom_jvp
        def half(x):
            return x / 2
        def unrelated(a, b):
            return a
        def slope(primals, tangents):
            return half(primals[0]), tangents[0] / 2
        y = jax.grad(lambda x: half(x))(1.0)
        """,
        "define_rule", ["@half.defjvp"],
    ),
    "the rules of a reverse derivative": (
        "AttributeError", "No VJP defined for custom_vjp function half using defvjp.", {}, "half(x)",
        """
        import jax
        @jax.custom_vjp
        def half(x):
            return x / 2
        def half_fwd(x):
            return half(x), None
        def half_bwd(_, g):
            return (g / 2,)
        y = jax.grad(lambda x: half(x))(1.0)
        """,
        "define_rule", ["", "", "half.defvjp(half_fwd, half_bwd)"],
    ),
    "residuals that are not packed": (
        "TypeError",
        "custom_vjp: Custom VJP fwd rule fwd for function f must produce a pair (list or tuple of "
        "length two)", {}, "f(x)",
        """
        def fwd(x, a):
            return x, a, a + 1
        def bwd(residuals, g):
            a, b = residuals
            return g, None
        f.defvjp(fwd, bwd)
        f(x)
        """,
        "return_pair", ["    return x, (a, a + 1)"],
    ),
    "residuals that are not returned": (
        "TypeError",
        "custom_vjp: Custom VJP fwd rule fwd for function f must produce a pair (list or tuple of "
        "length two)", {}, "f(x)",
        """
        def fwd(x, a):
            scale = a**2
            return scale * x
        def bwd(residuals, g):
            scale, x = residuals
            return g * scale, 2.0 * x
        f.defvjp(fwd, bwd)
        f(x)
        """,
        "return_pair", ["    return scale * x, (scale, x)"],
    ),
    "a cotangent alone": (
        "TypeError",
        "custom_vjp: Custom VJP bwd rule bwd for function f must produce a tuple of length equal to",
        {}, "f(x)",
        """
        import jax
        @jax.custom_vjp
        def f(x):
            return x
        def fwd(x):
            return x, x
        def bwd(x, g):
            return g / x
        f.defvjp(fwd, bwd)
        f(x)
        """,
        "match_tree", ["    return (g / x,)"],
    ),
    "an inner product in place of an outer one": (
        "ValueError",
        "custom_vjp: Custom VJP bwd rule bwd for function f must produce cotangents with the shapes",
        {"argument": "the cotangent of A", "expected": "float32[2,2]", "got": "float32[]"}, "f(A, x)",
        """
        import jax
        import jax.numpy as jnp
        @jax.custom_vjp
        def f(A, x):
            return x @ A @ x
        def fwd(A, x):
            return f(A, x), (A, x)
        def bwd(residuals, g):
            A, x = residuals
            return g * jnp.dot(x, x), g * (A + A.T) @ x
        f.defvjp(fwd, bwd)
        f(A, x)
        """,
        "cotangent_shape", ["    return g * jnp.outer(x, x), g * (A + A.T) @ x"],
    ),
    "a cotangent that is not summed": (
        "ValueError",
        "custom_vjp: Custom VJP bwd rule bwd for function f must produce cotangents with the shapes",
        {"argument": "the cotangent of b", "expected": "float32[3]", "got": "float32[4,3]"}, "f(x, b)",
        """
        import jax
        import jax.numpy as jnp
        @jax.custom_vjp
        def f(x, b):
            return x + b
        def fwd(x, b):
            return x + b, None
        def bwd(_, g):
            return g, 2 * g
        f.defvjp(fwd, bwd)
        f(x, b)
        """,
        "cotangent_shape", ["    return g, jnp.sum(2 * g, axis=0)"],
    ),
    "a collective without a named axis": (
        "NameError", "unbound axis name: rows; no named axis is in scope", {},
        'jax.lax.psum(x, "rows")',
        """
        import jax
        def share(x):
            return x / jax.lax.psum(x, "rows")
        shares = jax.jit(jax.vmap(share))(x)
        """,
        "axis_name", ['shares = jax.jit(jax.vmap(share, axis_name="rows"))(x)'],
    ),
    "a collective over another name": (
        "NameError", "unbound axis name: rows; the axes in scope are 'row'", {},
        'jax.lax.psum(x, axis_name="rows")',
        """
        import jax
        def share(x):
            return x / jax.lax.psum(x, axis_name="rows")
        shares = jax.vmap(share, axis_name="row")(x)
        """,
        "axis_name", ['    return x / jax.lax.psum(x, axis_name="row")'],
    ),
    "an axis that results lack": (
        "ValueError",
        "vmap: vmap got inconsistent out_axes: axis 2 is out of bounds for result with 2 dimensions, "
        "the mapped one included", {}, "rows(x)",
        """
        import jax
        rows = jax.vmap(f, 0, 2)
        y = rows(x)
        """,
        "out_axes", ["rows = jax.vmap(f, 0, 1)"],
    ),
    "one of the axes that results lack": (
        "ValueError",
        "vmap: vmap got inconsistent out_axes: axis 1 is out of bounds for result with 1 dimensions, "
        "the mapped one included", {}, "jax.vmap(f, out_axes=(1, 1))(x)",
        """
        import jax
        y = jax.vmap(f, out_axes=(1, 1))(x)
        """,
        "out_axes", ["y = jax.vmap(f, out_axes=(1, 0))(x)"],
    ),
    "keywords that in_axes counts": (
        "ValueError", "vmap: vmap in_axes must be an int, None, or a tuple of entries, but got len(in_axes)=2, len(args)=1",
        {}, "jax.vmap(f, (0, None))(x, scale=2.0)",
        """
        import jax
        def f(x, scale):
            return x * scale
        y = jax.vmap(f, (0, None))(x, scale=2.0)
        """,
        "positional_argument", ["y = jax.vmap(f, (0, None))(x, 2.0)"],
    ),
    "a vector for each matrix": (
        "TypeError", "matmul: shapes (4, 3, 3) and (4, 3) do not fit", {}, "R @ v",
        """
        def rotate(R, v):
            return R @ v + 1.0
        """,
        "new_axis", ["    return (R @ v[..., None])[..., 0] + 1.0"],
    ),
    "a vector for each system": (
        "ValueError", "linalg.solve: shapes (4, 3, 3) and (4, 3) do not fit", {},
        "linalg.solve(R, v)",
        """
        from jax.numpy import linalg
        def solve(R, v):
            return linalg.solve(R, v)
        """,
        "new_axis", ["    return linalg.solve(R, v[..., None])[..., 0]"],
    ),
    "a row below a table": (
        "TypeError", "concatenate: the operands differ in their number of dimensions", {},
        "jnp.concatenate([rows, v])",
        """
        import jax.numpy as jnp
        def add(rows, v):
            return jnp.concatenate([rows, v])
        """,
        "reshape", ["    return jnp.concatenate([rows, v[None]])"],
    ),
    "labels in the order of other arrays": (
        "ValueError", "einsum: the label 'd' has size 3 in operand 0 and size 4 in operand 1",
        {"got": "shapes (2, 3), (3, 4)"}, 'jnp.einsum("nd,hd->nh", x, w)',
        """
        import jax.numpy as jnp
        def project(x, w):
            y = jnp.einsum("nd,hd->nh", x, w)
            return jnp.einsum("nh,hd->nd", y, w)
        """,
        "einsum_axes",
        ['    y = jnp.einsum("nd,dh->nh", x, w)', '    return jnp.einsum("nh,dh->nd", y, w)'],
    ),
    "entries that are not updated": (
        "ValueError",
        "tree_map: rest[0] does not have the structure of tree\\n  The keys differ: 'body' only in tree.",
        {}, "jax.tree.map(step, params, slopes)",
        """
        import jax
        params = jax.tree.map(step, params, slopes)
        """,
        "tree_structure",
        ["params = {**params, **jax.tree.map(step, {name: params[name] for name in slopes}, slopes)}"],
    ),
    "an entry that a body adds": (
        "TypeError",
        "scan of body: scan body function carry input and carry output must have the same pytree "
        "structure, but they differ\\n  the carry input[1] is a dict with keys 'n', but the carry "
        "output[1] is a dict with keys 'best', 'n'. The keys differ: 'best' only in the carry output.",
        {}, "jax.lax.scan(body, start, xs)",
        """
        import jax
        def body(carry, x):
            w, seen = carry
            best = max(seen.get("best", 0.0), x)
            return (w, {**seen, "best": best}), x
        start = (w, {"n": 0})
        out = jax.lax.scan(body, start, xs)
        """,
        "carry_value", ['start = (w, {"n": 0, "best": 0.0})'],
    ),
    "a generator under jit": (
        "TypeError", "jit: Expected a function, got a generator function: orbit", {}, "jax.jit",
        """
        import jax
        @jax.jit
        def orbit(x):
            yield x
        """,
        "drop_jit", [],
    ),
    "a function that jit returns": (
        "TypeError", "jit: fit returned a value of type function, which is not a valid JAX type", {},
        "fit(x)",
        """
        import jax
        @jax.jit
        def fit(x):
            slope = x.mean()
            return lambda t, shift=0.0: slope * t + shift
        y = fit(x)
        """,
        "return_data",
        ["    return jax.tree_util.Partial(lambda slope, t, shift=0.0: slope * t + shift, slope)"],
    ),
    "sizes of two scopes": (
        "ValueError", "Invalid mixing of symbolic scopes when exporting f", {}, "f(a, b)",
        """
        from jax import export
        a, = export.symbolic_shape("a")
        b, = export.symbolic_shape("b")
        f(a, b)
        """,
        "one_scope",
        ["scope = export.SymbolicScope()", 'a, = export.symbolic_shape("a", scope=scope)',
         'b, = export.symbolic_shape("b", scope=scope)'],
    ),
    "the value and the round exchanged": (
        "TypeError", "fori_loop of body: body_fun output and input must have equal types",
        {"expected": "float32[10]", "got": "float32[]"}, "jax.lax.fori_loop(0, n, body, x)",
        """
        import jax
        def body(x, i):
            return x + x.mean()
        y = jax.lax.fori_loop(0, n, body, x)
        """,
        "argument_order", ["def body(i, x):"],
    ),
    "three results with auxiliary data": (
        "TypeError", "grad: with has_aux=True loss must return a pair (output, auxiliary data)",
        {"got": "a tuple of length 3"}, "jax.grad(loss, has_aux=True)(w)",
        """
        import jax
        def loss(w):
            return (w**2, w, 2 * w)
        g = jax.grad(loss, has_aux=True)(w)
        """,
        "return_pair", ["    return (w**2, (w, 2 * w))"],
    ),
    "masses by numbers of protons": (
        "TypeError", "unhashable type: 'JitTracer'", {},
        "MASSES[n]",
        """
        import jax.numpy as jnp
        MASSES = {1: 1.008, 6: 12.011}
        def weigh(n):
            return MASSES[n]
        """,
        "array_table",
        ["    return jnp.array([MASSES.get(key, jnp.nan) for key in range(max(MASSES) + 1)])[n]"],
    ),
    "segments of nodes": (
        "ConcretizationTypeError", "segment_sum() needs the argument num_segments", {},
        "jax.ops.segment_sum(x[senders], receivers)",
        """
        import jax
        def gather(x, senders, receivers):
            return jax.ops.segment_sum(x[senders], receivers)
        """,
        "size_arg",
        ["    return jax.ops.segment_sum(x[senders], receivers, num_segments=x.shape[0])"],
    ),
    "a count above a threshold": (
        "ZeroGradientWarning", "the gradient of `t` is 0", {}, "x > t",
        """
        import jax
        import jax.numpy as jnp
        def share(x, t):
            return jnp.count_nonzero(x > t, axis=0)
        """,
        "smooth", ["    return jnp.sum(jax.nn.sigmoid(20.0 * (x - t)), axis=0)"],
    ),
    "a draw whose chance is differentiated": (
        "ZeroGradientWarning", "the gradient of `p` is 0", {}, "jax.random.bernoulli(key, p)",
        """
        import jax
        import jax.numpy as jnp
        def cost(key, p):
            won = jax.random.bernoulli(key, p)
            return 2.0 + won
        """,
        "smooth",
        ["    won = jax.random.bernoulli(key, jax.lax.stop_gradient(p))",
         "    log_chance = jnp.sum(jnp.log(jnp.where(won, p, 1.0 - p)))",
         "    return jnp.exp(log_chance - jax.lax.stop_gradient(log_chance)) * (2.0 + won)"],
    ),
}  # fmt: skip

MEASURED = {
    "a cache of arrays": {"n": array(dtype="int32"), "x": [Measurement("str")]},
    "a vector for each matrix": {"R": array(4, 3, 3), "v": array(4, 3)},
    "a vector for each system": {"R": array(4, 3, 3), "v": array(4, 3)},
    "a row below a table": {"rows": array(5, 3), "v": array(3)},
    "segments of nodes": {
        "jax.ops.segment_sum(x[senders], receivers)": array(4, 2),
        "x": array(4, 2),
        "senders": array(5),
    },
}
NOTES = {
    "a list that all calls share": ["it is kept in `kept[0]`, the default of an argument of `f`"]
}


@pytest.mark.parametrize("name", CASES)
def test_what_has_another_form_is_repaired(name):
    error, message, data, expression, before, kind, wanted = CASES[name]
    text = program(before)
    found = repaired(
        error, text, expression, message=message.replace("\\n", "\n"), data=data,
        measured=MEASURED.get(name, {"-": []}), notes=NOTES.get(name, ()),
    )  # fmt: skip
    old = text.split("\n")
    lines = []
    for found_kind, after in found:
        compile(after, name, "exec")
        new = after.split("\n")
        lines.append((found_kind, [x for x in new if x not in old or new.count(x) > old.count(x)]))
    stripped = [(k, [x for x in each if x]) for k, each in lines]
    assert (kind, [x for x in wanted if x]) in stripped, lines


ALONE = {
    "nothing beside is a rule": (
        "AttributeError", "No JVP defined for custom_jvp function half using defjvp.", "half(x)",
        """
        import jax
        @jax.custom_jvp
        @jax.jit
        def half(x):
            return x / 2
        def unrelated(a, b):
            return a
        half(x)
        """,
    ),
    "axes that fit nowhere": (
        "TypeError", "concatenate: the operands differ in their number of dimensions",
        "jnp.concatenate([rows, v])",
        """
        import jax.numpy as jnp
        def add(rows, v):
            return jnp.concatenate([rows, v])
        """,
    ),
    "keys that are not all whole numbers": (
        "TypeError", "unhashable type: 'StagedTracer'", "MASSES[n]",
        """
        MASSES = {"H": 1.008, 6: 12.011}
        def weigh(n):
            return MASSES[n]
        """,
    ),
    "an entry without a default": (
        "TypeError",
        "scan body function carry input and carry output must have the same pytree structure\n"
        "  the carry input is a dict with keys 'n', but the carry output is a dict with keys 'm', 'n'. "
        "The keys differ: 'm' only in the carry output.",
        "jax.lax.scan(body, {'n': 0}, xs)",
        """
        import jax
        def body(carry, x, more):
            return {**carry, "m": x}, carry["m"]
        out = jax.lax.scan(body, {'n': 0}, xs)
        """,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_nothing_is_proposed_where_the_source_does_not_tell(name):
    error, message, expression, before = ALONE[name]
    measured = {"rows": array(5, 3), "v": array(4)}
    assert not repaired(error, program(before), expression, message=message, measured=measured)


def test_a_text_is_static_in_checkpoint():
    text = program(
        """
        import jax
        from functools import partial
        @partial(jax.checkpoint, policy=None)
        def block(x, kind):
            return x
        block(x, "tanh")
        """
    )
    data = {"argument": "kind", "function": "checkpoint of block"}
    found = repaired(
        "TypeError", text, 'block(x, "tanh")', data=data, classes=["NotAnArrayError"],
        message="checkpoint of block: Argument 'tanh' of type <class 'str'> is not a valid JAX type.",
    )  # fmt: skip
    assert [
        "@partial(jax.checkpoint, policy=None, static_argnums=1)" in after for _, after in found
    ] == [True]


def test_an_entry_that_is_no_array_is_left_out():
    text = program(
        """
        import jax
        @jax.jit
        def loss(w, batch):
            return w * batch["x"]
        loss(w, batch)
        """
    )
    options = {
        "classes": ["NotAnArrayError"], "context": ["tracing `loss` for jit"],
        "data": {"argument": "batch['split']"}, "message": "Argument 'train' is not a valid JAX type.",
    }  # fmt: skip
    found = repaired("TypeError", text, "loss(w, batch)", **options)
    wanted = 'loss(w, {name: value for name, value in batch.items() if name != "split"})'
    assert ["drop_entry"] == [kind for kind, after in found if wanted in after]
    reads = text.replace('batch["x"]', 'table[batch["split"]]')
    found = repaired("TypeError", reads, "loss(w, batch)", **options)
    assert "drop_entry" not in [kind for kind, _ in found]


def test_an_outer_function_passes_a_static_argument():
    text = program(
        """
        import jax
        @jax.jit
        def outer(x, degree):
            return powers(x, degree + 1)
        @jax.jit
        def powers(x, degree):
            return x
        """
    )
    found = repaired(
        "ValueError", text, "powers(x, degree + 1)", data={"argument": "degree"},
        message="jit: degree of powers is static, and a value of type StagedTracer cannot be hashed",
        context=["tracing `outer` for jit", "tracing `powers` for jit"],
    )  # fmt: skip
    static = [after for kind, after in found if kind == "static_args"]
    assert len(static) == 1
    assert '@partial(jax.jit, static_argnames=("degree",))\ndef outer' in static[0]


def test_the_parameter_that_a_loop_counts_to_is_named():
    text = program(
        """
        import jax
        from functools import partial
        @partial(jax.jit, static_argnames=("size", "mode"))
        def smooth(image, width, mode):
            for i in range(width):
                image = image + i
            return image
        """
    )
    found = repaired(
        "ValueError", text, 'partial(jax.jit, static_argnames=("size", "mode"))',
        message="jit: jitted function has invalid argnames {'size'} in static_argnames",
    )  # fmt: skip
    assert 'static_argnames=("width", "mode")' in found[0][1]


def test_objects_are_compared_by_their_arrays():
    text = program(
        """
        import jax
        from dataclasses import dataclass
        @jax.tree_util.register_dataclass
        @dataclass
        class Plane:
            height: jax.Array
        def f(plane):
            return plane != FLAT
        """
    )
    measured = {"plane": [Measurement("Plane")], "FLAT": [Measurement("Plane")]}
    found = repaired("TracerBoolConversionError", text, "plane != FLAT", measured=measured)
    wanted = "return ~jnp.array_equal(ravel_pytree(plane)[0], ravel_pytree(FLAT)[0])"
    texts = [after.replace("jax.flatten_util.", "") for kind, after in found]
    assert any(wanted.replace("jnp", "jax.numpy") in t or wanted in t for t in texts), texts


def test_axes_of_a_mapped_and_compiled_function():
    text = program(
        """
        import jax
        axes = {"w": 0}
        many = jax.jit(jax.vmap(predict, in_axes=(axes, None)))
        other = jax.vmap(make)
        y = many(members, x)
        """
    )
    found = repaired(
        "ValueError", text, "many(members, x)",
        message="vmap: vmap in_axes specification must be a tree prefix of the corresponding value: in_axes[0] is a "
        "dict with keys 'w', but params is a dict with keys 'scale', 'w'. The keys differ: 'scale' only in params.",
    )  # fmt: skip
    assert ("in_axes", text.replace('{"w": 0}', '{"w": 0, "scale": None}')) in found


@pytest.mark.parametrize("read", [False, True])
def test_an_entry_that_a_body_stores(read):
    text = program(
        f"""
        from jax import lax
        def body(state, x):
            state = dict(state)
            state["loss"] = x
            return state, x
        out = lax.scan(body, {{"t": 0}}, xs)
        print({'out[0]["loss"]' if read else "out"})
        """
    )
    found = repaired(
        "TypeError", text, "return state, x",
        message="scan of body: scan body function carry input and carry output must have the same pytree structure, "
        "but they differ\n the carry input is a dict with keys 't', but the carry output is a dict with keys "
        "'loss', 't'. The keys differ: 'loss' only in the carry output.",
    )  # fmt: skip
    dropped = ("drop_entry", text.replace('    state["loss"] = x\n', ""))
    assert (dropped in found) is not read
