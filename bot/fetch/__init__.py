"""What a diagnosis starts from: the job, its baseline and flows, earlier attempts; who reads the logs, and a cache."""
