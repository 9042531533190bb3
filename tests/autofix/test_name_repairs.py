"""Repairs of names, calls and counts that a script gets wrong, as text: the program after each."""

from __future__ import annotations

import pytest

from autofix.test_repairs import program, repaired
from sagax._autofix.repairs.case import Measurement

NUMBER = [Measurement("int", None, "", 3)]
KEY = [Measurement("Array", (), "key<fry>")]

# error, message, other facts, the expression at fault, the program, the kind, and the program after
CASES = {
    "a name of an older release": (
        "AttributeError", "module 'sagax.numpy' has no attribute 'trapz'", {}, "jnp.trapz(y, x)",
        """
        import jax.numpy as jnp
        def area(x, y):
            return jnp.trapz(y, x) - jnp.trapz(x, y)
        """,
        "renamed_function",
        """
        import jax.numpy as jnp
        def area(x, y):
            return jnp.trapezoid(y, x) - jnp.trapezoid(x, y)
        """,
    ),
    "a function of another module": (
        "AttributeError", "module 'sagax.numpy' has no attribute 'softmax'", {}, "jnp.softmax(z)",
        """
        import jax
        import jax.numpy as jnp
        p = jnp.softmax(z)
        """,
        "renamed_function",
        """
        import jax
        import jax.numpy as jnp
        p = jax.nn.softmax(z)
        """,
    ),
    "a misspelled name": (
        "AttributeError", "module 'sagax.random' has no attribute 'bernouli'", {}, "random.bernouli(key)",
        """
        from jax import random
        keep = random.bernouli(key)
        """,
        "renamed_function",
        """
        from jax import random
        keep = random.bernoulli(key)
        """,
    ),
    "an import of an older name": (
        "ImportError", "cannot import name 'tree_map' from 'jax' (unknown location)", {},
        "from jax import jit, tree_map",
        "from jax import jit, tree_map",
        "renamed_function",
        """
        from jax import jit
        from jax.tree import map as tree_map
        """,
    ),
    "a method that ends a derivative": (
        "AttributeError", "'LinearizeTracer' object has no attribute 'detach'", {}, "(r + v).detach()",
        """
        import jax
        def error(r, v):
            return (r + v).detach() - v
        """,
        "array_method",
        """
        import jax
        def error(r, v):
            return jax.lax.stop_gradient(r + v) - v
        """,
    ),
    "a method that changes its object elsewhere": (
        "AttributeError", "'ConcreteArray' object has no attribute 'add_'", {}, "w.add_(g * 2)",
        "w.add_(g * 2)",
        "array_method",
        "w = w + (g * 2)",
    ),
    "a keyword of another library": (
        "TypeError", "sum() got an unexpected keyword argument 'dim'", {}, "x.sum(dim=1)",
        "y = x.sum(dim=1)",
        "renamed_argument",
        "y = x.sum(axis=1)",
    ),
    "an assignment to at": (
        "TypeError", "'_Index' object does not support item assignment", {}, "q.at[i] = v",
        """
        def push(q, i, v):
            q.at[i] = v
            q.at[i + 1] *= 2.0
            return q
        """,
        "at_set",
        """
        def push(q, i, v):
            q = q.at[i].set(v)
            q = q.at[i + 1].multiply(2.0)
            return q
        """,
    ),
    "a derivative of a value": (
        "TypeError", "grad: Expected a callable value, got 3.0", {}, "jax.grad(energy(x, k))",
        """
        import jax
        force = -jax.grad(energy(x, k))
        """,
        "pass_function",
        """
        import jax
        force = -jax.grad(energy)(x, k)
        """,
    ),
    "a derivative of a value, called": (
        "TypeError", "value_and_grad: Expected a callable value, got 3.0", {},
        "jax.value_and_grad(energy(x))(x)",
        """
        import jax
        e, f = jax.value_and_grad(energy(x))(x)
        """,
        "pass_function",
        """
        import jax
        e, f = jax.value_and_grad(energy)(x)
        """,
    ),
    "positions counted from 1": (
        "TypeError", "grad: argnums=2 does not fit: cost was called with 2 positional arguments", {},
        "jax.grad(cost, argnums=2)(w, x)",
        """
        import jax
        slope = jax.grad(cost, argnums=2)(w, x)
        """,
        "argnums",
        """
        import jax
        slope = jax.grad(cost, argnums=1)(w, x)
        """,
    ),
    "axes of one argument": (
        "TypeError", "vmap: vmap in_axes must be an int, None, or a tuple of entries", {},
        'jax.vmap(f, in_axes={"x": 0})(batch)',
        """
        import jax
        def f(batch):
            return batch["x"]
        y = jax.vmap(f, in_axes={"x": 0})(batch)
        """,
        "in_axes",
        """
        import jax
        def f(batch):
            return batch["x"]
        y = jax.vmap(f, in_axes=({"x": 0},))(batch)
        """,
    ),
    "more names than keys": (
        "ValueError", "not enough values to unpack (expected 3, got 2)", {}, "a, b, c = keys",
        """
        import jax
        def init(key):
            keys = jax.random.split(key)
            a, b, c = keys
        """,
        "split_count",
        """
        import jax
        def init(key):
            keys = jax.random.split(key, 3)
            a, b, c = keys
        """,
    ),
    "a number added to a key": (
        "TypeError", "add: key<fry> and a Python int: no common dtype", {}, "key + i",
        """
        import jax
        now = key + i
        """,
        "fold_in",
        """
        import jax
        now = jax.random.fold_in(key, i)
        """,
    ),
    "a size that is a quotient": (
        "TypeError", "reshape: argument shape[0] must be an int; got 4.0", {}, "x.reshape(n / k, k)",
        """
        def blocks(x, n, k):
            return x.reshape(n / k, k)
        """,
        "integer_division",
        """
        def blocks(x, n, k):
            return x.reshape(n // k, k)
        """,
    ),
    "an index that is a quotient, in a variable": (
        "TypeError", "indices must be integers or booleans; got an index of type float", {}, "x[half]",
        """
        def middle(x, n):
            half = n / 2
            return x[half]
        """,
        "integer_division",
        """
        def middle(x, n):
            half = n // 2
            return x[half]
        """,
    ),
    "a result to be filled": (
        "NotImplementedError", "The 'out' argument to numpy.add is not supported.", {},
        "jnp.add(total, x, out=total)",
        """
        import jax.numpy as jnp
        jnp.add(total, x, out=total)
        """,
        "assign_result",
        """
        import jax.numpy as jnp
        total = jnp.add(total, x)
        """,
    ),
    "a key that was split": (
        "KeyReuseError", "Previously-consumed key passed to jit-compiled function at index 0", {},
        "jax.random.normal(key, (2,))",
        """
        import jax
        def make(key):
            a, b = jax.random.split(key)
            return jax.random.normal(a), jax.random.normal(b), jax.random.normal(key, (2,))
        """,
        "split_key",
        """
        import jax
        def make(key):
            a, b, key_3 = jax.random.split(key, 3)
            return jax.random.normal(a), jax.random.normal(b), jax.random.normal(key_3, (2,))
        """,
    ),
    "a body that returns nothing": (
        "TypeError", "scan of body: scan body_fun must be a pair, got None", {},
        "jax.lax.scan(body, start, xs)",
        """
        import jax
        def body(state, x):
            state["h"] = state["h"] + x
        end, _ = jax.lax.scan(body, start, xs)
        """,
        "return_value",
        """
        import jax
        def body(state, x):
            state["h"] = state["h"] + x
            return state, None
        end, _ = jax.lax.scan(body, start, xs)
        """,
    ),
    "an entry that a carry does not begin with": (
        "TypeError",
        "scan of body: scan body function carry input and carry output must have the same pytree structure, "
        "but they differ. The keys differ: 'gate' only in the carry output.", {},
        "jax.lax.scan(body, start, xs)",
        """
        import jax
        def body(c, x):
            return {"h": c["h"] + x, "gate": x}, x
        end, _ = jax.lax.scan(body, start, xs)
        """,
        "drop_entry",
        """
        import jax
        def body(c, x):
            return {"h": c["h"] + x}, x
        end, _ = jax.lax.scan(body, start, xs)
        """,
    ),
    "entries of two names": (
        "ValueError",
        "tree_map: rest[0] does not have the structure of tree. The keys differ: 'b' only in tree, 'bias' "
        "only in rest[0].", {}, "jax.tree.map(mix, old, new)",
        """
        import jax
        old = {"w": 1.0, "b": 0.0}
        new = {"w": 2.0, "bias": 1.0}
        jax.tree.map(mix, old, new)
        """,
        "rename_key",
        """
        import jax
        old = {"w": 1.0, "bias": 0.0}
        new = {"w": 2.0, "bias": 1.0}
        jax.tree.map(mix, old, new)
        """,
    ),
    "values that a caller unpacks": (
        "TypeError", "iteration over a 0-d array", {}, "loss, accuracy = evaluate(w)",
        """
        def evaluate(w):
            found = {"loss": w, "accuracy": -w}
            return found["loss"]
        loss, accuracy = evaluate(w)
        """,
        "return_value",
        """
        def evaluate(w):
            found = {"loss": w, "accuracy": -w}
            return found["loss"], found["accuracy"]
        loss, accuracy = evaluate(w)
        """,
    ),
    "state of a compiled method": (
        "UnexpectedTracerError", "Encountered an unexpected tracer.", {}, "self.v = self.b * self.v + g",
        """
        import jax
        from functools import partial
        class Momentum:
            @partial(jax.jit, static_argnums=0)
            def update(self, w, g):
                self.v = self.b * self.v + g
                return w - self.v
        """,
        "thread_state",
        """
        import jax
        from functools import partial
        class Momentum:
            def update(self, w, g):
                result, self.v = self._update(w, g, self.v)
                return result

            @partial(jax.jit, static_argnums=0)
            def _update(self, w, g, v):
                v = self.b * v + g
                return w - v, v
        """,
    ),
    "a global that a compiled function counts": (
        "UnexpectedTracerError", "Encountered an unexpected tracer.", {}, "count = count + x",
        """
        import jax
        @jax.jit
        def add(x):
            global count
            count = count + x
        """,
        "thread_state",
        """
        import jax
        def add(x):
            global count
            count = _add(x, count)


        @jax.jit
        def _add(x, count):
            count = count + x
            return count
        """,
    ),
    "a while loop that counts": (
        "UnrolledLoopWarning", "this loop puts 150 copies of its body into the program", {}, "k <= 9 * n",
        """
        import jax
        def settle(x, n):
            k = 0
            while k <= 9 * n:
                x = 0.5 * x
                k += 1
            return x
        """,
        "fori_or_scan",
        """
        import jax
        def settle(x, n):
            k = 0
            def body(k, x):
                x = 0.5 * x
                return x

            x = jax.lax.fori_loop(k, 9 * n + 1, body, x)
            return x
        """,
    ),
    "a list that is summed": (
        "UnrolledLoopWarning", "this loop puts 180 copies of its body into the program", {}, "range(180)",
        """
        import jax
        import jax.numpy as jnp
        def wave(x):
            terms = [term(k, x) for k in range(180)]
            return sum(terms)
        """,
        "vmap",
        """
        import jax
        import jax.numpy as jnp
        def wave(x):
            terms = jax.vmap(lambda k: term(k, x))(jnp.arange(180))
            return terms.sum(axis=0)
        """,
    ),
    "a logarithm of a softmax": (
        "NaNGradientWarning", "the gradient is nan", {}, "jnp.log(chosen)",
        """
        import jax
        import jax.numpy as jnp
        def loss(z, label):
            p = jax.nn.softmax(z)
            chosen = p[label]
            return -jnp.log(chosen)
        """,
        "stable_function",
        """
        import jax
        import jax.numpy as jnp
        def loss(z, label):
            p = jax.nn.log_softmax(z)
            chosen = p[label]
            return -chosen
        """,
    ),
    "a cache of a function of traced values": (
        "TypeError", "unhashable type: 'StagedTracer'", {},
        "y = rotation(t)",
        """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def rotation(t):
            return t
        y = rotation(t)
        """,
        "remove_cache",
        """
        from functools import lru_cache
        def rotation(t):
            return t
        y = rotation(t)
        """,
    ),
    "a mapped axis by another name": (
        "NameError", "unbound axis name: batch; the axes in scope are 'examples'", {}, 'jax.lax.pmean(g, "batch")',
        """
        import jax
        def mean(g):
            return jax.lax.pmean(g, "batch")
        """,
        "axis_name",
        """
        import jax
        def mean(g):
            return jax.lax.pmean(g, "examples")
        """,
    ),
    "an axis that the mesh lacks": (
        "ValueError", "Resource axis: batch of P('batch',) is not found in mesh: ('data',)", {},
        'NamedSharding(mesh, P("batch"))',
        's = NamedSharding(mesh, P("batch"))',
        "axis_name",
        's = NamedSharding(mesh, P("data"))',
    ),
    "a position that counts self": (
        "ValueError",
        "jit: argument static_argnums must be a position from -2 to 1: Net.apply takes 2 positional arguments; got 2",
        {}, "jax.jit(net.apply, static_argnums=(2,))",
        """
        import jax
        apply = jax.jit(net.apply, static_argnums=(2,))
        """,
        "static_args",
        """
        import jax
        apply = jax.jit(net.apply, static_argnums=(1,))
        """,
    ),
    "a module of an older release": (
        "ImportError", "No module named 'jax.config': this script asks for jax.config", {},
        "config.update",
        """
        from jax.config import config
        config.update("jax_enable_x64", False)
        """,
        "renamed_function",
        """
        from jax import config
        config.update("jax_enable_x64", False)
        """,
    ),
    "a mesh of more devices than there are": (
        "ValueError", "make_mesh: Number of devices 1 must be >= the product of mesh_shape (8,)", {},
        'jax.make_mesh((8,), ("data",))',
        """
        import jax
        mesh = jax.make_mesh((8,), ("data",))
        """,
        "device_count",
        """
        import jax
        mesh = jax.make_mesh((jax.device_count(),), ("data",))
        """,
    ),
    "a backward rule without the static arguments": (
        "TypeError", "clip_bwd() takes 2 positional arguments but 3 were given", {}, "clip.defvjp",
        """
        import jax
        from functools import partial
        @partial(jax.custom_vjp, nondiff_argnums=(1,))
        def clip(x, bound):
            return x
        def clip_fwd(x, bound):
            return x, None
        def clip_bwd(res, g):
            return (g,)
        clip.defvjp(clip_fwd, clip_bwd)
        """,
        "match_signature",
        """
        import jax
        from functools import partial
        @partial(jax.custom_vjp, nondiff_argnums=(1,))
        def clip(x, bound):
            return x
        def clip_fwd(x, bound):
            return x, None
        def clip_bwd(bound, res, g):
            return (g,)
        clip.defvjp(clip_fwd, clip_bwd)
        """,
    ),
    "a search with next": (
        "TracerBoolConversionError", "Attempted boolean conversion", {}, "sums[i] > level * t[i]",
        """
        import jax.numpy as jnp
        def first(sums, t, level):
            return next(i for i in range(len(sums)) if sums[i] > level * t[i])
        """,
        "argmax",
        """
        import jax.numpy as jnp
        def first(sums, t, level):
            return jnp.argmax(sums > level * t)
        """,
    ),
}  # fmt: skip

