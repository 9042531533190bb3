"""Arrays, traced or not, used in ways that they do not allow."""

from __future__ import annotations

import numpy as np

from bad_input import case, square, staged

three = np.ones(3, np.float32)
matrix = np.ones((3, 3), np.float32)

# Assignment and attributes -------------------------------------------------------------------------


@case("x[index] = value", "float32[3]", "x (argument of f)")
def assignment(jx):
    def f(x):
        x[0] = 1.0
        return x

    staged(jx, f, three)


@case("x[index] = value", "float32[3]", "x (argument of f)")
def augmented_assignment_of_item(jx):
    def f(x):
        x[0] += 1.0
        return x

    staged(jx, f, three)


@case()
def augmented_assignment_is_fine(jx):
    def f(x):
        x += 1.0
        return x

    return staged(jx, f, three)


@case("while tracing `f` for jit")
def deletion_of_item(jx):
    def f(x):
        del x[0]
        return x

    staged(jx, f, three)


@case("x[index] = value", "float32[3]")
def assignment_to_array(jx):
    x = jx.numpy.ones(3)
    x[0] = 1.0


@case("setting an array element with a sequence.", "tracing `f` for jit")
def assignment_into_numpy(jx):
    def f(x):
        out = np.zeros(3)
        out[0] = x[0]
        return out

    staged(jx, f, three)


@case("x (argument of f)", "tracing `f` for jit")
def numpy_out_argument(jx):
    def f(x):
        out = np.zeros(3, np.float32)
        np.add(x, x, out=out)
        return out

    staged(jx, f, three)


@case()
def numpy_augmented_assignment(jx):
    def f(x):
        total = np.zeros(3, np.float32)
        total += x
        return total

    return staged(jx, f, three)


@case("'shape'", "while tracing `f` for jit")
def assignment_of_attribute(jx):
    def f(x):
        x.shape = (3, 1)
        return x

    staged(jx, f, three)


@case("has no attribute 'cuda'", "while tracing `<lambda>` for jit")
def unknown_attribute(jx):
    staged(jx, lambda x: x.cuda(), three)


@case("has no attribute 'cuda'")
def unknown_attribute_of_array(jx):
    jx.numpy.ones(3).cuda()


# NumPy and other libraries -------------------------------------------------------------------------


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_sin(jx):
    staged(jx, lambda x: np.sin(x), 1.0)


