"""Copies of something that answers slowly, each in a thread, a process or an actor of its own."""
