"""The history of a run: where its time went, how often it failed, which nodes repeat, what changed between attempts."""
