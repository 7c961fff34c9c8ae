"""Runs of the command: what is checked before, what each kind of agent is asked for, and the files and lines that come of it."""
