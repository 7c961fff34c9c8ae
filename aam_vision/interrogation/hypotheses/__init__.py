"""What is still possible: the modes of every palm tuple, factored by action (paper: the set of possible models)."""
