"""Register classes as nodes of pytrees, with their flatten and unflatten functions.

The registry is an instance of the engine's class that no other library shares. Registration here
does not affect jax, nor the reverse, even in the same process.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sagax._src import xla
from sagax._src.languages.choice import worded
from sagax._src.xla import DictKey, GetAttrKey

if TYPE_CHECKING:

    class PyTreeDef:
        """The structure of a pytree, as type checkers see the engine's class."""

        num_leaves: int
        num_nodes: int

        def unflatten(self, leaves: Iterable[Any], /) -> Any: ...
        def flatten_up_to(self, tree: Any, /) -> list[Any]: ...
        def compose(self, inner: PyTreeDef, /) -> PyTreeDef: ...
        def children(self) -> list[PyTreeDef]: ...
        def node_data(self) -> tuple[type, Any] | None: ...
else:
    PyTreeDef = xla.PyTreeDef

T = TypeVar("T")
Class = TypeVar("Class", bound=type)
Children = Iterable[Any]
KeyedChildren = Iterable[tuple[Any, Any]]

default_registry = xla.new_tree_registry()
# Treedefs refer to their registry when pickled; these two lines give it its public name.
default_registry.__module__ = "sagax.tree_util"
default_registry.__name__ = "default_registry"

# The engine's own methods, for callers that flatten on every call. Errors are the engine's; the
# functions of operations.py are these with errors that explain. Who calls the first two handles exceptions by
# `restore_recursion_depth`.
engine_flatten = default_registry.flatten
flatten_with_path = default_registry.flatten_with_path
unflatten = PyTreeDef.unflatten
flatten_up_to = PyTreeDef.flatten_up_to


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """Flatten by the engine, with its errors, whose traces in the thread are undone."""
    try:
        return engine_flatten(tree, is_leaf)
    except Exception:
        restore_recursion_depth(tree, None if is_leaf is None else lambda _, x: is_leaf(x))
        raise


def restore_recursion_depth(tree: T, is_leaf: Callable[..., Any] | None = None) -> T:
    """Give back the recursion depth that the engine kept when it failed to flatten `tree`, and return `tree`.

    For handlers of its exceptions. `is_leaf` takes `(path, subtree)`.
    """
    if not isinstance(sys.exception(), SystemError):  # of trees that are too deep: it kept none
        xla.restore_recursion_depth(default_registry, tree, is_leaf)
    return tree


# A treedef of a dataclass holds no names of its children; error messages need them.
_data_fields: dict[type, tuple[str, ...]] = {}


def data_field_names(nodetype: type) -> tuple[str, ...] | None:
    """Return the names of the children of a class registered by `register_dataclass`, else `None`."""
    return _data_fields.get(nodetype)


def name_data_fields(nodetype: type, names: tuple[str, ...]) -> None:
    """Set the names of the children of a registered class."""
    _data_fields[nodetype] = names


