"""Descriptions of a dataset's pictures by a model, written as a dataset for from-description tasks: `humor-tasks
describe`.
"""
