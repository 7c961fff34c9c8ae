"""What every part leans on and no part is about: errors, files, pictures, the command line, words."""
