"""Files read and written; knows nothing of humour."""
