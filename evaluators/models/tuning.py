"""Fine-tuning of a causal language model with LoRA (optional: peft)."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convolabel.errors import InputError, MissingExtraError


@dataclass(frozen=True)
class Tuning:
    """`rank` and `alpha` are LoRA's; a step learns from `blocks_per_step` windows of text."""

    epochs: int = 2
    learning_rate: float = 2e-4
    rank: int = 16
    alpha: int = 16
    dropout: float = 0.05
    blocks_per_step: int = 8
    seed: int = 0


def tuned(model: Any, learn: Sequence[Sequence[int]], check: Sequence[Sequence[int]], tuning: Tuning) -> Any:
    """`model` with what LoRA adapters of all its linear layers learned from blocks of tokens merged into its weights.

    The first token of a block (BOS) is not learned, all others are. With blocks to `check` on, the epoch of the
    lowest loss on them is kept, without them the last. Raises `MissingExtraError` without peft, `InputError` without
    blocks to learn from.
    """
    try:
        from peft import LoraConfig, get_peft_model  # type: ignore[import-not-found, unused-ignore]
        from transformers import PrinterCallback, Trainer, TrainingArguments, set_seed
    except ImportError:
        raise MissingExtraError("Fine-tuning a language model", "tuning") from None
    if not learn:
        raise InputError("There is no conversation to learn from; select some with train_selector.")
    adapters = LoraConfig(
        r=tuning.rank,
        lora_alpha=tuning.alpha,
        lora_dropout=tuning.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    by_epoch = "epoch" if check else "no"
    with tempfile.TemporaryDirectory(prefix="convolabel-tuning-") as folder:
        set_seed(tuning.seed)
        learner = get_peft_model(model, adapters)
        trainer = Trainer(
            model=learner,
            args=TrainingArguments(
                output_dir=folder,
                num_train_epochs=tuning.epochs,
                learning_rate=tuning.learning_rate,
                per_device_train_batch_size=1,
                per_device_eval_batch_size=1,
                gradient_accumulation_steps=min(tuning.blocks_per_step, len(learn)),
                seed=tuning.seed,
                eval_strategy=by_epoch,
                save_strategy=by_epoch,
                load_best_model_at_end=bool(check),
                metric_for_best_model="loss" if check else None,
                save_total_limit=1,
                logging_strategy="no",
                report_to="none",
                disable_tqdm=True,
                remove_unused_columns=False,
                use_cpu=model.device.type == "cpu",
            ),
            data_collator=_alone,
            train_dataset=_examples(learn),
            eval_dataset=_examples(check) or None,
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return learner.merge_and_unload().eval()


def _examples(blocks: Sequence[Sequence[int]]) -> list[dict[str, list[int]]]:
    return [{"input_ids": list(block), "labels": list(block)} for block in blocks]


def _alone(examples: list[dict[str, list[int]]]) -> dict[str, Any]:
    """One example a batch: no padding. The model itself shifts the labels, so that the first is not learned."""
    import torch

    return {key: torch.tensor([value for each in examples for value in [each[key]]]) for key in examples[0]}
