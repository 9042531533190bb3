"""Pytrees: against what jax gives, by their laws on random trees, and their errors."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import operator
import pickle
import threading
from collections import OrderedDict, defaultdict, namedtuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxlib._jax import pytree as engine_pytree

from oracle import trees as oracle
from sagax import tree, tree_util
from sagax._src import trees

structure = tree_util.tree_structure


# What jax gives -----------------------------------------------------------------------------------

RECORD = json.loads(oracle.DATA.read_text())["outcomes"]
PROGRAMS = oracle.programs(tree_util, tree)

# Where sagax differs on purpose: what it gives instead, and why.
INTENDED = {
    # The same mistake as in a dict, so the same class of error.
    "unsortable defaultdict": "raises ValueError",
    # A wrong argument is refused whether or not the tree happens to have leaves.
    "map no function, no leaves": "raises TypeError",
    "node object": "raises TypeError",
    # The items are asked, not the list that holds them.
    "all_leaves any list": "True",
    # Subtrees of different structure would be mixed up silently.
    "transpose unlike": "raises TypeError",
    # No copies of [*] transposed are one [*] of no items.
    "transpose empty outer": "[[]]",
}


@pytest.mark.parametrize("name", sorted(RECORD.keys() | PROGRAMS.keys()))
def test_gives_what_jax_gives(name):
    got = oracle.outcome(PROGRAMS[name])
    assert got == INTENDED.get(name, RECORD[name])
    assert (got == RECORD[name]) == (name not in INTENDED)


def test_the_namespaces_have_the_names_of_jax():
    short = {name.removeprefix("tree_") for name in tree_util.__all__ if name.startswith("tree_")}
    assert set(tree.__all__) == short | {"dataclass", "static"}
    for name in short:
        assert getattr(tree, name) is getattr(tree_util, f"tree_{name}")


# Laws, on random trees ----------------------------------------------------------------------------

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


KEYS = st.one_of(
    st.lists(st.sampled_from(["a", "b", "c d", "it's"]), unique=True, max_size=3),
    st.lists(st.integers(-2, 2), unique=True, max_size=3),
)


def _dicts(children, make):
    return KEYS.flatmap(
        lambda keys: st.tuples(*[children] * len(keys)).map(lambda values: make(zip(keys, values)))
    )


def _nodes(children):
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        _dicts(children, dict),
        _dicts(children, OrderedDict),
        _dicts(children, lambda items: defaultdict(list, items)),
        st.builds(Point, children, children),
        st.builds(Pair, children, children),
        st.builds(Layer, children, children, st.sampled_from(["relu", "tanh"])),
        st.builds(functools.partial, st.just(max), children).map(
            lambda p: tree_util.Partial(p.func, *p.args)
        ),
    )


LEAVES = st.integers(0, 99)
TREES = st.recursive(LEAVES | st.none(), _nodes, max_leaves=12)


def children_of(node):
    """The children of a node, `(key text, child)`, by the documented rules; `None` for a leaf."""
    if type(node) in (list, tuple):
        return [(f"[{i}]", child) for i, child in enumerate(node)]
    if type(node) in (dict, defaultdict):
        return [(f"[{key!r}]", node[key]) for key in sorted(node)]
    if type(node) is OrderedDict:
        return [(f"[{key!r}]", child) for key, child in node.items()]
    if type(node) is Point:
        return [(".x", node.x), (".y", node.y)]
    if type(node) is Layer:
        return [(".weight", node.weight), (".bias", node.bias)]
    if type(node) is Pair:
        return [("[<flat index 0>]", node.first), ("[<flat index 1>]", node.second)]
    if type(node) is tree_util.Partial:
        return [("[<flat index 0>]", node.args), ("[<flat index 1>]", node.keywords)]
    return [] if node is None else None


def places_and_leaves(node, place=""):
    children = children_of(node)
    if children is None:
        return [(place, node)]
    return [found for key, child in children for found in places_and_leaves(child, place + key)]


def same(a, b):
    """Equality of trees that also looks into Partials and at the order of OrderedDicts."""
    if type(a) is not type(b):
        return False
    if children_of(a) is None:
        return a == b
    mine, others = children_of(a), children_of(b)
    return (
        [key for key, _ in mine] == [key for key, _ in others]
        and getattr(a, "activation", None) == getattr(b, "activation", None)
        and getattr(a, "default_factory", None) is getattr(b, "default_factory", None)
        and all(same(x, y) for (_, x), (_, y) in zip(mine, others))
    )


@st.composite
def tree_and_prefix(draw):
    """A tree, a prefix of it, and for each leaf of the tree the prefix's leaf above it."""
    full = draw(TREES)
    labels = []

    def prune(node):
        if not may_have_other_children(node) or draw(st.integers(0, 3)) == 0:
            label = ("label", draw(st.integers()))
            labels.extend([label] * len(places_and_leaves(node)))
            return Label(label)
        return rebuilt(node, [prune(child) for _, child in children_of(node)])

    return full, prune(full), labels


