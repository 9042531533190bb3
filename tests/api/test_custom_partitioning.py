"""`custom_partitioning`: who decides how the work is shared, and what the compiled program then does."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from parallel_cases import mesh_of, numbers
from sagax import lax
from sagax.experimental.custom_partitioning import (
    BATCHING,
    CompoundFactor,
    SdyShardingRule,
    custom_partitioning,
)
from sagax.sharding import NamedSharding
from sagax.sharding import PartitionSpec as P

pytestmark = pytest.mark.usefixtures("eight_devices")


def put(x, mesh, *spec):
    return sagax.device_put(x, NamedSharding(mesh, P(*spec)))


def transform():
    """A Fourier transform along the last dimension, of which a device needs all."""
    told = []

    @custom_partitioning
    def fft(x):
        return snp.fft.fft(x)

    def whole_rows(x):
        return NamedSharding(x.sharding.mesh, P(*tuple(x.sharding.spec)[: len(x.shape) - 1]))

    def partition(mesh, args, result):
        told.append((args[0].sharding.spec, result.sharding.spec, result.shape))
        return mesh, snp.fft.fft, whole_rows(result), (whole_rows(args[0]),)

    return fft, partition, told


def test_leading_dimensions_stay_divided():
    fft, partition, told = transform()
    fft.def_partition(partition, sharding_rule="... i -> ... i")
    mesh = mesh_of(sagax, x=4, y=2)
    x = numbers(8, 4, 16).astype(np.complex64)
    given = put(x, mesh, "x", "y")
    found = sagax.jit(fft)(given)
    np.testing.assert_allclose(found, np.fft.fft(x), atol=1e-4)
    assert found.sharding.spec == P("x", "y")
    assert told == [(P("x", "y"), P("x", "y"), (8, 4, 16))]
    text = sagax.jit(fft).lower(given).compile().as_text()
    assert "all-gather" not in text
    # the last dimension is gathered for it
    cut = put(x, mesh, "x", None, "y")
    np.testing.assert_allclose(sagax.jit(fft)(cut), np.fft.fft(x), atol=1e-4)


def test_devices_exchange_values():
    @custom_partitioning
    def product(a, b):
        return a @ b

    def partition(mesh, args, result):
        a, b = args
        (along,) = a.sharding.spec[1:] or (None,)

        def part(a, b):
            out = a @ b
            return lax.psum(out, along) if along else out

        return mesh, part, result.sharding, (a.sharding, NamedSharding(mesh, P(along)))

    product.def_partition(partition, sharding_rule="i k, k j -> i j", reduction_factors=("k",))
    mesh = mesh_of(sagax, x=4, y=2)
    a, b = numbers(8, 4), numbers(4, 2, seed=1)
    f = sagax.jit(product)
    given = put(a, mesh, "x", "y")
    np.testing.assert_allclose(f(given, b), a @ b, rtol=1e-4, atol=1e-6)
    assert "all-reduce" in f.lower(given, b).compile().as_text()


def test_it_is_the_function_itself_elsewhere():
    fft, partition, told = transform()
    fft.def_partition(partition, sharding_rule="... i -> ... i")
    x = numbers(4, 8).astype(np.complex64)
    np.testing.assert_allclose(fft(x), np.fft.fft(x), atol=1e-4)
    np.testing.assert_allclose(sagax.vmap(fft)(x), np.fft.fft(x), atol=1e-4)
    f = sagax.shard_map(fft, mesh=mesh_of(sagax, x=4), in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_allclose(f(x), np.fft.fft(x), atol=1e-4)
    loss = lambda g: lambda x: snp.abs(g(x)).sum()  # noqa: E731
    expected = sagax.grad(loss(snp.fft.fft))(x.real)
    np.testing.assert_allclose(sagax.grad(loss(fft))(x.real), expected, rtol=1e-4, atol=1e-4)
    assert told == []


def test_static_arguments_and_trees():
    def power(tree, n):
        return {"y": tree["x"] ** n}

    f = custom_partitioning(power, static_argnums=1)

    def partition(n, mesh, args, result):
        shardings = sagax.tree.map(lambda s: s.sharding, (result, args))
        return mesh, lambda t: power(t, n), *shardings

    f.def_partition(partition, sharding_rule="i -> i")
    x = put(numbers(8), mesh_of(sagax, x=8), "x")
    for n in (2, 3):
        found = sagax.jit(lambda x, n=n: f({"x": x}, n))(x)["y"]
        np.testing.assert_allclose(found, numbers(8) ** n, rtol=1e-5)


@pytest.mark.parametrize(
    ("rule", "options", "operands", "results", "text"),
    [
        ("i j -> j i", {}, [(2, 3)], [(3, 2)], "([i, j])->([j, i]) {i=2, j=3}, custom"),
        (
            "... a, a -> ...",
            {"reduction_factors": ("a",)},
            [(4, 5, 6), (6,)],
            [(4, 5)],
            "([i, j, k], [k])->([i, j]) {i=4, j=5, k=6} reduction={k}, custom",
        ),
        (
            "(h w) c -> h w c",
            {"w": 3},
            [(6, 2)],
            [(2, 3, 2)],
            "([ij, k])->([i, j, k]) {i=2, j=3, k=2}, custom",
        ),
        (
            "n -> n",
            {"need_replication_factors": ("n",)},
            [(4,)],
            [(4,)],
            "([i])->([i]) {i=4} need_replication={i}, custom",
        ),
    ],
)
def test_rules(rule, options, operands, results, text):
    from sagax._src.api.custom_partitioning import parsed_rule

    found = parsed_rule(rule, **options).text(operands, results)
    assert found == f"#sdy.op_sharding_rule<{text}>"


def test_a_rule_may_be_a_function():
    f = custom_partitioning(lambda x: x * 2)
    seen = []

    def rule(mesh, ins, outs):
        seen.append((mesh.shape, ins[0].shape, outs[0].shape))
        return " ".join("abc"[: len(ins[0].shape)]) + " -> " + " ".join("abc"[: len(outs[0].shape)])

    def partition(mesh, args, result):
        return mesh, lambda x: x * 2, result.sharding, (args[0].sharding,)

    f.def_partition(partition, sharding_rule=rule)
    x = put(numbers(8, 4), mesh_of(sagax, x=4, y=2), "x", "y")
    found = sagax.jit(f)(x)
    np.testing.assert_array_equal(found, numbers(8, 4) * 2)
    assert found.sharding.spec == P("x", "y")
    assert seen == [({"x": 4, "y": 2}, (8, 4), (8, 4))]


def test_rules_of_tuples():
    rule = SdyShardingRule(((BATCHING, CompoundFactor("a", "b")),), ((BATCHING, "a", "b"),), b=2)
    assert rule.text([(3, 8)], [(3, 4, 2)]) == (
        "#sdy.op_sharding_rule<([i, jk])->([i, j, k]) {i=3, j=4, k=2}, custom>"
    )


@pytest.mark.parametrize(
    ("rule", "options", "words"),
    [
        ("i j", {}, "operands -> results"),
        ("i 1 -> i", {}, "'1' is no factor"),
        ("i -> i", {"reduction_factors": ("j",)}, "'j' is no factor of the rule"),
        ("(i j) -> i j", {}, "the sizes of 'i' and 'j' are not known"),
        ("i, i -> i", {}, "the rule has 2 operands, and the function 1"),
        ("i j -> i", {}, "2 dimensions for number 0 of the operands"),
    ],
)
def test_rules_that_do_not_fit(rule, options, words):
    @custom_partitioning
    def f(x):
        return x

    def partition(mesh, args, result):
        return mesh, lambda x: x, result.sharding, (args[0].sharding,)

    x = put(np.arange(8.0), mesh_of(sagax, x=8), "x")
    with pytest.raises(ValueError, match=words):
        f.def_partition(partition, sharding_rule=rule, **options)
        sagax.jit(f)(x)


def test_errors_of_the_users_functions_come_out_as_they_are():
    def wrong(mesh, args, result):
        raise KeyError("mine")

    def other(mesh, args, result):
        return mesh, lambda x: x[:1], result.sharding, (args[0].sharding,)

    x = put(np.arange(8.0), mesh_of(sagax, x=8), "x")
    f = custom_partitioning(lambda x: x * 2)
    f.def_partition(wrong, sharding_rule="i -> i")
    with pytest.raises(KeyError, match="mine"):
        sagax.jit(f)(x)
    g = custom_partitioning(lambda x: snp.stack([x, x], 1))
    g.def_partition(other, sharding_rule="i -> i j")
    with pytest.raises(ValueError, match="gives other parts than the shardings"):
        sagax.jit(g)(x)
    with pytest.raises(ValueError, match="say it by a rule"):
        f.def_partition(other, infer_sharding_from_operands=other)


def test_a_function_without_a_partition():
    f = custom_partitioning(lambda x: x)
    with pytest.raises(ValueError, match="def_partition"):
        f(1.0)
