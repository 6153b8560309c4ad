"""MOCK: detecting, matching, explaining and generation over cartoons, posts and comedy clips; Chain-of-Task."""
