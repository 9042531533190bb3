"""Each rule of `python -m sagax check`: sources with the mistake, and sources without."""

from __future__ import annotations

import re
import textwrap

import pytest

from sagax._check.check import check
from sagax._check.files import read_text
from sagax._check.findings import Finding

HEADER = """
import functools, logging, math, os, random as pyrandom, time, uuid
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np
import optax
import scipy.special
from jax import lax, random
"""


def findings(source: str, header: str = HEADER) -> list[Finding]:
    text = header + textwrap.dedent(source)
    return check(read_text("case.py", text.encode()))


def expected(source: str, header: str = HEADER) -> list[tuple[int, str]]:
    """The codes that comments `#~ SX0102` announce, with their lines."""
    text = header + textwrap.dedent(source)
    return [
        (number, code)
        for number, line in enumerate(text.split("\n"), 1)
        if (comment := re.search(r"#~ (.*)", line))
        for code in sorted(comment[1].split())
    ]


def cases(text: str) -> list[str]:
    return [
        case
        for case in re.split(r"^# ---.*$", textwrap.dedent(text), flags=re.MULTILINE)
        if case.strip()
    ]


FOUND = cases(
    """
    @jax.jit
    def f(x):
        if x > 0:  #~ SX0102
            return x
        return -x
    # --- a helper, called with what is traced
    def helper(size, limit):
        return 1.0 if size < limit else 2.0  #~ SX0102
    @jax.jit
    def f(x):
        return helper(x.sum(), 3.0)
    # --- a required argument that is only a condition
    @jax.jit
    def f(x, training):
        if training:  #~ SX0102
            x = x * 2
        return x
    # --- and, or, not, chains
    @jax.jit
    def f(x, y):
        a = x > 0 and y > 0  #~ SX0102
        b = not (x > 0)  #~ SX0102
        c = 0 < x < 1  #~ SX0102
        return a, b, c
    # --- while, assert, match, comprehension
    @jax.jit
    def f(x):
        assert x.sum() > 0  #~ SX0102
        while x < 10:  #~ SX0102
            x = x * 2
        return [v for v in (1, 2) if x > v]  #~ SX0102
    # --- builtins that compare
    @jax.jit
    def f(x):
        a = max(x * 2, 1.0)  #~ SX0102
        b = sorted([x * 2, x])  #~ SX0102
        return a, b, bool(x * 2), x * 3 in (1, 2)  #~ SX0102 SX0102
    # --- the call tells that the default is not used
    @jax.jit
    def f(x, flag=False):
        return x if flag else -x  #~ SX0102
    f(1.0, True)
    # --- bodies of control flow, of vmap, of remat, in any import style
    from jax.lax import scan as run_scan
    def body(carry, row):
        if row > 0:  #~ SX0102
            carry = carry + row
        return carry, row
    run_scan(body, 0.0, jnp.ones(3))
    jax.vmap(lambda v: v if v > 0 else -v)(jnp.ones(3))  #~ SX0102
    lax.while_loop(lambda s: s < 3 and s > 1, lambda s: s + 1, 0)  #~ SX0102
    lax.fori_loop(0, 3, lambda i, s: s if i > 1 else -s, 1.0)  #~ SX0102
    # --- a method that is jitted with its object as a static argument
    class Model:
        def __init__(self):
            self.run = jax.jit(self._run)
        def _run(self, x):
            return x if x > 0 else -x  #~ SX0102
        @partial(jax.jit, static_argnums=0)
        def other(self, x):
            return x if x > 0 else -x  #~ SX0102
    # --- an object that is called
    class Layer:
        def __call__(self, x):
            return np.tanh(x)  #~ SX0104
    layer = Layer()
    jax.jit(lambda x: layer(x))(1.0)
    # --- constants are traced under jit
    @jax.jit
    def f(x):
        return x if jnp.any(jnp.ones(3) > 0) else -x  #~ SX0102
    # --- numbers
    @jax.jit
    def f(x, n):
        a = float(x)  #~ SX0101
        b = int(n)  #~ SX0101
        c = x.sum().item()  #~ SX0101
        d = math.sin(x)  #~ SX0101
        e = [0 for _ in range(n)]  #~ SX0103
        g = ["a", "b"][n]  #~ SX0103
        h = {1: 2}[n * 2]  #~ SX0005
        return a, b, c, d, e, g, h, f"{x * 2:.3f}"  #~ SX0005
    # --- shapes and axes
    @jax.jit
    def f(x, n):
        a = jnp.zeros((n, 3))  #~ SX0103
        b = jnp.arange(n)  #~ SX0101
        c = x.sum(axis=n)  #~ SX0101
        d = x.reshape(n)  #~ SX0101
        e = x[n:n + 2]  #~ SX0126
        g = jnp.unique(x)  #~ SX0101
        h = jnp.where(x > 0)  #~ SX0101
        return a, b, c, d, e, g, h
    # --- masks
    @jax.jit
    def f(x):
        return x[x > 0].sum(), x.at[x > 0].set(0)  #~ SX0105 SX0105
    # --- NumPy and scipy, also under grad
    TABLE = np.array([1.0, 2.0])
    def f(x):
        return np.sin(x) + scipy.special.erf(x)  #~ SX0104 SX0104
    jax.grad(f)(1.0)
    jax.jit(lambda i: TABLE[i])(1)  #~ SX0104
    # --- static arguments
    @partial(jax.jit, static_argnums=3)  #~ SX0006
    def f(x, y):
        return x
    @partial(jax.jit, static_argnames=("z",))  #~ SX0006
    def g(x, y):
        return x
    @partial(jax.jit, static_argnames=("widths",))
    def h(x, widths):
        return x
    h(1.0, [1, 2])  #~ SX0006
    h(1.0, widths=jnp.ones(3))  #~ SX0006
    # --- objects and texts that are no pytrees
    class Body:
        def __init__(self):
            self.mass = 1.0
        @jax.jit  #~ SX0007
        def move(self, x):
            return x
    step = jax.jit(lambda state, mode: state)
    step(Body(), "fast")  #~ SX0007 SX0007
    # --- within containers
    class Point:
        def __init__(self, x):
            self.x = x
    jax.jit(lambda points: points)({"a": [Point(1.0)]})  #~ SX0007
    jax.grad(lambda p: p["a"] ** 2)({"a": jnp.array(3), "b": 1.0})  #~ SX0003
    import collections
    window = collections.deque(maxlen=3)
    jax.jit(lambda x: window.append(x))(1.0)  #~ SX0107
    # --- derivatives
    jax.grad(lambda x: x**2)(3)  #~ SX0003
    jax.grad(lambda x: (x, x))(3.0)  #~ SX0005
    # --- keys in straight code
    def draw(key):
        a = random.normal(key, (3,))
        b = random.uniform(key, (3,))  #~ SX0108
        return a, b
    # --- keys in loops, comprehensions, bodies and helpers
    def loop(key):
        for _ in range(3):
            random.normal(key).block_until_ready()  #~ SX0108
    def rows(key):
        return [random.normal(key, (n,)) for n in (1, 2)]  #~ SX0108
    def body(key):
        return lax.scan(lambda c, x: (c + random.normal(key), x), 0.0, None, 3)  #~ SX0108
    def layer(key, n):
        return random.normal(key, (n,))
    def bias(key, n):
        return random.normal(key, (n,))
    def network(key):
        return layer(key, 1), bias(key, 2)  #~ SX0108
    def layers(key):
        return [layer(key, n) for n in (1, 2)]  #~ SX0108
    def parts(key):
        keys = random.split(key)
        return random.normal(keys[0]), random.normal(keys[0]), random.normal(key)  #~ SX0108 SX0108
    # --- impure calls
    @jax.jit
    def f(x):
        a = np.random.rand()  #~ SX0411
        b = time.time()  #~ SX0411
        c = pyrandom.random()  #~ SX0411
        d = uuid.uuid4()  #~ SX0411
        e = os.environ.get("A")  #~ SX0411
        print("x is", x)  #~ SX0401
        logging.info("x is %s", x)  #~ SX0401
        return x
    # --- values that are kept
    seen, table = [], {}
    last = None
    class Registry:
        last = None
        @classmethod
        def note(cls, value):
            cls.last = value  #~ SX0107
    @jax.jit
    def f(x, log=[]):
        global last
        seen.append(x)  #~ SX0107
        log.append(x)  #~ SX0107
        table["x"] = x * 2  #~ SX0107
        last = x  #~ SX0107
        Registry.note(x)
        return x
    def outer():
        best = None
        def body(x, _):
            nonlocal best
            best = x  #~ SX0107
            return x, x
        lax.scan(body, jnp.ones(3), None, 4)
        return best
    # --- a cache of what is traced
    @functools.lru_cache
    def frequencies(n):
        return jnp.arange(n) / n  #~ SX0107
    jax.jit(lambda x: x * frequencies(4))(1.0)
    # --- in place
    x = jnp.zeros(3)
    x[0] = 1  #~ SX0005
    x[1] += 1  #~ SX0005
    # --- results thrown away
    x = jnp.zeros(3)
    def g(y, key, grads, state):
        y.at[0].set(1.0)  #~ SX0410
        random.split(key)  #~ SX0410
        jnp.sort(y)  #~ SX0410
        x.sort()  #~ SX0410
        jax.tree.map(lambda v: v * 2, grads)  #~ SX0410
        tx = optax.adam(1e-3)
        tx.update(grads, state)  #~ SX0410
        jax.jit(g)  #~ SX0410
    # --- times
    f = jax.jit(lambda x: x * 2)
    x = jnp.ones(3)
    start = time.perf_counter()
    y = f(x)  #~ SX0412
    elapsed = time.perf_counter() - start
    # --- times of a loop
    f = jax.jit(lambda x: x * 2)
    def bench(x):
        t0 = time.time()
        for _ in range(10):
            x = f(x)  #~ SX0412
        t1 = time.time()
        print(t1 - t0)
    # --- numbers fetched by each iteration
    step = jax.jit(lambda w: (w * 0.9, w.sum()))
    def train(w):
        losses = []
        for _ in range(1000):
            w, loss = step(w)
            losses.append(float(loss))  #~ SX0413
        return losses
    # --- compiled by each iteration
    def train(x, a):
        for _ in range(100):
            x = jax.jit(lambda v: v * a)(x)  #~ SX0403
        return x
    # --- unrolled
    @jax.jit
    def f(x):
        for _ in range(500):  #~ SX0404
            x = x * 0.9
        return x
    # --- memory that was given away
    update = jax.jit(lambda p, g: p - g, donate_argnums=0)
    p = jnp.ones(3)
    q = update(p, p * 2)
    print(p + q)  #~ SX0202
    # --- stale globals and attributes
    scale = 2.0
    @jax.jit
    def f(x):
        return x * scale  #~ SX0402
    f(1.0)
    scale = 3.0
    f(1.0)
    class Scaler:
        def __init__(self, k):
            self.k = k
        @partial(jax.jit, static_argnums=0)
        def apply(self, x):
            return x * self.k  #~ SX0402
    s = Scaler(2.0)
    s.apply(1.0)
    s.k = 3.0
    s.apply(1.0)
    """
)

