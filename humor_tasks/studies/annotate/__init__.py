"""People vote: which explanation is better, which caption belongs to or is the funnier for a cartoon."""