@case()
def numpy_sum(jx):
    return staged(jx, lambda x: np.sum(x), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_asarray(jx):
    staged(jx, lambda x: np.asarray(x), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_float32(jx):
    staged(jx, lambda x: np.float32(x), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_where(jx):
    staged(jx, lambda x: np.where(x > 0, x, 0.0), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_concatenate(jx):
    staged(jx, lambda x: np.concatenate([x, x]), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_dot(jx):
    staged(jx, lambda x: np.dot(x, x), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_linalg(jx):
    staged(jx, lambda x: np.linalg.inv(x), matrix)


@case()
def numpy_shape_is_fine(jx):
    return staged(jx, lambda x: x * np.shape(x)[0], three)


@case()
def numpy_ndim_is_fine(jx):
    return staged(jx, lambda x: x * np.ndim(x), three)


@case()
def numpy_array_plus_argument_is_fine(jx):
    return staged(jx, lambda x: np.ones(3, np.float32) + x, three)


@case()
def numpy_scalar_times_argument_is_fine(jx):
    return staged(jx, lambda x: np.float32(2.0) * x, three)


@case("i (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_index(jx):
    staged(jx, lambda i: np.arange(3.0)[i], 1)


@case("i (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_index_array(jx):
    staged(jx, lambda i: np.arange(3.0)[i], np.array([1, 2]))


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_random(jx):
    staged(jx, lambda x: np.random.default_rng(0).normal(x, 1.0), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_array_of_list(jx):
    staged(jx, lambda x, y: np.array([x, y]), 1.0, 2.0)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def numpy_arange(jx):
    staged(jx, lambda n: np.arange(n), 3)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def boolean_mask(jx):
    staged(jx, lambda x: x[x > 0], three)


@case()
def boolean_mask_of_numpy_is_fine(jx):
    return staged(jx, lambda x: x[np.array([True, False, True])], three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def nonzero(jx):
    staged(jx, lambda x: jx.numpy.nonzero(x), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def unique(jx):
    staged(jx, lambda x: jx.numpy.unique(x), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def where_with_one_argument(jx):
    staged(jx, lambda x: jx.numpy.where(x > 0), three)


@case("integers, slices, None, ... or arrays of integers", "tracing `<lambda>` for jit")
def index_with_text(jx):
    staged(jx, lambda x: x["a"], three)


@case("tracing `<lambda>` for jit", "indices must be integers or booleans; got an")
def index_with_float(jx):
    staged(jx, lambda x: x[1.0], three)


@case("tracing `<lambda>` for jit", "indices must be integers or booleans; got an")
def index_with_traced_float(jx):
    staged(jx, lambda x, i: x[i], three, 1.0)


@case("got: [0, 1]", "an array (elements of the first axis), or a tuple")
def index_with_list(jx):
    staged(jx, lambda x: x[[0, 1]], three)


@case("got: (0, 0)", "at most 1")
def too_many_indices(jx):
    staged(jx, lambda x: x[0, 0], three)


@case()
def array_of_tracers_is_fine(jx):
    return staged(jx, lambda x, y: jx.numpy.array([x, [y][0]]), 1.0, 2.0)


# The values of arrays ------------------------------------------------------------------------------


@case("float32[3]", "The truth value of an array with more than one")
def bool_of_vector(jx):
    bool(jx.numpy.ones(3))


@case("float32[0]", "The truth value of an array with no elements is ambiguous.")
def bool_of_empty(jx):
    bool(jx.numpy.ones(0))


@case("float", "float32[3]")
def float_of_concrete_vector(jx):
    float(jx.numpy.ones(3))


@case("int", "float32[1,1]")
def int_of_concrete_vector(jx):
    int(jx.numpy.ones((1, 1)))


@case("index", "float32[]", "an integer array of shape ()")
def index_of_concrete_float(jx):
    return [1, 2, 3][jx.numpy.array(1.0)]


@case("index", "int32[1]", "an integer array of shape ()")
def index_of_concrete_vector(jx):
    return [1, 2, 3][jx.numpy.array([1])]


@case("unhashable type")
def hash_of_array(jx):
    hash(jx.numpy.ones(3))


@case("len() of unsized object: the array has shape ()")
def len_of_concrete_scalar(jx):
    len(jx.numpy.ones(()))


@case("iteration over a 0-d array")
def iteration_over_concrete_scalar(jx):
    list(jx.numpy.ones(()))


@case("float32[3]")
def format_of_vector(jx):
    return f"{jx.numpy.ones(3):.2f}"


@case("can only convert an array of size 1 to a Python scalar")
def item_of_vector(jx):
    jx.numpy.ones(3).item()


@case()
def deleted_repr(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    repr(x)


@case("Array has been deleted with shape=float32[3].")
def deleted_arithmetic(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    x * 2


@case("Array has been deleted with shape=float32[].")
def deleted_bool(jx):
    x = jx.numpy.ones(()) + 1
    x.delete()
    bool(x)


@case("Array has been deleted with shape=float32[3].")
def deleted_iteration(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    list(x)


@case()
def deleted_shape_is_fine(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    return x.shape


@case("tracing `square` for grad", "Array has been deleted with shape=float32[].")
def deleted_grad(jx):
    x = jx.numpy.ones(()) + 1
    x.delete()
    jx.grad(square)(x)


@case("tracing `square` for vmap", "Array has been deleted with shape=float32[3].")
def deleted_vmap(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    jx.vmap(square)(x)


@case()
def deleted_twice_is_fine(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    x.delete()
    return x.is_deleted()


@case("tracing `<lambda>` for jit", "Array has been deleted with shape=float32[3].")
def deleted_closed_over(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    jx.jit(lambda y: x + y)(1.0)


@case()
def array_made_by_class(jx):
    jx.Array()
