"""Where flow records come from: each reader turns a kind of file into a frame in the contract (core/flows/table.py)."""
