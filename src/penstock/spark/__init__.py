"""The join inside Spark Structured Streaming, and a small Spark of our own to try it on."""
