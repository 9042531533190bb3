"""`tree.dataclass`, and methods of objects under `jit` in the ways that there are."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import tree, tree_util

T = TypeVar("T")
made = []


@tree.dataclass
class Layer:
    weight: Any
    bias: Any = 0.0
    power: int = tree.static(default=1)

    def __post_init__(self):
        made.append(self)

    @sagax.jit
    def __call__(self, x):
        return self.weight * x**self.power + self.bias


class Scaled(Layer):
    scale: Any = 2.0
    name: str = tree.static(default="scaled")

    @sagax.jit
    def __call__(self, x):
        return self.scale * (self.weight * x**self.power + self.bias)


class Named(Scaled):
    label: str = tree.static(default="")


@tree.dataclass(frozen=True)
class Box(Generic[T]):
    content: T
    unit: str = tree.static(default="m")


def test_leaves_and_structure():
    layer = Layer(1.0, 2.0, power=3)
    leaves, structure = tree.flatten(layer)
    assert leaves == [1.0, 2.0]
    assert tree.unflatten(structure, leaves) == layer
    assert structure != tree.structure(Layer(1.0, 2.0, power=2))
    assert [tree_util.keystr(p) for p, _ in tree.leaves_with_path({"l": layer})] == [
        "['l'].weight",
        "['l'].bias",
    ]


def test_init_does_not_run_when_rebuilt():
    layer = Layer(1.0)
    made.clear()
    doubled = tree.map(lambda x: 2 * x, layer)
    assert made == []
    assert (doubled.weight, doubled.bias, doubled.power) == (2.0, 0.0, 1)
    assert type(doubled) is Layer
    nothing = tree.map(lambda _: None, layer)
    assert nothing.weight is None


def test_subclasses_are_the_same():
    for cls in (Scaled, Named):
        x = cls(3.0, scale=5.0)
        assert tree.leaves(x) == [3.0, 0.0, 5.0]
        assert type(tree.map(lambda v: v, x)) is cls
        assert float(x(2.0)) == 30.0
    assert tree.structure(Named(1.0, label="a")) != tree.structure(Named(1.0, label="b"))
    assert [f.name for f in dataclasses.fields(Named)] == [
        "weight", "bias", "power", "scale", "name", "label",
    ]  # fmt: skip


def test_a_subclass_with_options_of_its_own():
    class Special(Layer, kw_only=True):
        mode: str = tree.static()

    assert tree.leaves(Special(1.0, mode="x")) == [1.0, 0.0]
    assert tree.structure(Special(1.0, mode="x")) != tree.structure(Special(1.0, mode="y"))

    @tree.dataclass
    class Again(Box):
        extra: Any = 0.0

    with pytest.raises(dataclasses.FrozenInstanceError):
        Again(1.0).extra = 2.0

    class Ordered(Box, order=True):
        extra: Any = 0.0
        tag: str = tree.static(default="t")

    assert Ordered(1.0) < Ordered(2.0)
    assert tree.leaves(Ordered(1.0)) == [1.0, 0.0]
    with pytest.raises(TypeError, match=r"class Ordered\(Box, order=False\)"):
        tree.dataclass(order=False)(Ordered)


def test_init_subclass_of_the_class_itself():
    seen = []

    @tree.dataclass
    class Base:
        x: Any = 0.0

        def __init_subclass__(cls, *, tag="none", **kwargs):
            seen.append((cls.__name__, tag))
            super().__init_subclass__(**kwargs)

    class Sub(Base, tag="here"):
        y: Any = 1.0

    assert seen == [("Sub", "here")]
    assert tree.leaves(Sub()) == [0.0, 1.0]


def test_generic():
    box = Box[float](2.0)
    assert tree.map(lambda x: x + 1, box) == Box(3.0)

    class Pair(Box[T]):
        other: T = 0.0  # type: ignore[assignment]

    assert tree.leaves(Pair[int](1, other=2)) == [1, 2]


def test_slots():
    @tree.dataclass(slots=True)
    class Slotted:
        a: Any
        b: int = tree.static(default=1)

    assert not hasattr(Slotted(1.0), "__dict__")
    assert tree.map(lambda x: x + 1, Slotted(1.0)) == Slotted(2.0)


def test_fields_that_init_does_not_take():
    @tree.dataclass
    class Cached:
        x: Any
        square: Any = dataclasses.field(init=False)

        def __post_init__(self):
            self.square = self.x * self.x

    assert tree.leaves(Cached(3.0)) == [3.0, 9.0]
    assert tree.map(lambda v: v + 1, Cached(3.0)).square == 10.0


def test_transformations():
    layer = Scaled(snp.arange(3.0), snp.ones(3))
    loss = lambda layer, x: layer(x).sum()  # noqa: E731
    gradient = sagax.grad(loss)(layer, snp.float32(2.0))
    assert type(gradient) is Scaled
    np.testing.assert_array_equal(gradient.weight, [4.0, 4.0, 4.0])
    np.testing.assert_array_equal(gradient.bias, [2.0, 2.0, 2.0])
    out = sagax.vmap(lambda layer: layer.weight + layer.scale, in_axes=(Scaled(0, 0, scale=None),))(
        layer
    )
    np.testing.assert_array_equal(out, [2.0, 3.0, 4.0])
    stepped = sagax.lax.fori_loop(0, 3, lambda _, m: tree.map(lambda x: x + 1, m), layer)
    assert float(stepped.scale) == 5.0


def test_changing_an_object_is_seen():
    layer = Layer(2.0)
    assert float(layer(3.0)) == 6.0
    layer.power = 2
    assert float(layer(3.0)) == 18.0
    layer.weight = snp.asarray(1.0)
    assert float(layer(3.0)) == 9.0


def test_pickle_and_replace():
    layer = Scaled(1.0, power=2)
    assert pickle.loads(pickle.dumps(layer)) == layer
    assert dataclasses.replace(layer, power=3).power == 3


def test_errors():
    with pytest.raises(TypeError, match="a class is needed"):
        tree.dataclass(Layer(1.0))
    with pytest.raises(ValueError, match="already"):
        tree.dataclass(tree_util.register_pytree_node_class(WithMethods))
    with pytest.raises(ValueError, match=r"power|static"):
        tree.map(lambda a, b: a, Layer(1.0, power=1), Layer(1.0, power=2))


class WithMethods:
    def tree_flatten(self):
        return (), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls()


# --- the three ways of the FAQ page, and what happens without ----------------------------------------


class Plain:
    def __init__(self, x, mul):
        self.x = x
        self.mul = mul

    @sagax.jit
    def calc(self, y):
        return self.x * y if self.mul else y


@dataclasses.dataclass
class PlainDataclass:
    x: float
    mul: bool

    @sagax.jit
    def calc(self, y):
        return self.x * y if self.mul else y


@pytest.mark.parametrize("cls", [Plain, PlainDataclass])
def test_a_class_that_is_no_pytree(cls):
    with pytest.raises(TypeError, match="is not a valid JAX type") as raised:
        cls(2.0, True).calc(3.0)
    text = str(raised.value)
    assert "self" in text
    assert "tree.dataclass" in text if cls is PlainDataclass else "register_pytree_node" in text


def test_a_helper_function():
    class C(Plain):
        def calc(self, y):
            return _calc(self.mul, self.x, y)

    c = C(2, True)
    assert int(c.calc(3)) == 6
    c.mul = False
    assert int(c.calc(3)) == 3


@functools.partial(sagax.jit, static_argnums=0)
def _calc(mul, x, y):
    return x * y if mul else y


def test_a_static_self():
    class C(Plain):
        @functools.partial(sagax.jit, static_argnums=0, stale="retrace")
        def calc(self, y):
            return self.x * y if self.mul else y

    c = C(2, True)
    assert int(c.calc(3)) == 6
    c.mul = False
    assert int(c.calc(3)) == 3


def test_a_static_self_with_hash():
    class C(Plain):
        @functools.partial(sagax.jit, static_argnums=0)
        def calc(self, y):
            return self.x * y if self.mul else y

        def __hash__(self):
            return hash((self.x, self.mul))

        def __eq__(self, other):
            return isinstance(other, C) and (self.x, self.mul) == (other.x, other.mul)

    assert [int(C(2, m).calc(3)) for m in (True, False, True)] == [6, 3, 6]


def test_a_pytree():
    class C(Plain):
        @sagax.jit
        def calc(self, y):
            return self.x * y if self.mul else y

    tree_util.register_pytree_node(
        C, lambda c: ((c.x,), {"mul": c.mul}), lambda aux, children: C(*children, **aux)
    )
    c = C(2, True)
    assert int(c.calc(3)) == 6
    c.mul = False
    assert int(c.calc(3)) == 3
    assert int(C(snp.array(2), True).calc(3)) == 6
