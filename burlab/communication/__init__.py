"""Messages of clients in distributed optimization: compressors, and the aggregation of messages that may be false."""