def is_namedtuple_class(cls: Any) -> bool:
    """Return whether `cls` is a named tuple class."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_engine_error(error: BaseException) -> bool:
    """Return whether an error of a call of the engine is its own, not a user function's.

    An error of a function that the engine called back has that function's frame in its traceback.
    The flatten functions of this file count as the engine.
    """
    first = last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is first or last is None or last.tb_frame.f_globals is globals()


# Registration -------------------------------------------------------------------------------------


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Children, Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[KeyedChildren, Hashable]] | None = None,
) -> None:
    """Register a class as a pytree node by functions. Subclasses need their own registration.

    Args:
      nodetype: the class.
      flatten_func: takes an instance, returns `(children, aux_data)`. The children are pytrees;
        `aux_data` is part of the structure: it is compared with `==` and hashed, so it must not
        hold arrays.
      unflatten_func: takes `(aux_data, children)`, returns an instance. The children may be any
        objects (tracers, `None`, treedefs), so it should not convert or validate them.
      flatten_with_keys_func: like `flatten_func`, with children `(key, child)`, for key paths.

    Raises:
      TypeError: `nodetype` is not a class or a function is not callable.
      ValueError: `nodetype` is registered already.

    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> tree_util.register_pytree_node(
    ...     Interval, lambda i: ((i.low, i.high), None), lambda _, children: Interval(*children))
    >>> tree_util.tree_leaves([Interval(1, 2), 3])
    [1, 2, 3]
    """
    _register(
        "register_pytree_node", nodetype, flatten_func, unflatten_func, flatten_with_keys_func
    )


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[KeyedChildren, Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Children, Hashable]] | None = None,
) -> None:
    """Register a class as a pytree node with named children, by functions.

    Key paths show the names. Subclasses need their own registration.

    Args:
      nodetype: the class.
      flatten_with_keys: takes an instance, returns `(children, aux_data)` with children
        `(key, child)`. Keys are `GetAttrKey("name")`, `DictKey(key)`, `SequenceKey(index)`, or
        any hashable object whose `str` reads well at the end of a path.
      unflatten_func: takes `(aux_data, children)`, the children without keys.
      flatten_func: `flatten_with_keys` without the keys, if that can be done faster.

    Raises:
      TypeError: `nodetype` is not a class or a function is not callable.
      ValueError: `nodetype` is registered already.

    >>> class Line:
    ...     def __init__(self, slope):
    ...         self.slope = slope
    >>> tree_util.register_pytree_with_keys(
    ...     Line,
    ...     lambda line: (((tree_util.GetAttrKey("slope"), line.slope),), None),
    ...     lambda _, children: Line(*children))
    >>> [(path, leaf)] = tree_util.tree_leaves_with_path({"f": Line(2.0)})
    >>> tree_util.keystr(path)
    "['f'].slope"
    """
    function = "register_pytree_with_keys"
    _check_callable(function, "flatten_with_keys", flatten_with_keys)
    if flatten_func is None:
        flatten_func = _without_keys(nodetype, flatten_with_keys)
    _register(function, nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: Class) -> Class:
    """Register a class as a pytree node by its own methods, as a decorator.

    The class defines `tree_flatten(self)`, which returns `(children, aux_data)`, and the class
    method `tree_unflatten(cls, aux_data, children)`. See `register_pytree_node`. Subclasses need
    the decorator again.

    Raises:
      TypeError: `cls` is not a class or lacks one of the methods.
      ValueError: `cls` is registered already.

    >>> @tree_util.register_pytree_node_class
    ... class Scaled:
    ...     def __init__(self, value, unit):
    ...         self.value, self.unit = value, unit
    ...     def tree_flatten(self):
    ...         return (self.value,), self.unit
    ...     @classmethod
    ...     def tree_unflatten(cls, unit, children):
    ...         return cls(*children, unit)
    >>> tree_util.tree_map(lambda x: 2 * x, Scaled(1.5, "m")).value
    3.0
    """
    function = "register_pytree_node_class"
    _check_methods(function, cls, "tree_flatten", "tree_unflatten")
    _register(function, cls, operator.methodcaller("tree_flatten"), cls.tree_unflatten, None)
    return cls


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Register a class by its own methods as a pytree node with named children, as a decorator.

    The class defines `tree_flatten_with_keys(self)`, which returns `(children, aux_data)` with
    children `(key, child)`, and the class method `tree_unflatten(cls, aux_data, children)`; a
    method `tree_flatten(self)` is used too if there is one. Subclasses need the decorator again.

    Raises:
      TypeError: `cls` is not a class or lacks one of the methods.
      ValueError: `cls` is registered already.

    >>> @tree_util.register_pytree_with_keys_class
    ... class Box:
    ...     def __init__(self, content):
    ...         self.content = content
    ...     def tree_flatten_with_keys(self):
    ...         return ((tree_util.GetAttrKey("content"), self.content),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, children):
    ...         return cls(*children)
    >>> [(path, leaf)] = tree_util.tree_leaves_with_path(Box([7]))
    >>> tree_util.keystr(path)
    '.content[0]'
    """
    function = "register_pytree_with_keys_class"
    _check_methods(function, cls, "tree_flatten_with_keys", "tree_unflatten")
    with_keys = operator.methodcaller("tree_flatten_with_keys")
    if hasattr(cls, "tree_flatten"):
        plain = operator.methodcaller("tree_flatten")
    else:
        plain = _without_keys(cls, with_keys)
    _register(function, cls, plain, cls.tree_unflatten, with_keys)
    return cls


