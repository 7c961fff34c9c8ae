"""Agents with faults: each family departs in one way from the STRIPS model of a packaged domain.

``registry`` lists the families; ``world`` has the base of all of them, ``agent`` makes an agent of any one.
"""