CLEAN = cases(
    """
    @jax.jit
    def f(x, y=None, n=3, mode="fast"):
        if x.ndim > 1 or x.shape[0] == 3 or len(x) > 2 or x.dtype == jnp.float32:
            x = x.reshape(x.shape[0], -1)
        if y is None or isinstance(y, float):
            y = 1.0
        if n > 2 and mode == "fast":
            x = x * n
        for _ in range(x.shape[0]):
            x = x + 1
        for i in range(n):
            x = x + i
        return x[..., 0] if x.ndim else x
    # --- static arguments, by number and name, on a partial, on a method
    @partial(jax.jit, static_argnames=("training", "n"))
    def f(x, training, n):
        return [x] * n if training else x
    g = jax.jit(lambda x, n: x if n > 3 else -x, static_argnums=(1,))
    h = jax.jit(partial(lambda flag, x: x if flag else -x, True))
    class Model:
        @partial(jax.jit, static_argnums=(0, 2))
        def __call__(self, x, deep):
            return x if self.wide and deep else -x
    # --- grad alone knows the numbers
    def loss(x):
        if x > 0:
            return x**2
        return -x
    jax.grad(loss)(1.0)
    jax.value_and_grad(loss)(1.0)
    # --- axes that are not mapped, arguments that are not traced
    jax.vmap(lambda x, flag: x if flag else -x, in_axes=(0, None))(jnp.ones(3), True)
    # --- arguments that are left out in between
    def root(matrix, p, steps=3, top=0, start=None):
        return matrix if top > 0 else -matrix
    def body(state):
        return jax.vmap(partial(root, top=0))(state, state, start=state)
    lax.while_loop(lambda s: False, body, jnp.ones(3))
    # --- trees: asking whether they are empty
    @jax.jit
    def f(params, extras):
        if params:
            total = sum(v.sum() for v in params.values())
        if "bias" in params and extras is not None:
            total = total + params["bias"]
        return total
    # --- membership in something else
    @jax.jit
    def f(x, i):
        i = i * 2
        return x if i in range(x.ndim) else -x
    # --- types are asked for
    @jax.jit
    def f(x):
        if isinstance(x, int) and x > 3:
            return 1
        if hasattr(x, "shape"):
            return x
        return x if x > 3 else 4
    # --- errors that are expected
    import pytest
    with pytest.raises(TypeError):
        jax.jit(lambda x: x if x > 0 else -x)(1.0)
    def outer(x):
        @jax.jit
        def f(x):
            try:
                return float(x)
            except TypeError:
                return 0.0
        return f(x)
    # --- keys that are split, folded, in branches that exclude each other, given away
    def draw(key, flag, helper):
        key, sub = random.split(key)
        a = random.normal(sub)
        key, sub = random.split(key)
        b = random.normal(sub)
        if flag:
            c = random.normal(key)
        else:
            c = random.uniform(key)
        return a, b, c
    def early(key, flag):
        if flag:
            return random.normal(key)
        return random.uniform(key)
    def loop(key):
        for i in range(3):
            random.normal(random.fold_in(key, i)).block_until_ready()
        for k in random.split(key, 3):
            random.normal(k).block_until_ready()
        return helper(key), helper(key)
    def rows(key):
        keys = random.split(key, 2)
        return [random.normal(k, (n,)) for k, n in zip(keys, (1, 2))]
    def choose(key, p):
        return lax.cond(p, lambda k: random.normal(k), lambda k: random.uniform(k), key)
    # --- the same numbers on purpose: a helper applied to two arrays, rows of two arrays
    def shifted(x, key):
        return x + random.normal(key)
    def pairs(x, y, key, row_key):
        x, y = shifted(x, key), shifted(y, key)
        return random.permutation(row_key, x), random.permutation(row_key, y)
    # --- a branch for something that is not given, which traced calls do not take
    def estimate(x, table=None):
        if table is None:
            table = np.asarray(x)
        return table + x
    jax.jit(estimate)(1.0, 2.0)
    def outer(size, helper):
        def inner(x):
            if size is None:
                return int(x)
            return x
        return inner if size is None else jax.eval_shape(inner, helper)
    # --- registered classes
    import flax, dataclasses
    @flax.struct.dataclass
    class State:
        x: object
    jax.jit(lambda state: state)(State(1.0))
    # --- side effects outside of traces, of callbacks, without traced values
    seen = []
    @jax.jit
    def f(x):
        print("tracing f", x.shape)
        local = []
        local.append(x)
        cache = {"x": x}
        cache["y"] = x
        def note(value):
            seen.append(value)
            print(value, time.time())
        jax.debug.callback(note, x)
        jax.debug.print("{}", x)
        seen.append(x.shape)
        return local[0]
    np.random.seed(0)
    data = np.random.rand(3)
    print(f(1.0), time.time())
    # --- NumPy on what is static
    @jax.jit
    def f(x):
        n = int(np.prod(x.shape))
        table = np.arange(n)
        table[0] = 3
        return x.reshape(n) + table + np.float32(2.0) + math.sqrt(n)
    # --- in place on NumPy arrays, dicts and lists
    x = np.zeros(3)
    x[0] = 1
    def g(params):
        params["w"] = jnp.ones(3)
        return params
    jax.jit(g)({})
    # --- results that are used, and calls that do something
    def h(x, xs, key):
        xs.sort()
        xs.append(jnp.sort(x))
        y = x.at[0].set(1.0)
        jax.debug.print("{}", y)
        jnp.sort(x).block_until_ready()
        jax.tree.map(lambda v: v.block_until_ready(), xs)
        jax.tree.map(np.testing.assert_allclose, xs, xs)
        lax.fori_loop(0, 3, lambda i, _: jax.debug.print("{}", i), None)
        jnp.save("x.npy", x)
        with jax.profiler.trace("/tmp"):
            jnp.sort(x)
        return y
    # --- a benchmark throws results away
    def overhead(tree):
        t0 = time.time()
        jax.tree.leaves(tree)
        return time.time() - t0
    # --- times of what is waited for
    f = jax.jit(lambda x: x * 2)
    def bench(x):
        t0 = time.time()
        f(x).block_until_ready()
        a = time.time() - t0
        t0 = time.time()
        y = f(x)
        jax.block_until_ready(y)
        b = time.time() - t0
        t0 = time.time()
        print(f(x))
        c = time.time() - t0
        t0 = time.time()
        d = float(f(x))
        e = np.asarray(f(x))
        return a, b, c, time.time() - t0
    # --- few iterations, every so many steps, at the end of an epoch
    step = jax.jit(lambda w: (w * 0.9, w.sum()))
    def train(w):
        for i in range(1000):
            w, loss = step(w)
            if i % 100 == 0:
                print(float(loss))
        losses = []
        for i in range(10):
            w, loss = step(w)
            losses.append(float(loss))
    # --- another function each time, few iterations
    def train(x):
        for n in range(100):
            f = jax.jit(lambda v: v * n)
        for g in (jnp.sin, jnp.cos):
            h = jax.jit(lambda v: g(v))
        for _ in range(3):
            h = jax.jit(lambda v: v)
    # --- short and host loops
    @jax.jit
    def f(x):
        for _ in range(3):
            x = x * 0.9
        return x
    for _ in range(1000):
        x = f(1.0)
    # --- donated and replaced
    update = jax.jit(lambda p, g: p - g, donate_argnums=0)
    p = jnp.ones(3)
    for _ in range(3):
        p = update(p, p * 2)
    print(p)
    # --- the same value, a rebinding before the first call
    scale = 2.0
    scale = 3.0
    @jax.jit
    def f(x):
        return x * scale
    f(1.0)
    f(2.0)
    # --- registered classes, named tuples, constants of text
    import typing
    class Pair(typing.NamedTuple):
        a: object
        b: object
    @jax.jit
    def f(pair):
        return pair.a + pair.b
    f(Pair(1.0, 2.0))
    # --- derivatives
    jax.grad(lambda x: (x, x), has_aux=True)(3.0)
    jax.grad(lambda x: x**2, allow_int=True)(3)
    # --- names that mean something else here
    def f(jnp, x):
        jnp.sort(x)
    class random:
        @staticmethod
        def normal(key): ...
    def draw(key):
        return random.normal(key), random.normal(key)
    """
)


