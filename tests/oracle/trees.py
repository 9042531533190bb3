"""Records what jax's tree_util and tree give: leaf order, structures, key strings, error classes.

Run with an interpreter that has jax, from any folder:

    python tests/oracle/trees.py

It rewrites tests/data/trees.json, which tests/trees/test_trees.py compares sagax with. The programs are
written once, here, for a `tree_util` and a `tree` module of either library.
"""

import dataclasses
import functools
import importlib.metadata
import json
import operator
import pickle
import typing
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data" / "trees.json"

Point = namedtuple("Point", "x y")


class Span(typing.NamedTuple):
    low: int
    high: int = 9


class WiderSpan(Span):
    pass


class DictChild(dict):
    pass


class ListChild(list):
    pass


class TupleChild(tuple):
    pass


class Shown:
    """Shows instances by their attributes, so that no addresses are recorded."""

    def __repr__(self):
        return f"{type(self).__name__}{tuple(vars(self).values())}"


def register_classes(tu, tree):
    """Classes registered in every way there is, by name."""

    @tu.register_dataclass
    @dataclasses.dataclass(repr=False)
    class Layer(Shown):
        weight: object
        bias: object = 0
        activation: str = tree.static(default="relu")

    @dataclasses.dataclass(repr=False)
    class Config(Shown):
        data: object
        label: str = "label"
        cache: int = 7
        derived: int = dataclasses.field(init=False, default=3)

    tu.register_dataclass(Config, ["data"], ["label"], drop_fields=["cache"])

    class Plain(Shown):
        def __init__(self, first, second):
            self.first, self.second = first, second

    tu.register_dataclass(Plain, data_fields=("second", "first"), meta_fields=())

    class Pair(Shown):
        def __init__(self, first, second):
            self.first, self.second = first, second

    tu.register_pytree_node(Pair, lambda p: ((p.first, p.second), "aux"), lambda _, c: Pair(*c))

    class Keyed(Shown):
        def __init__(self, value):
            self.value = value

    tu.register_pytree_with_keys(
        Keyed,
        lambda k: ([(tu.DictKey("value"), k.value), ("odd", 5)], None),
        lambda _, c: Keyed(c[0]),
    )

    @tu.register_pytree_node_class
    class Methods(Shown):
        def __init__(self, value, unit):
            self.value, self.unit = value, unit

        def tree_flatten(self):
            return (self.value,), self.unit

        @classmethod
        def tree_unflatten(cls, unit, children):
            return cls(*children, unit)

    @tu.register_pytree_with_keys_class
    class KeyedMethods(Shown):
        def __init__(self, value):
            self.value = value

        def tree_flatten_with_keys(self):
            return ((tu.GetAttrKey("value"), self.value),), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    @tu.register_static
    @dataclasses.dataclass(frozen=True, repr=False)
    class Mode(Shown):
        name: str

    class MethodsChild(Methods):
        pass

    return {
        cls.__name__: cls
        for cls in (
            Layer, Config, Plain, Pair, Keyed, Methods, KeyedMethods, Mode, MethodsChild
        )
    }  # fmt: skip


