"""Reports over finished runs."""
