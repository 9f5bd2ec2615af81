"""Work outside of the process that asks: runs and questions from the queue, and watches; each in a child process."""
