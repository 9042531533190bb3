"""Repairs of operands, arguments and containers of another form, as text."""

from __future__ import annotations

import pytest

from autofix.test_repairs import program, repaired
from sagax._autofix.repairs.case import Measurement

DICT = [Measurement("dict", structure="PyTreeDef({'w': *}): float32[2]")]
LIST = [Measurement("list", structure="PyTreeDef([*, *]): float32[2], float32[]")]
FLOAT = [Measurement("float", value=8.0)]
ARRAY = [Measurement("Array", (3,), "float32")]

# error, message, other facts, the expression at fault, the program, measured values, the kind, the new lines
CASES = {
    "arithmetic on dicts": (
        "TypeError", "unsupported operand type(s) for *: 'float' and 'dict'", {}, "0.1 * grads",
        """
        import jax
        def step(params, grads):
            return params - 0.1 * grads
        """,
        {"params": DICT, "grads": DICT}, "tree_map",
        ["    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)"],
    ),
    "an update of a list": (
        "TypeError", "can't multiply sequence by non-int of type 'float'", {}, "rate * grads",
        """
        import jax
        def step(params, grads, rate):
            params -= rate * grads
            return params
        """,
        {"grads": LIST, "rate": FLOAT}, "tree_map",
        ["    params = jax.tree.map(lambda old, g: old - (rate * g), params, grads)"],
    ),
    "the norm of a tree": (
        "TypeError", "linalg.norm requires ndarray or scalar arguments, got <class 'dict'> at position 0.", {},
        "jnp.linalg.norm(grads)",
        """
        import jax
        import jax.numpy as jnp
        size = jnp.linalg.norm(grads)
        """,
        {"grads": DICT}, "flatten_tree", ["size = jnp.linalg.norm(jax.flatten_util.ravel_pytree(grads)[0])"],
    ),
    "a list beside a tuple": (
        "ValueError",
        "tree_map: rest[0] does not have the structure of tree\n  tree is a list of length 2, but rest[0] is a tuple of length 2.",
        {}, "jax.tree.map(f, state, grads)",
        """
        import jax
        state = [0.0 * p for p in params]
        state = jax.tree.map(f, state, grads)
        """,
        {}, "match_container", ["state = tuple(0.0 * p for p in params)"],
    ),
    "a pair that is compared": (
        "TypeError", "'>' not supported between instances of 'tuple' and 'float'", {}, "value > 0.1",
        """
        import jax
        objective = jax.jit(jax.value_and_grad(loss))
        value = objective(w)
        while value > 0.1:
            value = objective(w)
        """,
        {}, "unpack_result", ["value, _ = objective(w)", "    value, _ = objective(w)"],
    ),
    "a result of checkify": (
        "AttributeError", "'tuple' object has no attribute 'max'", {}, "shares.max",
        """
        from jax.experimental import checkify
        shares = checkify.checkify(share)(x)
        print(shares.max())
        """,
        {}, "unpack_result", ["error, shares = checkify.checkify(share)(x)", "error.throw()"],
    ),
    "operands of cond": (
        "TypeError", "f.<locals>.<lambda>() missing 1 required positional argument: 'g'", {},
        "lax.cond(p, lambda g: g / 2, lambda g: g)",
        """
        from jax import lax
        def f(p, g):
            return lax.cond(p, lambda g: g / 2, lambda g: g)
        """,
        {}, "pass_operands", ["    return lax.cond(p, lambda g: g / 2, lambda g: g, g)"],
    ),
    "map over two arrays": (
        "TypeError", "map() takes 2 positional arguments but 3 were given", {}, "jax.lax.map(fit, x, y)",
        """
        import jax
        slopes = jax.lax.map(fit, x, y)
        """,
        {}, "map_tuple", ["slopes = jax.lax.map(lambda row: fit(*row), (x, y))"],
    ),
    "a text that is mapped": (
        "TypeError", "vmap of f: Argument 'relu' of type <class 'str'> is not a valid JAX type.",
        {"argument": "kind"}, 'jax.vmap(f)(x, "relu")',
        """
        from functools import partial
        import jax
        def f(x, kind):
            return x
        y = jax.vmap(f)(x, "relu")
        """,
        {}, "bind_argument", ['y = jax.vmap(partial(f, kind="relu"))(x)'],
    ),
    "sizes as arguments": (
        "TypeError", "normal: 2, of type int, does not name a dtype", {}, "jax.random.normal(key, 4, 2)",
        """
        import jax
        w = jax.random.normal(key, 4, 2)
        """,
        {}, "shape_as_tuple", ["w = jax.random.normal(key, (4, 2))"],
    ),
    "the start of a slice": (
        "TypeError", "dynamic_slice: argument start_indices must be a one-dimensional array", {},
        "lax.dynamic_slice(x, i, (4, 2))",
        """
        from jax import lax
        y = lax.dynamic_slice(x, i, (4, 2))
        """,
        {}, "start_tuple", ["y = lax.dynamic_slice(x, (i, 0), (4, 2))"],
    ),
    "a scalar update": (
        "TypeError", "dynamic_update_slice: the update has another number of dimensions than the operand",
        {"expected": "an array with 1 dimensions, as shape (3,) has", "got": "float32[]"},
        "lax.dynamic_update_slice(x, v, (i,))",
        """
        from jax import lax
        y = lax.dynamic_update_slice(x, v, (i,))
        """,
        {}, "add_axis", ["y = lax.dynamic_update_slice(x, v[None], (i,))"],
    ),
    "a list that is scanned": (
        "ValueError", "scan of f: scan got value with no leading axis to scan over", {}, "lax.scan(f, 0.0, rates)",
        """
        from jax import lax
        import jax.numpy as jnp
        out = lax.scan(f, 0.0, rates)
        """,
        {"rates": [Measurement("list")]}, "stack_list", ["out = lax.scan(f, 0.0, jnp.array(rates))"],
    ),
    "a bound that is a float": (
        "TypeError", "fori_loop: lower and upper arguments to fori_loop must be integers of shape ()", {},
        "lax.fori_loop(0, t / dt, f, x)",
        """
        from jax import lax
        y = lax.fori_loop(0, t / dt, f, x)
        """,
        {"t / dt": FLOAT}, "integer_bound", ["y = lax.fori_loop(0, round(t / dt), f, x)"],
    ),
    "a loop whose functions are exchanged": (
        "TypeError", "while_loop of more: body_fun output and input must have the same pytree structure", {},
        "lax.while_loop(halve, more, x)",
        """
        from jax import lax
        def more(x):
            return x > 1.0
        def halve(x):
            return x / 2
        y = lax.while_loop(halve, more, x)
        """,
        {}, "argument_order", ["y = lax.while_loop(more, halve, x)"],
    ),
    "export of a function": (
        "ValueError", "export: Function to be exported must be the result of `jit` but is: <function f>", {},
        "export.export(f)",
        """
        import jax
        from jax import export
        exported = export.export(f)(shape)
        """,
        {}, "jit", ["exported = export.export(jax.jit(f))(shape)"],
    ),
    "specs of a shard_map": (
        "ValueError", "shard_map in_specs has 1 entries, and f was called with 2 positional arguments", {},
        "scaled(x, y)",
        """
        import jax
        from jax.sharding import PartitionSpec as P
        scaled = jax.shard_map(f, mesh=mesh, in_specs=(P("i"),), out_specs=P("i"))
        z = scaled(x, y)
        """,
        {}, "in_specs", ['scaled = jax.shard_map(f, mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i"))'],
    ),
    "fields of a dataclass": (
        "ValueError",
        "register_dataclass: data_fields and meta_fields must together name the fields of Run; in neither: 'var' (to give up",
        {}, 'register_dataclass(Run, ["mean"], meta_fields=[])',
        """
        from jax.tree_util import register_dataclass
        register_dataclass(Run, ["mean"], meta_fields=[])
        """,
        {}, "register_fields", ['register_dataclass(Run, ["mean"], meta_fields=["var"])'],
    ),
    "a print without a field": (
        "ValueError", "debug.print: Unused positional arguments to `debug.print`", {}, 'jax.debug.print("loss", x)',
        """
        import jax
        jax.debug.print("loss", x)
        """,
        {}, "format_field", ['jax.debug.print("loss {}", x)'],
    ),
    "arrays in JSON": (
        "TypeError", "Object of type Array is not JSON serializable", {}, "json.dumps(metrics)",
        """
        import json
        print(json.dumps(metrics))
        """,
        {}, "json_default", ["print(json.dumps(metrics, default=lambda array: array.tolist()))"],
    ),
    "a size that is called": (
        "TypeError", "'int' object is not callable", {}, "x.size(0)",
        """
        y = x.reshape(x.size(0), -1)
        """,
        {}, "attribute", ["y = x.reshape(x.shape[0], -1)"],
    ),
    "the larger of two arrays": (
        "ConcretizationTypeError", "axis argument to jnp.max()", {}, "jnp.max(a, b)",
        """
        import jax.numpy as jnp
        y = jnp.max(a, b)
        """,
        {"b": ARRAY}, "elementwise", ["y = jnp.maximum(a, b)"],
    ),
    "the complement of a mask of floats": (
        "TypeError", "not: the operand has dtype float32", {}, "~mask",
        """
        y = x * ~mask
        """,
        {}, "complement", ["y = x * (1 - mask)"],
    ),
    "the complement of a mask in a choice": (
        "TypeError", "not: the operand has dtype float32", {}, "~mask",
        """
        y = jnp.where(~mask, x, 0)
        """,
        {}, "complement", ["y = jnp.where(mask == 0, x, 0)"],
    ),
    "the arguments of a rule": (
        "TypeError", "exp requires ndarray or scalar arguments, got <class 'tuple'> at position 0.", {}, "jnp.exp(x)",
        """
        import jax
        import jax.numpy as jnp
        @jax.custom_jvp
        def f(x):
            return jnp.exp(x)
        @f.defjvp
        def rule(x, t):
            return f(x), jnp.exp(x) * t
        """,
        {}, "match_signature", ["def rule(primals, tangents):", "    (x,), (t,) = primals, tangents"],
    ),
    "a cotangent in a tuple": (
        "ValueError", "unexpected tree structure of argument: it differs\n  output is a leaf, but cotangent is a tuple of length 1.",
        {}, "pull((ct,))",
        """
        (grad,) = pull((ct,))
        """,
        {}, "cotangent_tree", ["(grad,) = pull(ct)"],
    ),
    "steps that are counted from 0": (
        "NaNGradientWarning", "the gradient is nan", {}, "m / (1 - b1**t)",
        """
        def adam(m, b1, t):
            return m / (1 - b1**t)
        """,
        {}, "count_from_one", ["    return m / (1 - b1**(t + 1))"],
    ),
    "arrays to concatenate": (
        "ConcretizationTypeError", "axis argument to numpy.concatenate()", {}, "jnp.concatenate(a, b)",
        """
        import jax.numpy as jnp
        y = jnp.concatenate(a, b)
        """,
        {}, "tuple_arguments", ["y = jnp.concatenate((a, b))"],
    ),
    "a size that does not fit": (
        "TypeError", "reshape: cannot reshape array of shape (2, 6)", {}, "x.reshape(n, k * k)",
        """
        y = x.reshape(n, k * k)
        """,
        {}, "reshape", ["y = x.reshape(n, -1)"],
    ),
    "comparisons beside &": (
        "TypeError", "and: operand 0 has dtype float32", {}, "-k & z",
        """
        keep = z > -k & z < k
        """,
        {}, "parentheses", ["keep = (z > -k) & (z < k)"],
    ),
    "a mask beside a comparison": (
        "TypeError", "and: operand 1 has dtype float32", {}, "mask & x",
        """
        keep = mask & x >= low | other
        """,
        {}, "parentheses", ["keep = mask & (x >= low) | other"],
    ),
    "the gradient before the loss": (
        "ValueError", "tree_map: rest[0] is a leaf", {}, "jax.tree.map(f, params, grads)",
        """
        import jax
        grads, loss = jax.value_and_grad(cost)(params)
        params = jax.tree.map(f, params, grads)
        """,
        {}, "result_order", ["loss, grads = jax.value_and_grad(cost)(params)"],
    ),
    "bounds in place of a shape": (
        "ValueError", "index: Only integer scalar arrays can be converted to a scalar index.", {},
        "jax.random.uniform(key, low, high)",
        """
        import jax
        import jax.numpy as jnp
        x = jax.random.uniform(key, low, high)
        """,
        {"low": ARRAY}, "argument_order", ["x = jax.random.uniform(key, jnp.shape(low), minval=low, maxval=high)"],
    ),
    "the index of a switch": (
        "TypeError", "switch: Index type must be an integer, got float32", {}, "lax.switch(code, branches, x)",
        """
        from jax import lax
        y = lax.switch(code, branches, x)
        """,
        {}, "astype", ["y = lax.switch(code.astype(int), branches, x)"],
    ),
    "a mapped output": (
        "ValueError", "vmap: at vmap out_axes[0], got axis spec None but output was batched on axis 0", {},
        "run(keys)",
        """
        import jax
        def f(key):
            return key, 1.0
        run = jax.vmap(f, out_axes=None)
        y = run(keys)
        """,
        {}, "out_axes", ["run = jax.vmap(f, out_axes=(0, None))"],
    ),
    "a label of another size": (
        "ValueError", "einsum: the label 'n' has size 4 in operand 0 and size 2 in operand 1",
        {"got": "shapes (4, 2, 5), (2, 5)"}, 'jnp.einsum("nhf,nf->nh", x, a)',
        """
        import jax.numpy as jnp
        y = jnp.einsum("nhf,nf->nh", x, a)
        """,
        {}, "einsum_axes", ['y = jnp.einsum("nhf,hf->nh", x, a)'],
    ),
    "a callback that is gone": (
        "ImportError", "cannot import name 'host_callback' from 'jax.experimental'", {}, "x",
        """
        import jax
        from jax.experimental import host_callback as hcb
        def f(x):
            hcb.id_print(x, what="x")
            return x
        """,
        {}, "debug_print", ['    jax.debug.print("x: {}", x)'],
    ),
    "an option that is misspelled": (
        "ValueError", "convolve: argument mode must be one of ('full', 'same', 'valid'); got 'sames'", {},
        'jnp.convolve(x, k, mode="sames")',
        """
        import jax.numpy as jnp
        y = jnp.convolve(x, k, mode="sames")
        """,
        {}, "option", ['y = jnp.convolve(x, k, mode="same")'],
    ),
    "argnums by name": (
        "TypeError", "grad: argument argnums must be an int or a sequence of ints: positions of arguments; got 'y'", {},
        'jax.grad(f, argnums="y")',
        """
        import jax
        def f(x, y):
            return x * y
        g = jax.grad(f, argnums="y")
        """,
        {}, "argnums", ["g = jax.grad(f, argnums=1)"],
    ),
    "concatenate of lax": (
        "TypeError", "concatenate() missing 1 required positional argument: 'dimension'", {}, "lax.concatenate([a, b])",
        """
        from jax import lax
        y = lax.concatenate([a, b])
        """,
        {}, "dimension", ["y = lax.concatenate([a, b], dimension=0)"],
    ),
    "where without another choice": (
        "TypeError", "where: Either both or neither of the x and y arguments should be provided to numpy.where", {},
        "jnp.where(x > 0, x)",
        """
        import jax.numpy as jnp
        y = jnp.where(x > 0, x)
        """,
        {}, "where", ["y = jnp.where(x > 0, x, 0)"],
    ),
    "select of an array and a number": (
        "TypeError", "select: on_true and on_false differ in shape", {}, "lax.select(x > 0, x, 0.0)",
        """
        from jax import lax
        import jax.numpy as jnp
        y = lax.select(x > 0, x, 0.0)
        """,
        {}, "where", ["y = jnp.where(x > 0, x, 0.0)"],
    ),
    "names in the format of a print": (
        "ValueError", "debug.print: the format string has places for 'norm', which were not passed", {},
        'jax.debug.print("{norm}")',
        """
        import jax
        def f(g):
            norm = g @ g
            jax.debug.print("{norm}")
        """,
        {}, "format_field", ['    jax.debug.print("{norm}", norm=norm)'],
    ),
    "a decorator with options alone": (
        "TypeError", "vmap() missing 1 required positional argument: 'fun'", {}, "jax.vmap(in_axes=0)",
        """
        from functools import partial
        import jax
        @jax.vmap(in_axes=0)
        def f(x):
            return x
        """,
        {}, "partial", ["@partial(jax.vmap, in_axes=0)"],
    ),
    "a tangent rule without the answer": (
        "TypeError", "<lambda>() takes 2 positional arguments but 3 were given", {}, "f(1.0)",
        """
        import jax
        @jax.custom_jvp
        def f(x):
            return x
        f.defjvps(lambda t, x: t)
        y = f(1.0)
        """,
        {}, "match_signature", ["f.defjvps(lambda t, ans, x: t)"],
    ),
    "all keys for one draw": (
        "ValueError", "normal: accepts a single key, but was given a key array of shape (4,) != ()", {},
        "jax.random.normal(keys)",
        """
        import jax
        for i in range(4):
            x = jax.random.normal(keys)
        """,
        {}, "index_key", ["    x = jax.random.normal(keys[i])"],
    ),
    "both keys of a split": (
        "ValueError", "normal: accepts a single key, but was given a key array of shape (2,) != ()", {},
        "jax.random.normal(key)",
        """
        import jax
        key = jax.random.split(key)
        x = jax.random.normal(key)
        """,
        {}, "split_key", ["key, subkey = jax.random.split(key)", "x = jax.random.normal(subkey)"],
    ),
    "an entry that is read as an attribute": (
        "AttributeError", "'dict' object has no attribute 'w'", {}, "params.w",
        """
        params = {"w": 1.0, "b": 2.0}
        y = params.w + params.b
        """,
        {}, "item", ['y = params["w"] + params["b"]'],
    ),
    "three results of a body": (
        "TypeError", "scan of cell: scan body output must be a pair, got PyTreeDef((*, *, *)).",
        {"got": "a tuple of length 3"}, "return h, c, h",
        """
        from jax import lax
        def cell(state, x):
            h, c = state
            return h, c, h
        out = lax.scan(cell, start, xs)
        """,
        {}, "return_pair", ["    return (h, c), h"],
    ),
    "a named tuple that becomes a tuple": (
        "TypeError",
        "scan of f: the carry input is the namedtuple Ball, but the carry output is a tuple of length 2.", {},
        "return (p, v), p",
        """
        from jax import lax
        def f(ball, _):
            p, v = ball
            return (p, v), p
        out = lax.scan(f, Ball(1.0, 0.0), xs)
        """,
        {}, "match_tree", ["    return Ball(p, v), p"],
    ),
    "members in a list": (
        "ValueError", "vmap got inconsistent sizes for array axes: axis 0 of params[0]['v'], axis 0 of params[1]['v']", {},
        "jax.vmap(f)(members)",
        """
        import jax
        import jax.numpy as jnp
        y = jax.vmap(f)(members)
        """,
        {"members": LIST}, "stack_trees",
        ["y = jax.vmap(f)(jax.tree.map(lambda *leaves: jnp.stack(leaves), *members))"],
    ),
    "a function that takes all trees": (
        "TypeError", "stack: argument arrays must be a sequence of arrays; got float32[]", {},
        "jax.tree.map(jnp.stack, episodes)",
        """
        import jax
        import jax.numpy as jnp
        batch = jax.tree.map(jnp.stack, episodes)
        """,
        {}, "stack_trees", ["batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *episodes)"],
    ),
    "a spec without a mesh": (
        "RuntimeError", "device_put requires a non-empty mesh in context if you are passing `PartitionSpec`s", {},
        'jax.device_put(x, P("i"))',
        """
        import jax
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        mesh = Mesh(devices, ("i",))
        y = jax.device_put(x, P("i"))
        """,
        {}, "named_sharding", ['y = jax.device_put(x, NamedSharding(mesh, P("i")))'],
    ),
    "a loop with two states": (
        "TypeError", "fori_loop() takes 4 positional arguments but 5 were given", {}, "lax.fori_loop(0, n, f, q, p)",
        """
        from jax import lax
        out = lax.fori_loop(0, n, f, q, p)
        """,
        {}, "carry_tuple", ["out = lax.fori_loop(0, n, f, (q, p))"],
    ),
    "a tree too many": (
        "TypeError", "<lambda>() takes 2 positional arguments but 3 were given", {},
        "jax.tree.map(lambda v, g: v + g, velocity, grads, params)",
        """
        import jax
        v = jax.tree.map(lambda v, g: v + g, velocity, grads, params)
        """,
        {}, "drop_argument", ["v = jax.tree.map(lambda v, g: v + g, velocity, grads)"],
    ),
    "two sizes to infer": (
        "TypeError", "reshape: only one size can be -1, which stands for whatever is left", {}, "x.reshape(n, -1, -1)",
        """
        y = x.reshape(n, -1, -1)
        """,
        {}, "reshape", ["y = x.reshape(n, -1)"],
    ),
    "unequal parts": (
        "ValueError", "split: array split does not result in an equal division", {}, "jnp.split(x, 3)",
        """
        import jax.numpy as jnp
        parts = jnp.split(x, 3)
        """,
        {}, "array_split", ["parts = jnp.array_split(x, 3)"],
    ),
    "a loss that is not returned": (
        "TypeError", "grad: Gradient only defined for scalar-output functions. Output was PyTreeDef(None).", {},
        "jax.grad(loss)(w)",
        """
        import jax
        def loss(w):
            value = w @ w
        g = jax.grad(loss)(w)
        """,
        {}, "return_value", ["    value = w @ w", "    return value"],
    ),
    "a cotangent too many": (
        "TypeError",
        "custom_vjp: Custom VJP bwd rule bwd for function f must produce a tuple of length equal to the number of arguments, 1",
        {}, "ct, None",
        """
        import jax
        @jax.custom_vjp
        def f(x):
            return x
        def fwd(x):
            return x, x
        def bwd(res, ct):
            return ct, None
        f.defvjp(fwd, bwd)
        """,
        {}, "match_tree", ["    return (ct,)"],
    ),
    "a key that is drawn from after its split": (
        "KeyReuseError", "a key is used twice", {}, "jax.random.normal(key)",
        """
        import jax
        def draw(key):
            sub = jax.random.split(key)[1]
            x = jax.random.uniform(sub)
            return x * jax.random.normal(key)
        """,
        {}, "split_key", ["    key, sub = jax.random.split(key)"],
    ),
    "a tree whose partner was not reached": (
        "TypeError", "can't multiply sequence by non-int of type 'float'", {}, "0.9 * m",
        """
        import jax
        m = 0.9 * m + 0.1 * g
        """,
        {"m": DICT}, "tree_map", ["m = jax.tree.map(lambda m_2, g_2: 0.9 * m_2 + 0.1 * g_2, m, g)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_repairs(case):
    error, message, data, expression, body, measured, kind, lines = case
    text = program(body)
    found = repaired(error, text, expression, message=message, data=data, measured=measured)
    changed = [after for found_kind, after in found if found_kind == kind]
    assert any(all(line in after.split("\n") for line in lines) for after in changed), found


def test_trees_of_two_structures_have_no_common_arithmetic():
    text = program("""
        import jax
        y = params - 0.1 * grads
    """)
    found = repaired(
        "TypeError", text, "0.1 * grads",
        message="unsupported operand type(s) for *: 'float' and 'dict'",
        measured={"params": LIST, "grads": DICT},
    )  # fmt: skip
    assert not [kind for kind, _ in found if kind == "tree_map"]


def test_a_frozen_state_is_replaced():
    text = program("""
        from dataclasses import replace
        def step(state, g):
            state.w = state.w - g
            state.count += 1
            return state
    """)
    found = repaired(
        "FrozenInstanceError", text, "state.w", message="cannot assign to field 'w'",
        classes=("AttributeError",),
    )  # fmt: skip
    wanted = text.replace("state.w = state.w - g", "state = replace(state, w=state.w - g)")
    wanted = wanted.replace("state.count += 1", "state = replace(state, count=state.count + 1)")
    assert ("replace", wanted) in found


def test_terms_that_are_summed_are_not_kept_by_a_proven_callback():
    from sagax._autofix.repairs.leaked_state import _is_summed
    from sagax._autofix.repairs.source_file import Source

    for reader, summed in (("sum(terms)", True), ("len(terms)", False)):
        source = Source("a.py", f"terms = []\nterms.append(x)\nprint({reader})\n")
        assert _is_summed(source, source.tree.body[1]) is summed
