"""Answers that may be wrong: evidence is weighed, questions are asked again, and rates of error estimated."""
