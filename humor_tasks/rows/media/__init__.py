"""Pictures and video clips, loaded lazily and validated before use."""