@dataclasses.dataclass(frozen=True, eq=False)
class Label:
    value: tuple


def may_have_other_children(node):
    """Whether any objects can stand for the children; in a Partial they are a tuple and a dict."""
    return children_of(node) is not None and type(node) is not tree_util.Partial


def rebuilt(node, children):
    """`node` with other children, in the order of `children_of`."""
    if type(node) in (list, tuple):
        return type(node)(children)
    if isinstance(node, dict):
        keys = list(node) if type(node) is OrderedDict else sorted(node)
        new = copy.copy(node)
        new.update(zip(keys, children))
        return new
    if type(node) is Layer:
        return Layer(*children, node.activation)
    return None if node is None else type(node)(*children)


@st.composite
def tree_and_variant(draw):
    """A tree and another that is equal to it or differs in one subtree."""
    one = draw(TREES)

    def vary(node):
        children = [child for _, child in children_of(node) or []]
        if not children or not may_have_other_children(node) or draw(st.integers(0, 2)) == 0:
            return draw(TREES)
        i = draw(st.integers(0, len(children) - 1))
        return rebuilt(node, [*children[:i], vary(children[i]), *children[i + 1 :]])

    return one, vary(one)


random_trees = settings(deadline=None, max_examples=150)


@pytest.mark.smoke
@random_trees
@given(TREES)
def test_flatten_takes_apart_and_unflatten_rebuilds(t):
    leaves, treedef = tree_util.tree_flatten(t)
    expected = places_and_leaves(t)
    assert leaves == [leaf for _, leaf in expected]
    assert treedef.num_leaves == len(leaves)
    assert same(tree_util.tree_unflatten(treedef, leaves), t)
    assert same(tree_util.tree_unflatten(treedef, iter(leaves)), t)

    with_path, of_path = tree_util.tree_flatten_with_path(t)
    assert of_path == treedef
    assert [(tree_util.keystr(path), leaf) for path, leaf in with_path] == expected
    assert [trees.argument_path("t", p) for p in trees.key_paths(t)] == [
        f"t{place}" for place, _ in expected
    ]


@random_trees
@given(TREES)
def test_map_keeps_the_structure(t):
    assert same(tree_util.tree_map(lambda x: x, t), t)
    doubled = tree_util.tree_map(lambda x: 2 * x, t)
    assert structure(doubled) == structure(t)
    assert hash(structure(doubled)) == hash(structure(t))
    assert tree_util.tree_leaves(doubled) == [2 * leaf for _, leaf in places_and_leaves(t)]
    sums = tree_util.tree_map(lambda *xs: sum(xs), t, doubled, t)
    assert same(sums, tree_util.tree_map(lambda x: 4 * x, t))
    texts = tree_util.tree_map_with_path(
        lambda p, x, y: f"{tree_util.keystr(p)} {x} {y}", t, doubled
    )
    assert structure(texts) == structure(t)
    assert tree_util.tree_leaves(texts) == [
        f"{place} {leaf} {2 * leaf}" for place, leaf in places_and_leaves(t)
    ]


