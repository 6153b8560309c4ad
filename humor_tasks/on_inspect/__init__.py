"""The thin side towards Inspect AI: tasks, scorers and model providers over the shared definitions."""
