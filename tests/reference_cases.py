"""Programs with references, written for either library: what they print, return and leave in references."""

from __future__ import annotations

from typing import Any


def texts(lib: Any) -> dict[str, str]:
    """Return the jaxprs by name."""
    np = lib.numpy

    def reads(r, i):
        return r[...], r[i], r[1], r[1:3], r[i] * 2

    def writes(r, i):
        r[i] = 2.0
        r[1:3] = r[2:4]
        r[...] = np.ones(5)
        lib.ref.addupdate(r, 0, 1.0)
        lib.ref.addupdate(r, ..., np.ones(5))

    def swaps(r, i):
        return lib.ref.swap(r, i, 3.0), lib.ref.swap(r, ..., np.zeros(5))

    def creates(r, i):
        s = lib.new_ref(r[0])
        s[...] = s[...] + 1.0
        return lib.freeze(s)

    r = lib.new_ref(np.arange(5.0))
    return {f.__name__: str(lib.make_jaxpr(f)(r, 1)) for f in (reads, writes, swaps, creates)}


def values(lib: Any) -> dict[str, list]:
    """Return results and final contents by name."""
    np, lax = lib.numpy, lib.lax
    found: dict[str, list] = {}

    def note(name: str, *values: Any) -> None:
        found[name] = [
            np.asarray(v[...] if isinstance(v, lib.ref.Ref) else v).tolist() for v in values
        ]

    r = lib.new_ref(np.arange(5.0))

    @lib.jit
    def step(r, x):
        r[0] = r[0] + x
        r[1:3] = r[2:4] * x
        lib.ref.addupdate(r, np.array([3, 3, 4]), np.ones(3))
        return lib.ref.swap(r, 4, x)

    note("jit", step(r, 2.0), step(r, 3.0), r)

    def body(c, i):
        r[i] = np.sin(r[i]) + c
        return c + r[0], r[i]

    note("scan", *lax.scan(body, 0.5, np.arange(3)), r)
    note("fori_loop", lax.fori_loop(0, 4, lambda i, c: body(c, i)[0], 0.25), r)

    def halve(n):
        r[0] = r[0] / 2
        return n + 1

    note("while_loop", lax.while_loop(lambda n: n < 3, halve, 0), r)

    def cube(x):
        s = lib.new_ref(x)
        lax.fori_loop(0, 2, lambda i, _: s.__setitem__(..., s[...] * x), None)
        return s[...]

    note("grad", lib.grad(cube)(1.5), lib.grad(lib.jit(cube))(1.5), lib.grad(lib.grad(cube))(1.5))
    note("vmap", lib.vmap(cube)(np.arange(3.0)), lib.vmap(lib.grad(cube))(np.arange(3.0)))
    note("jvp", *lib.jvp(cube, (1.5,), (1.0,)))
    note("checkpoint", lib.grad(lib.checkpoint(cube))(1.5))

    rows = lib.new_ref(np.zeros((3, 2)))

    def write(row, x):
        row[0] = x
        row[1] = row[0] * 2

    lib.vmap(write)(rows, np.arange(3.0))
    note("vmap of a reference", rows)

    def product(ref, x):
        ref[...] = ref[...] * x

    ref, ct = lib.new_ref(3.0), lib.new_ref(10.0)
    _, pull = lib.vjp(product, ref, 2.0)
    other = lib.new_ref(1.0)
    pull.with_refs(ct, other)(None)
    note("with_refs", ref, ct, other)

    @lib.custom_vjp
    def stash(ref, x):
        return x

    def backward(ref, g):
        ref[...] = g
        return None, g

    stash.defvjp(lambda ref, x: (x, ref), backward)
    seen = lib.new_ref(0.0)
    slope = lib.jit(lib.grad(lambda x: np.sin(stash(seen, x * x))))(1.5)
    note("custom_vjp", slope, seen)
    tangent = lib.new_ref(np.ones(2))
    primal = lib.new_ref(np.arange(2.0))
    out = lib.jvp(lambda r, x: r.__setitem__(0, x) or r[...] * r[0], (primal, 3.0), (tangent, 1.0))
    note("jvp of a reference", *out, primal, tangent)
    return found