def register_static(cls: type[T]) -> type[T]:
    """Register a class as a pytree node without leaves, as a decorator.

    An instance is then wholly part of the structure: `jit` treats it as a static argument and
    compiles anew for each instance that is not `==`. The class needs `__eq__` and `__hash__`.

    Raises:
      TypeError: `cls` is not a class.
      ValueError: `cls` is registered already.

    >>> @tree_util.register_static
    ... class Mode(str):
    ...     pass
    >>> tree_util.tree_leaves({"mode": Mode("train"), "x": 1.0})
    [1.0]
    """
    _register(
        "register_static", cls, lambda obj: ((), obj), lambda obj, _: obj, lambda obj: ((), obj)
    )
    return cls


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Register a class as a pytree node with fields as children, as a decorator.

    Without `data_fields` and `meta_fields` every field that `__init__` takes is a child, except
    those marked static, `field: str = sagax.tree.static()`, which belong to the structure. A
    rebuilt instance is made by `nodetype(**fields)`.

    Args:
      nodetype: a dataclass; or any class, if both kinds of field are given.
      data_fields: names of the attributes that are children.
      meta_fields: names of the attributes that are part of the structure: hashable, no arrays.
      drop_fields: names of `__init__` fields that are omitted, and get their defaults when an
        instance is rebuilt.

    Raises:
      TypeError: `nodetype` is not a class, or only one kind of field is given, or neither and
        the class is not a dataclass.
      ValueError: the fields named are not those of the dataclass, or one is named twice, or the
        class is registered already.

    >>> import dataclasses
    >>> from sagax import tree
    >>> @tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weight: float
    ...     activation: str = tree.static(default="relu")
    >>> tree_util.tree_map(lambda x: x + 1, Layer(2.0))
    Layer(weight=3.0, activation='relu')
    """
    function = "register_dataclass"
    _check_class(function, nodetype)
    if (data_fields is None) != (meta_fields is None):
        text = (
            f"data_fields is given for {nodetype.__name__}, meta_fields is not"
            if meta_fields is None
            else f"meta_fields is given for {nodetype.__name__}, data_fields is not"
        )
        raise worded(
            TypeError(
                f"{function}: {text}. Give both "
                f"(an empty list says that there are none), or neither to take them from the dataclass."
            )
        )
    if data_fields is None or meta_fields is None:
        data, meta = _fields_of_dataclass(function, nodetype, set(drop_fields))
    else:
        data = _field_names(function, "data_fields", data_fields)
        meta = _field_names(function, "meta_fields", meta_fields)
        _check_fields(function, nodetype, data, meta, set(drop_fields))
    try:
        default_registry.register_dataclass_node(nodetype, data, meta)
    except ValueError as error:
        raise _duplicate(function, nodetype) from error
    _data_fields[nodetype] = tuple(data)
    return nodetype


def static(**kwargs: Any) -> Any:
    """Declare a dataclass field that is part of the structure, not a leaf.

    Args:
      **kwargs: those of `dataclasses.field`; `metadata` is merged with the mark.

    Raises:
      TypeError: `metadata` is not a mapping, or a keyword is not one of `dataclasses.field`.

    >>> import dataclasses
    >>> from sagax import tree
    >>> @tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Named:
    ...     value: float
    ...     name: str = tree.static(default="x")
    >>> tree.leaves(Named(1.0))
    [1.0]
    """
    metadata = kwargs.pop("metadata", None) or {}
    try:
        metadata = {"static": True, **metadata}
    except TypeError as error:
        raise worded(
            TypeError(
                f"static: metadata must be a mapping, as for dataclasses.field; got {metadata!r}."
            )
        ) from error
    return dataclasses.field(metadata=metadata, **kwargs)


def _register(
    function: str, nodetype: type, flatten_func: Any, unflatten_func: Any, with_keys_func: Any
) -> None:
    _check_class(function, nodetype)
    _check_callable(function, "flatten_func", flatten_func)
    _check_callable(function, "unflatten_func", unflatten_func)
    if with_keys_func is not None:
        _check_callable(function, "flatten_with_keys_func", with_keys_func)
    try:
        default_registry.register_node(nodetype, flatten_func, unflatten_func, with_keys_func)
    except ValueError as error:
        raise _duplicate(function, nodetype) from error


def _duplicate(function: str, nodetype: type) -> ValueError:
    name = f"{nodetype.__module__}.{nodetype.__qualname__}"
    return worded(
        ValueError(
            f"{function}: {name} is a pytree node already, and a class can be registered only once. "
            "Remove one of the registrations; where code runs again (a notebook cell, a reloaded "
            "module), define the class in the same place, so that each run registers a new one."
        )
    )


def _without_keys(
    nodetype: type, flatten_with_keys: Callable[[Any], tuple[KeyedChildren, Any]]
) -> Callable[[Any], tuple[list[Any], Any]]:
    def flatten_func(node: Any) -> tuple[list[Any], Any]:
        keyed, aux_data = flatten_with_keys(node)
        children = []
        for item in keyed:
            try:
                _, child = item
            except (TypeError, ValueError):
                raise worded(
                    ValueError(
                        f"the flatten-with-keys function of {nodetype.__name__} must return "
                        f"((key, child), ...), aux_data; one of its children is {item!r:.80}, "
                        "which is no (key, child) pair."
                    )
                ) from None
            children.append(child)
        return children, aux_data

    return flatten_func


def _check_class(function: str, nodetype: Any) -> None:
    if not isinstance(nodetype, type):
        raise worded(
            TypeError(
                f"{function}: a class is needed; got {nodetype!r:.80}, an instance of "
                f"{type(nodetype).__name__}. Register the class itself, once, not its instances."
            )
        )


def _check_callable(function: str, argument: str, value: Any) -> None:
    if not callable(value):
        raise worded(TypeError(f"{function}: {argument} must be a function; got {value!r:.80}."))


def _check_methods(function: str, cls: type, *names: str) -> None:
    _check_class(function, cls)
    missing = [name for name in names if not hasattr(cls, name)]
    if missing:
        raise worded(
            TypeError(
                f"{function}: {cls.__name__} has no method {' and no method '.join(missing)}. "
                "Define it, or register the class by functions with register_pytree_node; "
                "a dataclass needs no methods with register_dataclass."
            )
        )


def _fields_of_dataclass(
    function: str, nodetype: type, drop: set[str]
) -> tuple[list[str], list[str]]:
    if not dataclasses.is_dataclass(nodetype):
        raise worded(
            TypeError(
                f"{function}: {nodetype.__name__} is not a dataclass, so its fields are not known. "
                "Decorate it with dataclasses.dataclass first (@register_dataclass stands above "
                "@dataclass), or give data_fields and meta_fields."
            )
        )
    fields = [f for f in dataclasses.fields(nodetype) if f.init and f.name not in drop]
    data = [f.name for f in fields if not f.metadata.get("static", False)]
    meta = [f.name for f in fields if f.metadata.get("static", False)]
    return data, meta


def _field_names(function: str, argument: str, names: Any) -> list[str]:
    if isinstance(names, str) and len(names) > 1:
        raise worded(
            TypeError(
                f"{function}: {argument} must be a list of names; got the string {names!r}, which "
                f"would be read letter by letter. Write [{names!r}]."
            )
        )
    names = list(names) if isinstance(names, Iterable) else names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise worded(
            TypeError(f"{function}: {argument} must be names of fields; got {names!r:.80}.")
        )
    return names


def _check_fields(
    function: str, nodetype: type, data: list[str], meta: list[str], drop: set[str]
) -> None:
    named = [*data, *meta]
    if repeated := sorted({name for name in named if named.count(name) > 1}):
        raise worded(
            ValueError(
                f"{function}: {_quote_names(repeated)} of {nodetype.__name__} is named more than once; each "
                f"field belongs once to data_fields or to meta_fields."
            )
        )
    if not dataclasses.is_dataclass(nodetype):
        return
    fields = {f.name for f in dataclasses.fields(nodetype) if f.init}
    problems = []
    if missing := sorted(fields - drop - set(named)):
        problems.append(
            f"in neither: {_quote_names(missing)} (to give up the value and have the field's default "
            "after every flatten and unflatten, put it in drop_fields)"
        )
    if extra := sorted(set(named) - fields):
        problems.append(f"no field that {nodetype.__name__}.__init__ takes: {_quote_names(extra)}")
    if dropped := sorted(fields & drop & set(named)):
        problems.append(f"also in drop_fields: {_quote_names(dropped)}")
    if problems:
        raise worded(
            ValueError(
                f"{function}: data_fields and meta_fields must together name the fields of "
                f"{nodetype.__name__}; {'; '.join(problems)}."
            )
        )


def _quote_names(names: list[str]) -> str:
    return ", ".join(map(repr, names))


# One level ----------------------------------------------------------------------------------------


def is_tree_node(typ: type) -> bool:
    """Return whether instances of exactly the class `typ` are nodes of pytrees, not leaves.

    >>> tree_util.is_tree_node(dict), tree_util.is_tree_node(float)
    (True, False)
    """
    return isinstance(typ, type) and default_registry.is_node(typ)


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Hashable]:
    """Flatten one level: return the direct children of a pytree node and its aux data.

    Raises:
      ValueError: `tree` is a leaf.

    >>> tree_util.flatten_one_level({"b": [1, 2], "a": 3})
    ((3, [1, 2]), ('a', 'b'))
    """
    result = default_registry.flatten_one_level(tree)
    if result is None:
        raise _leaf_error("flatten_one_level", tree)
    return result


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """Flatten one level: return the direct children of a node, with keys, and its aux data.

    Raises:
      ValueError: `tree` is a leaf.

    >>> tree_util.flatten_one_level_with_keys({"b": [1, 2], "a": 3})
    (((DictKey(key='a'), 3), (DictKey(key='b'), [1, 2])), ('a', 'b'))
    """
    result = default_registry.flatten_one_level_with_keys(tree)
    if result is None:
        raise _leaf_error("flatten_one_level_with_keys", tree)
    cls = type(tree)
    if is_namedtuple_class(cls) and result[1] is cls:
        # jaxlib 0.10 gives every child of a namedtuple the name of the first.
        return [(GetAttrKey(name), child) for name, child in zip(cls._fields, tree)], cls
    return result


def _leaf_error(function: str, tree: Any) -> ValueError:
    return worded(
        ValueError(
            f"{function}: an object of class {type(tree).__name__} is a leaf and has no children. "
            "Ask is_tree_node(type(x)) first, or register the class as a pytree node."
        )
    )


# Nodes of the standard library --------------------------------------------------------------------


def _ordered_dict_with_keys(d: OrderedDict[Any, Any]) -> tuple[KeyedChildren, Hashable]:
    return tuple((DictKey(key), value) for key, value in d.items()), tuple(d)


register_pytree_node(
    OrderedDict,
    lambda d: (tuple(d.values()), tuple(d)),
    lambda keys, values: OrderedDict(zip(keys, values)),
    _ordered_dict_with_keys,
)


def _default_dict(d: defaultdict[Any, Any]) -> tuple[Children, Hashable]:
    keys = tuple(sorted(d))
    return tuple(d[key] for key in keys), (d.default_factory, keys)


def _default_dict_with_keys(d: defaultdict[Any, Any]) -> tuple[KeyedChildren, Hashable]:
    keys = tuple(sorted(d))
    return tuple((DictKey(key), d[key]) for key in keys), (d.default_factory, keys)


register_pytree_node(
    defaultdict,
    _default_dict,
    lambda aux_data, values: defaultdict(aux_data[0], zip(aux_data[1], values)),
    _default_dict_with_keys,
)


class _Opaque:
    """A callable that hides its function, so that `functools.partial` does not merge with it."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.function(*args, **keywords)

    def __eq__(self, other: object) -> bool:
        return self.function == other.function if isinstance(other, _Opaque) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


class Partial(functools.partial):
    """A `functools.partial` that is a pytree: its bound arguments are leaves.

    It can be an argument and a result of transformed functions, as data. The function itself is
    part of the structure, compared by `==`, so two lambdas of equal text differ. If `func` is a
    `functools.partial`, it is the function as a whole: arguments bound in it are no leaves.

    Args:
      func: the callable.
      *args: positional arguments to bind.
      **keywords: keyword arguments to bind.

    Raises:
      TypeError: `func` is not callable.

    >>> power = tree_util.Partial(pow, 2.0)
    >>> tree_util.tree_map(lambda x: x + 1, power)(2)
    9.0
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **keywords: Any) -> Partial:
        if isinstance(func, functools.partial):
            func = _Opaque(func)
        return super().__new__(cls, func, *args, **keywords)

    def __repr__(self) -> str:
        bound = [repr(self.func), *map(repr, self.args)]
        bound += [f"{name}={value!r}" for name, value in self.keywords.items()]
        return f"Partial({', '.join(bound)})"


Partial.__module__ = "sagax.tree_util"  # the public home, which pickles refer to


register_pytree_node(
    Partial,
    lambda p: ((p.args, p.keywords), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
