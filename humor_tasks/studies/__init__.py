"""The work around a run: corpora, description, annotation, analysis, reports, grading, submission."""
