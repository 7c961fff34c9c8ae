"""The agent's answers: the graph of situations, the transcript, and signs that something was misread."""
