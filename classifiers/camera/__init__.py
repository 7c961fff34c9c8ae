"""Perception of pictures without cells: things are found by their looks, and predicates asked of what is found.

The modules, in the order in which they build on each other: `plan` (which classifiers a network has), `network` (torch),
`peaks` (the same about several things of one look), `running`, `alike` (which of them is which), `suitable` and `typical` (pictures
and scenes that are refused or warned of), `atoms` (the classifiers' answers laid out over the atoms of a scene), `legality` (which of them are believed),
`perception` (images in, states out).
"""
