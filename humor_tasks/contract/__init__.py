"""What a benchmark is, apart from any single one."""
