"""How likely a reply is after a context, under any causal language model of Hugging Face (evaluator spec)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from convolabel.errors import InputError, MissingExtraError
from evaluators.models.device import chosen_device
from evaluators.models.fingerprint import weights_fingerprint
from evaluators.models.loading import load_named
from evaluators.models.reply_likelihood import BLANK_LINE, Comparison, ReplyLikelihood
from evaluators.models.reply_scoring import Continuations, ReplyScorer
from evaluators.models.reply_tokens import LineEncoder
from evaluators.models.scoring_window import Fitted, fitted, shared_beginning

if TYPE_CHECKING:
    from evaluators.models.tuning import Tuning

DEFAULT_CAUSAL_LM = "google/gemma-2b"
_LONGEST_WINDOW = 8192
_SHORTEST_WINDOW = 16
_PROBE = 'Ann: Good morning, all 3 of you!\n\nmediator: Why "so" early?'


@dataclass
class _Loaded:
    model: Any
    tokenizer: Any
    device: str


class HFLikelihoodModel:
    """Scores [BOS, context, blank line, reply]; of these only the tokens of the reply.

    `model` is a name on Hugging Face or the path of a folder, loaded when it is first used, or a causal language
    model of transformers, then with its `tokenizer`. `max_length` is the window in tokens, by default the model's,
    at most 8192. When a text is longer, the context is cut at its beginning, the same in both contexts; the turn in
    question and the reply stay, and what was cut is reported. `dtype` is that of the weights: half precision takes
    half the memory and makes summed log-probabilities of long replies less exact. `batch_tokens` bounds what is read
    at once. `revision` and `token` are Hugging Face's.

    It has the interface of ConvoKit's likelihood models too (`fit`, `transform`, `tokenizer`, `max_length`), so that
    it can take their place there.
    """

    def __init__(
        self,
        model: Any = DEFAULT_CAUSAL_LM,
        tokenizer: Any = None,
        *,
        device: str | None = None,
        dtype: str = "float32",
        max_length: int | None = None,
        batch_tokens: int | None = None,
        revision: str | None = None,
        token: str | None = None,
    ) -> None:
        if max_length is not None and max_length < _SHORTEST_WINDOW:
            raise InputError(f"max_length is the window in tokens, at least {_SHORTEST_WINDOW}; found {max_length}.")
        if not isinstance(model, str | Path) and tokenizer is None:
            raise InputError("A model that is loaded already needs its tokenizer: HFLikelihoodModel(model, tokenizer).")
        self._given = (model, tokenizer)
        self._device = device
        self._dtype = dtype
        self._max_length = max_length
        self._batch_tokens = batch_tokens
        self._source = {"revision": revision, "token": token}

    @property
    def name(self) -> str:
        """As given, or as the loaded model bears it."""
        model = self._given[0]
        return str(model) if isinstance(model, str | Path) else model.config.name_or_path or type(model).__name__

    @property
    def model(self) -> Any:
        """Of transformers. Loads it; raises `MissingExtraError`, `ModelNotLoaded`."""
        return self._loaded.model

    @property
    def tokenizer(self) -> Any:
        return self._loaded.tokenizer

    @cached_property
    def max_length(self) -> int:
        """The window in tokens."""
        own = getattr(self.model.config, "max_position_embeddings", None) or _LONGEST_WINDOW
        return min(self._max_length or _LONGEST_WINDOW, own)

    @cached_property
    def identity(self) -> str:
        """Name, weights, tokenizer, window and precision."""
        tokens = "-".join(map(str, (self._encoder.start, *self._encoder.encode(_PROBE))))
        weights = weights_fingerprint(self.model)
        return f"{self.name} {weights} tokens={tokens} window={self.max_length} dtype={self.model.dtype}"

    def batches(self, comparisons: Sequence[Comparison]) -> list[list[int]]:
        """Places of comparisons of similar length that are scored together."""
        return self._scorer.batches([self._continuations(self._fitted(each)) for each in comparisons])

    def compare(self, comparisons: Sequence[Comparison]) -> list[ReplyLikelihood]:
        """In the order of the comparisons. Raises `InputError` when a reply has no token."""
        cut = [self._fitted(each) for each in comparisons]
        values = self._scored([self._continuations(each) for each in cut])
        return [
            ReplyLikelihood(sums[0], sums[1], len(each.reply), each.context_tokens_cut, each.reply_tokens_cut)
            for each, sums in zip(cut, values, strict=True)
        ]

    def transform(
        self, test_data: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], verbosity: int = 5
    ) -> list[dict[str, float]]:
        """ConvoKit's interface: contexts and replies by utterance id, a mapping of each per conversation.

        Returns the summed log-probabilities of the replies of utterances that have both. Nothing is printed.
        """
        results = []
        for contexts, replies in zip(*test_data, strict=True):
            ids = [each for each in contexts if each in replies]
            cut = [self._cut([contexts[each]], len(contexts[each]) - 1, replies[each]) for each in ids]
            sums = self._scored([self._continuations(each) for each in cut])
            results.append({ident: values[0] for ident, values in zip(ids, sums, strict=True)})
        return results

    def fit(
        self,
        train_data: Iterable[Mapping[str, Any]],
        val_data: Iterable[Mapping[str, Any]] | None = None,
        tuning: "Tuning | None" = None,
    ) -> Self:
        """Fine-tune with LoRA and merge what was learned into the weights.

        Each row's "text" is a whole conversation in the format that is scored: lines with a blank line between them.
        With `val_data` the epoch of the lowest loss on it is kept, without it the last. Raises `MissingExtraError`
        without peft, `InputError` without a line to learn from.
        """
        from evaluators.models.tuning import Tuning, tuned

        learn, check = (
            [block for row in rows for block in self._blocks(row["text"])] for rows in (train_data, val_data or ())
        )
        model = tuned(self.model, learn, check, tuning or Tuning())
        self._loaded = _Loaded(model, self.tokenizer, self._loaded.device)
        for stale in ("identity", "_scorer"):
            self.__dict__.pop(stale, None)
        return self

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer where `HFLikelihoodModel(folder)` finds them."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @cached_property
    def _loaded(self) -> _Loaded:
        model, tokenizer = self._given
        if isinstance(model, str | Path):
            device = chosen_device(self._device)
            return self._load(str(model), tokenizer, device)
        device = self._device or model.device.type
        return _Loaded(model.to(device).eval(), tokenizer, device)

    def _load(self, name: str, tokenizer: Any, device: str) -> _Loaded:
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError:
            raise MissingExtraError("Scoring replies with a language model", "models") from None

        def load() -> _Loaded:
            words = tokenizer or AutoTokenizer.from_pretrained(name, **self._source)
            model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=getattr(torch, self._dtype), **self._source)
            return _Loaded(model.to(device).eval(), words, device)

        loaded: _Loaded = load_named("language model", name, load)
        return loaded

    @cached_property
    def _encoder(self) -> LineEncoder:
        return LineEncoder(self.tokenizer)

    @cached_property
    def _scorer(self) -> ReplyScorer:
        return ReplyScorer(self.model, self._loaded.device, self._batch_tokens)

    def _fitted(self, comparison: Comparison) -> Fitted:
        contexts = [comparison.actual, comparison.reference]
        return self._cut(contexts, comparison.background, comparison.reply)

    def _cut(self, contexts: Sequence[Sequence[str]], background: int, reply: Sequence[str]) -> Fitted:
        encoded, said = self._encoder.contexts_and_reply(contexts, background, reply)
        if not said:
            raise InputError("A reply without any token cannot be scored; leave it out.")
        return fitted(encoded, said, self.max_length - 1)

    def _continuations(self, cut: Fitted) -> Continuations:
        whole = [(self._encoder.start, *context) for context in cut.contexts]
        shared = shared_beginning(whole)
        return Continuations(whole[0][:shared], tuple(each[shared:] + cut.reply for each in whole), len(cut.reply))

    def _scored(self, items: Sequence[Continuations]) -> list[list[float]]:
        values: list[list[float]] = [[] for _ in items]
        for batch in self._scorer.batches(items):
            for place, sums in zip(batch, self._scorer.score([items[each] for each in batch]), strict=True):
                values[place] = sums
        return values

    def _blocks(self, text: str) -> list[list[int]]:
        """A conversation as blocks of whole lines that fit the window, each with its own BOS."""
        room = self.max_length - 1
        blocks: list[list[int]] = []
        for line in text.split(BLANK_LINE):
            tokens = self._encoder.encode(line + BLANK_LINE)
            if not blocks or len(blocks[-1]) + len(tokens) > self.max_length:
                blocks.append([self._encoder.start])
            blocks[-1] += tokens[:room]
        return blocks
