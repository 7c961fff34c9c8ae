"""What can be asked: moves, near misses, plans that lead to them, and states constructed for them."""
