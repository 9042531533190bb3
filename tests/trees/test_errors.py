"""The errors of pytree functions: they name the place, show both sides and say what to do."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple

import numpy as np
import pytest

import sagax
from sagax import tree, tree_util
from sagax._src import trees

structure = tree_util.tree_structure

Point = namedtuple("Point", "x y")


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object
    activation: str = tree.static(default="relu")


@tree_util.register_pytree_node_class
@dataclasses.dataclass
class Pair:
    first: object
    second: object

    def tree_flatten(self):
        return (self.first, self.second), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def collect(*xs):
    return xs


def message(kind, function, *args, **keywords):
    """The message of the error of exactly the class `kind` that a call raises."""
    with pytest.raises(kind) as caught:
        function(*args, **keywords)
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.mark.smoke
def test_every_place_that_differs_is_named_with_both_sides():
    one = {"layers": [{"w": 1, "b": 2}, {"w": 1, "q": [1, (2, 3)]}]}
    two = {"layers": [{"w": 1}, {"w": 1, "q": [1, (2,)], "z": 1}]}
    assert message(ValueError, tree_util.tree_map, collect, one, two).splitlines() == [
        "tree_map: rest[0] does not have the structure of tree",
        "  tree['layers'][0] is a dict with keys 'b', 'w', but rest[0]['layers'][0] is a dict "
        "with keys 'w'. The keys differ: 'b' only in tree.",
        "  tree['layers'][1] is a dict with keys 'q', 'w', but rest[0]['layers'][1] is a dict "
        "with keys 'q', 'w', 'z'. The keys differ: 'z' only in rest[0].",
        "  tree['layers'][1]['q'][1] is a tuple of length 2, but rest[0]['layers'][1]['q'][1] is "
        "a tuple of length 1.",
        "Every tree in rest needs the same containers as tree; it may go on only where tree has a "
        "leaf.",
    ]


def test_many_differences_are_counted():
    text = message(ValueError, tree_util.tree_map, collect, [[1]] * 9, [(1,)] * 9)
    assert text.count(" is a list of length 1, but ") == 3
    assert "... and 6 more places." in text


NotRegistered = dataclasses.make_dataclass("NotRegistered", ["x"])


class DictChild(dict):
    pass


class LayerChild(Layer):
    pass


def _redefined():
    cls = type("Layer", (), {"__module__": __name__})
    return tree_util.register_static(cls)()


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ([1], (1,), ["a list of length 1", "a tuple of length 1", "list(...)"]),
        ([1], [1, 2], ["a list of length 1", "a list of length 2"]),
        ([None], [1], ["tree[0] is None", "rest[0][0] is a leaf of type int", "is_leaf=lambda"]),
        ([[1]], [1], ["tree[0] is a list of length 1", "rest[0][0] is a leaf of type int"]),
        # keys that cannot be sorted do not hide the difference
        ({"a": 1}, {1: 2, "a": 3}, ["a dict with keys 1, 'a'", "1 only in rest[0]"]),
        (Point(1, 2), (1, 2), ["the namedtuple Point", "a tuple of length 2"]),
        ({"a": 1}, OrderedDict(a=1), ["a dict with", "an OrderedDict with", "dict(...)"]),
        (OrderedDict(a=1, b=2), OrderedDict(b=1, a=2), ["another order"]),
        (defaultdict(int), defaultdict(float), ["<class 'int'> and <class 'float'>"]),
        (Layer(1, 2), Layer(1, 2, "tanh"), ["('relu',)", "('tanh',)", "Static data"]),
        (Layer([1], 2), Layer((1,), 2), ["tree.weight is a list", "rest[0].weight is a tuple"]),
        ([1], NotRegistered(1), ["NotRegistered is not registered", "register_dataclass"]),
        ({"a": 1}, DictChild(a=1), ["subclass of dict", "dict(...)"]),
        (Layer(1, 2), LayerChild(1, 2), ["its base Layer is a pytree node"]),
        (Layer(1, 2), _redefined(), ["two classes of the same name"]),
    ],
)
def test_differences_say_what_is_there_and_what_to_do(one, other, words):
    text = message(ValueError, tree_util.tree_map, collect, one, other)
    for word in words:
        assert word in text


def test_static_data_that_cannot_be_compared_is_explained():
    class WithArray:
        pass

    tree_util.register_pytree_node(
        WithArray, lambda _: ((), np.zeros(3)), lambda aux, children: WithArray()
    )
    text = message(ValueError, tree_util.tree_map, collect, [WithArray()], [WithArray()])
    assert "tree[0] is the pytree node WithArray with static data" in text
    assert "Arrays belong among the children" in text


def test_a_number_of_children_that_changes_is_explained():
    class Many:
        def __init__(self, *items):
            self.items = items

    tree_util.register_pytree_node(Many, lambda m: (m.items, None), lambda _, items: Many(*items))
    text = message(ValueError, tree_util.tree_map, collect, Many(1), Many(1, 2))
    assert "the pytree node Many with 1 child, but" in text
    assert "the pytree node Many with 2 children." in text


def test_differences_of_treedefs_name_fields_and_keys():
    one = {
        "p": Point(1, Layer(1, 2)),
        "o": OrderedDict(k=1),
        "d": defaultdict(int, k=1),
        "c": Pair(1, 2),
    }
    two = {
        "p": Point(1, Layer([1], 2)),
        "o": OrderedDict(k=[1]),
        "d": defaultdict(int, k=[1]),
        "c": Pair(1, [2]),
    }
    found = trees.structure_mismatch(structure(one), structure(two), "before", "after")
    assert [trees.argument_path("", d.path) for d in found] == [
        "['c'][<flat index 1>]",
        "['d']['k']",
        "['o']['k']",
        "['p'].y.weight",
    ]
    assert str(found[3]) == (
        "before['p'].y.weight is a leaf, but after['p'].y.weight is a list of length 1."
    )
    assert {d.kind for d in found} == {"leaf"}
    (found,) = trees.prefix_mismatch(structure(Point(1, 2)), structure((1, 2)))
    assert found.left == "the namedtuple Point"


def test_is_leaf_holds_for_the_prefix_only():
    none = [None, 1]
    assert trees.prefix_mismatch(none, [5, 1], is_leaf=lambda x: x is None) == []
    assert [d.kind for d in trees.prefix_mismatch(none, [5, 1])] == ["type"]
    assert [d.kind for d in trees.structure_mismatch([1], [[1]])] == ["leaf"]


@pytest.mark.parametrize(
    ("keys", "named"),
    [([1, "a"], "1 (int), 'a' (str)"), ([1j, 2j], "1j, 2j"), ([None, 0], "None (NoneType), 0")],
)
@pytest.mark.parametrize("kind", [dict, functools.partial(defaultdict, int)])
@pytest.mark.parametrize(
    "function",
    [
        tree_util.tree_flatten,
        tree_util.tree_leaves,
        tree_util.tree_structure,
        tree_util.tree_flatten_with_path,
        tree_util.tree_leaves_with_path,
        tree_util.tree_all,
        functools.partial(tree_util.tree_map, str),
        functools.partial(tree_util.tree_map_with_path, str),
        functools.partial(tree_util.tree_reduce, max),
        functools.partial(tree_util.tree_reduce_associative, max),
        functools.partial(trees.flatten_argument, "grad", "params"),
    ],
)
def test_keys_without_an_order_are_named_with_their_place(function, kind, keys, named):
    bad = {"x": [1, kind(dict.fromkeys(keys, 0))]}
    text = message(ValueError, function, bad)
    explained = getattr(function, "func", function)
    name, argument = explained.__name__, "tree"
    if explained is trees.flatten_argument:
        name, argument = "grad", "params"
    assert text.startswith(f"{name}: the keys of the ")
    assert f"dict {argument}['x'][1] cannot be sorted: {named}" in text
    assert "OrderedDict" in text


def test_broadcast_names_the_tree_that_cannot_be_taken_apart():
    bad = {"x": {1: 2, "a": 3}}
    assert "prefix_tree['x']" in message(ValueError, tree_util.tree_broadcast, bad, 1)
    assert "full_tree['x']" in message(ValueError, tree_util.tree_broadcast, 1, bad)


def test_a_tree_that_contains_itself_is_named():
    inner = [1]
    inner.append({"q": inner})
    assert message(ValueError, tree_util.tree_leaves, {"p": inner}) == (
        "tree_leaves: tree contains itself: tree['p'][1]['q'] is the same list as tree['p']. "
        "A pytree must be finite; break the cycle."
    )


def test_a_subtree_that_occurs_twice_is_no_cycle():
    twice = [1]
    assert tree_util.tree_leaves([twice, [twice]]) == [1, 1]
    text = message(ValueError, tree_util.tree_leaves, [twice, [twice], {1: 2, "a": 3}])
    assert "the keys of the dict tree[2] cannot be sorted" in text


def test_a_tree_too_deep_for_the_engine_is_refused():
    deep = 1
    for _ in range(200_000):
        deep = [deep]
    assert "nested too deeply" in message(ValueError, tree_util.tree_leaves, deep)
    while deep != 1:  # taken apart by hand: freeing it recursively could overflow the stack
        (deep,) = deep


@pytest.mark.parametrize("result", [1, "yes", np.bool_(True), [], np.zeros(2)])
def test_is_leaf_must_return_a_bool(result):
    at_two = lambda x: result if type(x) is int and x == 2 else False  # noqa: E731
    text = message(ValueError, tree_util.tree_leaves, [1, {"a": 2}], at_two)
    assert text.startswith("tree_leaves: is_leaf must return True or False; for tree[1]['a'] it ")
    assert type(result).__name__ in text


def test_is_leaf_may_return_none_for_false():
    assert tree_util.tree_leaves([1, [2]], lambda x: None) == [1, 2]
    text = message(ValueError, tree_util.tree_leaves, [1, {1: 2, "a": 3}], lambda x: None)
    assert "the keys of the dict tree[1] cannot be sorted" in text


def test_is_leaf_must_be_a_function():
    for function in (tree_util.tree_leaves, tree_util.tree_leaves_with_path):
        assert "is_leaf must be a function" in message(TypeError, function, [1], 3)


class Odd(Exception):
    pass


def raise_odd(*_):
    raise Odd


@pytest.mark.parametrize(
    "kind", [ValueError, TypeError, SystemError, RuntimeError, Odd, StopIteration]
)
def test_errors_of_user_functions_pass_unchanged(kind):
    error = kind("mine")

    def fail(*_):
        raise error

    class Failing:
        pass

    tree_util.register_pytree_node(Failing, fail, fail)
    calls = [
        lambda: tree_util.tree_map(fail, [1]),
        lambda: tree_util.tree_map(fail, [1], [1]),
        lambda: tree_util.tree_map_with_path(fail, [1]),
        lambda: tree_util.tree_leaves([1], fail),
        lambda: tree_util.tree_leaves_with_path([1], fail),
        lambda: tree_util.tree_leaves_with_path([1], fail, True),
        lambda: tree_util.tree_reduce(fail, [1, 2]),
        lambda: tree_util.tree_reduce_associative(fail, [1, 2]),
        lambda: tree_util.tree_leaves(Failing()),
        lambda: tree_util.tree_broadcast(1, Failing()),
        lambda: tree_util.tree_map(collect, [1], [1], is_leaf=fail),
    ]
    for call in calls:
        with pytest.raises(kind) as caught:
            call()
        assert caught.value is error


@pytest.mark.parametrize(
    "flattened",
    [5, (5, None), ((1,), None, 3), (), None],
)
def test_flatten_functions_that_return_something_else_are_named(flattened):
    class Broken:
        pass

    tree_util.register_pytree_node(Broken, lambda _: flattened, lambda *_: None)
    text = message(ValueError, tree_util.tree_leaves, {"k": Broken()})
    assert text.startswith("tree_leaves: tree['k'], of class Broken, cannot be taken apart.")
    assert "must return (children, aux_data)" in text


def test_flatten_functions_with_keys_that_give_no_pairs_are_named():
    class Keyless:
        pass

    tree_util.register_pytree_with_keys(Keyless, lambda _: ((1,), None), lambda *_: None)
    for function in (tree_util.tree_leaves, tree_util.tree_leaves_with_path):
        text = message(ValueError, function, {"k": Keyless()})
        assert f"{function.__name__}: tree['k'], of class Keyless" in text
        assert "((key, child), ...)" in text


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: tree_util.tree_map(3, [1]), TypeError, ["tree_map: f", "int"]),
        (lambda: tree_util.tree_map([1], print), TypeError, ["the other way round"]),
        (lambda: tree_util.tree_reduce(3, [1]), TypeError, ["tree_reduce: function"]),
        (lambda: tree_util.tree_reduce(max, []), TypeError, ["no leaves", "initializer"]),
        (lambda: tree_util.tree_reduce_associative(max, []), TypeError, ["identity=..."]),
        (
            lambda: tree_util.tree_unflatten(structure([1, 2]), [1]),
            ValueError,
            ["tree_unflatten", "has 2 leaves, but 1 were given", "PyTreeDef([*, *])"],
        ),
        (
            lambda: tree_util.tree_unflatten(structure([1, 2]), iter("abc")),
            ValueError,
            ["has 2 leaves, but 3 were given"],
        ),
        (
            lambda: tree_util.tree_unflatten([1], structure([1])),
            TypeError,
            ["treedef must be a PyTreeDef", "list", "the other way round"],
        ),
        (lambda: tree_util.tree_unflatten(structure([1]), 5), TypeError, ["iterable", "[leaf]"]),
        (lambda: tree_util.all_leaves(5), TypeError, ["all_leaves", "int"]),
        (lambda: tree_util.treedef_tuple(structure(1)), TypeError, ["treedef_tuple([treedef])"]),
        (lambda: tree_util.treedef_tuple([structure(1), 2]), TypeError, ["treedefs[1]", "int"]),
        (lambda: tree_util.treedef_children(1), TypeError, ["treedef_children", "int"]),
        (lambda: tree_util.treedef_is_leaf([1]), TypeError, ["treedef_is_leaf", "list"]),
        (lambda: tree_util.keystr(tree_util.DictKey("a")), TypeError, ["keystr((entry,))"]),
        (lambda: tree_util.flatten_one_level(3), ValueError, ["flatten_one_level", "int"]),
        (lambda: tree.static(metadata=3), TypeError, ["static: metadata", "3"]),
    ],
)
def test_wrong_arguments_are_explained(call, kind, words):
    text = message(kind, call)
    for word in words:
        assert word in text


def test_transpose_explains_itself():
    two = structure([0, 0])
    transpose = tree_util.tree_transpose
    text = message(TypeError, transpose, two, structure({"a": 0}), [{"a": 1}, {"a": 2, "b": 3}])
    assert "2 x 1 = 2 leaves" in text
    assert "has 3 leaves" in text
    assert "pytree_to_transpose[1] is a dict with keys 'a', 'b'" in text
    text = message(TypeError, transpose, two, None, [{"a": 1}, {"b": 2}])
    assert "subtree[0] is a dict with keys 'a', but subtree[1] is a dict with keys 'b'" in text
    text = message(ValueError, transpose, structure((0, 0)), None, [1, 2])
    assert "outer is a tuple of length 2, but pytree_to_transpose is a list of length 2" in text
    assert "Pass inner_treedef" in message(ValueError, transpose, structure([]), None, [])
    assert "outer_treedef must be a PyTreeDef" in message(TypeError, transpose, [0], None, [1])
    assert "inner_treedef must be a PyTreeDef" in message(TypeError, transpose, two, [0], [1, 2])


# Registration -------------------------------------------------------------------------------------


def _dataclass(*names):
    fields = [(name, object, dataclasses.field(default=0)) for name in names]
    return dataclasses.make_dataclass("Fields", fields)


@pytest.mark.parametrize(
    ("data", "meta", "drop", "kind", "words"),
    [
        (["x"], [], [], ValueError, ["in neither: 'y'", "drop_fields"]),
        (["x", "y", "q"], [], [], ValueError, ["no field that Fields.__init__ takes: 'q'"]),
        (["x", "y"], ["y"], [], ValueError, ["'y' of Fields is named more than once"]),
        (["x", "y", "x"], [], [], ValueError, ["'x' of Fields is named more than once"]),
        (["x", "y"], [], ["y"], ValueError, ["also in drop_fields: 'y'"]),
        (["x", "y"], None, [], TypeError, ["data_fields is given", "meta_fields is not"]),
        (None, ["x", "y"], [], TypeError, ["meta_fields is given", "data_fields is not"]),
        ("xy", [], [], TypeError, ["the string 'xy'", "['xy']"]),
        (["x", 2], [], [], TypeError, ["data_fields must be names of fields"]),
        (5, [], [], TypeError, ["data_fields must be names of fields; got 5"]),
    ],
)
def test_fields_that_do_not_fit_the_dataclass_are_named(data, meta, drop, kind, words):
    cls = _dataclass("x", "y")
    text = message(kind, tree_util.register_dataclass, cls, data, meta, drop)
    assert text.startswith("register_dataclass: ")
    for word in words:
        assert word in text
    assert not tree_util.is_tree_node(cls)  # a refused class is as it was
    assert tree_util.register_dataclass(cls) is cls


@pytest.mark.parametrize(
    "register",
    [
        tree_util.register_dataclass,
        tree_util.register_static,
        tree_util.register_pytree_node_class,
        tree_util.register_pytree_with_keys_class,
        lambda cls: tree_util.register_pytree_node(cls, tuple, tuple),
        lambda cls: tree_util.register_pytree_with_keys(cls, tuple, tuple),
    ],
)
def test_only_classes_are_registered_and_only_once(register):
    assert "a class is needed; got 3" in message(TypeError, register, 3)
    for taken in (Pair, Layer):
        taken.tree_flatten_with_keys = taken.tree_flatten = taken.tree_unflatten = len
        try:
            text = message(ValueError, register, taken)
        finally:
            del taken.tree_flatten_with_keys, taken.tree_flatten, taken.tree_unflatten
        assert f"{taken.__qualname__} is a pytree node already" in text


def test_methods_that_a_class_lacks_are_named():
    class Bare:
        def tree_unflatten(self):
            pass

    text = message(TypeError, tree_util.register_pytree_node_class, Bare)
    assert "Bare has no method tree_flatten." in text
    text = message(TypeError, tree_util.register_pytree_with_keys_class, Bare)
    assert "Bare has no method tree_flatten_with_keys." in text
    for args, argument in [((3, len), "flatten_func"), ((len, 3), "unflatten_func")]:
        text = message(TypeError, tree_util.register_pytree_node, Bare, *args)
        assert f"register_pytree_node: {argument} must be a function; got 3." in text
    text = message(TypeError, tree_util.register_pytree_node, Bare, len, len, 3)
    assert "flatten_with_keys_func must be a function" in text
    assert not tree_util.is_tree_node(Bare)


# Leaves that look like containers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (NotRegistered(1), "register_dataclass"),
        (DictChild(), "dict(...)"),
        (LayerChild(1, 2), "base Layer"),
        ({1}, "sorted list"),
        (deque(), "list(...)"),
        (UserDict(), "dict(...)"),
        (types.MappingProxyType({}), "dict(...)"),
        (types.SimpleNamespace(), "vars(...)"),
        (
            type("Half", (), {"tree_flatten": 0, "tree_unflatten": 0})(),
            "register_pytree_node_class",
        ),
    ],
)
def test_a_container_that_is_a_leaf_is_explained(value, word):
    hint = trees.container_hint(value)
    assert type(value).__name__ in hint
    assert word in hint


@pytest.mark.parametrize(
    "value",
    [
        1,
        "s",
        b"b",
        None,
        [1],
        {},
        np.zeros(2),
        np.float32(1),
        object(),
        range(3),
        iter([]),
        Layer(1, 2),
    ],
)
def test_other_leaves_and_nodes_need_no_explanation(value):
    assert trees.container_hint(value) == ""


class FailsToFlatten:
    """A node whose flatten function raises."""


def _fail(_):
    raise KeyError("no children")


tree_util.register_pytree_node(FailsToFlatten, _fail, lambda _, __: FailsToFlatten())


@pytest.mark.parametrize("make", [lambda: {1: 1, "a": 2}, FailsToFlatten], ids=["keys", "raises"])
@pytest.mark.parametrize(
    "use",
    [
        tree_util.tree_leaves,
        tree_util.tree_leaves_with_path,
        lambda tree: tree_util.tree_leaves([tree], is_leaf=lambda _: False),
        sagax.jit(lambda tree: tree),
        sagax.grad(lambda tree: 1.0),
    ],
    ids=["leaves", "paths", "is_leaf", "jit", "grad"],
)
def test_errors_in_flattening_use_up_no_recursion_depth(make, use):
    """The engine enters a level of recursion per container, which it does not leave on errors."""
    tree = make()
    for _ in range(200):
        tree = [tree]
    seen = set()
    for _ in range(120):  # of 10,000 levels, or 1,000 on Python 3.11
        with pytest.raises((ValueError, KeyError)) as caught:
            use(tree)
        seen.add(str(caught.value))
    assert len(seen) == 1
    assert tree_util.tree_leaves(["fine"]) == ["fine"]
