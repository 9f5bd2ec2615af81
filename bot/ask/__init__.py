"""Follow-up questions: looked up in the evidence and the raw lines, put into words by a model or not at all."""