@pytest.mark.parametrize("source", FOUND)
def test_mistakes_are_found_on_their_lines(source):
    found = sorted((f.line, f.code) for f in findings(source))
    assert found == sorted(expected(source)), [
        (f.line, f.code, f.message) for f in findings(source)
    ]


@pytest.mark.parametrize("source", CLEAN)
def test_healthy_code_has_no_findings(source):
    assert [(f.line, f.code, f.message) for f in findings(source)] == []


def test_sagax_is_known_by_its_own_names_and_masks_are_left_to_it():
    source = """
    @sx.jit
    def f(x):
        y = x[x > 0].sum()
        return y if y > 0 else -y  #~ SX0102
    """
    header = "import sagax as sx\nimport sagax.numpy as snp\n"
    found = findings(source, header)
    assert [(f.line, f.code) for f in found] == expected(source, header)
    assert "snp.where" in found[0].help


def test_functions_that_autojit_converts_may_use_python_control_flow():
    assert (
        findings("@sagax.autojit\ndef f(x):\n    return x if x > 0 else -x\n", "import sagax\n")
        == []
    )


def test_tests_may_use_a_key_again():
    source = b"import jax\ndef f(key):\n    return jax.random.normal(key), jax.random.normal(key)\n"
    assert [len(check(read_text(name, source))) for name in ("a.py", "test_a.py", "a_test.py")] == [
        1,
        0,
        0,
    ]


def test_a_message_names_the_function_and_the_arguments():
    (found,) = findings(
        """
        def helper(size, limit):
            return 1.0 if size < limit else 2.0
        @jax.jit
        def loss(weights, batch, unused):
            return helper((weights * batch["x"]).sum(), 3.0)
        """
    )
    assert found.message.startswith("`size < limit` is not known while `loss` is traced")
    assert "`batch`, `weights`" in found.help
    assert (found.column, found.end_column) == (18, 30)


def test_columns_count_characters():
    (found,) = findings("f = jax.jit(lambda ä, é: 1 if ä > é else 2)\n")
    assert found.source[0][found.column : found.end_column] == "ä > é"


def test_deep_recursion_and_many_contexts_end():
    source = (
        "def f(x, n):\n    return f(x, n) + g(x, n)\ndef g(x, n):\n    return f(x, n) + f(n, x)\n"
    )
    source += "h = jax.jit(f)\nh(1.0, 2.0)\n"
    nested = "x = 0\n" + "".join(f"{' ' * 4 * i}for i{i} in range(3):\n" for i in range(12))
    nested += " " * 48 + "x = jnp.ones(3) + x\n"
    assert findings(source) == findings(nested) == []
