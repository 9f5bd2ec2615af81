"""The fault library as the bot uses it: during a diagnosis, and when an approval is filed."""
