"""Perception of pictures without cells: things are found by their looks, and predicates asked of what is found.

The modules, in the order in which they build on each other: `plan` (which classifiers a network has, and how its answers are laid out
over the atoms of a scene), `backdrop` (what is not the scene), `network` (torch), `legality` (which answers are believed),
`perception` (images in, states out, and which of several things of one look is which).
"""
