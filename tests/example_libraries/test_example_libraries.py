"""sagax.example_libraries against what jax's compute, recorded by tests/oracle/record_example_libraries.py."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import errors
from sagax._src import config
from sagax.example_libraries import optimizers, stax

RECORDER = Path(__file__).resolve().parents[1] / "oracle" / "record_example_libraries.py"


def definitions() -> dict[str, Any]:
    """The tables and functions of the recording program, without its imports of jax."""
    tree = ast.parse(RECORDER.read_text(encoding="utf-8"))
    kept = [
        n
        for n in tree.body
        if isinstance(n, ast.FunctionDef)
        or (isinstance(n, ast.Assign) and n.targets[0].id != "DATA")  # type: ignore[attr-defined]
    ]
    namespace: dict[str, Any] = {"np": np}
    exec(compile(ast.Module(kept, []), str(RECORDER), "exec"), namespace)
    return namespace


TABLES = definitions()


@pytest.mark.parametrize("name", TABLES["OPTIMIZERS"])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_optimizers(name, compiled, oracle_data):
    expected = oracle_data("example_libraries")
    init, update, get = TABLES["OPTIMIZERS"][name](optimizers)
    update = sagax.jit(update) if compiled else update
    state = init(TABLES["start"]())
    for step in range(8):
        state = update(step, TABLES["gradients"](step), state)
    for part, value in get(state).items():
        reference = expected[f"optimizer/{name}/{part}"]
        assert value.shape == reference.shape and value.dtype == reference.dtype
        np.testing.assert_allclose(value, reference, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", TABLES["LAYERS"])
def test_layers(name, oracle_data):
    expected = oracle_data("example_libraries")
    make, shape = TABLES["LAYERS"][name]
    init, apply = make(stax)
    out_shape, params = init(sagax.random.key(3), shape)
    assert tuple(out_shape) == tuple(expected[f"layer/{name}/shape"])
    leaves = sagax.tree.leaves(params)
    recorded = [k for k in expected if k.startswith(f"layer/{name}/param")]
    assert len(leaves) == len(recorded)
    for i, leaf in enumerate(leaves):
        np.testing.assert_allclose(leaf, expected[f"layer/{name}/param{i}"], rtol=1e-6, atol=1e-7)
    run = sagax.jit(lambda p, x, k: apply(p, x, rng=k))
    out = run(params, TABLES["inputs"](shape), sagax.random.key(4))
    np.testing.assert_allclose(out, expected[f"layer/{name}/out"], rtol=2e-5, atol=2e-6)
    assert np.shape(out) == tuple(out_shape)


def test_a_network_learns():
    init, apply = stax.serial(stax.Dense(16), stax.Tanh, stax.Dense(1))
    _, params = init(sagax.random.key(0), (-1, 1))
    x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    start, update, get = optimizers.adam(0.05)

    def loss(params):
        return snp.mean((apply(params, x) - np.sin(3 * x)) ** 2)

    step = sagax.jit(lambda i, s: update(i, sagax.grad(loss)(get(s)), s))
    state = start(params)
    first = float(loss(params))
    for i in range(200):
        state = step(i, state)
    assert float(loss(get(state))) < 0.02 * first


def test_an_unknown_batch_stays_unknown():
    init, _ = stax.serial(
        stax.Conv(4, (3, 3)), stax.Relu, stax.MaxPool((2, 2)), stax.Flatten, stax.Dense(3)
    )
    assert init(sagax.random.key(0), (-1, 8, 8, 1))[0] == (-1, 3)


def test_states_can_be_unpacked_and_packed():
    init, update, get = optimizers.adam(0.1)
    state = update(0, {"a": 2.0}, init({"a": snp.ones(())}))
    unpacked = optimizers.unpack_optimizer_state(state)
    assert isinstance(unpacked["a"], optimizers.JoinPoint)
    again = optimizers.pack_optimizer_state(unpacked)
    assert sagax.tree.structure(again) == sagax.tree.structure(state)
    assert float(get(again)["a"]) == float(get(state)["a"])
    with pytest.raises(errors.ArgumentError, match="JoinPoint"):
        optimizers.pack_optimizer_state({"a": 1.0})


def test_clip_grads():
    tree = {"a": np.full((2, 2), 3.0, "f"), "b": np.array([8.0], "f")}
    assert float(optimizers.l2_norm(tree)) == 10.0
    np.testing.assert_allclose(optimizers.clip_grads(tree, 5.0)["b"], [4.0])
    np.testing.assert_array_equal(optimizers.clip_grads(tree, 11.0)["a"], tree["a"])


def test_refused():
    init, update, _ = optimizers.sgd(0.1)
    with pytest.raises(errors.TreeError, match="another structure than the parameters"):
        update(0, [1.0], init({"a": 1.0}))
    with pytest.raises(errors.ArgumentError, match="scalar_or_schedule"):
        optimizers.make_schedule("fast")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one shorter than values"):
        optimizers.piecewise_constant([1], [1.0])
    with pytest.raises(ValueError, match="requires apply_fun to be called with a PRNG key"):
        stax.Dropout(0.5)[1]((), np.ones(2))


STRICT = {
    "rank": {"numpy_rank_promotion": "raise"},
    "dtype": {"numpy_dtype_promotion": "strict"},
    "nans": {"debug_nans": True},
}


@pytest.mark.parametrize("setting", STRICT)
def test_nothing_trips_over_strict_settings(setting, oracle_data):
    """Steps are counted by traced integers, as in a compiled loop."""
    with config.context(**STRICT[setting]):
        for name in TABLES["LAYERS"]:
            test_layers(name, oracle_data)
        for name in TABLES["OPTIMIZERS"]:
            init, update, get = TABLES["OPTIMIZERS"][name](optimizers)
            state = init(TABLES["start"]())
            state = sagax.jit(update)(snp.int32(0), TABLES["gradients"](0), state)
            assert all(np.isfinite(x).all() for x in sagax.tree.leaves(get(state)))
        for decay in (optimizers.exponential_decay, optimizers.inverse_time_decay):
            assert 0 < sagax.jit(decay(0.1, 10, 0.5))(snp.int32(3)) < 0.1
        found = optimizers.clip_grads([snp.ones(4), snp.zeros(3, "float16")], 1.0)
        assert found[0].tolist() == [0.5] * 4
