"""Few labelled pictures of scenes without cells: from no label at all to classifiers (``aam_vision.classifiers.camera``).

The modules, in the order in which they build on each other: `backdrop` (what the camera sees apart from the things), `cutouts` (what
labelled pictures show, cut out), `exchange` (groups made of parts of two others), `replacing` (things put in the place of others),
`montage` (new labelled pictures made of all that), `rounds`.
"""
