# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Lightning: its loop, its progress bar, its way to end."""

import os
import time
import warnings
from datetime import timedelta
from typing import Any

import lightning
import torch
from corpus import Shards
from noise import slow_batch, start_noise
from options import arguments
from stacks import dump_stacks_when_ended
from tinylm import LMConfig, TinyLM, next_token_loss
from torch.utils.data import DataLoader


class LanguageModel(lightning.LightningModule):
    """The model, and one step of it."""

    def __init__(self, config: LMConfig, rate: float, step_ms: float) -> None:
        super().__init__()
        self.model, self.rate, self.seconds = TinyLM(config), rate, step_ms / 1000

    def training_step(self, batch: Any, index: int) -> Any:
        """Loss of a batch."""
        rank, iteration = self.global_rank, index + 1
        # <step>
        time.sleep(self.seconds)
        loss = next_token_loss(self.model, batch)
        self.log("loss", loss, prog_bar=True)
        slow_batch(rank, iteration)
        return loss

    def configure_optimizers(self) -> Any:
        """Plain gradient descent."""
        return torch.optim.SGD(self.parameters(), lr=self.rate)


class Reads(lightning.LightningDataModule):
    """Every rank's shards."""

    def __init__(self, args: Any, length: int) -> None:
        super().__init__()
        self.args, self.length = args, length

    def train_dataloader(self) -> Any:
        """Batches of this rank."""
        rank, world = self.trainer.global_rank, self.trainer.world_size
        shards = Shards(self.args.data_dir, "train", self.length, rank, world)
        return DataLoader(shards, 4, num_workers=self.args.workers, timeout=self.args.loader_timeout, drop_last=True)


def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    warnings.filterwarnings("ignore", ".*does not have many workers.*")
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    config = LMConfig.load(args.config)
    lightning.seed_everything(1)
    local = int(os.environ["LOCAL_WORLD_SIZE"])
    trainer = lightning.Trainer(
        accelerator="cpu", devices=local, num_nodes=int(os.environ["WORLD_SIZE"]) // local, max_steps=args.max_steps,
        strategy=lightning.pytorch.strategies.DDPStrategy(
            process_group_backend="gloo", timeout=timedelta(seconds=args.timeout)
        ),
        logger=False, enable_checkpointing=False, use_distributed_sampler=False,
        callbacks=[lightning.pytorch.callbacks.TQDMProgressBar(refresh_rate=1)],
    )  # fmt: skip
    start_noise(trainer.global_rank, trainer.local_rank)
    trainer.fit(LanguageModel(config, args.learning_rate, args.step_ms), datamodule=Reads(args, config.length))


if __name__ == "__main__":
    main()
