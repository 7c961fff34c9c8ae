"""What no further query could tell: the proofs without which no result is called complete."""
