"""What a diagnosis starts from: job, baseline, flows, attempts; who reads the logs, a cache. Start at ``jobs.py``."""
