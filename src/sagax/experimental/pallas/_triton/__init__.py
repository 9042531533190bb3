"""Lower Pallas kernels to Triton IR: `lower` turns a traced kernel into the text of a Triton module.

`ir` writes the text; `memory` reads and writes blocks; `arithmetic`, `shapes` and `control` hold the rules of
primitives; `program` puts a kernel together.
"""
