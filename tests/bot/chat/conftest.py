"""For the tests of the model client: models that are closed at the end, and no proxy in between."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from bot.chat.openai_model import OpenAIModel
from core.cache import ByteCache
from tests.support.model_endpoint import Endpoint, Play, playing

KEY = "sk-very-secret-0123456789"
Connect = Callable[..., tuple[OpenAIModel, Endpoint]]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Start an endpoint that plays these pieces, and a model that talks to it; no retries unless asked for."""
    with ExitStack() as stack:

        def start(
            *pieces: Play, timeout: float = 10, retries: int = 0, cache: ByteCache | None = None
        ) -> tuple[OpenAIModel, Endpoint]:
            endpoint = stack.enter_context(playing(*pieces))
            model = OpenAIModel("toy", endpoint.url, key=KEY, timeout=timeout, retries=retries, cache=cache)
            stack.callback(model.close)
            return model, endpoint

        yield start
