"""The agent interrogation task as a whole: the loop, its budget, its result, and answers that may be wrong."""
