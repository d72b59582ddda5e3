"""One of each rule that estimates gradients."""

from burlab.optim import (
    LSVRG,
    MVR,
    PAGE,
    QZO,
    SAGA,
    SARAH,
    SSO,
    STORM,
    SVRG,
    CoordinateZO,
    MeZO,
    ZOBlockwise,
    ZOConservative,
    ZOSignSGD,
)

ESTIMATORS = {
    "CoordinateZO": CoordinateZO(0.05),
    "LSVRG": LSVRG(0.02, p=0.2),
    "MVR": MVR(0.02),
    "MeZO": MeZO(0.01),
    "PAGE": PAGE(0.02),
    "QZO": QZO(0.01),
    "SAGA": SAGA(0.02),
    "SARAH": SARAH(0.02, every=7),
    "SSO": SSO(0.3, inner=3),
    "STORM": STORM(),
    "SVRG": SVRG(0.02, every=7),
    "ZOBlockwise": ZOBlockwise(0.01, blocks=2),
    "ZOConservative": ZOConservative(0.01),
    "ZOSignSGD": ZOSignSGD(0.01),
}
