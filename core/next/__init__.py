"""What to do after a diagnosis: one action by a table, with its price; nothing here touches a cluster."""
