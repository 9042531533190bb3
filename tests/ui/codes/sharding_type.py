import sagax
from sagax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

mesh = AbstractMesh((4, 2), ("x", "y"))


def struct(*spec):
    return sagax.ShapeDtypeStruct((8, 8), "float32", sharding=NamedSharding(mesh, P(*spec)))


sagax.eval_shape(lambda a, b: a + b, struct("x"), struct("y"))  #~ SX0211 add: operands have incompatible shardings: dimension
