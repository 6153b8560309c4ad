"""Reports on finished runs."""
