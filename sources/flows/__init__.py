"""Where flow records come from: each reader turns one kind of file into a frame of the contract (core/flows/table.py)."""
