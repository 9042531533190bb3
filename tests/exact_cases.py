"""Functions whose compiled results, with `exact=True`, are the bits of their operations one by one.

Each is an expression of x, y (vectors), A, B (matrices), S (a symmetric positive definite one), i
(integers), with `n` = sagax.numpy, `lax`, `nn` and `special`.
"""

UNARY = (
    "exp exp2 expm1 log1p sin cos tan sinh cosh tanh arcsinh arctan sqrt cbrt square reciprocal sinc "
    "deg2rad rad2deg floor ceil rint sign absolute negative"
).split()

EXPRESSIONS = [
    # the two of the question, and rewrites of their kind
    "n.log(n.sqrt(n.abs(x)))", "n.log(n.exp(50 * x))", "n.exp(n.log(n.abs(x)))", "n.sqrt(x * x)",
    "n.log(n.abs(x) ** 3)", "n.exp(x) * n.exp(y)", "n.log(n.exp(x) * n.exp(y))", "n.sqrt(n.abs(x)) * n.sqrt(n.abs(x))",
    "n.power(n.abs(x), 0.5)", "n.power(x, 2)", "n.power(x, 3.0)", "1 / n.sqrt(n.abs(x))", "x / n.sqrt(n.abs(y))",
    "lax.rsqrt(n.abs(x)) * lax.rsqrt(n.abs(x))", "n.abs(x) ** y", "n.tanh(n.arctanh(0.3 * n.tanh(x)))",
    # sums, products, quotients: contraction and reordering
    "x * y + x", "x * y - y", "x + y * 2.5", "x * 3.1 + 0.7", "(x * y) * 3.3 + y * x", "x * x + y * y", "x * x - y * y",
    "(x + y) * (x - y)", "x / 3", "x / 7 + y / 3", "x / y", "(x / y) * y", "x / y / y", "(x * 0.1) / 0.1", "x * (1 / 3)",
    "x / 3 * 3", "x * 5 / 5", "(x + 1e6) - 1e6", "(x - y) + y", "x + y + x + y", "x * 2 + x * 3", "x * y + x * y * 2",
    "x - x * y", "2 * x - x", "x * 1.1 * 1.2 * 1.3", "x + 0.1 + 0.2 + 0.3", "(x + 0.1) * 2", "-(x * y) + x", "-(-x * y - y)",
    "n.sum(x * y)", "n.sum(x) / 7", "n.mean(x * 3.3)", "n.sum(x * 1.1 + y)", "n.dot(x, y) * 1.3 + 1", "n.cumsum(x * 1.7)",
    "n.prod(1 + 0.001 * x)", "n.cumprod(1 + 0.01 * x)", "n.sum(n.exp(x))", "n.sum(n.sin(x) ** 2 + n.cos(x) ** 2)",
    # chains of elementwise functions
    "n.sin(x * 1.7 + 0.3)", "n.exp(-x * x)", "n.exp(-0.5 * ((x - 0.3) / 1.7) ** 2)", "n.tanh(x * y + 0.1)", "n.sin(n.sin(n.sin(x)))",
    "n.cos(x) * n.sin(y) + x", "n.log1p(n.exp(-n.abs(x))) + n.maximum(x, 0)", "1 / (1 + n.exp(-x))", "x * (1 / (1 + n.exp(-1.7 * x)))",
    "n.arctan2(x, y) * 2 + 1", "n.hypot(x, y)", "n.logaddexp(x, y)", "n.log(n.abs(x)) * y + n.log(n.abs(y)) * x",
    "n.where(x > 0, x * 1.3 + y, y * 0.7 - x)", "n.maximum(x * 1.1, y) + n.minimum(x, y * 1.3)", "n.clip(x * 1.7, -1, 1) * 0.3 + 0.1",
    "n.polyval(n.asarray([0.3, -1.2, 0.7, 2.1]), x)", "((0.3 * x - 1.2) * x + 0.7) * x + 2.1", "x ** 4 - 3 * x ** 2 + 1", "n.floor(x * 3.7) * 0.3",
    "n.mod(x * 3.7, 0.9)", "n.fmod(x * 3.7, 0.9)", "n.round(x * 3.3, 1)", "n.expm1(n.log1p(n.abs(x)))", "n.sinh(x) / n.cosh(x)",
    "n.cbrt(x * y)", "n.exp2(n.log2(n.abs(x) + 1))", "n.sqrt(1 - n.tanh(x) ** 2)", "n.arccos(n.tanh(x)) * 3.3", "n.arcsin(n.tanh(x)) + n.arccos(n.tanh(x))",
    # matrices
    "A @ B", "A @ B + 1", "A.T @ A", "(A @ B).T", "B.T @ A.T", "A @ B @ A", "A @ (B * 1.3)", "(A * 2.5) @ B", "A @ x[:8]", "x[:8] @ A",
    "n.einsum('ij,kj->ik', A, B)", "n.einsum('ij,ij->i', A, B)", "n.einsum('ij,ji->', A, B)", "n.tensordot(A, B, 2)", "n.outer(x[:8], y[:8]) @ A",
    "n.sum(A * B, axis=0)", "n.sum(A.T, axis=0)", "n.sum(A.T * 1.3, axis=1)", "n.mean(A, axis=1) * 2.7", "n.transpose(A) * B + A",
    "A - n.mean(A, axis=0)", "(A - n.mean(A, axis=0)) / n.std(A, axis=0)", "A / n.sum(A, axis=1, keepdims=True)", "n.linalg.norm(A, axis=1) * 3",
    "n.linalg.norm(A * 1.7)", "n.trace(A @ B)", "n.vander(x[:5], 4) * 1.1", "n.kron(A, B) * 1.3 + 0.1", "n.cumsum(A.T * 1.1, axis=1)",
    "n.concatenate([A * 1.1, B + A], axis=1) * 3", "n.stack([x * y, x + y]) * 1.3", "n.reshape(A * 1.3, (-1,)) + x[:64]", "n.linalg.cholesky(S) * 1.7",
    "n.linalg.solve(S, A) * 1.3 + A", "n.linalg.inv(S) @ A", "n.linalg.det(S) / 3", "n.linalg.qr(A)[1] * 1.1", "n.linalg.eigvalsh(S) * 1.7 + 1",
    "n.linalg.svd(A)[1] * 3.3", "n.fft.fft(x[:64] * 1.3)", "n.fft.ifft(n.fft.fft(x[:64])).real", "n.abs(n.fft.rfft(x[:64])) ** 2", "n.convolve(x[:64] * 1.1, y[:5])",
    # statistics, order, indexing
    "n.var(x * 1.7)", "n.std(x) / 3", "n.cov(x[:16], y[:16])", "n.corrcoef(x[:16], y[:16])", "n.sort(x * 1.7) * 0.3", "n.argsort(x * y)", "n.median(x * 1.1)",
    "n.percentile(x * 1.3, 30)", "n.max(x * 1.7 + y)", "n.argmax(x * 1.7 + y)", "n.diff(x * 1.3) / 0.1", "n.gradient(x * 1.1)", "n.interp(x, n.sort(y), y * 1.7)",
    "n.trapezoid(x * y, dx=0.3)", "x[i] * 1.3 + y", "n.take(x * 1.7, i) + 0.1", "(x * 1.7).at[i].add(y * 0.3)", "x.at[2:50].multiply(1.1) + y", "n.roll(x * 1.1, 3) * y + x",
    "n.flip(x * 1.3) * 0.7 + 1", "n.pad(x * 1.7, 3, mode='reflect') * 0.3", "n.where(n.isnan(x / 0 * 0), 1.3 * x, x)", "n.nan_to_num(x / 0) * 0.5", "n.searchsorted(n.sort(x), y * 1.1)",
    "n.histogram(x * 1.7, bins=10)[0]", "n.linspace(0, 1, 1000) * x + y", "n.arange(1000) / 7 * x", "n.meshgrid(x[:8] * 1.1, y[:8])[0] * A + B",
    # of the libraries on top
    "nn.softmax(x * 1.3)", "nn.log_softmax(A * 1.7, axis=1)", "nn.gelu(x)", "nn.gelu(x * 1.1, approximate=False) * 2", "nn.silu(x * y)", "nn.softplus(x) * 1.3", "nn.elu(x * 1.1) + y",
    "nn.sigmoid(x * 1.7) * y", "nn.logsumexp(A * 1.1, axis=1) * 2", "nn.standardize(A)", "nn.swish(x) / 3", "nn.relu(x * 1.1 + y) * 1.3", "special.erf(x * 0.7) * 0.5 + 0.5",
    "special.gammaln(n.abs(x) + 1) * 1.3", "special.digamma(n.abs(x) + 1) * 0.3", "special.expit(x) * y + x", "special.i0(x) * 1.1", "special.ndtri(0.5 + 0.4 * n.tanh(x))",
    # other widths
    "(x.astype('bfloat16') * y.astype('bfloat16') + x.astype('bfloat16')).astype('float32')", "n.exp(x.astype('bfloat16')) * 1.3", "(x.astype('float16') * 1.7 + y.astype('float16')) / 3",
    "n.sum(x.astype('bfloat16') * 1.3)", "n.sin(x.astype('float16')) ** 2", "A.astype('bfloat16') @ B.astype('bfloat16') * 1.3", "n.tanh(x.astype('bfloat16') * 1.7) + 1", "(x + 1j * y) * (y - 1j * x) + x",
    "n.abs(x + 1j * y) * 1.3", "n.exp(1j * x) * y", "(i * 7 + 3) // 5", "(i / 7) * 3.3 + x", "x.astype('int32') * 3 / 7",
    # loops and nested programs
    "lax.fori_loop(0, 5, lambda k, v: v * 1.1 + 0.3, x)", "lax.scan(lambda c, v: (c * 0.9 + v, c * v), 0.0, x)[1]", "lax.while_loop(lambda v: n.sum(v) < 1e4, lambda v: v * 1.3 + 1, n.abs(x))",
    "lax.cond(True, lambda v: v * 1.1 + v / 3, lambda v: v, x)", "lax.map(lambda v: n.sin(v) * 1.3 + v, x[:64])", "sagax.jit(lambda v: v * 1.1 + v * v)(x) / 3", "sagax.grad(lambda v: n.sum(n.sin(v * 1.3) * v))(x)",
    "sagax.vmap(lambda u, v: n.dot(u, v) * 1.3 + u)(A, B)", "sagax.grad(lambda v: n.sum(nn.softmax(v) ** 2))(x)", "sagax.jvp(lambda v: n.exp(v) * v + n.log(n.abs(v)), (x,), (y,))[1]", "sagax.grad(lambda a: n.sum(n.tanh(a @ B) ** 2))(A)",
]  # fmt: skip

CASES = [*[f"n.{name}(x * 1.1) * 1.3 + y" for name in UNARY], *EXPRESSIONS]
