"""Training of the classifiers: data from legal states, augmentation, the training and evaluation commands."""
