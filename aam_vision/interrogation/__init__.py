"""The interrogation engine: what is still possible, what an answer tells, what to ask next, when to stop."""
