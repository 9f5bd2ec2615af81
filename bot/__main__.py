"""``python -m bot`` is ``firstfault``."""

from bot.commandline.cli import main

if __name__ == "__main__":
    main()
