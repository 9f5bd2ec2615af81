"""The fault library as the bot uses it: in a diagnosis (``session.py``), and when an approval is filed."""
