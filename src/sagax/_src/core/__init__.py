"""What a program is: abstract values, primitives, traces and jaxprs."""
