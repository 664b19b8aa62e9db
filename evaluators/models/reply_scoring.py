"""Log-probabilities of replies under a causal language model, with as little computing as they need.

What two contexts begin with is read once and both go on from there; the output layer, which is most of the work of a
small model with a large vocabulary, sees only the places that predict a token of the reply.
"""

import copy
import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convolabel.errors import InputError
from evaluators.models.onednn import FasterLinearLayers
from evaluators.models.scoring_window import Tokens

if TYPE_CHECKING:
    import torch

_ROWS_AT_ONCE = 8
"""Rows of logits that are normalised together: few enough to stay in a processor's cache."""


@dataclass(frozen=True)
class Continuations:
    """`shared` tokens, and sequences that go on from them and all end with the same `reply_tokens` last tokens.

    Each sequence has a token before the reply, be it in `shared` or its own.
    """

    shared: Tokens
    sequences: tuple[Tokens, ...]
    reply_tokens: int


class ReplyScorer:
    """`model` is a causal language model of transformers on `device`, in evaluation mode.

    `batch_tokens` bounds the tokens read at once. Raises `InputError` when the model has no output layer.
    """

    def __init__(self, model: Any, device: str, batch_tokens: int | None = None) -> None:
        self._model = model
        self._device = device
        takes = inspect.signature(model.forward).parameters
        # recurrent models cannot go on from their state with several tokens at once; the name depends on the version
        is_recurrent = getattr(model, "_is_stateful", False)
        names = () if is_recurrent else ("cache", "past_key_values")
        self._cache = next((name for name in names if name in takes), None)
        self._places = "position_ids" in takes and "attention_mask" in takes
        self._layer = model.get_output_embeddings()
        if self._layer is None:
            raise InputError("The model has no output layer for tokens; give a causal language model.")
        self._faster = FasterLinearLayers(model, device)
        on_cpu = device == "cpu"
        self._batch_tokens = batch_tokens or (1024 if on_cpu else 16_384)
        row = 4 * self._layer.weight.shape[0]
        # bytes of logits: on a CPU, blocks of up to 32 MB are used again and again, larger ones are asked for anew
        self._batch_rows = max((2**25 if on_cpu else 2**30) // row, 1)
        self._most_rows = max((2**28 if on_cpu else 2**30) // row, 1)

    def batches(self, items: Sequence[Continuations]) -> list[list[int]]:
        """Places of items that are scored together, of similar length so that little is padding."""
        ready = [self._ready(each) for each in items]
        order = sorted(range(len(ready)), key=lambda place: (len(ready[place].shared), *_lengths(ready[place])))
        batches: list[list[int]] = []
        for place in order:
            if batches and self._fit_together([ready[each] for each in (*batches[-1], place)]):
                batches[-1].append(place)
            else:
                batches.append([place])
        return batches

    def score(self, items: Sequence[Continuations]) -> list[list[float]]:
        """For each item and sequence, the natural log-probability of the reply, summed over its tokens.

        The items are one of the `batches`.
        """
        import torch

        ready = [self._ready(each) for each in items]
        count = len(ready[0].sequences)
        with torch.inference_mode(), self._faster.in_use(), _ChosenRows(self._layer) as rows:
            cache = self._read([each.shared for each in ready], rows)
            sums = []
            for number in range(count):
                # the last sequence may use up the cache, the others go on from a copy
                own = cache if number == count - 1 else copy.deepcopy(cache)
                sums.append(self._go_on(own, ready, number, rows))
        return [list(each) for each in zip(*sums, strict=True)]

    def _ready(self, item: Continuations) -> Continuations:
        if self._cache is not None:
            return item
        return Continuations((), tuple(item.shared + each for each in item.sequences), item.reply_tokens)

    def _fit_together(self, items: Sequence[Continuations]) -> bool:
        if not self._places and len({len(each.shared) for each in items}) > 1:
            return False
        widths = [max(column) for column in zip(*map(_lengths, items), strict=True)]
        tokens: int = len(items) * (max(len(each.shared) for each in items) + sum(widths))
        return tokens <= self._batch_tokens and sum(each.reply_tokens for each in items) <= self._batch_rows

    def _read(self, beginnings: Sequence[Tokens], rows: "_ChosenRows") -> Any:
        """The cache after the beginnings, which are aligned at their ends."""
        width = max(map(len, beginnings))
        if width == 0:
            return None
        ids = self._tensor([(0,) * (width - len(each)) + each for each in beginnings])
        rows.choose([], [])
        return self._forward(ids, [len(each) for each in beginnings], width, read=0, cache=None)[self._cache]

    def _go_on(self, cache: Any, items: Sequence[Continuations], number: int, rows: "_ChosenRows") -> list[float]:
        # the last token of a reply is predicted and never read
        sequences = [each.sequences[number][:-1] for each in items]
        width = max(map(len, sequences))
        ids = self._tensor([each + (0,) * (width - len(each)) for each in sequences])
        first = [len(each) - item.reply_tokens for each, item in zip(sequences, items, strict=True)]
        values: list[list[float]] = [[] for _ in items]
        for start, end in self._pieces(width, first, len(items)):
            places = [
                (row, place)
                for row, each in enumerate(sequences)
                for place in range(max(first[row], start), min(len(each), end))
            ]
            rows.choose([row for row, _ in places], [place - start for _, place in places])
            known = [len(each.shared) for each in items]
            output = self._forward(ids[:, start:end], known, max(known), read=start, cache=cache)
            cache = output[self._cache] if end < width else None
            wanted = [items[row].sequences[number][place + 1] for row, place in places]
            for (row, _), value in zip(places, _log_probabilities(output.logits, wanted), strict=True):
                values[row].append(value)
        return [math.fsum(each) for each in values]

    def _pieces(self, width: int, first: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
        """The whole at once; one long reply in pieces, so that its logits take bounded memory."""
        is_long = count == 1 and self._cache is not None
        ends = [*range(first[0] + self._most_rows, width, self._most_rows), width] if is_long else [width]
        yield from zip([0, *ends[:-1]], ends, strict=True)

    def _forward(self, ids: "torch.Tensor", known: Sequence[int], width: int, *, read: int, cache: Any) -> Any:
        """`known` tokens of each row are in the cache, in `width` columns (or in `ids`, when there is no cache yet),
        and then `read` more of the same sequence."""
        import torch

        given: dict[str, Any] = {"input_ids": ids}
        if self._cache is not None:
            given["use_cache"] = True
            if cache is not None:
                given[self._cache] = cache
        if len(set(known)) > 1:
            padding = torch.tensor([width - each for each in known], device=self._device)[:, None]
            columns = width + read + ids.shape[1] if cache is not None else width
            column = torch.arange(columns, device=self._device)[None]
            given["attention_mask"] = (column >= padding).long()
            given["position_ids"] = (column - padding).clamp(min=0)[:, -ids.shape[1] :]
        return self._model(**given)

    def _tensor(self, rows: Sequence[Tokens]) -> "torch.Tensor":
        import torch

        return torch.tensor(rows, dtype=torch.long, device=self._device)


class _ChosenRows:
    """While it is entered, the output layer sees only the chosen (row, place) pairs of the hidden states.

    Whatever the model does to logits afterwards (scale, cap) it does to these; they come as pairs x vocabulary.
    """

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self._chosen: tuple[Sequence[int], Sequence[int]] = ([], [])

    def choose(self, rows: Sequence[int], places: Sequence[int]) -> None:
        self._chosen = (rows, places)

    def __enter__(self) -> "_ChosenRows":
        self._hook = self._layer.register_forward_pre_hook(self._only_chosen)
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()

    def _only_chosen(self, _: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        import torch

        hidden, *rest = arguments
        rows, places = (torch.tensor(each, dtype=torch.long, device=hidden.device) for each in self._chosen)
        return (hidden[rows, places], *rest)


def _log_probabilities(logits: "torch.Tensor", wanted: Sequence[int]) -> list[float]:
    """Of each wanted token given its row of logits, computed in single precision."""
    import torch

    chosen = torch.tensor(wanted, dtype=torch.long, device=logits.device)[:, None]
    cuts = list(range(_ROWS_AT_ONCE, len(wanted), _ROWS_AT_ONCE))
    values = [
        rows.float().gather(1, tokens)[:, 0] - torch.logsumexp(rows.float(), -1)
        for rows, tokens in zip(torch.tensor_split(logits, cuts), torch.tensor_split(chosen, cuts), strict=True)
    ]
    return [value for each in values for value in each.tolist()]


def _lengths(item: Continuations) -> tuple[int, ...]:
    return tuple(map(len, item.sequences))
