"""Define the core data types of tracing: avals, dtypes, primitives, traces, jaxprs, shardings."""
