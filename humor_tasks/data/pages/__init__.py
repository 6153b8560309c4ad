"""HTML pages that load nothing: their frame, their parts, texts made visible, data and scripts inside HTML."""