@random_trees
@given(TREES)
def test_reductions_are_those_of_the_leaves(t):
    texts = [str(leaf) for _, leaf in places_and_leaves(t)]
    as_text = tree_util.tree_map(str, t)
    assert tree_util.tree_reduce(operator.add, as_text, "") == "".join(texts)
    assert tree_util.tree_reduce_associative(operator.add, as_text, identity="") == "".join(texts)
    assert tree_util.tree_all(t) == all(leaf != 0 for _, leaf in places_and_leaves(t))


@random_trees
@given(TREES, TREES)
def test_transpose_swaps_outer_and_inner(outer, inner):
    outer_def, inner_def = structure(outer), structure(inner)
    both = tree_util.tree_map(lambda x: tree_util.tree_map(lambda y: f"{x},{y}", inner), outer)
    swapped = tree_util.tree_transpose(outer_def, inner_def, both)
    expected = tree_util.tree_map(lambda y: tree_util.tree_map(lambda x: f"{x},{y}", outer), inner)
    assert same(swapped, expected)
    assert same(tree_util.tree_transpose(inner_def, outer_def, swapped), both) or not (
        outer_def.num_leaves and inner_def.num_leaves
    )
    if outer_def.num_leaves:
        assert same(tree_util.tree_transpose(outer_def, None, both), expected)


@random_trees
@given(tree_and_prefix())
def test_a_prefix_is_broadcast(drawn):
    full, prefix, labels = drawn
    broadcast = trees.broadcast_prefix(prefix, full)
    assert [label.value for label in broadcast] == labels
    assert trees.prefix_mismatch(prefix, full) == []
    assert trees.prefix_mismatch(structure(prefix), structure(full)) == []
    whole = tree_util.tree_broadcast(prefix, full)
    assert structure(whole) == structure(full)
    assert tree_util.tree_leaves(whole) == broadcast


@random_trees
@given(tree_and_variant())
def test_differences_are_found_exactly_when_there_are_some(drawn):
    one, other = drawn
    equal = structure(one) == structure(other)
    assert (trees.structure_mismatch(one, other) == []) == equal
    assert (trees.structure_mismatch(structure(one), structure(other)) == []) == equal

    differences = trees.prefix_mismatch(one, other, "prefix_tree", "full_tree")
    assert bool(trees.prefix_mismatch(structure(one), structure(other))) == bool(differences)
    try:
        tree_util.tree_broadcast(one, other)
    except ValueError as error:
        message = str(error)
        assert differences
        assert message.startswith("tree_broadcast: prefix_tree is no prefix of full_tree")
        for difference in differences[:3]:
            assert str(difference) in message
            place = tree_util.keystr(difference.path)
            assert f"prefix_tree{place} is " in message
            assert f"full_tree{place} is " in message
    else:
        assert not differences


@random_trees
@given(tree_and_variant())
def test_mapping_trees_that_differ_fails_by_name(drawn):
    one, other = drawn
    if trees.prefix_mismatch(one, other):
        with pytest.raises(ValueError, match=r"^tree_map: rest\[1\] does not have the structure"):
            tree_util.tree_map(lambda *xs: xs, one, one, other)
        with pytest.raises(ValueError, match=r"^tree_map_with_path: rest\[0\] does not have"):
            tree_util.tree_map_with_path(lambda *xs: xs, one, other)
    else:
        tree_util.tree_map(lambda *xs: None, one, one, other)


@pytest.mark.smoke
@random_trees
@given(TREES)
def test_treedefs_pickle_and_copy(t):
    treedef = structure(t)
    for again in (
        pickle.loads(pickle.dumps(treedef)),
        copy.copy(treedef),
        copy.deepcopy({"d": treedef})["d"],
    ):
        assert again == treedef
        assert hash(again) == hash(treedef)
        assert same(again.unflatten(tree_util.tree_leaves(t)), t)


