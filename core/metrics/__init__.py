"""Metrics beside logs (``metrics/`` of a job folder): read, compared, and told as evidence."""
