"""The one door: whatever leaves the machine (Slack, the model, an uploaded page) passes ``door``, without secrets."""
