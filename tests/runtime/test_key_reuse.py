"""Keys that are used twice are found on every way a function can run; keys that are used well are not."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import sagax
import sagax.numpy as jnp
from sagax import lax, random
from sagax.errors import KeyReuseError

# Functions of one key. Each is run at once, compiled, over a batch of keys, and as the body of a loop.


def draw_twice(key):
    return random.normal(key) + random.uniform(key)


def split_and_draw(key):
    parts = random.split(key)
    return random.normal(key) + random.normal(parts[0])


def split_twice(key):
    a, b = random.split(key)[0], random.split(key, 3)[1]
    return random.normal(a) + random.normal(b)


def same_child(key):
    keys = random.split(key, 4)
    return random.normal(keys[2]) + random.normal(keys[1:].reshape(3)[1])


def same_number_folded_in(key):
    return random.normal(random.fold_in(key, 3)) + random.normal(random.fold_in(key, 3))


def folded_in_is_split_off(key):
    a, _ = random.split(key)
    return random.normal(a) + random.normal(random.fold_in(key, 0))


def stacked(key):
    return sagax.vmap(random.normal)(jnp.stack([key, key])).sum()


def helper(key):
    return random.normal(key)


def helper_twice(key):
    return helper(key) * helper(key)


def jitted_twice(key):
    f = sagax.jit(helper)
    return f(key) + f(key)


def in_a_dict(key):
    f = sagax.jit(lambda keys: random.normal(keys["a"]) + random.normal(keys["b"][0]))
    return f({"a": key, "b": (key,)})


def branch_then_draw(key):
    x = lax.cond(jnp.array(True), random.normal, lambda key: 0.0, key)
    return x + random.normal(key)


def loop_closes_over(key):
    return lax.scan(lambda x, _: (x + random.normal(key), None), 0.0, None, length=2)[0]


def while_closes_over(key):
    return lax.fori_loop(0, 2, lambda i, x: x + random.normal(key), 0.0)


def through_numbers(key):
    same = random.wrap_key_data(random.key_data(key))
    return random.normal(key) + random.normal(same)


def raw_inside(key):
    data = random.key_data(key)
    return random.normal(data) + random.uniform(data)


def through_custom_jvp(key):
    @sagax.custom_jvp
    def f(x, key):
        return x * random.normal(key)

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    return f(1.0, key) + random.normal(key)


REUSE = [
    draw_twice,
    split_and_draw,
    split_twice,
    same_child,
    same_number_folded_in,
    folded_in_is_split_off,
    stacked,
    helper_twice,
    jitted_twice,
    in_a_dict,
    branch_then_draw,
    loop_closes_over,
    while_closes_over,
    through_numbers,
    raw_inside,
    through_custom_jvp,
]


def children(key):
    key, a = random.split(key)
    b, c = random.split(key)
    return random.normal(a) + random.normal(b) + random.normal(c)


def fold_in(key):
    return sum(random.normal(random.fold_in(key, i)) for i in range(3))


def fold_in_of_fold_in(key):
    key = random.fold_in(key, 1)
    return random.normal(random.fold_in(key, 2)) + random.normal(random.fold_in(key, 3))


def draw_and_fold_in(key):
    return random.normal(key) + random.normal(random.fold_in(key, 1))


def clones(key):
    return random.normal(key) - random.normal(random.clone(key))


def both_branches(key):
    return lax.cond(jnp.array(True), random.normal, random.uniform, key)


def slices(key):
    keys = random.split(key, 4)
    return sum(sagax.vmap(random.normal)(part).sum() for part in (keys[:2], keys[2:]))


def known_places(key):
    keys = random.split(key, 4)
    return sum(random.normal(keys[jnp.array(i)]) for i in range(4))


def carried(key):
    def step(key, _):
        key, part = random.split(key)
        return key, random.normal(part)

    key, drawn = lax.scan(step, key, None, length=3)
    return random.normal(key) + drawn.sum()


def sequence(key):
    keys = random.split(key, 3)
    return lax.scan(lambda x, key: (x + random.normal(key), None), 0.0, keys)[0]


def counter(key):
    add = lambda i, x: x + random.normal(random.fold_in(key, i))  # noqa: E731
    return lax.fori_loop(0, 3, add, 0.0)


def differentiated(key):
    return sagax.grad(lambda x: (x * random.normal(key)) ** 2)(1.0)


def rematerialised(key):
    return sagax.grad(sagax.checkpoint(lambda x: jnp.sin(x * random.normal(key))))(1.0)


LEGAL = [
    children,
    fold_in,
    fold_in_of_fold_in,
    draw_and_fold_in,
    clones,
    both_branches,
    slices,
    known_places,
    carried,
    sequence,
    counter,
    differentiated,
    rematerialised,
]

WAYS = {
    "at once": lambda f: f(random.key(3)),
    "compiled": lambda f: sagax.jit(f)(random.key(3)),
    "mapped": lambda f: sagax.vmap(f)(random.split(random.key(3), 2)),
    "in a loop": lambda f: lax.scan(lambda c, k: (c, f(k)), 0, random.split(random.key(3), 2)),
}


@pytest.fixture
def checked():
    with sagax.debug_key_reuse(True):
        yield


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", REUSE, ids=lambda f: f.__name__)
def test_reuse_is_found(checked, f, way):
    if f is raw_inside and way.startswith("mapped"):
        f = through_numbers  # what a batch of raw keys looks like is tested below
    with pytest.raises(KeyReuseError, match="Previously-consumed key") as caught:
        WAYS[way](f)
    facts = caught.value.facts
    assert facts["first"] is not None
    assert facts["traceback"] is not None
    labels = caught.value.explain().labels
    assert all(label.span.file == __file__ for label in labels)
    assert labels[0].primary


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", LEGAL, ids=lambda f: f.__name__)
def test_legal_use_is_not_flagged(checked, f, way):
    found = WAYS[way](f)
    assert all(np.isfinite(x).all() for x in sagax.tree.leaves(found))


def test_numbers_are_the_same_as_without():
    with sagax.debug_key_reuse(True):
        found = [f(random.key(3)) for f in (children, carried, clones)]
    np.testing.assert_array_equal(found, [f(random.key(3)) for f in (children, carried, clones)])


def test_samplers_use_their_key_once(checked):
    samplers = {
        "gamma": lambda key: random.gamma(key, 2.0),
        "poisson": lambda key: random.poisson(key, 2.0),
        "binomial": lambda key: random.binomial(key, 10, 0.3),
        "choice": lambda key: random.choice(key, 5, (3,), replace=False),
        "permutation": lambda key: random.permutation(key, 5),
        "categorical": lambda key: random.categorical(key, jnp.zeros(3)),
    }
    for draw in samplers.values():
        key = random.key(0)
        draw(key)
        with pytest.raises(KeyReuseError):
            draw(key)


def test_branches_chosen_by_example(checked):
    def draw(p, key):
        return lax.cond(p, random.normal, random.uniform, key)

    flags = jnp.array([True, False])
    sagax.vmap(draw)(flags, random.split(random.key(0), 2))
    sagax.jit(sagax.vmap(draw, (0, None)))(flags, random.key(0))
    sagax.vmap(draw, (0, None))(flags, random.PRNGKey(0))


def test_a_legal_function_uses_its_key_up(checked):
    for f in (children, both_branches, slices, carried, sequence, differentiated):
        key = random.key(3)
        f(key)
        with pytest.raises(KeyReuseError):
            f(key)
        with pytest.raises(KeyReuseError):
            sagax.jit(f)(key)


def test_fold_in_and_clone_do_not_use_the_key(checked):
    key = random.key(3)
    random.fold_in(key, 1), random.clone(key), random.key_data(key), key == key
    random.normal(key)


def test_arrays_of_keys_are_accounted_by_element(checked):
    keys = random.split(random.key(0), (3, 2))
    random.normal(keys[1, 0])
    sagax.vmap(random.normal)(keys[:, 1])
    random.normal(keys[0, 0])
    with pytest.raises(KeyReuseError):
        random.normal(keys.T[0, 1])
    sagax.vmap(random.normal)(keys[2:, 0])
    with pytest.raises(KeyReuseError):
        sagax.vmap(random.normal)(keys.ravel()[-2:])


@pytest.mark.parametrize("make", [random.key, random.PRNGKey])
def test_keys_chosen_by_where(checked, make):
    key = make(0)
    same = jnp.where(jnp.array(True), key, key)
    random.normal(same)
    with pytest.raises(KeyReuseError):
        random.normal(key)
    a, b = random.split(make(1))
    chosen = jnp.where(jnp.array(False), a, b)
    random.normal(chosen)
    random.normal(a)
    with pytest.raises(KeyReuseError):
        random.normal(b)


def test_parts_of_keys_share_their_accounts(checked):
    keys = random.split(random.key(0), (2, 3))
    row = keys[1]
    random.normal(row[-1])
    random.normal(keys[0][2])
    with pytest.raises(KeyReuseError):
        random.normal(keys[1:][0, 2])
    raw = random.split(random.PRNGKey(0), 3)
    first, *others = raw
    random.normal(others[1])
    random.normal(first)
    with pytest.raises(KeyReuseError):
        random.normal(raw[2:][0])


def test_raw_keys(checked):
    batch = random.split(random.PRNGKey(0), 3)
    assert batch.dtype == np.uint32
    sagax.vmap(random.normal)(batch[:2])
    random.normal(batch[2])
    with pytest.raises(KeyReuseError):
        random.normal(batch[1])
    first, second = random.split(random.PRNGKey(1))
    random.normal(first)
    random.normal(second)
    with pytest.raises(KeyReuseError):
        sagax.jit(random.normal)(first)


def test_other_implementations(checked):
    for impl in ("rbg", "unsafe_rbg"):
        key = random.key(0, impl=impl)
        a, b = random.split(key)
        random.normal(a)
        random.normal(b)
        with pytest.raises(KeyReuseError):
            random.normal(key)


def test_where_both_uses_are(checked):
    key = random.key(0)
    random.normal(key)
    with pytest.raises(KeyReuseError) as caught:
        random.uniform(key)
    second, first = caught.value.explain().labels
    assert second.primary
    assert not first.primary
    assert second.span.text == "random.uniform(key)"
    assert first.span.text == "random.normal(key)"
    assert first.text == "first used here"


def test_the_use_inside_of_a_function_is_named(checked):
    def noisy(key):
        return random.normal(key) * 2

    key = random.key(0)
    sagax.jit(noisy)(key)
    with pytest.raises(KeyReuseError, match="index 0") as caught:
        random.normal(key)
    (note,) = caught.value.explain().notes
    assert note.startswith("the first use is inside of the function")
    assert note.endswith("random.normal(key)")


def test_the_advice_names_the_key(checked):
    state = {"rng": random.key(0)}
    random.normal(state["rng"])
    with pytest.raises(KeyReuseError) as caught:
        random.normal(state["rng"])
    (advice,) = caught.value.explain().suggestions
    assert advice.kind == "split_key"
    assert "state['rng'], part = random.split(state['rng'])" in advice.title


def test_the_program_for_each_setting_is_its_own():
    f = sagax.jit(lambda key: random.normal(key))
    key = random.key(0)
    f(key), f(key)
    with sagax.debug_key_reuse(True):
        f(key)
        with pytest.raises(KeyReuseError):
            f(key)
    f(key)


def test_the_switches():
    before = sagax.config.debug_key_reuse
    sagax.config.update("jax_debug_key_reuse", True)
    try:
        with pytest.raises(KeyReuseError):
            draw_twice(random.key(0))
    finally:
        sagax.config.update("jax_debug_key_reuse", before)
    draw_twice(random.key(0))


@pytest.mark.parametrize("variable", ["SAGAX_DEBUG_KEY_REUSE", "JAX_DEBUG_KEY_REUSE"])
def test_the_environment(variable, monkeypatch):
    monkeypatch.setenv(variable, "1")
    program = "from sagax import random; k = random.key(0); random.bits(k); random.bits(k)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 1
    assert "Previously-consumed key passed to jit-compiled function at index 0" in (ran.stderr)


def test_copies_share_the_account(checked):
    key = random.key(0)
    same = copy.copy(key)
    random.normal(key)
    with pytest.raises(KeyReuseError):
        random.normal(same)


def test_of_two_threads_one_is_refused(checked):
    for seed in range(20):
        key = random.key(seed)
        failures = []

        def use(key=key, failures=failures):
            with sagax.debug_key_reuse(True):
                try:
                    random.bits(key)
                except KeyReuseError as error:
                    failures.append(error)

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(failures) == 2


def test_the_accounts_go_with_the_keys(checked):
    from sagax._src.runtime.key_reuse.ledger import Ledger

    def count():
        gc.collect()
        return sum(type(x) is Ledger for x in gc.get_objects())

    draw = sagax.jit(lambda key: random.normal(random.split(key)[0]))
    draw(random.key(0))
    before = count()
    for i in range(50):
        draw(random.key(i))
    assert count() <= before


def test_the_error_pickles(checked):
    with pytest.raises(KeyReuseError) as caught:
        draw_twice(random.key(0))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert "first used here" in str(again)


def test_many_keys(checked):
    keys = random.split(random.key(0), 100_000)
    sagax.vmap(random.bits)(keys[:50_000])
    with pytest.raises(KeyReuseError):
        sagax.vmap(random.bits)(keys)
    sagax.vmap(random.bits)(keys[50_000:])
