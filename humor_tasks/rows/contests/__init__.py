"""The magazine's caption contests as their organisers publish them: all captions with the crowd's ratings."""
