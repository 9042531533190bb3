"""Define references: mutable arrays, as values of programs and as types of jaxprs.

A reference belongs to the trace that created it: it is a cell with a value of that trace. Reads and
writes under traces inside of it compute with that value. A trace that records equations has references
without a value instead, which stand for variables of its jaxpr.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sagax._src import fork_locks
from sagax._src.core import dtypes
from sagax._src.core.avals import ShapedArray
from sagax._src.core.effects import Effect
from sagax._src.core.shardings import dimensions_text
from sagax._src.weak_tables import InternTable

READ = Effect("read of a reference")
WRITE = Effect("write to a reference")
ACCUMULATE = Effect("addition to a reference")
CREATE = Effect("creation of a reference")
EFFECTS = frozenset({READ, WRITE, ACCUMULATE, CREATE})

# The kind of references that have no derivative, as jax spells it.
NO_GRAD = "no_grad_no_remat"

_table: InternTable[AbstractRef] = InternTable()
_lock = fork_locks.lock()


class AbstractRef:
    """The type of a reference: the type of its contents; interned.

    `kind` is None, or "no_grad_no_remat" for a reference that has no derivative.
    """

    __slots__ = ("__weakref__", "inner_aval", "kind", "memory_space")

    inner_aval: ShapedArray
    memory_space: Any
    kind: str | None
    weak_type = False
    is_high = False

    def __new__(cls, inner_aval: Any, memory_space: Any = None, kind: str | None = None) -> Any:
        key = (inner_aval, memory_space, kind)
        found = _table.get(key)
        if found is None:
            with _lock:
                found = _table.get(key)
                if found is None:
                    found = object.__new__(cls)
                    found.inner_aval, found.memory_space, found.kind = key
                    _table.add(key, found)
        return found

    shape = property(lambda self: self.inner_aval.shape)
    dtype = property(lambda self: self.inner_aval.dtype)
    ndim = property(lambda self: self.inner_aval.ndim)
    size = property(lambda self: self.inner_aval.size)
    sharding = property(lambda self: self.inner_aval.sharding)
    explicit_sharding = property(lambda self: self.inner_aval.explicit_sharding)
    vma = property(lambda self: self.inner_aval.vma)

    def _of(self, inner: Any) -> AbstractRef:
        return AbstractRef(inner, self.memory_space, self.kind)

    def update(self, inner_aval: Any = None, **changes: Any) -> AbstractRef:
        """Return the type with other contents, or with some fields of their type replaced."""
        kind, space = changes.pop("kind", self.kind), changes.pop("memory_space", self.memory_space)
        inner = self.inner_aval if inner_aval is None else inner_aval
        return AbstractRef(inner.update(**changes) if changes else inner, space, kind)

    def strip_weak_type(self) -> AbstractRef:
        return self

    def with_vma(self, vma: frozenset) -> AbstractRef:
        return self._of(self.inner_aval.with_vma(vma))

    def to_tangent_aval(self) -> AbstractRef:
        """Return the type of a reference to tangents of the contents."""
        return self._of(self.inner_aval.to_tangent_aval())

    to_cotangent_aval = to_tangent_aval

    def str_short(self, short_dtypes: bool = False, **_: Any) -> str:
        return f"Ref{{{self.inner_aval.str_short(short_dtypes)}}}"

    def __repr__(self) -> str:
        name, sizes = dtypes.name(self.dtype), ",".join(map(str, self.shape))
        if self.explicit_sharding is not None:
            sizes = dimensions_text(self.shape, self.explicit_sharding)
        return f"Ref{{{name}[{sizes}]}}"

    def __reduce__(self) -> tuple:
        return AbstractRef, (self.inner_aval, self.memory_space, self.kind)


class Ref:
    """A mutable array. Create one with `sagax.new_ref`; read `ref[...]`, and write `ref[...] = x`.

    Indices select elements as of arrays: ints, slices, arrays of integers and `...`. Operations on
    arrays take no references: read first. Two names of one reference see the same contents.

    >>> ref = sagax.new_ref(snp.zeros(3))
    >>> ref[1] = 5.0
    >>> ref[...]
    Array([0., 5., 0.], dtype=float32)
    """

    __slots__ = ("__weakref__", "_frozen", "_shared", "_trace", "_value", "_var", "aval")

    def __init__(
        self, aval: AbstractRef, trace: Any, *, value: Any = None, var: Any = None
    ) -> None:
        self.aval = aval
        self._trace = trace  # that it belongs to; None: eager evaluation
        self._value = value  # None where it stands for a variable
        self._var = var  # of the jaxpr that `_trace` records
        self._frozen: str | None = None  # the function that ended its use
        # whether others may hold the eager contents, so that they must not be overwritten in place
        self._shared = True

    if TYPE_CHECKING:  # primitives/references.py installs the operations

        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    @property
    def shape(self) -> tuple:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> Any:
        return self.aval.size

    @property
    def sharding(self) -> Any:
        """The sharding of the contents."""
        return self._value.sharding if self._trace is None else self.aval.sharding

    @property
    def committed(self) -> bool:
        """True if the contents are committed to their devices."""
        return self._trace is None and self._value.committed

    def unsafe_buffer_pointer(self) -> int:
        """Return the address of the contents, which the next write may move."""
        return self._value.unsafe_buffer_pointer()

    @property
    def _device(self) -> Any:
        return None if self._trace is not None else self._value._device

    @property
    def _buffer(self) -> Ref:
        """Stand for the buffer of an array where a call collects these: an entry for references takes them themselves."""
        return self

    def __len__(self) -> int:
        return len(self.aval.inner_aval)

    def __repr__(self) -> str:
        if self._trace is None:
            return "Ref" + repr(self._value)[len("Array") :]
        return repr(self.aval)

    def __copy__(self) -> Ref:
        return self

    def __deepcopy__(self, memo: Any) -> Ref:
        return self


def takes_references(jaxpr: Any) -> bool:
    """Return whether inputs of a jaxpr are references."""
    return any(type(v.aval) is AbstractRef for v in (*jaxpr.constvars, *jaxpr.invars))
