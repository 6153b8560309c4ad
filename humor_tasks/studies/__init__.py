"""Wing: human studies, the arena, and captions scored by their contests."""
