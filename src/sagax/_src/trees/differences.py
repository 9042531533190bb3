"""Compare tree structures, and explain mismatches and failures to flatten.

Everything here runs only after something has failed, so it is written to be clear, and it never
replaces an error of the user's own functions.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import SimpleNamespace
from typing import Any

import sagax._src.trees.registry as registry
from sagax._src.frozen_class import record
from sagax._src.languages.choice import worded
from sagax._src.trees.paths import LeafTest, Path, argument_path, as_leaf_test
from sagax._src.trees.registry import PyTreeDef
from sagax._src.xla import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey

_MAPPINGS = (dict, OrderedDict, defaultdict)
_MAX_EXAMPLES = 3  # the number of differences, or examples of keys, in a message
_MAX_DEPTH = 10_000  # of the search for a cycle


@record(slots=True)
class Difference:
    """A difference between two trees, at one key path.

    Attributes:
      path: key path of the difference, from the roots of both trees.
      kind: "type", "keys", "length", "static" (the aux data of a node), or "leaf" (the left tree
        ends where the right one goes on).
      left_name, right_name: the user's names of the two trees.
      left, right: descriptions of the two nodes.
      advice: how to fix it; may be empty.
    """

    path: Path
    kind: str
    left_name: str
    left: str
    right_name: str
    right: str
    advice: str = ""

    def __str__(self) -> str:
        left = argument_path(self.left_name, self.path)
        right = argument_path(self.right_name, self.path)
        text = f"{left} is {self.left}, but {right} is {self.right}."
        return f"{text} {self.advice}" if self.advice else text


# One level of a tree or of a treedef --------------------------------------------------------------


@record(slots=True)
class _Node:
    type: type
    data: Any  # the aux data: equal nodes of one type have equal data
    keys: tuple[Any, ...]
    children: tuple[Any, ...]


def _node_of_tree(tree: Any) -> _Node | None:
    cls = type(tree)
    if not registry.is_tree_node(cls):
        return None
    if cls is dict or cls is defaultdict:  # by hand, since their keys may have no order
        keys = _sorted_items(tree)
        data = keys if cls is dict else (tree.default_factory, keys)
        return _Node(cls, data, tuple(map(DictKey, keys)), tuple(tree[key] for key in keys))
    keyed, data = registry.flatten_one_level_with_keys(tree)
    pairs = [tuple(pair) for pair in keyed]
    return _Node(cls, data, tuple(key for key, _ in pairs), tuple(child for _, child in pairs))


def _sorted_items(mapping: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(mapping))
    except Exception:
        return tuple(mapping)


def _node_of_treedef(treedef: Any) -> _Node | None:
    node_data = treedef.node_data()
    if node_data is None:
        return None
    cls, data = node_data
    children = tuple(treedef.children())
    if cls is dict:
        data = tuple(data)
        keys: Sequence[Any] = [DictKey(key) for key in data]
    elif cls is OrderedDict:
        keys = [DictKey(key) for key in data]
    elif cls is defaultdict:
        keys = [DictKey(key) for key in data[1]]
    elif cls in (tuple, list):
        keys = [SequenceKey(i) for i in range(len(children))]
    elif registry.is_namedtuple_class(cls) and data is None:
        data, keys = cls, [GetAttrKey(name) for name in cls._fields]
    elif names := registry.data_field_names(cls):
        keys = [GetAttrKey(name) for name in names]
    else:
        keys = [FlattenedIndexKey(i) for i in range(len(children))]
    return _Node(cls, data, tuple(keys), children)


def _node_function(tree: Any) -> Callable[[Any], _Node | None]:
    return _node_of_treedef if isinstance(tree, PyTreeDef) else _node_of_tree


# Descriptions -------------------------------------------------------------------------------------


def _class_name(cls: type, other: type | None = None) -> str:
    """Return the class's name, with its module if the other class has the same name."""
    if other is not None and other is not cls and other.__qualname__ == cls.__qualname__:
        return f"{cls.__module__}.{cls.__qualname__}"
    return cls.__qualname__.rpartition("<locals>.")[2]


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in tuple("aeiou") else f"a {noun}"


