"""What the agent has shown: the graph of situations, the transcript, and signs that something was misread."""
