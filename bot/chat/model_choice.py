"""Which language model the settings name; none is an answer too."""

from bot.chat.model import ChatModel
from bot.fetch.cache import FolderCache
from bot.settings import Settings
from core.errors import BadSettings

OPENAI_URL = "https://api.openai.com/v1"


def model_from(settings: Settings) -> ChatModel | None:
    """The model of the settings; None when no model is named.

    Raises:
        BadSettings: a model without an endpoint, or a key that no request can carry.
    """
    if not settings.model:
        return None
    key = settings.model_key.get_secret_value().strip()
    url = settings.model_url or (OPENAI_URL if key else "")
    if not url:
        hint = "Set FIRSTFAULT_MODEL_URL, for example to http://localhost:8000/v1, or FIRSTFAULT_MODEL_KEY for OpenAI."
        raise BadSettings("FIRSTFAULT_MODEL names a model, but nothing says where it answers.", hint)
    if not (key.isascii() and key.isprintable()):
        raise BadSettings("FIRSTFAULT_MODEL_KEY holds characters that no key has.", "Copy it again.")
    from bot.chat.openai_model import OpenAIModel  # noqa: PLC0415 openai takes a second to load

    return OpenAIModel(settings.model, url, key=key, timeout=settings.model_timeout, cache=FolderCache(settings.cache))
