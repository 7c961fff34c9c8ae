"""The examination of the assumption: that the agent is a deterministic STRIPS agent in the vocabulary, rightly seen."""
