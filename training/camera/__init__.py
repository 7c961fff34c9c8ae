"""Training and evaluation of the classifiers of pictures without cells (``aam_vision.classifiers.camera``)."""
