"""Run one program in several processes: form the cluster, watch it, share arrays."""
