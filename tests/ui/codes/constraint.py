import sagax
from sagax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

mesh = AbstractMesh((4, 2), ("x", "y"))


def struct(*spec):
    return sagax.ShapeDtypeStruct((8, 8), "float32", sharding=NamedSharding(mesh, P(*spec)))


sagax.eval_shape(
    lambda a: sagax.lax.with_sharding_constraint(a, NamedSharding(mesh, P("y"))), struct("x")  #~ SX0215 with_sharding_constraint: `with_sharding_constraint` acts as an assert
)
