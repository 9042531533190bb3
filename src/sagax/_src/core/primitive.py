"""Primitives: the operations of the language, each with all its rules side by side.

A rule is a slot of the primitive, filled by a decorator where the primitive is defined:

    abstract(*avals, **params)            -> aval, or a list of avals
    reference(*arrays, **params)          -> NumPy result(s): the truth in tests
    jvp(primals, tangents, **params)      -> (out, tangent out); tangents may be `Zero`
    linearize(primals, tangents, **params)   same form; its linear part must be separate binds
    transpose(ct, *operands, **params)    -> a cotangent (or None) for each operand; `Linear` marks the unknown
    batch(axis, args, dims, **params)     -> (out, dim out); dims are ints or None
    lower(b, *operands, **params)         -> value(s) made with the module builder `b`
    composite(*operands, **params)        -> the same function in other primitives; stands in for any missing rule
    show(params)                          -> the parameters to print
    stage(trace, args, params)            -> outputs, for what is recorded in another form than it is bound in
    prune(used, **params)                 -> (params, kept operands, kept results) of an application of which some results are
                                             unused, as masks that keep at least the used ones; or None to leave it
    shard(call)                           -> for each result, the mesh axes along which each dimension is cut (sharding_rules.py)
    mask(trace, primitive, args, params, out) -> result(s) where operands are lazy views (higher_order/lazy_masks.py)
    index(shapes, params)                 -> `Indices`: which operands are indices, into which axes
    wide(*operands, **params)             -> the result in float64, of integers that may not fit the dtype
    check(eqn, operands, categories, outcome) -> results, with what checkify asks added to the outcome
    key(interpreter, params, operands, avals, traceback) -> which keys the results hold (runtime/key_reuse)

The last six, and the traits by which passes decide, are answered for each primitive: by its `family`,
where the primitive itself does not say otherwise (families.py).

With `multiple_results` the outputs (and their tangents and dims) are lists. `impl` overrides how a
primitive is evaluated outside of any tracing, `effects` tells the side effects of an application.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any

from sagax._src.core import avals
from sagax._src.core.effects import no_effects
from sagax._src.core.families import RULES, SLOTS, TRAITS, UNKNOWN, Default, Family
from sagax._src.core.jaxpr import subjaxprs
from sagax._src.core.trace import at_work, evaluation
from sagax._src.diagnostics import errors
from sagax._src.lazy_import import lazy_imports
from sagax._src.source_stacks import capture

if TYPE_CHECKING or lazy_imports():
    from sagax._src.core import sharding_rules


_CACHE_LIMIT = 8192


class MissingRuleError(errors.SagaxError, NotImplementedError):
    """A transformation met a primitive that has no rule for it."""

    __module__ = "sagax.errors"
    code = "SX0120"

    def __init__(self, primitive: str, rule: str = "abstract") -> None:
        super().__init__(
            f"the primitive '{primitive}' has no {rule} rule",
            fix=f"define one, or a `composite` of other primitives, on '{primitive}'",
            primitive=primitive,
            rule=rule,
        )


Rule = Callable[..., Any]
_RULES = (
    "abstract_rule",
    "reference_rule",
    "jvp_rule",
    "linearize_rule",
    "transpose_rule",
    "batch_rule",
    "lower_rule",
    "composite_rule",
    "show_rule",
    "stage_rule",
    "prune_rule",
    "effects_rule",
    "impl",
)


class Primitive:
    """An operation that transformations know. `bind` applies it under the current trace."""

    __slots__ = (
        "name",
        "multiple_results",
        "multilinear",
        "exact",
        "_samples",
        "elementwise",
        "holds_program",
        "is_call",
        "is_control",
        "sets_sharding",
        "tells_vma",
        "batch_collective",
        "lower_on",
        "family",
        "entries",
        "_abstract_cache",
        "__weakref__",
        "__dict__",  # what a library that defines primitives of its own keeps with them
        *_RULES,
        *RULES,
        *TRAITS,
    )

    abstract_rule: Rule | None
    reference_rule: Rule | None
    jvp_rule: Rule | None
    linearize_rule: Rule | None
    transpose_rule: Rule | None
    batch_rule: Rule | None
    lower_rule: Rule | None
    composite_rule: Rule | None
    show_rule: Rule | None
    stage_rule: Rule | None
    prune_rule: Rule | None
    effects_rule: Rule | None
    impl: Rule | None
    shard_rule: Rule | Default
    mask_rule: Rule | Default
    index_rule: Rule | Default
    wide_rule: Rule | Default
    check_rule: Rule | Default
    key_rule: Rule | Default
    fusion: int
    latency: int
    recomputes: int
    cost: int | Rule
    host_cost: int
    rounds: bool
    creates_nan: bool
    cotangent_mask: int
    moves_keys: bool
    handles_keys: bool

    def __init__(
        self,
        name: str,
        *,
        multiple_results: bool = False,
        multilinear: bool = False,
        exact: bool | Callable[[tuple], bool] = False,
        holds_program: bool = False,
        samples: Sequence[Any] | Callable[[], Sequence[Any]] = (),
        family: Family = UNKNOWN,
        **answers: Any,
    ) -> None:
        self.name = name
        self.multiple_results = multiple_results
        self.multilinear = multilinear
        # the NumPy reference gives, bit for bit, what the compiled program gives (maybe for some avals)
        self.exact = exact
        self.holds_program = holds_program
        self.samples = samples
        self.elementwise = False
        self._abstract_cache: dict = {}
        self.entries: dict = {}  # of the evaluator: signature -> how to run it
        for slot in _RULES:
            setattr(self, slot, None)
        self.family = family
        for slot, answer in family.answers.items():
            setattr(self, slot, answer)
        for slot, answer in answers.items():  # where it differs from its family
            if slot not in SLOTS:
                raise TypeError(f"a primitive has no slot {slot!r}")
            setattr(self, slot, answer)
        # XLA puts the program that it holds in its place
        self.is_call = False
        # it holds bodies of a loop, or branches, which XLA compiles apart
        self.is_control = False
        # under a batch trace with a named axis: handles the axis, or returns NotImplemented
        self.batch_collective: Rule | None = None
        # the abstract rule says itself along which axes of a mesh results vary
        self.tells_vma = False
        # the abstract rule says itself how results are divided among devices
        self.sets_sharding = False
        # platform -> lower rule that is used there instead of the general one
        self.lower_on: dict[str, Rule] = {}

    @property
    def samples(self) -> Sequence[Any]:
        """Operands and parameters to test the laws with; may be set to a function that makes them."""
        if callable(self._samples):
            self._samples = self._samples()
        return self._samples

    @samples.setter
    def samples(self, samples: Sequence[Any] | Callable[[], Sequence[Any]]) -> None:
        self._samples = samples

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive to operands under the current trace."""
        found = at_work()  # as `state.trace` does, without calls
        if found is None or found.thread != get_ident():
            return evaluation.evaluate(self, args, params)
        trace = found.trace
        if trace.records or found.here.origin is not None:
            return trace.process(self, args, params)
        # what a transformation makes of one operation was written where that was
        here = found.here
        here.origin, here.around = capture(), here.outer
        try:
            return trace.process(self, args, params)
        finally:
            here.origin = None

    def __repr__(self) -> str:
        return self.name

    def abstract_eval(self, in_avals: tuple, params: dict) -> Any:
        """Aval(s) of the result(s); cached where the parameters can be hashed."""
        cache = self._abstract_cache
        try:
            key = (in_avals, *params.items()) if params else in_avals
            found = cache.get(key)
        except TypeError:  # an unhashable parameter, of a primitive from outside
            return self._abstract(in_avals, params)
        if found is None:
            found = self._abstract(in_avals, params)
            if len(cache) >= _CACHE_LIMIT:
                cache.clear()
            cache[key] = found
        return found

    def _abstract(self, in_avals: tuple, params: dict) -> Any:
        """Aval(s) of the result(s). A result varies along the axes of a mesh along which an operand does."""
        rule = self.rule("abstract")
        divided = any(a.sharding is not None for a in in_avals)
        if divided and not (self.holds_program or self.sets_sharding):
            plain = tuple([a if a.sharding is None else a.update(sharding=None) for a in in_avals])
            return sharding_rules.infer(self, in_avals, self._abstract(plain, params), params)
        varying = avals.no_axes.union(*[a.vma for a in in_avals])
        if not varying:
            return rule(*in_avals, **params)
        if self.tells_vma:
            out = rule(*in_avals, **params)
            held = subjaxprs(params)
            # operands that vary more than the inputs of the program that is held: so may all results
            varying -= avals.no_axes.union(*[a.vma for jaxpr in held for a in jaxpr.in_avals])
            if not held or not varying:
                return out
        else:
            out = rule(*[a.with_vma(avals.no_axes) for a in in_avals], **params)
        if self.multiple_results:
            return [a.with_vma(varying | a.vma) for a in out]
        return out.with_vma(varying | out.vma)

    def rule(self, slot: str) -> Callable[..., Any]:
        """The rule in `slot`; an error that names primitive and rule when there is none."""
        rule = getattr(self, slot + "_rule")
        if rule is None:
            raise MissingRuleError(self.name, slot)
        return rule

    def effects(self, params: dict) -> frozenset:
        return self.effects_rule(**params) if self.effects_rule is not None else no_effects

    def _slot(slot: str) -> Callable[[Any, Callable], Callable]:  # type: ignore[misc]
        def define(self: Primitive, rule: Callable) -> Callable:
            setattr(self, slot, rule)
            return rule

        return define

    abstract = _slot("abstract_rule")
    reference = _slot("reference_rule")
    jvp = _slot("jvp_rule")
    linearize = _slot("linearize_rule")
    transpose = _slot("transpose_rule")
    batch = _slot("batch_rule")
    lower = _slot("lower_rule")
    composite = _slot("composite_rule")
    show = _slot("show_rule")
    stage = _slot("stage_rule")
    prune = _slot("prune_rule")
    effect = _slot("effects_rule")
    shard = _slot("shard_rule")
    mask = _slot("mask_rule")
    index = _slot("index_rule")
    wide = _slot("wide_rule")
    check = _slot("check_rule")
    key = _slot("key_rule")
    del _slot
