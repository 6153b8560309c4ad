"""Human annotation: votes on the better explanation, the matching caption or the funnier caption."""
