"""The fault lab: runs small real training jobs with real faults, and says what happened to each."""
