"""Neural networks: layers, which are functions of one sample, losses, initializers, and parameter files."""

from burlab.functions import gelu, relu, sigmoid, silu

from . import init
from .activations import tanh
from .adapters import LoRALinear, PaCALinear, is_adapter, lora, merge, paca
from .attention import Block, SelfAttention
from .batch_statistics import batch_norm
from .convolution import Conv1d, Conv2d, avg_pool, max_pool
from .divergences import distillation, kl_divergence
from .dropout import Dropout
from .gpt import GPT
from .group_rational import GroupRational
from .layer import Layer
from .linear import MLP, Embedding, Linear
from .losses import cross_entropy, hinge, huber, logistic, mse
from .monarch import Monarch
from .norm import LayerNorm, RMSNorm
from .parameter_files import load_parameters, save_parameters
from .parameter_summary import ModelSummary, count, summary
from .raft_mlp import RaftMLP
from .recurrent import GRUCell, LSTMCell, RNNCell
from .ruled_layers import with_rule
from .sparse_linear import SparseLinear
from .tensor_train import TensorTrainLinear
from .ternary import MLGRU, BitLinear
from .torch_layout import from_torch

__all__ = [
    "GPT",
    "MLGRU",
    "MLP",
    "BitLinear",
    "Block",
    "Conv1d",
    "Conv2d",
    "Dropout",
    "Embedding",
    "GRUCell",
    "GroupRational",
    "LSTMCell",
    "Layer",
    "LayerNorm",
    "Linear",
    "LoRALinear",
    "ModelSummary",
    "Monarch",
    "PaCALinear",
    "RMSNorm",
    "RNNCell",
    "RaftMLP",
    "SelfAttention",
    "SparseLinear",
    "TensorTrainLinear",
    "avg_pool",
    "batch_norm",
    "count",
    "cross_entropy",
    "distillation",
    "from_torch",
    "gelu",
    "hinge",
    "huber",
    "init",
    "is_adapter",
    "kl_divergence",
    "load_parameters",
    "logistic",
    "lora",
    "max_pool",
    "merge",
    "mse",
    "paca",
    "relu",
    "save_parameters",
    "sigmoid",
    "silu",
    "summary",
    "tanh",
    "with_rule",
]