def example_trees(tu, cls):
    """Trees of every kind of node and leaf, by name."""
    return {
        "none": None,
        "leaf": 3,
        "text": "abc",
        "class": int,
        "empty tuple": (),
        "empty list": [],
        "empty dict": {},
        "nested": (1, [2, {"b": 3, "a": None, "c": ()}]),
        "dict order": {"b": 1, "a": 2, "B": 3},
        "dict of numbers": {3: "c", 1: "a", 2.5: "b"},
        "dict of tuples": {(2, "a"): 1, (1, "b"): 2},
        "dict awkward keys": {"it's": 1, "a.b": 2, "": 3},
        "namedtuple": Point(1, [2, 3]),
        "typed namedtuple": Span(1),
        "child of namedtuple": WiderSpan(1),
        "OrderedDict": OrderedDict(b=1, a=[2]),
        "OrderedDict unsortable": OrderedDict([("a", 1), (1, 2)]),
        "defaultdict": defaultdict(int, b=1, a=2),
        "child of dict": DictChild(a=1),
        "child of list": ListChild([1]),
        "child of tuple": TupleChild([1]),
        "Counter": Counter("aab"),
        "deque": deque([1]),
        "set": {1},
        "Layer": cls["Layer"]([1, 2], activation="tanh"),
        "Config": cls["Config"]({"q": 1}, cache=8),
        "Plain": cls["Plain"](1, 2),
        "Pair": [cls["Pair"](1, (2, 3))],
        "Keyed": {"k": cls["Keyed"]([1])},
        "Methods": cls["Methods"](1.5, "m"),
        "child of Methods": cls["MethodsChild"](1.5, "m"),
        "KeyedMethods": cls["KeyedMethods"]((1, 2)),
        "Mode": [cls["Mode"]("train"), 1],
        "Partial": tu.Partial(max, 1, [2], key=3),
    }


