"""Where jobs and their logs come from: a folder, a bucket, or one path. One file a backend; nothing is ever written."""
