"""A thousand faults at random points, and whether anything was lost, done twice or archived wrongly by then."""
