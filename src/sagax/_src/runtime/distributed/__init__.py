"""Run in several processes: form the cluster, monitor it, share arrays."""
