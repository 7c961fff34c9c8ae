"""The models that are still possible, as modes of every palm tuple, factored by action."""