@random_trees
@given(TREES)
def test_treedefs_are_made_of_their_children(t):
    children = children_of(t)
    treedef = structure(t)
    assert tree_util.treedef_children(treedef) == [structure(c) for _, c in children or []]
    assert tree_util.treedef_is_leaf(treedef) == (not children)
    assert tree_util.treedef_tuple([treedef, treedef]) == structure((t, t))
    if children is None:
        assert not tree_util.is_tree_node(type(t))
    else:
        keyed, _ = tree_util.flatten_one_level_with_keys(t)
        plain, _ = tree_util.flatten_one_level(t)
        assert [str(key) for key, _ in keyed] == [key for key, _ in children]
        assert all(x is y for x, (_, y) in zip(plain, children))


# Registration -------------------------------------------------------------------------------------


def test_one_of_many_threads_registers_a_class():
    class Contested:
        pass

    outcomes = []
    start = threading.Barrier(8)

    def register():
        start.wait()
        try:
            outcomes.append(tree_util.register_static(Contested))
        except ValueError:
            outcomes.append(None)

    threads = [threading.Thread(target=register) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(Contested) == 1
    assert len(outcomes) == 8


def test_the_registry_is_shared_with_nobody():
    of_jax = engine_pytree.default_registry()
    assert not of_jax.is_node(Layer)
    assert not of_jax.is_node(OrderedDict)
    assert tree_util.default_registry.is_node(Layer)


def test_a_field_can_be_rebuilt_from_its_default():
    cls = tree_util.register_dataclass(
        dataclasses.make_dataclass(
            "Fields", [("x", int), ("y", int, dataclasses.field(default=0))]
        ),
        ["x"],
        [],
        drop_fields=["y"],
    )
    again = tree_util.tree_map(lambda x: -x, cls(1, 2))
    assert (again.x, again.y) == (-1, 0)


def test_static_instances_are_structure():
    @tree_util.register_static
    @dataclasses.dataclass(frozen=True)
    class Mode:
        name: str

    assert tree_util.tree_leaves([Mode("a"), 1]) == [1]
    assert structure(Mode("a")) == structure(Mode("a"))
    assert structure(Mode("a")) != structure(Mode("b"))
    mode = Mode("a")
    assert tree_util.tree_map(str, [mode])[0] is mode


# Partial ------------------------------------------------------------------------------------------


def collect(*xs):
    return xs


def test_partial_binds_like_functools_partial():
    bound = tree_util.Partial(collect, 1, 2)
    assert bound(3) == functools.partial(collect, 1, 2)(3) == (1, 2, 3)
    assert isinstance(bound, functools.partial)
    assert tree_util.Partial(dict, func=1)(b=2) == {"func": 1, "b": 2}
    assert repr(tree_util.Partial(max, 1, key=2)) == "Partial(<built-in function max>, 1, key=2)"
    with pytest.raises(TypeError):
        tree_util.Partial(3)


def test_partial_keeps_a_partial_whole():
    inner = tree_util.Partial(collect, 1)
    outer = tree_util.Partial(inner, 2)
    assert outer(3) == (1, 2, 3)
    assert tree_util.tree_leaves(outer) == [2]
    assert structure(outer) == structure(tree_util.Partial(inner, 5))
    assert structure(outer) != structure(tree_util.Partial(tree_util.Partial(collect, 1), 5))
    assert tree_util.tree_map(lambda x: 10 * x, outer)(3) == (1, 20, 3)


def test_partial_pickles():
    outer = tree_util.Partial(tree_util.Partial(max, 1), 2)
    again = pickle.loads(pickle.dumps(outer))
    assert again() == 2
    assert type(again) is tree_util.Partial
    assert tree_util.tree_leaves(again) == [2]
