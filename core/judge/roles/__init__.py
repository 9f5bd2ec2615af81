"""Roles that only context decides: survived errors, kills that were asked for, stops from outside, agents that end."""
