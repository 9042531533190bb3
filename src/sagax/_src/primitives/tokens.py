"""Define tokens: values without content that order operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.core.avals import abstract_token
from sagax._src.core.families import OPAQUE
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import set_zero_derivative
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.trees import registry


class Token:
    """The value of an `AbstractToken`: it orders side effects.

    >>> from sagax.extend.core import Token
    >>> isinstance(lax.create_token(), Token)
    True
    """

    __slots__ = ("buf",)

    aval = abstract_token

    def __init__(self, buf: Any = None) -> None:
        self.buf = buf

    def block_until_ready(self) -> Token:
        """Return the token: operations outside of executables are in order."""
        return self


# Without leaves: jitted functions take and return tokens, and effects are ordered without them.
registry.register_pytree_node(Token, lambda token: ((), None), lambda _, leaves: Token())

create_token_p = Primitive("create_token", family=OPAQUE, is_higher_order=True)
create_token_p.abstract_rule = lambda: abstract_token
create_token_p.impl = Token
create_token_p.lower_rule = lambda b: b.op("create_token", [], abstract_token)

after_all_p = Primitive("after_all", family=OPAQUE, is_higher_order=True)
after_all_p.abstract_rule = lambda *tokens: abstract_token
after_all_p.impl = lambda *tokens: Token()
after_all_p.lower_rule = lambda b, *tokens: b.op("after_all", tokens, abstract_token)

set_zero_derivative(create_token_p, after_all_p)


@after_all_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    return after_all_p.bind(*args), None


def create_token(_: Any = None) -> Any:
    """Return a new token. Effects are ordered without tokens; these exist for `after_all`.

    >>> sagax.make_jaxpr(lambda: lax.after_all(lax.create_token(), lax.create_token()))().eqns[-1].primitive
    after_all
    """
    return create_token_p.bind()


def after_all(*operands: Any) -> Any:
    """Join tokens: return one that is there after all of them.

    Raises ArgumentError if an operand is no token.

    >>> type(lax.after_all(lax.create_token())).__name__
    'Token'
    """
    for i, x in enumerate(operands):
        if getattr(x, "aval", None) is not abstract_token:
            raise ArgumentError.about("after_all", f"operands[{i}]", x, "a token")
    return after_all_p.bind(*[create_token_p.bind() if type(x) is Token else x for x in operands])
