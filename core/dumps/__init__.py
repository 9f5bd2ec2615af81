"""Stack dumps and flight recorder dumps: what the processes of a hung job were doing, and who kept whom waiting."""
