"""What lies in a checkpoint, as far as it can be read without Spark."""
