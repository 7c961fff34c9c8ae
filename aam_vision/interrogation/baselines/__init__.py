"""Rival learners that this toolkit is compared with."""
