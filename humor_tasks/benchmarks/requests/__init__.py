"""Writing requests in a file of the user: a benchmark without people's texts."""
