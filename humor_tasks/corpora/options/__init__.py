"""Distractors for MOCK's matching: `humor-tasks build options`."""
