"""Pictures put into words by a model, as a dataset that from-description tasks run on: `humor-tasks describe`."""