def programs(tu, tree):
    """Everything that is recorded: name -> function of no arguments."""
    cls = register_classes(tu, tree)
    trees = example_trees(tu, cls)
    structure = tu.tree_structure
    rows = [{"a": 1, "b": (2, 3)}, {"a": 4, "b": (5, 6)}]
    two = structure([0, 0])

    def is_none(x):
        return x is None

    def is_list(x):
        return isinstance(x, list)

    def collect(*args):
        return args

    def concatenated(n, **keywords):
        return tu.tree_reduce_associative(
            lambda x, y: f"({x}{y})", list("abcdefghijklm"[:n]), **keywords
        )

    def fresh(*names):
        return dataclasses.make_dataclass(
            "Fresh", [(name, object, dataclasses.field(default=0)) for name in names]
        )

    def nested_partials():
        return [tu.Partial(tu.Partial(max, 1), 2), tu.Partial(functools.partial(max, 1), [2])]

    def registered(data, meta, **keywords):
        made = tu.register_dataclass(fresh("x", "y"), data, meta, **keywords)
        return tu.tree_flatten(made(1, 2))

    found = {}
    for name, example in trees.items():
        of_name = {
            "flatten": lambda t: tu.tree_flatten(t),
            "paths": lambda t: [
                [tu.keystr(p), tu.keystr(p, simple=True, separator="/"), repr(p), leaf]
                for p, leaf in tu.tree_leaves_with_path(t)
            ],
            "None as leaf": lambda t: tu.tree_flatten(t, is_none),
            "list as leaf": lambda t: tu.tree_flatten_with_path(t, is_list),
            "children": lambda t: tu.treedef_children(structure(t)),
            "sizes": lambda t: [structure(t).num_leaves, structure(t).num_nodes],
            "is leaf": lambda t: [tu.treedef_is_leaf(structure(t)), tu.all_leaves([t])],
            "node": lambda t: tu.is_tree_node(type(t)),
            "one level": lambda t: _as_lists(tu.flatten_one_level(t)),
            "one level with keys": lambda t: _as_lists(tu.flatten_one_level_with_keys(t)),
            "mapped": lambda t: _with_class(tu, tu.tree_map(lambda x: [x], t)),
        }
        for what, program in of_name.items():
            found[f"{name}: {what}"] = functools.partial(program, example)

    nan = float("nan")
    found |= {
        # errors of flatten
        "unsortable": lambda: tu.tree_flatten({1: 2, "a": 3}),
        "unsortable defaultdict": lambda: tu.tree_flatten(defaultdict(int, {1: 2, "a": 3})),
        "is_leaf no function": lambda: tu.tree_flatten([1], 3),
        "is_leaf no bool": lambda: tu.tree_flatten([1], lambda x: "yes"),
        "is_leaf none": lambda: tu.tree_flatten([1], lambda x: None),
        "is_leaf raises": lambda: tu.tree_flatten([1], lambda x: 1 / 0),
        # unflatten
        "unflatten": lambda: tu.tree_unflatten(structure(rows), range(6)),
        "unflatten iterator": lambda: tu.tree_unflatten(two, iter("ab")),
        "unflatten few": lambda: tu.tree_unflatten(two, [1]),
        "unflatten many": lambda: tu.tree_unflatten(two, [1, 2, 3]),
        "unflatten no leaves": lambda: tu.tree_unflatten(two, 5),
        # map
        "map two": lambda: tu.tree_map(collect, rows[0], rows[1]),
        "map three": lambda: tu.tree_map(collect, (1, 2), (3, [4]), (None, {})),
        "map deeper": lambda: tu.tree_map(collect, [1, 2], [(3, 4), None]),
        "map is_leaf": lambda: tu.tree_map(collect, [1, [2]], [3, {}], is_leaf=lambda x: x == [2]),
        "map keys": lambda: tu.tree_map(collect, {"a": 1}, {"b": 1}),
        "map more keys": lambda: tu.tree_map(collect, {"a": 1}, {"a": 1, "b": 1}),
        "map types": lambda: tu.tree_map(collect, [1], (1,)),
        "map lengths": lambda: tu.tree_map(collect, [1], [1, 2]),
        "map None": lambda: tu.tree_map(collect, [None], [1]),
        "map leaf": lambda: tu.tree_map(collect, [[1]], [1]),
        "map namedtuple": lambda: tu.tree_map(collect, Point(1, 2), (1, 2)),
        "map namedtuples": lambda: tu.tree_map(collect, Point(1, 2), Span(1, 2)),
        "map dict types": lambda: tu.tree_map(collect, {"a": 1}, OrderedDict(a=1)),
        "map dict order": lambda: tu.tree_map(
            collect, OrderedDict(a=1, b=2), OrderedDict(b=1, a=2)
        ),
        "map dict insertion": lambda: tu.tree_map(collect, {"b": 1, "a": 2}, {"a": 3, "b": 4}),
        "map factories": lambda: tu.tree_map(
            collect, defaultdict(int, a=1), defaultdict(float, a=1)
        ),
        "map static": lambda: tu.tree_map(
            collect, cls["Layer"](1), cls["Layer"](1, activation="tanh")
        ),
        "map no function": lambda: tu.tree_map(3, [1]),
        "map no function, no leaves": lambda: tu.tree_map(3, []),
        "map second tree": lambda: tu.tree_map(collect, [1], [1], (1,)),
        "map with path": lambda: tu.tree_map_with_path(
            lambda p, x, y: (tu.keystr(p), x, y), rows[0], rows[1]
        ),
        "map with path differs": lambda: tu.tree_map_with_path(collect, [1], (1,)),
        "map with path is_leaf": lambda: tu.tree_map_with_path(
            lambda p, x: (len(p), x),
            [1, (2, 3)],
            is_leaf=lambda p, x: len(p) == 1,
            is_leaf_takes_path=True,
        ),
        "leaves with path is_leaf": lambda: tu.tree_leaves_with_path(
            [1, (2, 3)], lambda p, x: len(p) == 1, True
        ),
        # reduce
        "reduce": lambda: tu.tree_reduce(lambda x, y: (x, y), rows),
        "reduce initial": lambda: tu.tree_reduce(lambda x, y: (x, y), [1, 2], 0),
        "reduce initial None": lambda: tu.tree_reduce(lambda x, y: (x, y), [1, 2], None),
        "reduce empty": lambda: tu.tree_reduce(operator.add, []),
        "reduce empty initial": lambda: tu.tree_reduce(operator.add, [], 4),
        "reduce is_leaf": lambda: tu.tree_reduce(operator.add, ([1], [2]), is_leaf=is_list),
        "associative empty": lambda: concatenated(0),
        "associative empty identity": lambda: concatenated(0, identity="e"),
        "all empty": lambda: tu.tree_all([]),
        "all": lambda: tu.tree_all([1, (True, "a")]),
        "all false": lambda: tu.tree_all([1, (True, "")]),
        "all None": lambda: tu.tree_all([None, 1]),
        "all is_leaf": lambda: tu.tree_all({"a": []}, is_leaf=is_list),
        "all_leaves": lambda: [tu.all_leaves(x) for x in ([1, 2], [1, None], [1, [2]], [], {1: 2})],
        "all_leaves is_leaf": lambda: tu.all_leaves([1, [2]], lambda x: x == [2]),
        "all_leaves any list": lambda: tu.all_leaves([1, [2]], is_list),
        "all_leaves no items": lambda: tu.all_leaves(3),
        # two trees
        "transpose": lambda: tu.tree_transpose(two, structure(rows[0]), rows),
        "transpose inferred": lambda: tu.tree_transpose(two, None, rows),
        "transpose flat": lambda: tu.tree_transpose(two, structure((0, 0)), [1, 2, 3, 4]),
        "transpose unlike": lambda: tu.tree_transpose(two, None, [{"a": 1}, {"b": 2}]),
        "transpose empty outer": lambda: tu.tree_transpose(structure([]), structure([0]), []),
        "transpose empty inner": lambda: tu.tree_transpose(two, structure({}), [{}, {}]),
        "transpose count": lambda: tu.tree_transpose(two, structure((0, 0)), [1, 2, 3]),
        "transpose outer": lambda: tu.tree_transpose(structure((0, 0)), None, rows),
        "broadcast": lambda: tu.tree_broadcast([1, 2], [(3, 4), {"a": 5}]),
        "broadcast leaf": lambda: tu.tree_broadcast(1, rows),
        "broadcast onto None": lambda: tu.tree_broadcast([1, 2], [None, 3]),
        "broadcast None": lambda: tu.tree_broadcast(None, rows),
        "broadcast None as leaf": lambda: tu.tree_broadcast([None, 1], rows, is_none),
        "broadcast is_leaf of full": lambda: tu.tree_broadcast(
            1, [[5], (2, [5])], lambda x: x == [5]
        ),
        "broadcast lengths": lambda: tu.tree_broadcast([1, 2, 3], rows),
        "broadcast keys": lambda: tu.tree_broadcast([{"a": 1}, 2], rows),
        # treedefs
        "treedef_tuple": lambda: tu.treedef_tuple(iter([two, structure(None)])),
        "treedef_tuple empty": lambda: tu.treedef_tuple([]),
        "equal": lambda: [
            structure(x) == structure(y)
            for x in trees.values()
            for y in (x, None, [1], Point(1, [2, 3]), OrderedDict(b=1, a=[2]))
        ],
        "equal Partial": lambda: structure(tu.Partial(max, 1)) == structure(tu.Partial(max, 2)),
        "equal Partial of Partial": lambda: (
            lambda p: structure(tu.Partial(p, 1)) == structure(tu.Partial(p, 1))
        )(tu.Partial(max)),
        "nested Partial": lambda: [
            [tu.keystr(path), leaf] for path, leaf in tu.tree_leaves_with_path(nested_partials())
        ],
        "pickled": lambda: [
            pickle.loads(pickle.dumps(structure(t))) == structure(t)
            for t in (0, None, (0, [None, {"a": 1}]), Point(1, 2), OrderedDict(b=1), Span(1))
        ],
        "equal static": lambda: structure(cls["Mode"]("a")) == structure(cls["Mode"]("b")),
        "equal nan": lambda: structure({nan: 1}) == structure({nan: 1}),
        # key paths
        "keys": lambda: [
            [str(key), repr(key)]
            for key in (
                tu.SequenceKey(1),
                tu.DictKey("a"),
                tu.GetAttrKey("x"),
                tu.FlattenedIndexKey(2),
            )
        ],
        "keystr other": lambda: [tu.keystr(("a", 1)), tu.keystr(("a", 1), simple=True)],
        "keystr separator": lambda: tu.keystr((tu.DictKey("a"), tu.SequenceKey(0)), separator="/"),
        "keystr empty": lambda: tu.keystr(()),
        "keystr no path": lambda: tu.keystr(3),
        # one level, Partial
        "one level of a leaf": lambda: tu.flatten_one_level(3),
        "one level with keys of a leaf": lambda: tu.flatten_one_level_with_keys(3),
        "is_tree_node of an object": lambda: tu.is_tree_node(3),
        "Partial called": lambda: tu.tree_map(lambda x: x + 1, tu.Partial(collect, 1, 2))(3),
        "Partial nested called": lambda: tu.Partial(tu.Partial(collect, 1), 2)(3),
        "Partial no function": lambda: tu.Partial(3),
        "Partial no argument": lambda: tu.Partial(),
        "Partial attributes": lambda: (
            lambda p: [p.func is max, p.args, p.keywords, isinstance(p, functools.partial)]
        )(tu.Partial(max, 1, key=2)),
        # registration
        "dropped field": lambda: tu.tree_map(lambda x: x + 1, cls["Config"](1, cache=8)),
        "dataclass twice": lambda: tu.register_dataclass(cls["Layer"]),
        "dataclass one list": lambda: registered(["x", "y"], None),
        "dataclass missing": lambda: registered(["x"], []),
        "dataclass unknown": lambda: registered(["x", "y", "z"], []),
        "dataclass overlap": lambda: registered(["x", "y"], ["y"]),
        "dataclass drop": lambda: registered(["y"], [], drop_fields=["x"]),
        "dataclass drop listed": lambda: registered(["x", "y"], [], drop_fields=["x"]),
        "dataclass drop unknown": lambda: registered(["x", "y"], [], drop_fields=["q"]),
        "dataclass inferred drop": lambda: registered(None, None, drop_fields=["x"]),
        "dataclass iterators": lambda: registered(iter("y"), iter("x")),
        "dataclass no names": lambda: registered(5, []),
        "dataclass no dataclass": lambda: tu.register_dataclass(type("Bare", (), {})),
        "node twice": lambda: tu.register_pytree_node(cls["Pair"], tuple, tuple),
        "node list": lambda: tu.register_pytree_node(list, tuple, tuple),
        "node object": lambda: tu.register_pytree_node(3, tuple, tuple),
        "node no function": lambda: tu.register_pytree_node(type("Bare", (), {}), 3, tuple),
        "static marks": lambda: [
            dict(tree.static(metadata=metadata).metadata)
            for metadata in ({}, {"q": 1}, {"static": False})
        ],
        "static no metadata": lambda: tree.static(metadata=3),
        "static unknown": lambda: tree.static(whatever=3),
        "returned": lambda: [
            register(made) is made
            for register in (tu.register_dataclass, tu.register_static)
            for made in [fresh("x")]
        ],
        "same functions": lambda: [
            tree.map(collect, rows[0], rows[1]),
            tree.leaves(rows),
            tree.structure(rows),
            tree.reduce(operator.add, [1, 2]),
            tree.reduce_associative(operator.add, [1, 2]),
            tree.all([1]),
            tree.flatten(rows),
            tree.unflatten(two, [1, 2]),
            tree.transpose(two, None, rows),
            tree.broadcast(1, rows),
            tree.flatten_with_path(rows),
            tree.leaves_with_path(rows),
            tree.map_with_path(collect, rows),
        ],
    }
    found |= {f"associative {n}": functools.partial(concatenated, n) for n in range(1, 14)}
    return found


def _with_class(tu, t):
    return [type(t).__name__, tu.tree_flatten(t)]


def _as_lists(level):
    children, data = level
    return [list(children), data]


_KINDS = (ZeroDivisionError, ValueError, TypeError)


def outcome(program):
    """What a program gives, as text: its value, or the builtin class of its error."""
    try:
        return repr(program()).replace(f"{__name__}.", "")
    except Exception as error:
        kinds = [kind.__name__ for kind in _KINDS if isinstance(error, kind)]
        return f"raises {(kinds or [type(error).__name__])[0]}"


def main():
    from jax import tree, tree_util

    record = {
        "jax": importlib.metadata.version("jax"),
        "outcomes": {name: outcome(p) for name, p in programs(tree_util, tree).items()},
    }
    DATA.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
