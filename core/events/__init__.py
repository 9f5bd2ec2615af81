"""The event table, on which every method stands: who said what, when and where, row by row and never all in memory."""