MEASURED = {
    "a number added to a key": {"key": KEY, "i": NUMBER},
    "a size that is a quotient": {"n": NUMBER, "k": NUMBER},
    "an index that is a quotient, in a variable": {"n": NUMBER, "2": NUMBER},
}


@pytest.mark.parametrize("name", CASES)
def test_a_repair(name):
    error, message, data, expression, before, kind, after = CASES[name]
    found = repaired(
        error, program(before), expression, message=message, data=data,
        measured=MEASURED.get(name, {"-": []}),
    )  # fmt: skip
    assert (kind, program(after)) in found, "\n".join(f"--- {k}\n{t}" for k, t in found)


ALONE = {
    "a name of another package": (
        "AttributeError", "module 'numpy' has no attribute 'trapz'", "np.trapz(y)",
        """
        import numpy as np
        area = np.trapz(y)
        """,
    ),
    "a method that nothing resembles": (
        "AttributeError", "'ConcreteArray' object has no attribute 'frobnicate'", "x.frobnicate()",
        "y = x.frobnicate()",
    ),
    "a softmax that is read twice": (
        "NaNGradientWarning", "the gradient is nan", "jnp.log(p)",
        """
        import jax
        import jax.numpy as jnp
        def entropy(z):
            p = jax.nn.softmax(z)
            return -(p * jnp.log(p)).sum()
        """,
    ),
    "an entry that the body reads": (
        "TypeError",
        "scan body function carry input and carry output must have the same pytree structure. "
        "The keys differ: 'gate' only in the carry output.", "jax.lax.scan(body, start, xs)",
        """
        import jax
        def body(c, x):
            return {"h": c["gate"] + x, "gate": x}, x
        end, _ = jax.lax.scan(body, start, xs)
        """,
    ),
    "a quotient of arrays": (
        "TypeError", "indices must be integers or booleans; got an index of type float", "x[a / b]",
        "y = x[a / b]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_nothing_of_these_is_proposed(name):
    error, message, expression, text = ALONE[name]
    found = repaired(
        error, program(text), expression, message=message,
        measured={"a": [Measurement("Array", (3,), "float32")]},
    )  # fmt: skip
    kinds = {kind for kind, _ in found}
    assert not kinds & {
        "renamed_function", "array_method", "stable_function", "drop_entry", "integer_division"
    }  # fmt: skip