def _shorten(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:
        return _article(type(value).__name__)
    return text if len(text) <= 80 else f"{text[:60]}..."


def _join_texts(items: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(_shorten(item) for item in items[:most])
    return f"{shown}, and {len(items) - most} more" if len(items) > most else shown


def _describe_node(node: _Node | None, value: Any, other: _Node | None = None) -> str:
    """Describe what is at a path: `node` flattened from `value`, or a leaf without a node."""
    if node is None:
        if isinstance(value, PyTreeDef):
            return "a leaf"
        return f"a leaf of type {_class_name(type(value))}"
    name = _class_name(node.type, None if other is None else other.type)
    if node.type is type(None):
        return "None"
    if node.type in _MAPPINGS:
        keys = [key.key for key in node.keys]
        return f"{_article(name)} with keys {_join_texts(keys)}" if keys else f"an empty {name}"
    if node.type in (tuple, list):
        return f"{_article(name)} of length {len(node.children)}"
    if node.data is node.type and registry.is_namedtuple_class(node.type):
        return f"the namedtuple {name}"
    return f"the pytree node {name}"


def container_hint(value: Any) -> str:
    """Explain why an object that looks like a container is a leaf, with a fix; "" if it is a node.

    For messages about leaves of a type that is not accepted.
    """
    cls = type(value)
    name = _class_name(cls)
    if registry.is_tree_node(cls) or isinstance(value, (str, bytes, bytearray, memoryview, range)):
        return ""
    leaf = f"{name} is not registered as a pytree, so an instance of it is a leaf"
    for base in cls.__mro__[1:]:
        if base is object or not registry.is_tree_node(base):
            continue
        if base in (dict, list, tuple, OrderedDict, defaultdict):
            return (
                f"{name} is a subclass of {base.__name__}, and subclasses are leaves: pass "
                f"{base.__name__}(...) of it, or register {name} with register_pytree_node."
            )
        return (
            f"{name} is a leaf: its base {_class_name(base)} is a pytree node, but subclasses need "
            "to be registered themselves (use the same decorator or function)."
        )
    if dataclasses.is_dataclass(cls):
        return (
            f"{leaf}: put @sagax.tree_util.register_dataclass above @dataclass, or "
            "@sagax.tree.dataclass in its place."
        )
    if hasattr(cls, "tree_flatten") and hasattr(cls, "tree_unflatten"):
        return f"{leaf}: decorate the class with @sagax.tree_util.register_pytree_node_class."
    if isinstance(value, Set):
        return f"{leaf}, since a set has no order: use a sorted list or tuple."
    if isinstance(value, (Mapping, UserDict)):
        return f"{leaf}: pass dict(...) of it, or register the class with register_pytree_node."
    if isinstance(value, (Sequence, UserList, deque)):
        return f"{leaf}: pass list(...) of it, or register the class with register_pytree_node."
    if isinstance(value, SimpleNamespace):
        return f"{leaf}: pass vars(...) of it, or use a registered dataclass."
    if hasattr(cls, "__attrs_attrs__"):
        return f"{leaf}: register it with sagax.tree_util.register_dataclass and both field lists."
    return ""


def _type_advice(left: _Node | None, right: _Node | None, left_value: Any, right_value: Any) -> str:
    """Return advice for two nodes that differ in type, or for a leaf on one side."""
    for node, value in ((right, right_value), (left, left_value)):
        if node is None and not isinstance(value, PyTreeDef) and (hint := container_hint(value)):
            return hint
    if left is None or right is None:
        if type(None) in {node.type for node in (left, right) if node is not None}:
            return (
                "None is a container without leaves, not a leaf; "
                "is_leaf=lambda x: x is None makes it one."
            )
        return ""
    types = {left.type, right.type}
    if types <= set(_MAPPINGS):
        return (
            "The dict types are different nodes (an OrderedDict keeps its order, a dict is "
            f"sorted by key); convert one with {left.type.__name__}(...)."
        )
    if types <= {list, tuple}:
        return f"Convert one with {left.type.__name__}(...)."
    if _class_name(left.type) == _class_name(right.type):
        return (
            "These are two classes of the same name: one was defined again (a notebook cell or a "
            "module that ran twice?), and objects of both are in use."
        )
    if tuple in types and any(registry.is_namedtuple_class(cls) for cls in types):
        return "A namedtuple and a tuple are different nodes, also when they are equal."
    return ""


# Comparison ---------------------------------------------------------------------------------------


def _differences(
    left: Any,
    right: Any,
    left_name: str,
    right_name: str,
    leaf_test: LeafTest | None,
    *,
    prefix: bool,
) -> Iterator[Difference]:
    """Yield the differences of `left` and `right`, in the order of their leaves.

    With `prefix` a leaf of `left` matches any subtree of `right`.
    """
    open_left, open_right = _node_function(left), _node_function(right)
    stack: list[tuple[Path, Any, Any]] = [((), left, right)]
    while stack:
        path, a_value, b_value = stack.pop()
        a = None if leaf_test and leaf_test(path, a_value) else open_left(a_value)
        if a is None and prefix:
            continue
        b = open_right(b_value)
        if a is None and b is None:
            continue
        found = _compare(a, b, a_value, b_value, left_name, right_name)
        if found is not None:
            kind, a_text, b_text, advice = found
            yield Difference(path, kind, left_name, a_text, right_name, b_text, advice)
            if kind != "keys":
                continue
        if a is not None and b is not None:
            stack += reversed([((*path, key), x, y) for key, x, y in _pairs(a, b)])


def _pairs(a: _Node, b: _Node) -> list[tuple[Any, Any, Any]]:
    """Pair the children to compare, `(key, child of a, child of b)`: by key for dicts."""
    if a.type not in _MAPPINGS:
        return list(zip(a.keys, a.children, b.children))
    matching = dict(zip(b.keys, b.children))
    return [(key, x, matching[key]) for key, x in zip(a.keys, a.children) if key in matching]


def _compare(
    a: _Node | None, b: _Node | None, a_value: Any, b_value: Any, a_name: str, b_name: str
) -> tuple[str, str, str, str] | None:
    """Compare two nodes: `(kind, text of a, text of b, advice)`, or `None` if they match."""
    a_text, b_text = _describe_node(a, a_value, b), _describe_node(b, b_value, a)
    if a is None or b is None or a.type is not b.type:
        kind = "leaf" if a is None else "type"
        return kind, a_text, b_text, _type_advice(a, b, a_value, b_value)
    if a.type in _MAPPINGS and set(a.keys) != set(b.keys):
        sides = [
            f"{_join_texts(only)} only in {name}"
            for name, node, other in ((a_name, a, set(b.keys)), (b_name, b, set(a.keys)))
            if (only := [key.key for key in node.keys if key not in other])
        ]
        return "keys", a_text, b_text, f"The keys differ: {', '.join(sides)}."
    if not _same_data(a.data, b.data):
        if a.type is OrderedDict:
            advice = "The keys are in another order, which counts in an OrderedDict."
        elif a.type is defaultdict:
            factories = f"{_shorten(a.data[0])} and {_shorten(b.data[0])}"
            advice = f"The default factories, which are part of the structure, are {factories}."
        else:
            a_text, b_text = (
                f"{text} with static data {_shorten(node.data)}"
                for text, node in ((a_text, a), (b_text, b))
            )
            advice = _static_advice(a.data, b.data)
        return "static", a_text, b_text, advice
    if len(a.children) != len(b.children):
        if a.type not in (tuple, list):
            a_text = f"{a_text} with {_count(len(a.children))}"
            b_text = f"{b_text} with {_count(len(b.children))}"
        return "length", a_text, b_text, ""
    return None


def _count(children: int) -> str:
    return "1 child" if children == 1 else f"{children} children"


def _same_data(a: Any, b: Any) -> bool:
    try:
        return bool(a is b or a == b)
    except Exception:
        return False


def _static_advice(a: Any, b: Any) -> str:
    try:
        bool(a == b)
    except Exception as error:
        return (
            f"Comparing the static data failed ({type(error).__name__}): it must be hashable and "
            "have a plain ==. Arrays belong among the children."
        )
    return "Static data is part of the structure, so it must be equal in both."


def prefix_mismatch(
    prefix: Any,
    full: Any,
    name: str = "prefix",
    full_name: str = "full",
    *,
    is_leaf: Callable[[Any], Any] | None = None,
) -> list[Difference]:
    """Return all mismatches of `prefix` as a tree prefix of `full`: empty if it is one.

    A leaf of the prefix stands for any subtree. Both may be trees or treedefs.

    Args:
      name, full_name: the user's names of the two, such as "in_axes" and "args".
      is_leaf: the predicate of subtrees of `prefix` that count as leaves.
    """
    test = as_leaf_test(is_leaf)
    return list(_differences(prefix, full, name, full_name, test, prefix=True))


def structure_mismatch(
    left: Any, right: Any, left_name: str = "left", right_name: str = "right"
) -> list[Difference]:
    """Return all differences of the structures of two trees (or treedefs): empty if they are equal.

    Args:
      left_name, right_name: the user's names of the two, such as "init" and "the new carry".
    """
    return list(_differences(left, right, left_name, right_name, None, prefix=False))


def mismatch_error(
    function: str,
    headline: str,
    differences: Sequence[Difference],
    rule: str = "",
    kind: type[Exception] = ValueError,
) -> Exception:
    """Return the error of `function` about mismatched trees: headline, first mismatches, rule."""
    lines = [f"{function}: {headline}"]
    lines += [f"  {difference}" for difference in differences[:_MAX_EXAMPLES]]
    if len(differences) > _MAX_EXAMPLES:
        lines.append(f"  ... and {len(differences) - _MAX_EXAMPLES} more places.")
    if rule:
        lines.append(rule)
    error = kind("\n".join(lines))
    return worded(error) if kind.__module__ == "builtins" else error  # others word themselves


def map_error(
    function: str, tree: Any, rest: Sequence[Any], leaf_test: LeafTest | None
) -> Exception | None:
    """Why `rest` cannot be mapped together with `tree`; `None` if the structures do fit."""
    for i, other in enumerate(rest):
        name = f"rest[{i}]"
        if found := list(_differences(tree, other, "tree", name, leaf_test, prefix=True)):
            return mismatch_error(
                function,
                f"{name} does not have the structure of tree",
                found,
                "Every tree in rest needs the same containers as tree; it may go on only where "
                "tree has a leaf.",
            )
    return None


# Trees that cannot be flattened -------------------------------------------------------------------


def flatten_error(
    function: str, name: str, tree: Any, leaf_test: LeafTest | None
) -> Exception | None:
    """Return the reason why the engine cannot flatten `tree`, called `name`, or `None` if unknown."""
    stack: list[tuple[Path, Any, bool]] = [((), tree, False)]
    open_nodes: dict[int, Path] = {}  # the ancestors of the current node
    while stack:
        path, value, done = stack.pop()
        if done:
            del open_nodes[id(value)]
            continue
        location = argument_path(name, path) if len(path) <= 50 else f"a place in {name}"
        if leaf_test is not None:
            answer = leaf_test(path, value)
            if answer is not None and not isinstance(answer, bool):
                return worded(
                    ValueError(
                        f"{function}: is_leaf must return True or False; for {location} it returned "
                        f"{_shorten(answer)}, a {type(answer).__module__}.{type(answer).__name__}. "
                        "Wrap its result in bool(...)."
                    )
                )
            if answer:
                continue
        if id(value) in open_nodes:
            outer = argument_path(name, open_nodes[id(value)])
            return worded(
                ValueError(
                    f"{function}: {name} contains itself: {location} is the same {type(value).__name__} "
                    f"as {outer}. A pytree must be finite; break the cycle."
                )
            )
        if len(path) > _MAX_DEPTH:
            break
        error = _order_error(function, location, value) or _children_error(
            function, location, value
        )
        if error is not None:
            return error
        node = _node_of_tree(value)
        if node is None:
            continue
        open_nodes[id(value)] = path
        stack.append((path, value, True))
        children = [((*path, k), child, False) for k, child in zip(node.keys, node.children)]
        stack += reversed(children)
    return None


def depth_error(function: str, name: str) -> ValueError:
    """Return the error about a finite tree that is deeper than the engine's stack."""
    return worded(
        ValueError(
            f"{function}: {name} is nested too deeply to be flattened. Keep long chains in a list, or "
            "stack equal levels into one array with a leading axis."
        )
    )


def _order_error(function: str, location: str, value: Any) -> ValueError | None:
    if type(value) not in (dict, defaultdict):
        return None
    try:
        sorted(value)
        return None
    except Exception:
        examples = {type(key): f"{_shorten(key)} ({type(key).__name__})" for key in reversed(value)}
    keys = list(reversed(examples.values())) if len(examples) > 1 else list(map(_shorten, value))
    return worded(
        ValueError(
            f"{function}: the keys of the {type(value).__name__} {location} cannot be sorted: "
            f"{', '.join(keys[:_MAX_EXAMPLES])}. The leaves of a dict come in the order of its sorted keys; "
            "use keys of one type that has <, or an OrderedDict, which keeps its own order."
        )
    )


def _children_error(function: str, location: str, value: Any) -> ValueError | None:
    """Return the error in the results of functions registered for a class, if any."""
    cls = type(value)
    if not registry.is_tree_node(cls):
        return None
    try:
        list(registry.flatten_one_level(value)[0])
        for item in registry.flatten_one_level_with_keys(value)[0]:
            _, _ = item
    except (TypeError, ValueError) as error:
        return worded(
            ValueError(
                f"{function}: {location}, of class {cls.__name__}, cannot be taken apart. The flatten "
                "function registered for the class must return (children, aux_data), the one with "
                f"keys (((key, child), ...), aux_data). What went wrong: {error}"
            )
        )
    return None
