"""Networks: `MLP` is M1 and M2 of the paper, `ModifiedMLP` M3 and M4."""

from keraspinn.networks.field_networks import FieldNetworks, networks_of_fields  # noqa: F401
from keraspinn.networks.mlp import MLP
from keraspinn.networks.modified_mlp import ModifiedMLP
from keraspinn.networks.pirate_net import PirateNet
from keraspinn.networks.siren import SIREN
from keraspinn.networks.time_windows import TimeWindows
from keraspinn.networks.widening import widened

__all__ = [
    "MLP",
    "SIREN",
    "FieldNetworks",
    "ModifiedMLP",
    "PirateNet",
    "TimeWindows",
    "widened",
]
