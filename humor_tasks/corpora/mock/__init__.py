"""MOCK's sub-tasks as a dataset folder, from public sources: `humor-tasks build mock`."""
