"""The laboratory: workloads, and the papers' experiments on them."""
