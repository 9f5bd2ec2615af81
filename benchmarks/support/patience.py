"""How long whoever starts a program waits for what it has to do."""

# Seconds. What is waited for takes three at most on two idle cores; machines that do seven things at once took thirty.
# Only a test that fails waits so long, so patience costs nothing: no test is about how fast this machine is.
PATIENCE = 180.0
