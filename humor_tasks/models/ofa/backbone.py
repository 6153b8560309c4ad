"""OFA's image encoder: a ResNet without its fourth stage, with stride 16. Parameters have torchvision's names."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn.functional import relu

EXPANSION = 4


class Bottleneck(nn.Module):
    """A bottleneck block: 1x1, 3x3 (with the stride) and 1x1 convolution to four times the planes, with a shortcut."""

    def __init__(self, inputs: int, planes: int, stride: int, first: bool) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, EXPANSION * planes, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(EXPANSION * planes)
        self.downsample: nn.Module | None = None
        if first:
            shortcut = nn.Conv2d(inputs, EXPANSION * planes, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(EXPANSION * planes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B, inputs, h, w] -> [B, 4 * planes, h / stride, w / stride]."""
        shortcut = x if self.downsample is None else self.downsample(x)
        y = relu(self.bn1(self.conv1(x)), inplace=True)
        y = relu(self.bn2(self.conv2(y)), inplace=True)
        return relu(self.bn3(self.conv3(y)) + shortcut, inplace=True)


class Backbone(nn.Module):
    """Pictures [B, 3, H, W] -> features [B, 16 * width, ceil(H / 16), ceil(W / 16)].

    BatchNorm uses its stored statistics in training too, because fine-tuning batches are too small to estimate them.
    """

    def __init__(self, layers: Sequence[int], width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inputs, self.stages = width, ("layer1", "layer2", "layer3")
        for stage, blocks in enumerate(layers):
            planes = width * 2**stage
            built = []
            for block in range(blocks):
                built.append(Bottleneck(inputs, planes, 2 if stage and not block else 1, first=not block))
                inputs = EXPANSION * planes
            self.add_module(self.stages[stage], nn.Sequential(*built))
        self.channels = inputs
        super().train(False)

    def train(self, mode: bool = True) -> Backbone:
        """No effect: the backbone stays in evaluation mode."""
        super().train(False)
        return self

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """See the class."""
        x = self.maxpool(relu(self.bn1(self.conv1(images)), inplace=True))
        for stage in self.stages:
            x = getattr(self, stage)(x)
        features: torch.Tensor = x
        return features
