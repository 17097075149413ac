"""Continuous SQL on Apache Spark with state that is proven to stay bounded."""
