"""Wing: training of systems, and building and auditing of corpora."""
