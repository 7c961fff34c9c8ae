"""Mutation testing: bugs put into the code one at a time, to see whether the tests of its package notice."""
