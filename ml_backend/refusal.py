"""What the server refuses, as an HTTP status and one sentence."""


class RefusedError(Exception):
    """`sentence` says what, where and what to do; it holds no text of a conversation and no secret."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
